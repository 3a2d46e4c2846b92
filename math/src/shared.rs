//! One copy of each op's body per process: building a long one costs more than compiling a short kernel.

use crate::{DivisionMethod, body, cast_body, division_body, load_body, store_body};
use ndjit_ir::body::Body;
use ndjit_ir::dtype::DType;
use ndjit_ir::op::Op;
use std::sync::{LazyLock, OnceLock};

const DTYPES: usize = DType::ALL.len();

/// Bodies built at first use. On the heap: in the executable they would take 170 KB of empty cells.
struct Bodies<T: 'static>(LazyLock<Box<[OnceLock<T>]>>);

impl<T> Bodies<T> {
    const fn new<const N: usize>() -> Bodies<T> {
        Bodies(LazyLock::new(|| (0..N).map(|_| OnceLock::new()).collect()))
    }

    fn get(&'static self, index: usize, build: impl FnOnce() -> T) -> &'static T {
        self.0[index].get_or_init(build)
    }
}

/// The body of `op` computing in `dtype`, built at first use.
pub fn shared_body(op: Op, dtype: DType) -> &'static Body {
    static BODIES: Bodies<Body> = Bodies::new::<{ Op::ALL.len() * DTYPES }>();
    BODIES.get(op as usize * DTYPES + dtype as usize, || body(op, dtype))
}

/// The body of a division by a method, built at first use; `None` as of [`division_body`].
pub fn shared_division_body(op: Op, dtype: DType, method: DivisionMethod) -> Option<&'static Body> {
    const METHODS: usize = DivisionMethod::ALL.len();
    static BODIES: Bodies<Option<Body>> = Bodies::new::<{ 3 * DTYPES * METHODS }>();
    let n = match op {
        Op::FloorDivide => 0,
        Op::Remainder => 1,
        Op::Fmod => 2,
        _ => return None,
    };
    let at = (n * DTYPES + dtype as usize) * METHODS + method as usize;
    BODIES.get(at, || division_body(op, dtype, method)).as_ref()
}

/// The body of the cast from `from` to `to`, built at first use.
pub fn shared_cast_body(from: DType, to: DType) -> &'static Body {
    static BODIES: Bodies<Body> = Bodies::new::<{ DTYPES * DTYPES }>();
    BODIES.get(from as usize * DTYPES + to as usize, || cast_body(from, to))
}

/// The body of loading a `dtype`, built at first use.
pub fn shared_load_body(dtype: DType) -> &'static Body {
    static BODIES: Bodies<Body> = Bodies::new::<DTYPES>();
    BODIES.get(dtype as usize, || load_body(dtype))
}

/// The body of storing a `dtype`, built at first use.
pub fn shared_store_body(dtype: DType) -> &'static Body {
    static BODIES: Bodies<Body> = Bodies::new::<DTYPES>();
    BODIES.get(dtype as usize, || store_body(dtype))
}
