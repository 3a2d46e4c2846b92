//! Subscripts of `einsum`: `ij,jk->ik`, `...i,...i`, `ii->i`. Letters label axes; three dots represent those without a
//! letter, which broadcast from the last. Without `->` the result has the axes of the dots, then the letters that occur
//! once, A to Z before a to z. (NumPy, `einsum`.)
//!
//! Parsing any text gives a contraction or an error: nothing recurses, and no sum wraps.

use super::{Contraction, Label, LabelSet, Labels, MAX_LABELS};
use ndjit_ir::error::{Error, ErrorCode, Result};
use std::fmt;

/// Labels of letters are below this one; axes without a letter are numbered from it, the last axis first.
const FIRST_UNNAMED: Label = 52;

/// Parsed subscripts: for each operand, and for the result, the labels of its axes.
///
/// ```
/// use ndjit_transform::contraction::Subscripts;
///
/// let subscripts: Subscripts = "... i j, jk".parse()?;
/// assert_eq!(subscripts.to_string(), "...ij,jk->...ik");
/// let contraction = subscripts.contraction(&[3, 2])?;
/// assert_eq!(contraction.result.len(), 3);
/// assert!("ij,jk->il".parse::<Subscripts>().is_err());
/// # Ok::<(), ndjit_ir::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscripts {
    operands: Vec<SubscriptTerm>,
    result: SubscriptTerm,
}

/// The subscript of one array.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
struct SubscriptTerm {
    letters: Labels,
    /// The index of the letter after the three dots.
    dots: Option<usize>,
}

/// Returns the label of a letter. A to Z come before a to z, as they do in an implicit result.
fn label(letter: char) -> Option<Label> {
    match letter {
        'A'..='Z' => Some(letter as u8 - b'A'),
        'a'..='z' => Some(letter as u8 - b'a' + 26),
        _ => None,
    }
}

/// Returns the letter of a label, or `.` for an axis without a letter.
pub(super) fn letter(label: Label) -> char {
    match label {
        0..26 => char::from(b'A' + label),
        26..FIRST_UNNAMED => char::from(b'a' + label - 26),
        _ => '.',
    }
}

fn error(what: String) -> Error {
    Error::new(ErrorCode::Parse, what).help(
        "subscripts are letters, one for each axis, `...` for axes without one, `,` between operands and `->` before the result, as \
         in \"ij,jk->ik\"",
    )
}

impl SubscriptTerm {
    /// Parses one term of `text`, which has no spaces.
    fn read(term: &str, text: &str) -> Result<SubscriptTerm> {
        let mut read = SubscriptTerm::default();
        let mut rest = term.chars();
        while let Some(next) = rest.next() {
            match label(next) {
                Some(label) => read.letters.push(label),
                None if next == '.' => {
                    let three = rest.next() == Some('.') && rest.next() == Some('.');
                    if !three {
                        return Err(error(format!("dots in \"{text}\" that are not three")));
                    }
                    if read.dots.replace(read.letters.len()).is_some() {
                        return Err(error(format!("\"{term}\" in \"{text}\" has `...` twice")));
                    }
                }
                None => return Err(error(format!("{next:?} in \"{text}\" is not a letter"))),
            }
        }
        Ok(read)
    }

    /// Returns the labels of an array with this number of unnamed axes.
    fn labels(&self, unnamed: usize) -> Labels {
        let at = self.dots.unwrap_or(self.letters.len());
        let dots = (0..unnamed).rev().map(|from_last| FIRST_UNNAMED.saturating_add(from_last as Label));
        self.letters[..at].iter().copied().chain(dots).chain(self.letters[at..].iter().copied()).collect()
    }
}

impl std::str::FromStr for Subscripts {
    type Err = Error;

    /// Parses subscripts. Spaces are ignored.
    ///
    /// # Errors
    /// `Parse` for characters other than letters, `...`, `,`, `->`, for more than one arrow, for repeated dots in one
    /// subscript, and for letters of the result that are repeated or in no operand.
    fn from_str(text: &str) -> Result<Subscripts> {
        let dense: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        let (operands, result) = match dense.split_once("->") {
            Some((operands, result)) => (operands, Some(result)),
            None => (&dense[..], None),
        };
        if result.is_some_and(|result| result.contains("->")) {
            let arrows = dense.matches("->").count();
            return Err(error(format!("\"{dense}\" has {arrows} arrows; one stands before the result")));
        }
        let operands = operands
            .split(',')
            .map(|term| SubscriptTerm::read(term, &dense))
            .collect::<Result<Vec<SubscriptTerm>>>()?;
        let result = match result {
            Some(result) => explicit(SubscriptTerm::read(result, &dense)?, &operands, &dense)?,
            None => implicit(&operands),
        };
        Ok(Subscripts { operands, result })
    }
}

/// Counts the occurrences of each letter.
fn counts(operands: &[SubscriptTerm]) -> [usize; FIRST_UNNAMED as usize] {
    let mut counts = [0; FIRST_UNNAMED as usize];
    operands.iter().flat_map(|term| &term.letters).for_each(|&label| counts[usize::from(label)] += 1);
    counts
}

fn explicit(result: SubscriptTerm, operands: &[SubscriptTerm], text: &str) -> Result<SubscriptTerm> {
    let counts = counts(operands);
    for (n, &label) in result.letters.iter().enumerate() {
        if counts[usize::from(label)] == 0 {
            return Err(error(format!("`{}` of the result in \"{text}\" is in no operand", letter(label))));
        }
        if result.letters[..n].contains(&label) {
            return Err(error(format!("`{}` is twice in the result of \"{text}\"", letter(label))));
        }
    }
    Ok(result)
}

fn implicit(operands: &[SubscriptTerm]) -> SubscriptTerm {
    let counts = counts(operands);
    let letters = (0..FIRST_UNNAMED).filter(|&label| counts[usize::from(label)] == 1).collect();
    SubscriptTerm { letters, dots: operands.iter().any(|term| term.dots.is_some()).then_some(0) }
}

impl Subscripts {
    /// Returns the number of operands.
    pub fn arity(&self) -> usize {
        self.operands.len()
    }

    /// Returns the contraction of arrays of these ranks.
    ///
    /// # Errors
    /// `Arity` if the numbers of subscripts and arrays differ; `Shape` for an array of another rank than its
    /// subscript's, and for a result without `...` where these represent axes.
    pub fn contraction(&self, ranks: &[usize]) -> Result<Contraction> {
        if ranks.len() != self.operands.len() {
            let [terms, arrays] = [(self.operands.len(), "subscript"), (ranks.len(), "operand")]
                .map(|(count, what)| format!("{count} {what}{}", if count == 1 { "" } else { "s" }));
            return Err(Error::new(ErrorCode::Arity, format!("{terms} for {arrays}"))
                .fact(format_args!("the subscripts: \"{self}\""))
                .help("give a subscript for each operand, with `,` between them"));
        }
        let mut operands = Vec::with_capacity(ranks.len());
        let mut most = 0;
        for (n, (term, &rank)) in self.operands.iter().zip(ranks).enumerate() {
            let named = term.letters.len();
            let unnamed = match (term.dots, rank.checked_sub(named)) {
                (Some(_), Some(unnamed)) if usize::from(FIRST_UNNAMED) + unnamed <= MAX_LABELS => unnamed,
                (None, Some(0)) => 0,
                (dots, _) => {
                    let least = if dots.is_some() { "at least " } else { "" };
                    return Err(Error::new(
                        ErrorCode::Shape,
                        format!("\"{term}\" stands for {least}{named} axes, x{n} has {rank}"),
                    )
                    .fact(format_args!("the subscripts: \"{self}\""))
                    .help("name each axis by a letter; `...` stands for all that have none"));
                }
            };
            most = most.max(unnamed);
            operands.push(term.labels(unnamed));
        }
        if self.result.dots.is_none() && most > 0 {
            return Err(Error::new(ErrorCode::Shape, format!("the result has no `...`, which stands for {most} axes"))
                .fact(format_args!("the subscripts: \"{self}\""))
                .help(format!("keep these axes, as in `->...{}`, or sum over them afterwards", self.result)));
        }
        let result = self.result.labels(most);
        Ok(Contraction { operands, result, exact: LabelSet::default() })
    }

    /// Returns the name of a label in errors.
    pub fn name(label: Label) -> String {
        match letter(label) {
            '.' => "...".to_owned(),
            letter => letter.to_string(),
        }
    }
}

impl fmt::Display for SubscriptTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for n in 0..=self.letters.len() {
            if self.dots == Some(n) {
                f.write_str("...")?;
            }
            if let Some(&label) = self.letters.get(n) {
                write!(f, "{}", letter(label))?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Subscripts {
    /// Formats the subscripts with an explicit result.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, term) in self.operands.iter().enumerate() {
            write!(f, "{}{term}", if n > 0 { "," } else { "" })?;
        }
        write!(f, "->{}", self.result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        text.parse::<Subscripts>().map_or_else(|error| error.headline().to_owned(), |read| read.to_string())
    }

    #[test]
    fn results_are_implied() {
        assert_eq!(read("ij,jk"), "ij,jk->ik");
        assert_eq!(read("ba"), "ba->ab");
        assert_eq!(read("bA"), "bA->Ab");
        assert_eq!(read("ii"), "ii->");
        assert_eq!(read("i...,j..."), "i...,j...->...ij");
        assert_eq!(read(" i j , j -> i "), "ij,j->i");
        assert_eq!(read(""), "->");
        assert_eq!(read(","), ",->");
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(read("i1"), "'1' in \"i1\" is not a letter");
        assert_eq!(read("i.."), "dots in \"i..\" that are not three");
        assert_eq!(read("i....j"), "dots in \"i....j\" that are not three");
        assert_eq!(read("...i..."), "\"...i...\" in \"...i...\" has `...` twice");
        assert_eq!(read("ij->k"), "`k` of the result in \"ij->k\" is in no operand");
        assert_eq!(read("ij->ii"), "`i` is twice in the result of \"ij->ii\"");
        assert_eq!(read("i->j->k"), "\"i->j->k\" has 2 arrows; one stands before the result");
        assert_eq!(read("->i -> -> i"), "\"->i->->i\" has 3 arrows; one stands before the result");
        assert_eq!(read("i-j"), "'-' in \"i-j\" is not a letter");
        let of = |text: &str, ranks: &[usize]| {
            let contraction = text.parse::<Subscripts>().and_then(|read| read.contraction(ranks));
            contraction.map_or_else(|error| error.headline().to_owned(), |of| format!("{:?}", of.result))
        };
        assert_eq!(of("ij,jk", &[2]), "2 subscripts for 1 operand");
        assert_eq!(of("ij", &[3]), "\"ij\" stands for 2 axes, x0 has 3");
        assert_eq!(of("i...j", &[1]), "\"i...j\" stands for at least 2 axes, x0 has 1");
        assert_eq!(of("i...->i", &[3]), "the result has no `...`, which stands for 2 axes");
        assert_eq!(of("i...->i", &[1]), "[34]");
        assert_eq!(of("...i,...", &[1, 3]), "[54, 53, 52, 34]");
        assert_eq!(of("...", &[500]), "\"...\" stands for at least 0 axes, x0 has 500");
    }
}
