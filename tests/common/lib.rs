//! Code shared by separate test programs: the corpus, every op on every dtype, and the path of the checkout.

pub mod each;
pub mod programs;

use std::path::Path;

/// The folder of the checkout.
pub fn root() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}
