//! The numbers of a table, eight bytes each: integers if all are, else floats.

use crate::memory::grow;
use ndjit::{Array, Error};
use ndjit_expressions::{Budget, Reservation};

/// A list that reserves memory from a budget as it grows.
pub(super) struct Growing<T> {
    items: Vec<T>,
    reservation: Reservation,
    /// Number of items reserved.
    reserved: usize,
}

/// Number of items reserved at once.
const STEP: usize = 1 << 13;

impl<T> Growing<T> {
    pub fn new(budget: &Budget, what: &'static str) -> Result<Growing<T>, Error> {
        Ok(Growing { items: Vec::new(), reservation: budget.reserve(what, 0)?, reserved: 0 })
    }

    pub fn push(&mut self, item: T) -> Result<(), Error> {
        if self.items.len() == self.reserved {
            let bytes = |count: usize| count.saturating_mul(size_of::<T>());
            let wanted = self.reserved + STEP;
            if wanted > self.items.capacity() {
                // While moved, items are in memory twice; unwritten memory takes none.
                self.reservation.resize(bytes(wanted).saturating_add(bytes(self.reserved)))?;
                let more = self.items.capacity().max(STEP);
                grow(&mut self.items, more)?;
            }
            self.reservation.resize(bytes(wanted))?;
            self.reserved = wanted;
        }
        self.items.push(item);
        Ok(())
    }

    pub fn items(&self) -> &[T] {
        &self.items
    }
}

/// The reason for rejecting a field.
pub(super) enum RefusedField {
    /// Not a number.
    Text,
    /// Not enough memory.
    Memory(Error),
}

impl From<Error> for RefusedField {
    fn from(error: Error) -> RefusedField {
        RefusedField::Memory(error)
    }
}

/// The numbers read.
pub(super) struct Cells {
    /// Integers, or the bits of floats.
    bits: Growing<u64>,
    integers: bool,
    /// The indices of integers written as `-0`, which differs from 0 as a float.
    negative_zeros: Growing<usize>,
    /// The first decimal mark.
    mark: Option<char>,
    /// True if a comma may be a decimal mark.
    commas: bool,
}

impl Cells {
    pub fn new(budget: &Budget, commas: bool) -> Result<Cells, Error> {
        let bits = Growing::new(budget, "numbers of tables")?;
        let negative_zeros = Growing::new(budget, "numbers of tables")?;
        Ok(Cells { bits, integers: true, negative_zeros, mark: None, commas })
    }

    pub fn push(&mut self, text: &str) -> Result<(), RefusedField> {
        let mark = text.chars().find(|c| matches!(c, '.' | ','));
        if self.mark.is_some() && mark.is_some() && self.mark != mark {
            return Err(RefusedField::Text);
        }
        if let (true, Ok(int)) = (self.integers, text.parse::<i64>()) {
            if int == 0 && text.starts_with('-') {
                self.negative_zeros.push(self.bits.items.len())?;
            }
            return Ok(self.bits.push(int as u64)?);
        }
        let value = if text.is_empty() { f64::NAN } else { self.number(text).ok_or(RefusedField::Text)? };
        self.mark = self.mark.or(mark);
        if std::mem::take(&mut self.integers) {
            // Rounded as their texts would be.
            self.bits.items.iter_mut().for_each(|bits| *bits = (*bits as i64 as f64).to_bits());
            for &at in self.negative_zeros.items() {
                self.bits.items[at] = (-0.0f64).to_bits();
            }
        }
        Ok(self.bits.push(value.to_bits())?)
    }

    /// Parses a number with a decimal point, or with a decimal comma if commas are not separators.
    pub fn number(&self, text: &str) -> Option<f64> {
        let parsed = text.parse().ok();
        parsed
            .or_else(|| (self.commas && !text.contains('.')).then(|| text.replacen(',', ".", 1).parse().ok()).flatten())
    }

    pub fn way_out(&self, text: &str) -> String {
        let digits = text.chars().all(|c| c.is_ascii_digit() || "+-.,' \u{a0}".contains(c));
        match self.mark {
            Some(mark) if digits => {
                format!("`{mark}` is the decimal mark of the numbers before; write them without marks of thousands")
            }
            None if digits && !self.commas => "decimal commas are read where fields are separated by `;`".to_owned(),
            None if digits => "write numbers without marks of thousands".to_owned(),
            _ => "choose a column of numbers: `x=data.csv:column`; nothing between two separators is NaN".to_owned(),
        }
    }

    /// The number of cells.
    pub fn count(&self) -> usize {
        self.bits.items.len()
    }

    /// The numbers as an array, with their reservation. `i64` if all are integers and there is at least one.
    pub fn array(self) -> (Array, Reservation) {
        let Growing { items, reservation, .. } = self.bits;
        // Both collect in place.
        let array = match self.integers && !items.is_empty() {
            true => Array::from(items.into_iter().map(|bits| bits as i64).collect::<Vec<i64>>()),
            false => Array::from(items.into_iter().map(f64::from_bits).collect::<Vec<f64>>()),
        };
        (array, reservation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(texts: &[&str]) -> Array {
        let mut cells = Cells::new(&Budget::new(1 << 20), true).unwrap();
        texts.iter().for_each(|text| assert!(cells.push(text).is_ok(), "{text}"));
        cells.array().0
    }

    #[test]
    fn integers_become_the_floats_that_their_texts_are() {
        let texts = ["9007199254740993", "-0", "0", "-9223372036854775808", "+7"];
        assert_eq!(array(&texts).to_vec::<i64>().unwrap(), [9007199254740993, 0, 0, i64::MIN, 7]);
        let floats = array(&[&texts[..], &["", "0.5", "-0", "18446744073709551615"]].concat()).to_vec::<f64>().unwrap();
        let expected: Vec<f64> = texts.iter().map(|text| text.parse().unwrap()).collect();
        assert_eq!(
            floats[..5].iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
            expected.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        );
        assert!(floats[5].is_nan() && floats[7].is_sign_negative() && floats[8] == 18446744073709551615.0);
    }

    #[test]
    fn what_is_added_is_reserved_before() {
        let budget = Budget::new(STEP * 8 * 4);
        let mut growing: Growing<u64> = Growing::new(&budget, "numbers").unwrap();
        let added = (0..).find(|&n| growing.push(n).is_err()).unwrap();
        // At the last move, they were in memory twice.
        assert!(added >= STEP as u64 * 2 && budget.left() <= STEP * 8 * 2, "{added} with {} left", budget.left());
        drop(growing);
        assert_eq!(budget.left(), STEP * 8 * 4);
    }
}
