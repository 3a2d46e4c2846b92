//! The fifteen dtypes and their properties, promotion aside.
//!
//! [`table`] has one row per dtype; `name` parses names and `.npy` descriptors; [`set`] has sets and classes of dtypes;
//! [`limits`] has `finfo` and `iinfo`; [`cast`] has the casting modes; [`prim_type`] has the machine types of elements.

pub mod cast;
pub mod colours;
pub mod limits;
mod name;
pub mod prim_type;
pub mod set;
pub mod table;

pub use cast::Casting;
pub use limits::{FloatInfo, IntInfo, finfo, iinfo};
pub use prim_type::PrimType;
pub use set::{DTypeSet, isdtype};
pub use table::{DType, Kind, Row};
