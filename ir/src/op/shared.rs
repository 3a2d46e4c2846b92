//! One copy of each op's body for the whole process: building a long one costs more than compiling a short kernel.

use super::{Op, body, cast_body, load_body, store_body};
use crate::body::Body;
use crate::dtype::DType;
use std::sync::OnceLock;

const DTYPES: usize = DType::ALL.len();

/// The body of `op` computing in `dtype`, built at first use.
pub fn shared_body(op: Op, dtype: DType) -> &'static Body {
    static BODIES: [[OnceLock<Body>; DTYPES]; Op::ALL.len()] =
        [const { [const { OnceLock::new() }; DTYPES] }; Op::ALL.len()];
    BODIES[op as usize][dtype as usize].get_or_init(|| body(op, dtype))
}

/// The body of the conversion from `from` to `to`, built at first use.
pub fn shared_cast_body(from: DType, to: DType) -> &'static Body {
    static BODIES: [[OnceLock<Body>; DTYPES]; DTYPES] = [const { [const { OnceLock::new() }; DTYPES] }; DTYPES];
    BODIES[from as usize][to as usize].get_or_init(|| cast_body(from, to))
}

/// The body of loading a `dtype`, built at first use.
pub fn shared_load_body(dtype: DType) -> &'static Body {
    static BODIES: [OnceLock<Body>; DTYPES] = [const { OnceLock::new() }; DTYPES];
    BODIES[dtype as usize].get_or_init(|| load_body(dtype))
}

/// The body of storing a `dtype`, built at first use.
pub fn shared_store_body(dtype: DType) -> &'static Body {
    static BODIES: [OnceLock<Body>; DTYPES] = [const { OnceLock::new() }; DTYPES];
    BODIES[dtype as usize].get_or_init(|| store_body(dtype))
}
