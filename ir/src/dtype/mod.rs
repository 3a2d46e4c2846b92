//! The fifteen data types and what can be asked of one without knowing of promotion.
//!
//! [`table`] holds the facts, one row per dtype; `name` reads names and `.npy` descriptors; [`set`] has sets and classes of
//! dtypes; [`limits`] has `finfo` and `iinfo`; [`cast`] says which conversions a mode of casting allows; [`prim_type`] has
//! the machine types that elements are made of.

pub mod cast;
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
