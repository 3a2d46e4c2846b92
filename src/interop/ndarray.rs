//! `ndarray`: conversions from and to its arrays, and its views as inputs.

use crate::array::node::Array;
use crate::jit::input::{Arg, Input};
use ::ndarray::{ArrayBase, ArrayD, ArrayView, Data, Dimension, IxDyn};
use ndjit_eval::argument::CallArgument;
use ndjit_ir::loops::Layout;
use ndjit_ir::reserve::collect;
use ndjit_ir::{Error, Result, Shape};
use ndjit_runtime::Element;

impl<T: Element, S: Data<Elem = T>, D: Dimension> From<&ArrayBase<S, D>> for Array {
    /// Copies the elements in logical order.
    fn from(array: &ArrayBase<S, D>) -> Array {
        match collect("ndarray", array.iter().copied()) {
            Ok(elements) => Array::from_elements(Shape::new(array.shape()), elements),
            Err(error) => Array::poisoned(error),
        }
    }
}

impl<T: Element, D: Dimension> From<::ndarray::Array<T, D>> for Array {
    /// Creates an array like the conversion of a `Vec`, if the elements are in row-major order: the memory is reused,
    /// except that up to 1 MiB is copied to aligned memory.
    fn from(array: ::ndarray::Array<T, D>) -> Array {
        if !array.is_standard_layout() {
            return Array::from(&array);
        }
        let (shape, array_size) = (Shape::new(array.shape()), array.len());
        match array.into_raw_vec_and_offset() {
            (mut elements, Some(0) | None) => {
                // A slice of an owned array still owns the elements after it.
                elements.truncate(array_size);
                Array::from_elements(shape, elements)
            }
            (mut elements, Some(offset)) => {
                elements.truncate(offset + array_size);
                elements.drain(..offset);
                Array::from_elements(shape, elements)
            }
        }
    }
}

impl<T: Element> TryFrom<Array> for ArrayD<T> {
    type Error = Error;

    /// Returns the elements, without a copy if [`Array::into_vec`] makes none.
    fn try_from(array: Array) -> Result<ArrayD<T>> {
        let shape = IxDyn(array.shape().extents());
        let elements = array.into_vec::<T>()?;
        ArrayD::from_shape_vec(shape, elements)
            .map_err(|e| Error::new(ndjit_ir::ErrorCode::Shape, format!("ndarray: {e}")))
    }
}

impl<T: Element> TryFrom<&Array> for ArrayD<T> {
    type Error = Error;

    fn try_from(array: &Array) -> Result<ArrayD<T>> {
        ArrayD::try_from(array.clone())
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T: Element, D: Dimension> Input<'a> for ArrayView<'a, T, D> {
    /// Reads a view of contiguous elements in place, in any order of axes. Other views are copied: the memory in the
    /// gaps of a view may be borrowed mutably elsewhere.
    fn arg(self) -> Result<Arg<'a>> {
        let shape = Shape::new(self.shape());
        let element = size_of::<T>();
        if let Some(elements) = self.to_slice() {
            return Ok(Arg { argument: CallArgument { shape, ..CallArgument::slice(elements) } });
        }
        let gapless = self.strides().iter().all(|&s| s >= 0).then(|| self.clone()).and_then(|view| {
            let mut order: Vec<usize> = (0..view.ndim()).collect();
            order.sort_by_key(|&axis| std::cmp::Reverse(view.strides()[axis]));
            view.into_dyn().permuted_axes(order).to_slice()
        });
        match gapless {
            Some(elements) => {
                let strides = self.strides().iter().map(|s| s * element as isize).collect();
                let layout = Some(Layout { offset: 0, strides });
                Ok(Arg { argument: CallArgument { shape, layout, ..CallArgument::slice(elements) } })
            }
            None => Array::from(&self).arg(),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T: Element, S: Data<Elem = T>, D: Dimension> Input<'a> for &'a ArrayBase<S, D> {
    fn arg(self) -> Result<Arg<'a>> {
        self.view().arg()
    }
}
