//! The cost of promotion: a join is a table lookup. `cargo bench -p ndjit-bench --bench promotion`.

use criterion::{Criterion, criterion_group, criterion_main};
use ndjit_ir::op::TypeRule;
use ndjit_ir::{DType, Op, Policy, ValueType, Weak};
use std::hint::black_box;

const OPERANDS: [ValueType; 4] = [
    ValueType::Strong(DType::U8),
    ValueType::Strong(DType::I8),
    ValueType::Weak(Weak::Int),
    ValueType::Strong(DType::F16),
];

fn promotion(c: &mut Criterion) {
    for policy in [Policy::Standard, Policy::NumPy2, Policy::Torch] {
        let mut group = c.benchmark_group(policy.name());
        let [u8, i8, ..] = OPERANDS;
        group.bench_function("join", |b| b.iter(|| black_box(policy).join(black_box(u8), black_box(i8))));
        group.bench_function("resolve 4", |b| {
            b.iter(|| black_box(policy).resolve(TypeRule::Join, black_box(&OPERANDS)));
        });
        group.bench_function("resolve_op divide", |b| {
            b.iter(|| black_box(policy).resolve_op(Op::Divide, black_box(&[u8, i8])));
        });
        group.finish();
    }
}

criterion_group!(benches, promotion);
criterion_main!(benches);
