//! Templates: texts of graphs in which numbers are affine functions of names, such as `f32[n, 3]` and `view %0 (d0) -> (d0 + <n - 1>)`.
//!
//! A program traced for several sizes has one text per size. [`Template::generalize`] makes a template of these: words must agree, and
//! numbers that differ must be affine functions, with integer coefficients, of the sizes. Every coefficient comes from two texts, and the
//! last text checks all. [`Template::text`] gives the text for any sizes, which is parsed and verified as any text: a template promises
//! nothing about types and shapes.
//!
//! A name by itself is printed as it is, so it is no other word of the text; other functions stand in `<` and `>`.

use crate::error::{Error, ErrorCode, Result};
use std::fmt::{self, Display, Formatter, Write};

/// The maximum number of names.
pub const MAX_EXTENTS: usize = 8;

/// An affine function of the names: a constant, and a coefficient for each.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Affine {
    constant: i64,
    coefficients: Vec<i64>,
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Number(Affine),
}

/// The text of a graph for all sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    names: Vec<String>,
    parts: Vec<TemplatePart>,
}

impl Template {
    /// The template of texts for these sizes, one per name each: for the first sizes, for one other size of each name, and for a last
    /// list of other sizes, which checks the result.
    ///
    /// # Errors
    /// `Shape` if the texts differ otherwise than by affine functions; `Argument` for names that are words of the text.
    pub fn generalize(names: &[String], texts: &[(Vec<usize>, String)]) -> Result<Template> {
        let split: Vec<Vec<&str>> = texts.iter().map(|(_, text)| tokens(text).collect()).collect();
        let ([first, ..], [(sizes, _), ..]) = (&split[..], texts) else { return Err(differs("there is no text")) };
        check_names(names)?;
        if let Some(name) = names.iter().find(|name| first.contains(&name.as_str())) {
            return Err(Error::new(ErrorCode::Argument, format!("extents: `{name}` is a word of the program's text"))
                .help("name the extent otherwise, as in `rows`"));
        }
        if split.iter().any(|other| other.len() != first.len()) {
            return Err(differs("the number of its operations depends on the extents"));
        }
        let mut template = Template { names: names.to_vec(), parts: Vec::new() };
        for (at, &token) in first.iter().enumerate() {
            if split.iter().all(|other| other[at] == token) {
                template.push_text(token);
                continue;
            }
            let value = |n: usize| split[n][at].parse::<i64>().ok();
            let values: Option<Vec<i64>> = (0..split.len()).map(value).collect();
            let unlike = || {
                differs(&format!(
                    "`{token}` for {} is `{}` for {}",
                    given(names, sizes),
                    split[split.len() - 1][at],
                    given(names, &texts[texts.len() - 1].0)
                ))
            };
            let number = values.and_then(|values| Affine::through(texts, &values)).ok_or_else(unlike)?;
            template.parts.push(TemplatePart::Number(number));
        }
        Ok(template)
    }

    /// Parses the text of `Display`.
    ///
    /// # Errors
    /// `Parse` for an invalid function; `Argument` for invalid names.
    pub fn parse(text: &str, names: &[String]) -> Result<Template> {
        check_names(names)?;
        let mut template = Template { names: names.to_vec(), parts: Vec::new() };
        let mut all = tokens(text);
        while let Some(token) = all.next() {
            if token == "<" {
                let mut inner = Vec::new();
                loop {
                    match all.next() {
                        Some(">") => break,
                        Some(token) if inner.len() < 8 * MAX_EXTENTS => inner.push(token),
                        _ => return Err(Error::new(ErrorCode::Parse, "extents: a `<` without `>`")),
                    }
                }
                template.parts.push(TemplatePart::Number(Affine::parse(&inner, names)?));
            } else if let Some(name) = names.iter().position(|name| name == token) {
                template.parts.push(TemplatePart::Number(Affine::of(name, names.len())));
            } else {
                template.push_text(token);
            }
        }
        Ok(template)
    }

    /// The names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The text for these sizes, one for each name.
    ///
    /// # Errors
    /// `Shape` if a number is beyond 63 bits.
    pub fn text(&self, sizes: &[usize]) -> Result<String> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                TemplatePart::Text(part) => text.push_str(part),
                TemplatePart::Number(number) => {
                    let value = number.at(sizes).ok_or_else(|| {
                        Error::new(ErrorCode::Shape, format!("extents: {} are too large", given(&self.names, sizes)))
                            .help("use smaller arrays")
                    })?;
                    // Writing to a string does not fail.
                    let _ = write!(text, "{value}");
                }
            }
        }
        Ok(text)
    }

    fn push_text(&mut self, token: &str) {
        match self.parts.last_mut() {
            Some(TemplatePart::Text(text)) => text.push_str(token),
            _ => self.parts.push(TemplatePart::Text(token.to_owned())),
        }
    }
}

/// The names with their sizes: `n = 3, m = 4`.
pub fn given(names: &[String], sizes: &[usize]) -> String {
    let pairs: Vec<String> = names.iter().zip(sizes).map(|(name, size)| format!("{name} = {size}")).collect();
    pairs.join(", ")
}

impl Affine {
    fn of(name: usize, names: usize) -> Affine {
        let mut coefficients = vec![0; names];
        coefficients[name] = 1;
        Affine { constant: 0, coefficients }
    }

    /// The function with these values, if there is one: text `n + 1` differs from the first in the size of name `n`.
    fn through(texts: &[(Vec<usize>, String)], values: &[i64]) -> Option<Affine> {
        let first = &texts.first()?.0;
        let mut number = Affine { constant: *values.first()?, coefficients: Vec::with_capacity(first.len()) };
        for (name, &size) in first.iter().enumerate() {
            let size = i64::try_from(size).ok()?;
            let other = texts.get(name + 1)?;
            let step = i64::try_from(other.0[name]).ok()?.checked_sub(size)?;
            let rise = values.get(name + 1)?.checked_sub(values[0])?;
            if rise.checked_rem(step)? != 0 {
                return None;
            }
            let coefficient = rise / step;
            number.constant = number.constant.checked_sub(coefficient.checked_mul(size)?)?;
            number.coefficients.push(coefficient);
        }
        texts.iter().zip(values).all(|((sizes, _), value)| number.at(sizes) == Some(*value)).then_some(number)
    }

    fn at(&self, sizes: &[usize]) -> Option<i64> {
        let mut value = self.constant;
        for (&size, &coefficient) in sizes.iter().zip(&self.coefficients) {
            value = value.checked_add(i64::try_from(size).ok()?.checked_mul(coefficient)?)?;
        }
        Some(value)
    }

    /// `2 * n + m - 1`, in tokens.
    fn parse(tokens: &[&str], names: &[String]) -> Result<Affine> {
        let wrong = || {
            let text = tokens.concat();
            Error::new(ErrorCode::Parse, format!("extents: `<{}>` is no affine function", text.escape_debug()))
                .help("write sums of names and numbers, such as `<2*n - 1>`")
        };
        let mut number = Affine { constant: 0, coefficients: vec![0; names.len()] };
        let words: Vec<&str> = tokens.iter().copied().filter(|token| !token.trim().is_empty()).collect();
        let mut words = words.iter().map(|word| word.trim()).peekable();
        let mut sign = 1i64;
        loop {
            while let Some(mark) = words.next_if(|word| ["+", "-"].contains(word)) {
                sign = if mark == "-" { -sign } else { sign };
            }
            let word = words.next().ok_or_else(wrong)?;
            let (factor, name) = match word.parse::<i64>() {
                Ok(factor) if words.next_if_eq(&"*").is_some() => (factor, Some(words.next().ok_or_else(wrong)?)),
                Ok(constant) => (constant, None),
                Err(_) => (1, Some(word)),
            };
            let term = match name {
                None => &mut number.constant,
                Some(name) => {
                    let at = names.iter().position(|known| known == name).ok_or_else(wrong)?;
                    &mut number.coefficients[at]
                }
            };
            *term = factor.checked_mul(sign).and_then(|factor| term.checked_add(factor)).ok_or_else(wrong)?;
            sign = match words.next() {
                None => return Ok(number),
                Some("+") => 1,
                Some("-") => -1,
                Some(_) => return Err(wrong()),
            };
        }
    }

    fn write(&self, names: &[String], beside_word: bool, f: &mut Formatter<'_>) -> fmt::Result {
        let single = !beside_word && self.constant == 0 && self.coefficients.iter().filter(|&&c| c != 0).count() == 1;
        if let (true, Some(name)) = (single, self.coefficients.iter().position(|&c| c == 1)) {
            return f.write_str(&names[name]);
        }
        f.write_str("<")?;
        let mut begun = false;
        for (name, &coefficient) in names.iter().zip(&self.coefficients).filter(|(_, c)| **c != 0) {
            match (begun, coefficient < 0) {
                (false, false) => {}
                (false, true) => f.write_str("-")?,
                (true, false) => f.write_str(" + ")?,
                (true, true) => f.write_str(" - ")?,
            }
            match coefficient.unsigned_abs() {
                1 => f.write_str(name)?,
                factor => write!(f, "{factor}*{name}")?,
            }
            begun = true;
        }
        match (begun, self.constant) {
            (true, 0) => {}
            (true, constant) => write!(f, " {} {}", if constant < 0 { "-" } else { "+" }, constant.unsigned_abs())?,
            (false, constant) => write!(f, "{constant}")?,
        }
        f.write_str(">")
    }
}

impl Display for Template {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut after_word = false;
        for (n, part) in self.parts.iter().enumerate() {
            match part {
                TemplatePart::Text(text) => {
                    f.write_str(text)?;
                    after_word = text.ends_with(is_of_word);
                }
                TemplatePart::Number(number) => {
                    // Beside a word, a name would be a part of it.
                    let before_word = match self.parts.get(n + 1) {
                        Some(TemplatePart::Text(text)) => text.starts_with(is_of_word),
                        Some(TemplatePart::Number(_)) => true,
                        None => false,
                    };
                    number.write(&self.names, after_word || before_word, f)?;
                    after_word = true;
                }
            }
        }
        Ok(())
    }
}

/// Checks names of extents: words, each once.
///
/// # Errors
/// `Argument` for other names, or too many.
pub fn check_names(names: &[String]) -> Result<()> {
    let wrong = |what: String| {
        Err(Error::new(ErrorCode::Argument, format!("extents: {what}"))
            .help(format!("name up to {MAX_EXTENTS} extents by different words, as in `f32[n, m]`")))
    };
    if names.len() > MAX_EXTENTS {
        return wrong(format!("{} names", names.len()));
    }
    for (n, name) in names.iter().enumerate() {
        let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_word || names[..n].contains(name) {
            return wrong(format!("`{}` is no new word", name.escape_debug()));
        }
    }
    Ok(())
}

fn differs(what: &str) -> Error {
    Error::new(ErrorCode::Shape, "extents: the program is another for other sizes")
        .fact(what)
        .help("use operations that do not depend on the sizes, or trace a program for each size")
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The tokens of a text: words, numbers, and single other characters.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let class = |c: char| match c {
        c if c.is_ascii_digit() => 1,
        c if c.is_ascii_alphabetic() || c == '_' => 2,
        _ => 0,
    };
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = class(rest.chars().next()?);
        let end = match first {
            0 => rest.chars().next().map_or(0, char::len_utf8),
            // A number ends before a word; a word has digits.
            1 => rest.find(|c| class(c) != 1).unwrap_or(rest.len()),
            _ => rest.find(|c| class(c) == 0).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(token)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    /// The template of a text for sizes of n and m.
    fn of(text: impl Fn(usize, usize) -> String) -> Result<Template> {
        let sizes = [[11, 13], [17, 13], [11, 19], [23, 29]];
        let texts: Vec<_> = sizes.iter().map(|&[n, m]| (vec![n, m], text(n, m))).collect();
        Template::generalize(&names(&["n", "m"]), &texts)
    }

    #[test]
    fn affine_numbers_are_found() {
        let text =
            |n: usize, m: usize| format!("f32[{n}, 3, {}] (d0) -> (d0 + {}) {} {n}_i64", n + m, n - 1, 2 * m + 1);
        let template = of(text).unwrap();
        assert_eq!(template.to_string(), "f32[n, 3, <n + m>] (d0) -> (d0 + <n - 1>) <2*m + 1> <n>_i64");
        assert_eq!(Template::parse(&template.to_string(), template.names()).unwrap(), template);
        assert_eq!(template.text(&[40, 50]).unwrap(), text(40, 50));
        assert!(template.text(&[usize::MAX, 1]).is_err());
    }

    #[test]
    fn other_differences_are_errors() {
        for text in [
            |n: usize, m: usize| format!("[{}]", n * m),
            |n: usize, _: usize| format!("[{}]", n / 2),
            |n: usize, _: usize| if n > 20 { "sin".to_owned() } else { "cos".to_owned() },
            |n: usize, _: usize| "add ".repeat(n),
        ] {
            assert_eq!(of(text).unwrap_err().code(), ErrorCode::Shape);
        }
        // A name that is a word of the text.
        assert_eq!(of(|n, _| format!("m [{n}]")).unwrap_err().code(), ErrorCode::Argument);
        for wrong in ["<n", "<>", "<n*m>", "<n n>", "<q>", "<9223372036854775807 + 1>"] {
            assert_eq!(Template::parse(wrong, &names(&["n", "m"])).unwrap_err().code(), ErrorCode::Parse, "{wrong}");
        }
        assert!(check_names(&names(&["n", "n"])).is_err() && check_names(&names(&["2"])).is_err());
    }
}
