//! Type queries: common types, and casts that promotion allows. They use the [current policy](crate::policy);
//! [`Policy`](crate::Policy) has the same queries as methods.
//!
//! Queries use only types, never values. They compute nothing, and record nothing in a trace.

use crate::api::config;
use crate::api::creation::{AsArray, Source};
use crate::array::node::Array;
use crate::trace::arity::for_each_tuple;
use crate::trace::expr::Expr;
use crate::trace::scalar::{Number, Scalar, each_number};
use ndjit_eval::array::ArrayRef;
use ndjit_ir::op::TypeRule;
use ndjit_ir::{DType, Result, SourceLoc, ValueType, Weak};
use smallvec::SmallVec;

/// A typed operand: dtypes and types themselves, arrays, expressions, and scalars; literals are weak.
///
/// ```
/// use ndjit::{Array, DType, promote_types};
///
/// assert_eq!(promote_types(&Array::from([1u8]), DType::F16)?, DType::F16.into());
/// # Ok::<(), ndjit::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no dtype",
    label = "not a dtype, an array, an `Expr` or a number"
)]
pub trait HasType {
    /// Returns the type.
    ///
    /// # Errors
    /// That of a poisoned array or expression.
    fn type_of(&self) -> Result<ValueType>;
}

/// Several typed operands: tuples of up to twelve, arrays, slices and `Vec`s of [`HasType`].
///
/// ```
/// use ndjit::{DType, result_type};
///
/// assert_eq!(result_type((DType::U8, 1))?, DType::U8.into());
/// assert_eq!(result_type(&[DType::U8, DType::I8])?, DType::I16.into());
/// # Ok::<(), ndjit::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of operands",
    label = "not a tuple or slice of dtypes, arrays, expressions and numbers",
    note = "write `result_type((&x, 2, DType::F32))` or `result_type(&dtypes)`"
)]
pub trait HasTypes {
    #[doc(hidden)]
    fn types(&self) -> Result<SmallVec<[ValueType; 8]>>;
}

/// Returns the common type of two operands: the Array API's name for [`result_type`] of two.
///
/// ```
/// use ndjit::{Array, DType, Policy, Weak, promote_types, with_policy};
/// assert_eq!(promote_types(DType::U8, DType::I8)?, DType::I16.into());
/// assert_eq!(promote_types(DType::F16, 2.5)?, DType::F16.into());
/// assert_eq!(promote_types(1, 2.5)?, Weak::Float.into());
/// assert!(with_policy(Policy::Strict, || promote_types(DType::U8, DType::I8)).is_err());
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// `Promotion` if the policy defines no common type; that of a poisoned operand.
#[track_caller]
pub fn promote_types(left: impl HasType, right: impl HasType) -> Result<ValueType> {
    let place = SourceLoc::caller();
    config::policy().promote_types(left.type_of()?, right.type_of()?).map_err(|e| e.at(place))
}

/// Returns the common type of operands: arrays, expressions, dtypes and scalars, in this order if the policy depends on
/// order. It is weak if weak operands determine it, as with a float and integers; [`Policy::commit`](crate::Policy::commit)
/// then gives the dtype.
///
/// ```
/// use ndjit::{Array, DType, Weak, policy, result_type};
/// let x = Array::from([1i8, 2]);
/// assert_eq!(result_type((&x, 1000, DType::U8))?, DType::I16.into());
/// assert_eq!(result_type([DType::Bool, DType::F16, DType::Bf16])?, DType::F32.into());
/// assert_eq!(policy().commit(result_type((1, 2.0))?), DType::F32);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: the [Array API](https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.result_type.html).
///
/// # Errors
/// `Promotion` if the policy defines no common type; `Arity` for no operands; that of a poisoned operand.
#[track_caller]
pub fn result_type(operands: impl HasTypes) -> Result<ValueType> {
    let place = SourceLoc::caller();
    config::policy().result_type(&operands.types()?).map_err(|e| e.at(place))
}

/// Checks that promotion takes `from` to `to`: their common type is `to`. This is the Array API's
/// [`can_cast`](https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.can_cast.html).
/// [`Casting::allows`](crate::Casting::allows) has NumPy's safe and same-kind casts.
///
/// ```
/// use ndjit::{Array, Casting, DType, can_cast};
/// assert!(can_cast(DType::I8, DType::F32)? && can_cast(2, DType::I8)?);
/// assert!(!can_cast(&Array::from([1.5f32]), DType::I8)?);
/// assert!(can_cast(DType::I64, DType::F16)? && !Casting::Safe.allows(DType::I64, DType::F16));
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// That of a poisoned operand.
pub fn can_cast(from: impl HasType, to: DType) -> Result<bool> {
    Ok(config::policy().can_cast(from.type_of()?, to))
}

/// Returns the operands as arrays of their common type, each with its own shape. If that type is weak, so are the arrays,
/// and their elements are computed at once.
///
/// ```
/// use ndjit::{Array, DType, promote_arrays};
/// let (x, y) = (Array::from([1u8, 2]), Array::from([1i8]));
/// let [x, y, two] = promote_arrays((&x, &y, 2))?;
/// assert_eq!([x.dtype(), y.dtype(), two.dtype()], [DType::I16; 3]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// As [`result_type`]; `Literal` if a scalar does not fit the dtype.
#[track_caller]
pub fn promote_arrays<const N: usize>(operands: impl AsArrays<N>) -> Result<[Array; N]> {
    let (place, policy, sources) = (SourceLoc::caller(), config::policy(), operands.sources());
    let mut types: SmallVec<[ValueType; 8]> = SmallVec::new();
    for source in &sources {
        types.push(match source {
            Source::Number(number) => number.ty(),
            Source::Array(array) => array.type_of()?,
        });
    }
    let ty = policy.common_type("promote_arrays", TypeRule::Join, &types).map_err(|e| e.at(place))?;
    let arrays = sources.map(|source| promoted(source, ty, policy.commit(ty), place));
    match arrays.iter().find_map(Array::error) {
        Some(error) => Err(error.clone()),
        None => Ok(arrays),
    }
}

/// Returns an operand as an array of a type, stored as `dtype`.
fn promoted(source: Source, ty: ValueType, dtype: DType, place: SourceLoc) -> Array {
    match (source, ty) {
        (Source::Number(number), _) => Array::from_literal(&number, ty, dtype)
            .unwrap_or_else(|e| Array::poisoned(e.of("promote_arrays").at(place))),
        (Source::Array(array), _) if array.value_type() == ty && array.dtype() == dtype => array,
        (Source::Array(array), ValueType::Strong(dtype)) => crate::array::lazy::cast(&array, dtype, place),
        // Programs cast only to dtypes, so the elements are computed and then marked weak.
        (Source::Array(array), ValueType::Weak(_)) => match crate::array::lazy::cast(&array, dtype, place).memory() {
            Ok(memory) => Array(ArrayRef::in_memory(ty, dtype, array.shape().clone(), memory.clone())),
            Err(error) => Array::poisoned(error.clone()),
        },
    }
}

macro_rules! own_types {
    ($($t:ty, $x:ident => $ty:expr;)*) => {$(
        impl HasType for $t {
            fn type_of(&self) -> Result<ValueType> {
                let $x = self;
                $ty
            }
        }
    )*};
}

own_types! {
    DType, dtype => Ok((*dtype).into());
    Weak, weak => Ok((*weak).into());
    ValueType, ty => Ok(*ty);
    Scalar, number => Ok(number.value_type());
    Expr, x => crate::trace::recorder::describe(*x, "type_of").map(|(ty, ..)| ty);
    Array, array => match array.error() {
        Some(error) => Err(error.clone()),
        None => Ok(array.value_type()),
    };
}

macro_rules! number_types {
    ($($t:ty)*) => {$(
        impl HasType for $t {
            fn type_of(&self) -> Result<ValueType> {
                Ok(self.literal().ty())
            }
        }
    )*};
}

each_number!(number_types);

impl<T: HasType + ?Sized> HasType for &T {
    fn type_of(&self) -> Result<ValueType> {
        (**self).type_of()
    }
}

impl<T: HasType> HasTypes for [T] {
    fn types(&self) -> Result<SmallVec<[ValueType; 8]>> {
        self.iter().map(HasType::type_of).collect()
    }
}

impl<T: HasType, const N: usize> HasTypes for [T; N] {
    fn types(&self) -> Result<SmallVec<[ValueType; 8]>> {
        self[..].types()
    }
}

impl<T: HasType> HasTypes for Vec<T> {
    fn types(&self) -> Result<SmallVec<[ValueType; 8]>> {
        self[..].types()
    }
}

impl<T: HasTypes + ?Sized> HasTypes for &T {
    fn types(&self) -> Result<SmallVec<[ValueType; 8]>> {
        (**self).types()
    }
}

/// Operands of [`promote_arrays`]: a tuple of up to twelve of [`AsArray`], or an array `[T; N]` of them.
///
/// ```
/// use ndjit::{Array, DType, promote_arrays};
///
/// let [x, y] = promote_arrays((&Array::from([1u8]), &Array::from([1i8])))?;
/// assert_eq!((x.dtype(), y.dtype()), (DType::I16, DType::I16));
/// # Ok::<(), ndjit::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of arrays and numbers",
    label = "not a tuple of arrays and numbers",
    note = "write `promote_arrays((&x, &y, 2))`"
)]
pub trait AsArrays<const N: usize> {
    #[doc(hidden)]
    fn sources(self) -> [Source; N];
}

impl<T: AsArray, const N: usize> AsArrays<N> for [T; N] {
    fn sources(self) -> [Source; N] {
        self.map(AsArray::source)
    }
}

macro_rules! tuples {
    ($($n:literal $($t:ident)*;)*) => {$(
        impl<$($t: HasType),*> HasTypes for ($($t,)*) {
            #[allow(non_snake_case)]
            fn types(&self) -> Result<SmallVec<[ValueType; 8]>> {
                let ($($t,)*) = self;
                Ok(SmallVec::from_slice(&[$($t.type_of()?),*]))
            }
        }

        impl<$($t: AsArray),*> AsArrays<$n> for ($($t,)*) {
            #[allow(non_snake_case)]
            fn sources(self) -> [Source; $n] {
                let ($($t,)*) = self;
                [$($t.source()),*]
            }
        }
    )*};
}

for_each_tuple!(tuples);
