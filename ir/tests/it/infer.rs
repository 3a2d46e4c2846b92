//! Inference: the result of each operation, and each mismatch with its facts. Tests of random programs compare their results with
//! inference.

use ndjit_ir::axes::AxisSet;
use ndjit_ir::graph::{Graph, NodeKind, Scatter, Slot, SlotId, Type, ViewId};
use ndjit_ir::infer::{InferenceError, Operation};
use ndjit_ir::literal::Literal;
use ndjit_ir::promotion::{Clash, OpMismatch, ReductionMismatch, Refusal};
use ndjit_ir::reduction::{Reduce, Scan, Sort, TypeRequest};
use ndjit_ir::shape::ShapeMismatch;
use ndjit_ir::support::CastReason;
use ndjit_ir::view::{View, flip};
use ndjit_ir::{DType, Op, Policy, Reduction, Shape, ValueType, Weak};

/// Types and extents.
type Operands<'a, T> = &'a [(T, &'a [usize])];

/// The inferred result of an operation on operands of these types and shapes.
fn of<T: Type>(operation: &Operation<'_, T>, operands: Operands<'_, T>) -> Result<String, InferenceError> {
    let shapes: Vec<Shape> = operands.iter().map(|(_, shape)| Shape::new(shape)).collect();
    let known: Vec<(T, &Shape)> = operands.iter().map(|(ty, _)| *ty).zip(&shapes).collect();
    operation.infer(&known).map(|(ty, shape)| format!("{ty}{shape}"))
}

fn strong(dtype: DType) -> ValueType {
    dtype.into()
}

fn axes(axes: &[isize], rank: usize) -> AxisSet {
    AxisSet::new(axes, rank).unwrap()
}

#[test]
fn each_operation_gives_its_type_and_shape() {
    let (f32, u8, i64) = (strong(DType::F32), strong(DType::U8), strong(DType::I64));
    let reduce = Reduce::new(Reduction::Sum, axes(&[0], 2), true);
    let (view, flipped) = flip(&Shape::from([3]), &[0]).unwrap();
    let operations: [(Operation<'_>, Operands<'_, ValueType>, &str); 10] = [
        (Operation::op(Op::Less, Policy::Standard), &[(f32, &[2, 1]), (Weak::Int.into(), &[3])], "bool[2, 3]"),
        (Operation::cast(CastReason::Explicit, u8), &[(f32, &[2])], "u8[2]"),
        (NodeKind::Reduce(reduce).into(), &[(u8, &[2, 3])], "u32[1, 3]"),
        (NodeKind::Sort(Sort::ArgSort, 0, TypeRequest::default()).into(), &[(u8, &[2])], "i32[2]"),
        (Operation::iota(axes(&[0], 1), Shape::from([4])), &[], "i64[4]"),
        (Operation::view(view, flipped), &[(Weak::Float.into(), &[3])], "f*[3]"),
        (Operation::reshape(Shape::from([3, 2])), &[(u8, &[6])], "u8[3, 2]"),
        (Operation::concat(1, Policy::Standard), &[(u8, &[2, 1]), (f32, &[2, 3])], "f32[2, 4]"),
        (NodeKind::Gather.into(), &[(u8, &[5, 2]), (i64, &[3, 1])], "u8[3, 2]"),
        (NodeKind::Scatter(Scatter::Add).into(), &[(u8, &[5, 2]), (i64, &[3, 1]), (f32, &[2])], "u8[5, 2]"),
    ];
    for (operation, operands, expected) in operations {
        assert_eq!(of(&operation, operands).as_deref(), Ok(expected), "{}", operation.kind.name());
    }
}

/// Every mismatch, by kind.
#[test]
fn mismatches_have_the_facts() {
    let (f32, u8, bool, i64) = (strong(DType::F32), strong(DType::U8), strong(DType::Bool), strong(DType::I64));
    let op = |op, policy| Operation::op(op, policy);
    let reduce = |reduction, axes| Operation::from(NodeKind::Reduce(Reduce::new(reduction, axes, false)));
    let request = |dtype, policy| TypeRequest { dtype, policy };
    let contracts = Reduce { contracts: true, ..Reduce::new(Reduction::Max, AxisSet::one(0), false) };
    let view = || View::identity(1);
    let refused = |policy, joined, with| Clash { policy, refusal: Refusal::Pair { joined, with } };
    let shape = |extents: &[usize]| Shape::new(extents);
    let cases: &[(Operation<'_>, Operands<'_, ValueType>, InferenceError, &str)] = &[
        (
            op(Op::Add, Policy::Standard),
            &[(f32, &[])],
            InferenceError::Arity { takes: 2, given: 1 },
            "takes 2 operands, has 1",
        ),
        (
            op(Op::Add, Policy::Standard),
            &[(f32, &[3]), (f32, &[2])],
            ShapeMismatch::Broadcast(shape(&[3]), shape(&[2])).into(),
            "shapes [3] and [2] do not broadcast",
        ),
        (
            op(Op::Add, Policy::Strict),
            &[(f32, &[]), (u8, &[])],
            InferenceError::Op(Op::Add, OpMismatch::Clash(refused(Policy::Strict, f32, u8))),
            "add: the strict policy does not promote f32 and u8",
        ),
        (
            op(Op::BitwiseAnd, Policy::Standard),
            &[(f32, &[]), (u8, &[])],
            InferenceError::Op(Op::BitwiseAnd, OpMismatch::Domain(f32)),
            "bitwise_and: f32 is not supported",
        ),
        (
            op(Op::Ldexp, Policy::Standard),
            &[(f32, &[]), (f32, &[])],
            InferenceError::Op(Op::Ldexp, OpMismatch::NoInteger(f32)),
            "ldexp: n is f32, not an integer",
        ),
        (
            Operation::cast(CastReason::Explicit, Weak::Int.into()),
            &[(f32, &[])],
            InferenceError::WeakCast,
            "a cast to a weak type",
        ),
        (
            Operation::cast(CastReason::Promotion, u8),
            &[(Weak::Float.into(), &[])],
            InferenceError::Promotion(Weak::Float.into(), u8),
            "f* is not promoted to u8",
        ),
        (
            reduce(Reduction::Sum, AxisSet::one(1)),
            &[(f32, &[3])],
            InferenceError::Axes(AxisSet::one(1), shape(&[3])),
            "axes [1] of an operand of shape [3]",
        ),
        (
            NodeKind::Reduce(contracts).into(),
            &[(f32, &[3])],
            InferenceError::Contracts(Reduction::Max),
            "a max that contracts, as sums alone do",
        ),
        (
            reduce(Reduction::Max, AxisSet::one(0)),
            &[(f32, &[0, 2])],
            InferenceError::NoElements { reduction: Reduction::Max, axes: AxisSet::one(0), shape: shape(&[0, 2]) },
            "max of no elements",
        ),
        (
            reduce(Reduction::Var, AxisSet::one(0)),
            &[(f32, &[3]), (f32, &[1])],
            InferenceError::NotScalar(1),
            "operand 1 is no scalar",
        ),
        (
            NodeKind::Reduce(Reduce {
                request: request(Some(DType::U8), Policy::Standard),
                ..Reduce::new(Reduction::Any, AxisSet::one(0), false)
            })
            .into(),
            &[(f32, &[3])],
            InferenceError::Reduction(Reduction::Any.into(), ReductionMismatch::Asked(DType::U8)),
            "any: a result of dtype u8 is not supported",
        ),
        (
            NodeKind::Reduce(Reduce {
                request: request(None, Policy::Torch),
                ..Reduce::new(Reduction::Mean, AxisSet::one(0), false)
            })
            .into(),
            &[(u8, &[3])],
            InferenceError::Reduction(
                Reduction::Mean.into(),
                ReductionMismatch::Clash(Clash { policy: Policy::Torch, refusal: Refusal::Inexact(u8) }),
            ),
            "mean: the torch policy does not turn u8 into a float",
        ),
        (
            reduce(Reduction::Var, AxisSet::one(0)),
            &[(f32, &[3]), (Weak::Complex.into(), &[])],
            InferenceError::Correction(Weak::Complex.into()),
            "the correction is c*",
        ),
        (
            Operation::along(Reduction::ArgMax, axes(&[0, 1], 2), request(Some(DType::I8), Policy::Standard)),
            &[(f32, &[64, 2])],
            InferenceError::Count(DType::I8, 128),
            "i8 cannot count 128 elements",
        ),
        (
            NodeKind::Sort(Sort::ArgSort, 0, request(Some(DType::U8), Policy::Standard)).into(),
            &[(f32, &[256])],
            InferenceError::Count(DType::U8, 256),
            "u8 cannot count 256 elements",
        ),
        (
            NodeKind::Scan(Scan::CumMax, 1, TypeRequest::default()).into(),
            &[(f32, &[3])],
            InferenceError::Axis(1, shape(&[3])),
            "axis 1 of an operand of shape [3]",
        ),
        (
            Operation::iota(AxisSet::one(1), shape(&[3])),
            &[],
            InferenceError::Iota(AxisSet::one(1), shape(&[3])),
            "axes [1] of shape [3]",
        ),
        (
            Operation::view(view(), shape(&[4])),
            &[(f32, &[3])],
            InferenceError::View("indices 0 to 3 along axis 0 of [3]".to_owned()),
            "indices 0 to 3 along axis 0 of [3]",
        ),
        (
            Operation::reshape(shape(&[4])),
            &[(f32, &[3])],
            InferenceError::Elements(shape(&[3]), shape(&[4])),
            "[3] as [4]",
        ),
        (
            Operation::concat(0, Policy::Standard),
            &[],
            InferenceError::Arity { takes: 1, given: 0 },
            "takes 1 operands, has 0",
        ),
        (
            Operation::concat(1, Policy::Standard),
            &[(f32, &[3])],
            ShapeMismatch::Axis(1, shape(&[3])).into(),
            "axis 1 of shape [3]",
        ),
        (
            Operation::concat(0, Policy::Standard),
            &[(f32, &[3]), (f32, &[3]), (f32, &[])],
            ShapeMismatch::Ranks { operand: 2, ranks: [0, 1] }.into(),
            "x2 has 0 axes, x0 has 1",
        ),
        (
            Operation::concat(0, Policy::Standard),
            &[(f32, &[3, 2]), (f32, &[3, 4])],
            ShapeMismatch::Extents { operand: 1, axis: 1, extents: [4, 2] }.into(),
            "x1 has 4 along axis 1, x0 has 2",
        ),
        (
            Operation::concat(0, Policy::Strict),
            &[(f32, &[3]), (u8, &[3])],
            InferenceError::Clash(refused(Policy::Strict, f32, u8)),
            "the strict policy does not promote f32 and u8",
        ),
        (
            NodeKind::Call(0).into(),
            &[(f32, &[3])],
            InferenceError::Graph("call: the graph has its types".to_owned()),
            "call: the graph has its types",
        ),
        (
            NodeKind::Reshape.into(),
            &[(f32, &[3])],
            InferenceError::Graph("reshape without an attribute of its result".to_owned()),
            "reshape without an attribute of its result",
        ),
        (NodeKind::Gather.into(), &[(f32, &[]), (i64, &[])], ShapeMismatch::NoRows.into(), "a scalar has no rows"),
        (
            NodeKind::Gather.into(),
            &[(f32, &[0, 2]), (i64, &[3, 1])],
            ShapeMismatch::NoneToTake(shape(&[3, 2])).into(),
            "[3, 2] elements of an array without rows",
        ),
        (
            NodeKind::Gather.into(),
            &[(f32, &[5, 2]), (i64, &[3])],
            ShapeMismatch::Rows(shape(&[2]), shape(&[3])).into(),
            "rows of shape [2] and indices [3] do not broadcast",
        ),
        (NodeKind::Gather.into(), &[(f32, &[5]), (u8, &[])], InferenceError::Index(u8), "indices are i64, not u8"),
        (
            NodeKind::Scatter(Scatter::Set).into(),
            &[(f32, &[5, 2]), (i64, &[]), (bool, &[3])],
            ShapeMismatch::BroadcastTo(shape(&[3]), shape(&[2])).into(),
            "[3] does not broadcast to [2]",
        ),
        (
            NodeKind::Scatter(Scatter::Set).into(),
            &[(f32, &[5]), (u8, &[]), (f32, &[])],
            InferenceError::Index(u8),
            "indices are i64, not u8",
        ),
    ];
    for (operation, operands, expected, words) in cases {
        let mismatch = of(operation, operands).unwrap_err();
        assert_eq!((&mismatch, &*mismatch.to_string()), (expected, *words));
    }
}

/// Those of typed graphs only, where everything is resolved.
#[test]
fn mismatches_of_typed_operations_have_the_facts() {
    let (f32, f16, u8, i64) = (DType::F32, DType::F16, DType::U8, DType::I64);
    let reduce = |reduction| Reduce::new(reduction, AxisSet::one(0), false);
    let sort = |given| Operation { ty: given, ..NodeKind::Sort(Sort::ArgSort, 0, ()).into() };
    let many: &[usize] = &[1 << 33];
    let cases: &[(Operation<'_, DType>, Operands<'_, DType>, InferenceError, &str)] = &[
        (
            NodeKind::Op(Op::Where, ()).into(),
            &[(DType::Bool, &[]), (f32, &[]), (u8, &[])],
            InferenceError::Operand { operand: 2, found: u8, op: Op::Where, compute: f32 },
            "operand 2 is u8, where in f32 takes f32",
        ),
        (
            NodeKind::Op(Op::Sin, ()).into(),
            &[(u8, &[])],
            InferenceError::Domain(Op::Sin, u8),
            "sin does not compute in u8",
        ),
        (
            NodeKind::Reduce(reduce(Reduction::Sum)).into(),
            &[(f16, &[2])],
            InferenceError::Accumulates(Reduction::Sum.into(), f16),
            "sum does not accumulate f16",
        ),
        (sort(Some(u8)), &[(f32, &[2])], InferenceError::Unlike, "operands and result have not one dtype"),
        (
            sort(Some(DType::I32)),
            &[(f32, many)],
            InferenceError::Count(DType::I32, 1 << 33),
            "i32 cannot count 8589934592 elements",
        ),
        (
            NodeKind::Concat(0, ()).into(),
            &[(f32, &[1]), (u8, &[1])],
            InferenceError::Unlike,
            "operands and result have not one dtype",
        ),
        (
            NodeKind::Scatter(Scatter::Multiply).into(),
            &[(DType::C64, &[1]), (i64, &[]), (DType::C64, &[])],
            InferenceError::Scatter(Scatter::Multiply, DType::C64),
            "multiply of c64",
        ),
        (
            NodeKind::Scatter(Scatter::Set).into(),
            &[(f32, &[1]), (i64, &[]), (u8, &[])],
            InferenceError::Unlike,
            "operands and result have not one dtype",
        ),
    ];
    for (operation, operands, expected, words) in cases {
        let mismatch = of(operation, operands).unwrap_err();
        assert_eq!((&mismatch, &*mismatch.to_string()), (expected, *words));
    }
    assert_eq!(of(&sort(Some(i64)), &[(f32, many)]).as_deref(), Ok("i64[8589934592]"));
}

/// Missing items of a graph, and literals and parameters of another storage dtype.
#[test]
fn mismatches_of_what_is_given_have_the_facts() {
    let mut graph: Graph<ValueType> = Graph::new();
    let scalar = graph.intern(&Shape::scalar());
    let x = graph.param_stored(DType::F32.into(), DType::F64, &Shape::scalar());
    let result = [(strong(DType::F32), scalar)];
    for (kind, operands) in [
        (NodeKind::Literal(SlotId(3)), &[][..]),
        (NodeKind::View(ViewId(4)), &[x]),
        (NodeKind::Call(5), &[]),
        (NodeKind::Control(6), &[]),
        (NodeKind::Literal(SlotId(0)), &[x]),
    ] {
        graph.add(kind, operands, &result);
    }
    let found: Vec<InferenceError> = graph.node_ids().map(|id| graph.infer(id).unwrap_err()).collect();
    let expected = [
        InferenceError::Stored(DType::F32.into(), DType::F64),
        InferenceError::Missing("slot #", 3),
        InferenceError::Missing("view", 4),
        InferenceError::Missing("child @", 5),
        InferenceError::Missing("control flow ", 6),
        InferenceError::Arity { takes: 0, given: 1 },
    ];
    assert_eq!(found, expected);
    assert_eq!(found[0].to_string(), "a parameter of type f32 is not stored as f64");
    let mut graph: Graph<DType> = Graph::new();
    graph.literal(Slot::Argument { index: 0, ty: Weak::Float }, DType::I8);
    graph.literal(Slot::Value(Literal::weak(300)), DType::I8);
    let found: Vec<InferenceError> = graph.node_ids().map(|id| graph.infer(id).unwrap_err()).collect();
    assert_eq!(found[0], InferenceError::Argument(Weak::Float, DType::I8));
    assert!(matches!(&found[1], InferenceError::Literal(error) if error.headline() == "literal 300 does not fit i8"));
}
