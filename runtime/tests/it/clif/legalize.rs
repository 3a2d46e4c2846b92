//! Primitives that a target lacks are rewritten with equal results, or rejected with the reason.

use super::support::{Random, nest};
use ndjit_codegen::clif::host_isa;
use ndjit_codegen::passes::legalize::legalize;
use ndjit_codegen::target::{Combining, PrimSupport, Target, UnsupportedPrim, combinations};
use ndjit_ir::body::{BodyBuilder, Prim};
use ndjit_ir::loops::{LoopBody, LoopNest, Stride};
use ndjit_ir::{DType, PrimType};

fn lacking(prims: &'static [Prim], from: &'static [PrimType]) -> Target {
    let unsupported =
        UnsupportedPrim { prims, from, to: &[], support: PrimSupport::None, reason: "a test", link: "none" };
    Target {
        name: "test".into(),
        blend: false,
        replaces_division: false,
        combining: Combining::Driver,
        unsupported: vec![unsupported],
    }
}

/// High products of two inputs, one of them inside an `If`.
fn high_products(dtype: DType, ty: PrimType) -> LoopNest {
    let mut b = BodyBuilder::new(&[ty, ty]);
    let x = b.inputs();
    let signed = b.smulhi(x[0], x[1]);
    let less = b.slt(x[0], x[1]);
    let unsigned = b.if_any(less, &[signed], &x, |b, x| vec![b.umulhi(x[0], x[1])]);
    let body = b.finish(&[signed, unsigned[0]]);
    let array = (dtype, Stride::Contiguous);
    nest(1, &[array, array], &[], &[array, array], body)
}

#[test]
fn high_products_by_pieces() {
    let target = lacking(&[Prim::Smulhi, Prim::Umulhi], &[PrimType::I16, PrimType::I32, PrimType::I64]);
    let mut random = Random(3);
    for (dtype, ty) in [(DType::I16, PrimType::I16), (DType::I32, PrimType::I32), (DType::I64, PrimType::I64)] {
        let before = high_products(dtype, ty);
        let after = legalize(before.clone(), &target).unwrap();
        assert_ne!(before, after);
        let (LoopBody::Prims { body: before, .. }, LoopBody::Prims { body: after, .. }) = (&before.body, &after.body)
        else {
            panic!("primitives")
        };
        for _ in 0..3000 {
            let x = [random.value(ty), random.value(ty)];
            assert_eq!(before.eval(&x), after.eval(&x), "{ty} {x:x?}");
        }
    }
}

#[test]
fn what_remains_is_refused_with_the_reason() {
    let target = lacking(&[Prim::Slt], &[PrimType::I32]);
    let error = legalize(high_products(DType::I32, PrimType::I32), &target).unwrap_err();
    assert_eq!(
        error.to_string(),
        "error[backend]: legalize: test has no slt from i32 to bool\n  reason: a test\n  see: none"
    );
}

#[test]
fn this_machine_has_every_primitive() {
    let target = Target::host_clif(&*host_isa().unwrap());
    for (prim, from, to) in combinations() {
        assert_ne!(target.support(prim, from, to), PrimSupport::None, "{prim} {from} {to}");
    }
    let plain = high_products(DType::I64, PrimType::I64);
    assert_eq!(legalize(plain.clone(), &target).unwrap(), plain);
}

#[test]
fn gaps_say_why() {
    let target = Target::host_clif(&*host_isa().unwrap());
    for unsupported in &target.unsupported {
        assert!(unsupported.reason.len() > 10 && unsupported.link.starts_with("https://"), "{unsupported:?}");
        let covers = combinations().into_iter().any(|(p, from, to)| {
            unsupported.prims.contains(&p)
                && unsupported.from.contains(&from)
                && (unsupported.to.is_empty() || unsupported.to.contains(&to))
        });
        assert!(covers, "{unsupported:?} covers nothing");
    }
    assert!(target.to_string().contains("sdiv udiv srem urem i8|i16|i32|i64: per lane: "));
}
