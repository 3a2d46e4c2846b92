//! Every primitive on the device as it is, and with only WGSL's guarantees, against its definition.

use crate::devices;
use ndjit_codegen::wgsl::Features;
use ndjit_runtime::gpu::{Gpu, GpuOptions};

#[path = "../../tools/parity/primitives.rs"]
mod compare;
#[path = "../../tools/parity/compared.rs"]
mod compared;

#[test]
fn every_primitive() {
    let mut variants = devices().to_vec();
    if !variants.is_empty() {
        let least = GpuOptions { at_most: Features::LEAST, ..GpuOptions::default() };
        variants.push(("the least gpu", Gpu::open(least).unwrap()));
    }
    let mut failures = Vec::new();
    for (device, gpu) in variants {
        let all = compare::compare(&gpu, 2048).unwrap();
        assert!(all.len() > 150, "only {} primitives", all.len());
        // Without 64-bit floats their casts and comparisons are emulated.
        for name in ["fdemote f64 f32", "fpromote f32 f64", "tosint f64 i64", "fromuint i64 f64", "fle f64", "fmax f64"]
        {
            assert!(all.iter().any(|row| row.name == name), "{device}: {name}");
        }
        for row in all {
            assert_eq!(row.elements, 2048, "{}", row.name);
            failures.extend(row.first.map(|first| format!("{device}: {}: {first}", row.name)));
        }
    }
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
}
