//! Arguments of calls, and the assumptions of plans about them.

use crate::literal::literal_bytes;
use crate::plan::compiled::Lengths;
use crate::settings::Settings;
use ndjit_inspect::explain::{self, ParamSource};
use ndjit_ir::graph::Type;
use ndjit_ir::literal::Literal;
use ndjit_ir::loops::Layout;
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Result, Shape, ValueType};
use ndjit_runtime::element::bytes_of;
use ndjit_runtime::{Argument, Buffer, Element, Memory};
use ndjit_transform::access::contiguous;
use smallvec::SmallVec;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// One argument of a call.
pub struct CallArgument<'a> {
    /// The type: a dtype, or weak.
    pub ty: ValueType,
    /// The dtype of the elements; meaningless for a weak scalar.
    pub dtype: DType,
    /// The extents of the axes.
    pub shape: Shape,
    /// `None` is row-major from the start of the memory.
    pub layout: Option<Layout>,
    /// The elements.
    pub data: ArgumentData<'a>,
}

/// The elements of an argument.
pub enum ArgumentData<'a> {
    /// Memory of an array.
    Shared(&'a Memory),
    /// Memory that a result may take.
    Donated(Memory),
    /// Memory of the caller.
    Borrowed(&'a [u8]),
    /// The bytes of a strong scalar.
    Inline(SmallVec<[u8; 16]>),
    /// A weak scalar: a literal slot filled at each call.
    Scalar(Literal),
}

impl<'a> CallArgument<'a> {
    /// One axis, contiguous.
    #[inline]
    pub fn slice<T: Element>(elements: &'a [T]) -> CallArgument<'a> {
        CallArgument {
            ty: ValueType::Strong(T::DTYPE),
            dtype: T::DTYPE,
            shape: Shape::new(&[elements.len()]),
            layout: None,
            data: ArgumentData::Borrowed(bytes_of(elements)),
        }
    }

    /// A scalar.
    ///
    /// # Errors
    /// `Literal` if its own dtype cannot represent it.
    pub fn literal(literal: Literal) -> Result<CallArgument<'a>> {
        let data = match literal.ty() {
            ValueType::Weak(_) => ArgumentData::Scalar(literal),
            ValueType::Strong(dtype) => ArgumentData::Inline(literal_bytes(&literal, dtype)?),
        };
        let ty = literal.ty();
        Ok(CallArgument { ty, dtype: ty.storage_dtype(), shape: Shape::scalar(), layout: None, data })
    }

    /// The device of the elements; `None` for scalars, which are independent of it.
    #[inline]
    pub fn device(&self) -> Option<Device> {
        match &self.data {
            ArgumentData::Shared(memory) => Some(memory.device()),
            ArgumentData::Donated(memory) => Some(memory.device()),
            ArgumentData::Borrowed(_) => Some(Device::CPU),
            ArgumentData::Inline(_) | ArgumentData::Scalar(_) => None,
        }
    }

    /// The array for the runtime; `None` for a weak scalar.
    #[inline]
    pub fn argument<'b>(&'b mut self) -> Option<Argument<'b>> {
        match &mut self.data {
            ArgumentData::Shared(memory) => Some(memory.argument()),
            ArgumentData::Donated(Memory::Host(buffer)) => {
                // The runtime reuses only memory with one owner.
                let given = std::mem::replace(buffer, empty());
                Some(Argument::Donated(given))
            }
            ArgumentData::Donated(memory) => Some(memory.argument()),
            ArgumentData::Borrowed(bytes) => Some(Argument::Borrowed(bytes)),
            ArgumentData::Inline(bytes) => Some(Argument::Borrowed(bytes)),
            ArgumentData::Scalar(_) => None,
        }
    }

    /// A plan's assumptions about it.
    pub fn argument_type(&self) -> ArgumentType {
        let layout = match (&self.data, &self.layout) {
            (ArgumentData::Scalar(_), _) => ArgumentLayout::Scalar,
            (_, None) => ArgumentLayout::Contiguous,
            (_, Some(layout)) => ArgumentLayout::Strided(layout.clone()),
        };
        ArgumentType { ty: self.ty, dtype: self.dtype, shape: self.shape.clone(), layout }
    }
}

fn empty() -> Arc<Buffer> {
    static EMPTY: LazyLock<Arc<Buffer>> = LazyLock::new(|| Arc::new(Buffer::from_vec(Vec::<u8>::new())));
    Arc::clone(&EMPTY)
}

/// The signature of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// The settings of its trace and compilation.
    pub settings: Settings,
    /// Its arguments.
    pub arguments: Vec<ArgumentType>,
    /// The structure of the arguments: see [`Plan::structure`](crate::plan::compiled::Plan::structure).
    pub structure: Lengths,
}

/// A plan's assumptions about one argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentType {
    /// The type: a dtype, or weak.
    pub ty: ValueType,
    /// The dtype of the elements.
    pub dtype: DType,
    /// The extents of the axes.
    pub shape: Shape,
    /// The layout of the elements.
    pub layout: ArgumentLayout,
}

/// The layout of an argument's elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentLayout {
    /// None: a weak scalar.
    Scalar,
    /// In row-major order.
    Contiguous,
    /// In memory with this layout.
    Strided(Layout),
}

impl fmt::Display for ArgumentType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.layout {
            ArgumentLayout::Scalar => write!(f, "a number {}", self.ty),
            ArgumentLayout::Contiguous => write!(f, "{}{}", self.ty, self.shape),
            ArgumentLayout::Strided(layout) => {
                write!(f, "{}{} with strides {:?}", self.ty, self.shape, layout.strides)
            }
        }
    }
}

impl From<Option<Layout>> for ArgumentLayout {
    fn from(layout: Option<Layout>) -> ArgumentLayout {
        layout.map_or(ArgumentLayout::Contiguous, ArgumentLayout::Strided)
    }
}

impl ArgumentType {
    /// The layout in memory; `None` for a weak scalar.
    pub fn memory(&self) -> Option<Result<Layout>> {
        match &self.layout {
            ArgumentLayout::Scalar => None,
            ArgumentLayout::Contiguous => Some(contiguous(&self.shape, self.dtype)),
            ArgumentLayout::Strided(layout) => Some(Ok(layout.clone())),
        }
    }

    /// Whether an argument has this type and shape, in any layout.
    pub fn is_of(&self, arg: &CallArgument<'_>) -> bool {
        let number = matches!(arg.data, ArgumentData::Scalar(_));
        self.ty == arg.ty
            && self.shape == arg.shape
            && (self.layout == ArgumentLayout::Scalar) == number
            && (number || self.dtype == arg.dtype)
    }

    /// Whether a plan with this signature accepts the argument.
    #[inline]
    pub fn accepts(&self, arg: &CallArgument<'_>) -> bool {
        self.ty == arg.ty
            && (self.dtype == arg.dtype || self.layout == ArgumentLayout::Scalar)
            && self.shape == arg.shape
            && match (&self.layout, &arg.data, &arg.layout) {
                (ArgumentLayout::Scalar, ArgumentData::Scalar(_), _) => true,
                (ArgumentLayout::Scalar, _, _) | (_, ArgumentData::Scalar(_), _) => false,
                (ArgumentLayout::Contiguous, _, None) => true,
                (ArgumentLayout::Strided(mine), _, Some(layout)) => mine == layout,
                (ArgumentLayout::Contiguous, _, Some(_)) | (ArgumentLayout::Strided(_), _, None) => false,
            }
    }
}

/// The sources of a traced function's array parameters, the last `closed_over` of which are captured arrays.
pub fn inputs(arguments: &[ArgumentType], closed_over: usize) -> Vec<ParamSource> {
    explain::inputs(arguments.iter().map(|argument| argument.layout != ArgumentLayout::Scalar), closed_over)
}
