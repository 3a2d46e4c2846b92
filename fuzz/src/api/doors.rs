//! Public functions outside of traced functions: creation, conversions, text, files, exchange, queries, inspection of compiled functions,
//! and settings. Each is called with random arguments; resulting arrays are described, and read if small.

use crate::api::values::*;
use crate::choices::Choices;
use crate::with_type;
use ndjit::dlpack::ManagedTensor;
use ndjit::npy::{Reader, Writer};
use ndjit::*;
use std::path::PathBuf;

/// A public function, called with choices and an array; it returns arrays.
pub struct Door {
    /// Its name, with a variant after `/`.
    pub name: &'static str,
    /// Calls it.
    pub run: fn(&mut Choices, &Array) -> Result<Vec<Array>>,
}

macro_rules! doors {
    ($($name:literal |$c:ident, $x:ident| $body:expr;)*) => {
        /// All of them, in a fixed order.
        pub const DOORS: &[Door] = &[$(Door { name: $name, run: |$c: &mut Choices, $x: &Array| Ok(Vec::from($body)) }),*];
    };
}

/// The maximum number of requested results.
const MANY: usize = 64;

fn asked(c: &mut Choices) -> creation::Typed {
    dtype(any_dtype(c))
}

/// An array that may look large: few elements, broadcast.
fn wide(c: &mut Choices, x: &Array) -> Array {
    if c.one_in(2) { broadcast_to(x, shape(c)) } else { x.clone() }
}

/// Whether reading it computes few elements.
fn is_small(x: &Array) -> bool {
    x.shape().size().is_ok_and(|size| size <= 1 << 11)
}

/// A file of this thread.
fn file(what: &str) -> PathBuf {
    std::env::temp_dir().join(format!("ndjit-fuzz-{}-{:?}-{what}", std::process::id(), std::thread::current().id()))
}

fn stage(c: &mut Choices) -> Stage {
    c.pick(Stage::ALL)
}

fn weak_kind(c: &mut Choices) -> ValueType {
    c.pick(&[ValueType::Weak(Weak::Int), ValueType::Weak(Weak::Float), ValueType::Weak(Weak::Complex)])
}

fn value_type(c: &mut Choices) -> ValueType {
    if c.one_in(4) { weak_kind(c) } else { ValueType::Strong(any_dtype(c)) }
}

/// Signatures of traced functions, including hostile shapes.
fn specs(c: &mut Choices) -> Vec<Spec> {
    let one = |c: &mut Choices| if c.one_in(6) { Spec::number(Weak::Int) } else { spec(value_type(c), shape(c)) };
    let count = if c.one_in(8) { c.below(4) } else { 2 };
    (0..count).map(|_| one(c)).collect()
}

type Two = fn(Expr, Expr) -> [Expr; 2];

fn function() -> Jitted<Two, 2, Two> {
    jit((|x, y| [x + y * 2, (x - y).sum(0)]) as Two)
}

fn seen<T: std::fmt::Debug>(value: T) -> [Array; 0] {
    std::hint::black_box(format!("{value:?}"));
    []
}

doors! {
    "zeros" |c, _x| {
        let shape = given_or_refused(shape(c));
        [zeros(shape.clone()), ones(shape.clone()), asked(c).zeros(shape.clone()), asked(c).ones(shape)]
    };
    "empty" |c, _x| { let shape = given_or_refused(shape(c)); [empty(shape.clone()), asked(c).empty(shape)] };
    "full" |c, _x| { let shape = given_or_refused(shape(c)); [full(shape.clone(), number(c)), asked(c).full(shape, number(c))] };
    "eye" |c, _x| {
        // Two factors may fit in memory while their product does not, or takes a minute to fill.
        let fits = |rows: usize, columns: usize| match rows.saturating_mul(columns) {
            0..0x10_0000 | 0x1000_0000_0000.. => columns,
            _ => columns.min(8),
        };
        let [rows, columns, both] = [(); 3].map(|()| count_given_or_refused(c));
        let columns = fits(rows, columns);
        [eye((rows, columns, integer(c))), eye((both, fits(both, both))), asked(c).eye((rows, columns))]
    };
    "arange" |c, _x| [arange(bound(c)), arange(bound(c)..bound(c)), arange((bound(c), bound(c), bound(c))), asked(c).arange(bound(c))];
    "linspace" |c, _x| [
        linspace(number(c)..=number(c), count_given_or_refused(c)),
        linspace(number(c)..number(c), count_given_or_refused(c)),
        asked(c).linspace(number(c)..=number(c), count_given_or_refused(c)),
    ];
    "logspace" |c, _x| [
        logspace(number(c)..=number(c), count_given_or_refused(c)),
        asked(c).logspace(number(c)..number(c), count_given_or_refused(c)),
    ];
    "asarray" |c, x| [asarray(x), asarray(number(c)), asked(c).asarray(x), asked(c).asarray(number(c))];
    "empty_like" |c, x| { let x = if c.one_in(4) { broadcast_to(x, given_or_refused(shape(c))) } else { x.clone() }; [empty_like(&x), asked(c).empty_like(&x), asked(c).zeros_like(&x), asked(c).ones_like(&x)] };
    "from_fn" |c, _x| [from_fn([count_given_or_refused(c), count_given_or_refused(c)], |[i, j]| i * 2 + j)];
    "from_shape_vec" |c, x| {
        let size = if c.one_in(2) { x.len() } else { count(c).min(100) };
        [Array::from_shape_vec(if c.one_in(2) { x.shape().clone() } else { shape(c) }, vec![1i16; size])?]
    };
    "from_bytes" |c, x| {
        let bytes = if is_small(x) { x.to_bytes()? } else { vec![2; count(c).min(100)] };
        let (dtype, shape) = if c.one_in(2) { (x.dtype(), x.shape().clone()) } else { (any_dtype(c), shape(c)) };
        [Array::from_bytes(dtype, shape, &bytes)?]
    };
    "from_rows" |c, _x| [Array::from_rows(&vec![[1u8, 2]; count(c).min(9)]), Array::from_rows::<f32, 0>(&vec![[]; count(c)])];
    "scalar" |c, _x| [Array::scalar(number(c)), Array::from(number(c)), (0..c.below(9)).map(|n| n as f32).collect()];
    "to_vec" |c, x| {
        let x = wide(c, x);
        let dtype = if c.one_in(3) { any_dtype(c) } else { x.dtype() };
        if !is_small(&x) { return Ok(vec![]) }
        let read = with_type!(dtype, T => x.to_vec::<T>()?.len());
        assert_eq!(read, x.len(), "to_vec gives as many as there are");
        assert_eq!(with_type!(dtype, T => x.clone().into_vec::<T>()?.len()), read);
        with_type!(dtype, T => Vec::<T>::try_from(&x)?.len());
        []
    };
    "item" |c, x| { let dtype = any_dtype(c); with_type!(dtype, T => seen(x.item::<T>()?)) };
    "Display" |c, x| {
        let x = wide(c, x);
        let (precision, width) = (c.pick(&[0, 1, 3, 17, 40, 400, 65535]), c.pick(&[0, 1, 7, 40, 65535]));
        // So many digits of many elements are hundreds of megabytes of text.
        let most = if x.len() > 8 { 400 } else { usize::MAX };
        let (precision, width) = (precision.min(most), width.min(most));
        let x = if is_small(&x) { x } else { x.reshape(-1) };
        // Of many elements few are shown, but all are computed.
        if is_small(&x) {
            std::hint::black_box([
                format!("{x}"),
                format!("{x:#}"),
                format!("{x:.precision$}"),
                format!("{x:>width$.precision$}"),
                format!("{x:+>9}"),
                format!("{x:?}"),
                format!("{x:#.precision$?}"),
            ]);
        }
        []
    };
    "astype" |c, x| [x.astype(any_dtype(c)), x.mt()];
    "queries" |c, x| {
        let (a, b) = (value_type(c), any_dtype(c));
        let result = result_type((x, b)).and_then(|_| promote_types(a, b));
        can_cast(x, b)?;
        drop("numeric".parse::<DTypeSet>().map(|set| isdtype(b, set)));
        seen((finfo(b), iinfo(b), nearest("f3", ["f32"]), default_dtype(), defaults(), policy(), casting(), device(), fallback()));
        result?;
        promote_arrays([x.clone(), Array::scalar(number(c))])?
    };
    "dtypes" |c, _x| {
        let op = c.pick(&Op::ALL);
        let dtype = any_dtype(c);
        seen((valid_dtypes(None, dtype), invalid_dtypes(None, dtype), supported_dtypes(op, None), unsupported_dtypes(op, None)));
        seen((supported_devices(op, dtype), unsupported_devices(op, dtype), devices(), unsupported(op, dtype, None)))
    };
    "broadcast_shapes" |c, x| {
        let shape = broadcast_shapes([shape(c), x.shape().clone(), shape(c)])?;
        [broadcast_to(Array::from(1), shape)]
    };
    "mask" |c, x| {
        let mask = if c.one_in(2) { x.gt(number(c)) } else { array(c) };
        let axis = axis(c, x.shape().rank());
        if is_small(x) { [x.at(&mask).get(), compress(mask, x, axis)].to_vec() } else { vec![] }
    };
    "bincount" |c, x| {
        let n = if c.one_in(2) { indices(c, 9) } else { x.clone() };
        if is_small(&n) { [bincount(&n, ..), bincount(&n, c.below(9)..), weights(x).bincount(&n, ..)].to_vec() } else { vec![] }
    };
    "nonzero" |c, x| { let x = wide(c, x); if is_small(&x) { nonzero(&x) } else { vec![] } };
    "unique_all" |c, x| {
        let x = wide(c, x);
        if !is_small(&x) { return Ok(vec![]) }
        let UniqueAll { values, indices, inverse_indices, counts } = unique_all(&x);
        let ((a, b), (d, e)) = (unique_counts(&x), unique_inverse(&x));
        [values, indices, inverse_indices, counts, a, b, d, e, unique_values(&x)]
    };
    "write_npy" |c, x| {
        let x = wide(c, x);
        if !is_small(&x) { return Ok(vec![]) }
        let path = file("x.npy");
        x.write_npy(&path)?;
        let read = Array::read_npy(&path)?;
        let bytes = std::fs::read(&path).unwrap_or_default();
        let cut = c.below(bytes.len().max(1));
        let again = [Array::from_npy(&bytes)?, read];
        drop(Array::from_npy(&bytes[..cut]));
        for own in &again {
            assert!(own.dtype() == x.dtype() && own.shape() == x.shape(), "a file gives what was written");
        }
        again
    };
    "Reader" |c, x| {
        let path = file("rows.npy");
        let mut writer = Writer::create(&path, x.dtype(), if c.one_in(3) { shape(c) } else { x.shape().clone() })?;
        writer.write(x)?;
        if c.one_in(4) { writer.write(x)?; }
        writer.finish()?;
        let reader = Reader::open(&path)?;
        assert!(reader.dtype() == x.dtype() && reader.shape().rank() < 65);
        let rows = count(c)..count(c);
        let read = [reader.array()?, reader.copied()?, reader.rows(rows.clone())?, reader.copied_rows(rows)?];
        // Mapped arrays keep the removed file, and the rewritten one is another: a mapped file must not change.
        drop(std::fs::remove_file(&path));
        read
    };
    "save" |c, x| {
        let x = wide(c, x);
        if !is_small(&x) { return Ok(vec![]) }
        let captured = x.clone();
        let traced = Program::trace(&[Spec::of(&x)], |p| vec![p[0] + &captured])?;
        let program = traced.with_names([c.pick(&["x", "", "\n", "x y"])])?.with_tree(c.pick(&["", "(x)"])).without_places();
        let path = file("x.ndjit");
        program.save(&path)?;
        let bytes = std::fs::read(&path).unwrap_or_default();
        let limits = LoadLimits::default().file(c.pick(&[0, 100, 1 << 20])).memory(c.pick(&[0, 1 << 20]));
        drop(Program::load_within(&path, limits));
        drop(Program::from_bytes_within(&bytes[..c.below(bytes.len().max(1))], limits));
        let loaded = Program::load(&path)?;
        assert!(loaded.argument_names() == program.argument_names() && loaded.tree() == program.tree());
        assert!(!SymbolicProgram::is_symbolic(&bytes) && program.to_bytes()? == bytes);
        loaded.call([&x])?
    };
    "SymbolicProgram" |c, x| {
        let input = format!("{}[{}]", x.dtype(), c.pick(&["n", "n, 2", "n, m", "n, n", "3", "", "n,", "?"]));
        let program = SymbolicProgram::trace(&[&input], |p| vec![p[0].flip(0) * 2, concat([p[0], p[0]], 0)])?;
        let path = file("n.ndjit");
        program.save(&path)?;
        let loaded = SymbolicProgram::load(&path)?;
        assert!(loaded.extents() == program.extents() && loaded.input_types() == program.input_types());
        let limits = LoadLimits::default().memory(c.pick(&[0, 1 << 20]));
        let sizes: Vec<usize> = program.extents().iter().map(|_| c.pick(&[0, 1, 2, 7, usize::MAX])).collect();
        drop(SymbolicProgram::from_bytes_within(&program.to_bytes()?, limits)?.with_sizes(&sizes));
        loaded.call([x])?
    };
    "IncludedProgram" |_c, x| {
        static NONE: IncludedProgram<1, 1> = IncludedProgram::new(b"none");
        NONE.call([x])?
    };
    "to_dlpack" |c, x| {
        let (copy, again) = (c.pick(&[None, Some(true), Some(false)]), c.pick(&[None, Some(true), Some(false)]));
        let x = if c.one_in(2) { x.reshape([1, -1]).flip(1) } else { x.clone() };
        [from_dlpack(x.to_dlpack(copy)?, None, again)?]
    };
    "into_dlpack" |c, x| {
        let x = if c.one_in(2) { x.reshape([1, -1]).flip(1) } else { x.clone() };
        let x = if c.one_in(2) { &x + &x } else { x };
        let own = x.into_dlpack()?;
        assert!(!own.is_read_only(), "an exported array is its receiver's");
        [from_dlpack(own, None, None)?]
    };
    "ManagedTensor" |c, _x| [from_dlpack(ManagedTensor::from_owner(vec![1i32; c.below(9)], shape(c))?, None, None)?];
    "donate" |c, x| { let f = jit(|x: Expr, n: Expr| x * 2 + n); [f.call((x.clone().donate(), number(c)))?] };
    "call" |c, x| { let f = function(); f.call((&wide_of_few(c, x), x))? };
    "call_into" |c, x| {
        let dtype = if c.one_in(3) { any_dtype(c) } else { x.dtype() };
        let size = if c.one_in(3) { c.below(70) } else { x.len() };
        with_type!(dtype, T => {
            let mut into = vec![<T as Default>::default(); size];
            jit(|x: Expr| x.negative()).call_into((x,), &mut into)?;
        });
        []
    };
    "trace" |c, _x| {
        let f = function();
        let traced = f.trace(&specs(c))?;
        seen((traced.results(), traced.explain_dtype(c.below(4)), traced.first_widening(), traced.dot()?.len(), traced.json().len()));
        seen((traced.svg()?.len(), traced.inferred_dtypes()?, traced.supported_dtypes()?));
        let lowered = traced.lower()?;
        let (from, to) = (stage(c), stage(c));
        seen((lowered.explain(from).len(), lowered.casts(), lowered.kernel_count(), lowered.diff(from, to).is_empty(), lowered.memory_plan()?));
        drop((lowered.dot(from), lowered.svg(from), lowered.json(from)));
        let compiled = lowered.compile()?;
        seen((compiled.explain(to).len(), compiled.kernel_count(), compiled.diff(from, to).is_empty(), compiled.memory_plan()?));
        drop((compiled.dot(to), compiled.svg(to), compiled.json(to)));
        if c.one_in(8) { compiled.explain_html(file("page.html"))?; }
        []
    };
    "compile" |c, x| {
        let compiled = function().trace(&[Spec::of(x), Spec::of(x)])?.lower()?.compile()?;
        let (other, mut into) = (array(c), [0f32; 3]);
        drop(compiled.call_into((x, x), (&mut into, &mut [0f32; 3])));
        drop(compiled.call((&other, x)));
        compiled.call((x, x))?
    };
    "explain" |c, x| {
        let f = function().on_widening(c.pick(&[Lint::Allow, Lint::Deny]));
        let before = f.explain(stage(c));
        let results = f.call((x, x))?;
        let (from, to) = (stage(c), stage(c));
        seen((before.len(), f.explain(from).len(), f.explain_dtype(c.below(3)), f.first_widening(), f.casts(), f.explain_cache_misses(), f.stats()));
        drop((f.dot(from), f.svg(from), f.json(from), f.diff(&specs(c), &specs(c), to)));
        seen((f.memory_plan(), f.trace_count(), f.compile_count(), f.config(), stats()));
        let own = f.stats();
        seen((own.bytes_read(), own.bytes_written(), own.flops(), own.time()));
        if c.one_in(8) { seen(f.profile((x, x))); }
        if let Ok(diff) = f.policy_diff(&[Spec::of(x), spec(value_type(c), shape(c))], &Policy::ALL) {
            seen((diff.policies().count(), diff.differences().count(), diff.to_string().len()));
        }
        if c.one_in(8) { f.explain_html(file("page.html"))?; }
        results
    };
    "Program" |c, x| {
        let specs = specs(c);
        let program = Program::trace(&specs, |p| p.iter().map(|x| x.sin() + 1).collect())?;
        let read = Program::parse(&program.to_string())?;
        assert_eq!(program.captured_bytes(), 0);
        assert_eq!(read.to_string(), program.to_string(), "a program reads back");
        seen((program.inputs(), program.results(), program.explain_dtype(c.below(4)), program.rows(), program.memory()));
        seen(program.inputs().iter().filter(|spec| spec.is_number()).count());
        drop(program.explain(stage(c)));
        drop(program.call([x, x]));
        drop(program.call_into([x, x], (&mut vec![0f32; x.len()], &mut vec![0f32; x.len()])));
        match program.with_rows(count(c)) {
            Some(other) => seen((other.inputs(), other.results())),
            None => [],
        }
    };
    "parse" |c, _x| {
        let extents = shape(c).to_string();
        let dtype = any_dtype(c);
        let op = c.pick(&Op::ALL);
        let operands = vec!["%0"; op.arity()].join(", ");
        let text = format!("graph (%0: {dtype}{extents}) {{\n  %1 = {op} {operands} : {dtype}{extents}\n  return %1\n}}");
        // Half of the texts have wrong types.
        assert!(Program::count_operations(&text).is_ok_and(|count| count == 2) || Program::parse(&text).is_err(), "{text}");
        let Ok(program) = Program::parse(&text) else { return Ok(vec![]) };
        seen((program.inputs(), program.memory(), program.explain(stage(c)).is_ok()))
    };
    "first_nan" |c, x| {
        let f = function();
        seen((debug::first_nan(&f, (x, x))?, debug::first_nonfinite(&f, (x, x))?));
        seen(first_mismatch(&f, (x, x))?);
        if c.one_in(2) { f.check_nans(true).call((x, x))? } else { debug::with_nan_check(|| f.call((x, x)))? }
    };
    "debug_print" |_c, x| {
        let (results, lines) = debug::collect_debug_output(|| jit(|x: Expr| debug::debug_print("x", x) + 1).call((x,)));
        seen(lines.len());
        [results?, debug::collect_debug_output(|| debug::debug_print("x", x)).0]
    };
    "disagreement" |c, _x| {
        let graph = "graph (%0: f32[7]) {\n  %1 = exp %0 : f32[7]\n  return %1\n}";
        assert_eq!(debug::disagreement(graph, c.seed())?, None);
        seen(debug::shrink(graph, |text| text.contains("exp"))?);
        debug::write_graph(file("x.graph"), "an example", graph)?;
        seen(inspect::graph_from_json::<ValueType>("{}").is_err())
    };
    "with_defaults" |c, x| {
        let mut dtype = || any_dtype(c);
        let asked = Defaults { int: dtype(), float: dtype(), complex: dtype() };
        let made = with_defaults(asked, || [x + weak(1), x * weak(0.5), arange(3)])?;
        let dtype = any_dtype(c);
        [made, with_default_dtype(dtype, || [linspace(0..=1, 3), x + weak(1.5), zeros(2)])].concat()
    };
    "with_casting" |c, x| {
        let (modes, op) = (c.pick(&[CastingModes::ERROR, CastingModes::CROSS, CastingModes::UP, CastingModes::DOWN, CastingModes::ALL]), c.pick(&Op::ALL));
        let operands = vec![operand::Operand::operand(x); op.arity()];
        [with_casting(modes, || dynamic::apply::<Array>(op, &operands))]
    };
    "restrict_dtypes" |c, x| {
        let dtypes: Vec<DType> = (0..c.below(4)).map(|_| any_dtype(c)).collect();
        let set = dtypes.iter().fold(DTypeSet::EMPTY, |set, &dtype| set | DTypeSet::from(dtype));
        let restriction = if c.one_in(2) { Restriction::supported(set)? } else { Restriction::unsupported(set) };
        let own = restrict_dtypes(restriction, || x + x);
        [own, jit(|x: Expr| x.sin()).restrict_dtypes(restriction).with_casting(CastingModes::ALL).call((x,))?]
    };
    "with_device" |_c, x| {
        let made = with_device(Device::CPU, || with_fallback(Fallback::Cpu, || x + 1));
        x.block_until_ready()?.copy_to_host_async()?;
        let f = jit(|x: Expr| x + 1).on(Device::CPU).fallback(Fallback::Emulate).with_policy(Policy::default()).fp_contract(true);
        [made, x.on(Device::CPU), f.call((x,))?]
    };
    "with_state_budget" |c, x| {
        let (bytes, steps) = (c.below(4096), c.below(40));
        let walk = move |x: Expr| sum(scan(|x: Expr, n: Expr| (tanh(x * n), ()), x, Expr::from(arange(steps))).0, ..);
        [with_state_budget(bytes, || jit(grad(walk)).call((x,)))?]
    };
    "with_cancellation" |_c, x| {
        let cancellation = Cancellation::new();
        let f = jit(|x: Expr| fori_loop(0, 3, x * 2, |_, x: Expr| x + 1));
        let made = with_cancellation(&cancellation, || f.call((x,)))?;
        cancellation.clone().cancel();
        let [called, read] = with_cancellation(&cancellation, || [f.call((x,)).map(drop), (x + 1).eval().map(drop)]);
        for error in [called, read].into_iter().filter_map(|cancelled| cancelled.err()) {
            assert_eq!(error.code(), ErrorCode::Cancelled, "{error}");
        }
        assert!(cancellation.is_cancelled());
        [f.call((x,))?, made]
    };
    "no_recompile" |_c, x| [no_recompile(|| jit(|x: Expr| x + 1).call((x,)))?];
    "explain_dtype" |c, x| seen((x + number(c)).explain_dtype()?);
    "with_place" |c, x| {
        let error = with_place(assertions_place(), || (x + array(c)).error().cloned());
        if let Some(error) = &error { seen((report(error).len(), report_in(error, "x + y").len())); }
        []
    };
    "host" |_c, _x| seen(host()?);
    "dynamic" |c, x| {
        let asked = dynamic::Asked {
            dtype: if c.one_in(2) { Some(any_dtype(c)) } else { None },
            correction: if c.one_in(4) { Some(number(c)) } else { None },
            include_initial: c.one_in(4),
        };
        let (reduction, scan, sort) = (c.pick(&Reduction::ALL), c.pick(&Scan::ALL), c.pick(&Sort::ALL));
        let (axes, axis, which) = (axes(c, x.shape().rank()), axis(c, x.shape().rank()), c.below(3));
        let f = jit(move |x: Expr| match which {
            0 => dynamic::scan(scan, operand::Operand::operand(x), axis, asked),
            1 => dynamic::sort(sort, operand::Operand::operand(x), axis, asked),
            _ => dynamic::reduce::<Expr>(reduction, operand::Operand::operand(x), axes.clone(), asked),
        });
        let index = match c.below(3) {
            0 => dynamic::Index::Slice(manipulation::Slice::Ellipsis),
            1 => dynamic::Index::Slice(manipulation::Slice::Index(integer(c))),
            _ => dynamic::Index::Elements(operand::Operand::operand(number(c))),
        };
        let operand::AnyOperand::Array(flipped) = flip(operand::Operand::operand(x), axis) else { unreachable!() };
        [f.call((x,))?, dynamic::at::<Array>(operand::Operand::operand(x), vec![index]).get(), flipped]
    };
    "dynamic_jitted" |c, x| {
        let f = dynamic::DynamicJitted::new("fuzz", assertions_place(), |x, own| {
            let kept: Vec<Expr> = x.iter().filter_map(|&x| dynamic::TracedRef::of(x).ok()?.expr().ok()).collect();
            let at = dynamic::variables("fuzz", &kept);
            let y: Vec<Expr> = at.iter().map(|&x| sin(x)).collect();
            assert!(dynamic::depend("fuzz", &y, &at).is_ok_and(|all| all.iter().all(|&depends| depends)));
            let made = match own[0] {
                0 => dynamic::tangents("fuzz", &at, &y, &kept),
                1 => dynamic::cotangents("fuzz", &at, &y, &kept),
                2 => dynamic::gradients("fuzz", &at, |own| own.iter().map(|&x| sum(x * x, ..)).collect()).map(|made| made.1),
                _ => Ok(dynamic::vmap("fuzz", &[(at[0], Some(0))], None, |own| vec![own[0] * 2])),
            };
            (made.unwrap_or(y), own.to_vec())
        });
        let which = c.below(4);
        seen((f.configured(|config| config.threads = Some(1)).config(), dynamic::is_tracing(), f.last_page().is_err()));
        seen((f.explain([x], &[which], Stage::Typed)?, f.page([x], &[which])?));
        let compiled = f.compile([x], &[which])?;
        seen((compiled.explain(Stage::Typed), compiled.page()?, compiled.stats(), f.stats()));
        let results = if c.one_in(2) { f.call([x], &[which])? } else { compiled.call([x])? };
        seen(results.structure().len());
        results.into_iter().collect::<Vec<Array>>()
    };
    "unstack" |c, x| { let n = x.shape().rank(); let axis = axis(c, n); if x.len() <= MANY { unstack(x, axis)? } else { vec![] } };
}

/// A place for `with_place`.
fn assertions_place() -> SourceLoc {
    SourceLoc::caller()
}

/// An array of another shape that broadcasts, rarely with many elements.
fn wide_of_few(c: &mut Choices, x: &Array) -> Array {
    if c.one_in(2) { expand_dims(x, 0) } else { array(c) }
}
