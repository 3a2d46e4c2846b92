//! The variance, in one pass over the elements: squared distances from a center near the mean, and a correction by
//! their sum.
//!
//! For every center `c`, the sum of `(x - m)^2`, where `m` is the mean, is that of `(x - c)^2` less `n (m - c)^2`
//! (Chan, Golub, LeVeque, Algorithms for computing the sample variance, 1983, equation 1.6). The correction must not be
//! much larger than the difference. With the mean of a sample of `k` of the `n` elements as the center it is at most
//! `n / k - 1` times as large, for all elements: the sample itself is as far from `m`. Samples are a 64th of the
//! elements or more, from four places.

use super::{Building, accumulated};
use ndjit_ir::graph::Value;
use ndjit_ir::reduction::Reduction;
use ndjit_ir::view::{Slice, slice};
use ndjit_ir::{Op, Result};

/// The number of places of a sample.
const PLACES: usize = 4;
/// The number of elements per element of the sample.
const ONE_OF: usize = 64;

impl Building<'_, '_> {
    pub(super) fn variance(&mut self, x: Value, correction: Option<Value>) -> Result<Value> {
        let wide = self.cast(x, accumulated(self.ty(x)));
        let center = self.center(wide)?;
        let distance = self.op(Op::Subtract, &[wide, center]);
        let square = self.squared(distance);
        let squares = self.elementary(Reduction::Sum, square, self.keepdims);
        let real = self.ty(squares);
        let mut count = self.number(self.count(wide), real);
        let distances = self.elementary(Reduction::Sum, distance, self.keepdims);
        let beyond = self.squared_over(distances, count);
        // Overflowing squares are not corrected, and infinite elements have no distance. The variance is not below 0.
        let zero = self.number(0, real);
        let finite = self.op(Op::IsFinite, &[beyond]);
        let none = self.nothing(distances);
        let beyond = self.op(Op::Where, &[finite, beyond, none]);
        let sum = self.op(Op::Subtract, &[squares, beyond]);
        let sum = self.op(Op::Maximum, &[sum, zero]);
        if let Some(correction) = correction {
            count = self.op(Op::Subtract, &[count, correction]);
            count = self.op(Op::Maximum, &[count, zero]);
        }
        Ok(self.op(Op::Divide, &[sum, count]))
    }

    /// Computes the mean of a sample from the distances to its first element. If all elements are equal it is exact,
    /// and the variance 0.
    fn center(&mut self, wide: Value) -> Result<Value> {
        let shape = self.commit.rewriter.new.shape(wide).clone();
        let extents = shape.extents();
        let longest = self.axes.iter().max_by_key(|&axis| (extents[axis], std::cmp::Reverse(axis)));
        let Some(along) = longest.filter(|_| self.count(wide) > 0) else {
            return Ok(self.number(0, self.ty(wide)));
        };
        let extent = extents[along];
        let places = PLACES.min(extent);
        let len = extent.div_ceil(PLACES * ONE_OF);
        let range = |start: usize, len: usize| Slice::Range {
            start: Some(start as isize),
            end: Some((start + len) as isize),
            step: 1,
        };
        let first = (0..shape.rank()).map(|axis| if self.axes.contains(axis) { range(0, 1) } else { Slice::ALL });
        let first = self.slice(wide, &first.collect::<Vec<Slice>>())?;
        let mut distances: Vec<Value> = Vec::new();
        for place in 0..places {
            let part = (0..shape.rank())
                .map(|axis| if axis == along { range(place * (extent / places), len) } else { Slice::ALL });
            let part = self.slice(wide, &part.collect::<Vec<Slice>>())?;
            distances.push(self.op(Op::Subtract, &[part, first]));
        }
        let count = self.number(places * self.count(distances[0]), self.ty(wide));
        let distances = self.total(&distances);
        let sum = self.elementary(Reduction::Sum, distances, true);
        let mean = self.op(Op::Divide, &[sum, count]);
        let center = self.op(Op::Add, &[first, mean]);
        // Any center is valid: 0 for overflowing distances and infinite elements.
        let finite = self.op(Op::IsFinite, &[center]);
        let zero = self.number(0, self.ty(wide));
        Ok(self.op(Op::Where, &[finite, center, zero]))
    }

    /// Returns 0, or NaN if a value is not finite.
    fn nothing(&mut self, value: Value) -> Value {
        let nothings: Vec<Value> = self.parts(value).iter().map(|&part| self.op(Op::Subtract, &[part, part])).collect();
        self.total(&nothings)
    }

    fn slice(&mut self, x: Value, parts: &[Slice]) -> Result<Value> {
        let out = &mut self.commit.rewriter.new;
        let (view, shape) = slice(out.shape(x), parts)?;
        let view = out.view(x, view, &shape);
        Ok(self.part(view))
    }

    /// Squares a value's magnitude: for a complex number, the sum of its parts' squares.
    fn squared(&mut self, value: Value) -> Value {
        let squares: Vec<Value> = self.parts(value).iter().map(|&part| self.op(Op::Square, &[part])).collect();
        self.total(&squares)
    }

    /// Squares the magnitude and divides it by a real number, without overflow of the square.
    fn squared_over(&mut self, value: Value, count: Value) -> Value {
        let quotient = |this: &mut Self, part: Value| {
            let over = this.op(Op::Divide, &[part, count]);
            this.op(Op::Multiply, &[part, over])
        };
        let quotients: Vec<Value> = self.parts(value).iter().map(|&part| quotient(self, part)).collect();
        self.total(&quotients)
    }
}
