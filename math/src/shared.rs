//! One copy of each op's body per process: building a long one costs more than compiling a short kernel.

use crate::{body, cast_body, load_body, store_body};
use ndjit_ir::body::Body;
use ndjit_ir::dtype::DType;
use ndjit_ir::op::Op;
use std::sync::{LazyLock, OnceLock};

const DTYPES: usize = DType::ALL.len();

/// Bodies built at first use. On the heap: in the executable they would take 170 KB of empty cells.
struct Bodies(LazyLock<Box<[OnceLock<Body>]>>);

impl Bodies {
    const fn new<const N: usize>() -> Bodies {
        Bodies(LazyLock::new(|| (0..N).map(|_| OnceLock::new()).collect()))
    }

    fn get(&'static self, index: usize, build: impl FnOnce() -> Body) -> &'static Body {
        self.0[index].get_or_init(build)
    }
}

/// The body of `op` computing in `dtype`, built at first use.
pub fn shared_body(op: Op, dtype: DType) -> &'static Body {
    static BODIES: Bodies = Bodies::new::<{ Op::ALL.len() * DTYPES }>();
    BODIES.get(op as usize * DTYPES + dtype as usize, || body(op, dtype))
}

/// The body of the cast from `from` to `to`, built at first use.
pub fn shared_cast_body(from: DType, to: DType) -> &'static Body {
    static BODIES: Bodies = Bodies::new::<{ DTYPES * DTYPES }>();
    BODIES.get(from as usize * DTYPES + to as usize, || cast_body(from, to))
}

/// The body of loading a `dtype`, built at first use.
pub fn shared_load_body(dtype: DType) -> &'static Body {
    static BODIES: Bodies = Bodies::new::<DTYPES>();
    BODIES.get(dtype as usize, || load_body(dtype))
}

/// The body of storing a `dtype`, built at first use.
pub fn shared_store_body(dtype: DType) -> &'static Body {
    static BODIES: Bodies = Bodies::new::<DTYPES>();
    BODIES.get(dtype as usize, || store_body(dtype))
}
