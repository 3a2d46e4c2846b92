//! The table of docs/numpy.md for JAX's own functions. The code there runs, and its result is compared.

use ndjit::*;
use std::fmt::Debug;

/// JAX's expression, the one here, a remark; the formatted result here, and the found one.
pub struct Row {
    pub jax: &'static str,
    pub ndjit: &'static str,
    pub remark: &'static str,
    pub expected: &'static str,
    pub found: String,
}

/// The text of a value, independent of pending evaluation.
fn shown(value: impl Debug) -> String {
    format!("{value:?}").replace(", not yet computed", "")
}

macro_rules! rows {
    ($g:ident $f:ident $x:ident; $($jax:literal => $ndjit:expr, $remark:literal, $expected:literal;)*) => {
        /// The rows.
        pub fn rows() -> Result<Vec<Row>> {
            let $g = |x: Expr| x * 2 + 1;
            let $f = jit($g);
            let $x = Array::from([1.0f32, 2.0, 3.0]);
            $f.call((&$x,))?;
            Ok(vec![$(Row {
                jax: $jax,
                ndjit: stringify!($ndjit),
                remark: $remark,
                expected: $expected,
                found: shown($ndjit),
            }),*])
        }
    };
}

rows! { g f x;
    "jax.jit(g)" => jit(g), "", "Jitted(1 parameters, traced 0 times)";
    "f(x)" => f.call((&x,))?, "or `f(&x)`, which panics where there is an error", "Array(f32[3])";
    "jax.jit(g, donate_argnums=0)(x)" => f.call((Array::from([1.0f32]).donate(),))?, "the argument's memory may be taken", "Array(f32[1])";
    "jax.make_jaxpr(g)(x)" => f.explain(Stage::Graph).lines().count(), "of the last call", "7";
    "jax.jit(g).lower(x).compile()" => f.trace(&[Spec::of(&x)])?.lower()?.compile()?.kernel_count(), "the three steps, from types only", "1";
    "jax.eval_shape(g, x)" => f.trace(&[Spec::of(&x)])?.results()[0].to_string(), "", "\"f32[3]\"";
    "jax.ShapeDtypeStruct((3,), jnp.float32)" => spec(DType::F32, [3]).to_string(), "", "\"f32[3]\"";
    "x.block_until_ready()" => x.block_until_ready()?, "", "Array(f32[3])";
    "x.astype(jnp.float16)" => x.cast(DType::F16), "", "Array(f16[3])";
    "jnp.asarray(2)" => asarray(2), "weak, as in JAX", "Array(i*[] stored as i32)";
    "jnp.float32(2)" => strong(2.0f32), "a number with a dtype of its own", "Scalar(2.0 f32)";
    "x.weak_type" => x.is_weak(), "", "false";
    "jnp.promote_types('u1', 'i1')" => promote_types(DType::U8, DType::I8)?, "", "Strong(I16)";
    "jnp.result_type(x, 2)" => result_type((&x, 2))?, "", "Strong(F32)";
    "jnp.finfo(jnp.bfloat16).max" => finfo(DType::Bf16)?.max, "", "3.3895313892515355e38";
    "with jax.enable_x64():" => with_defaults(Defaults::BITS_64, || arange(3).dtype())?, "64-bit dtypes are there without it; this is about defaults", "I64";
    "with jax.numpy_dtype_promotion('strict'):" => with_policy(Policy::Strict, || (&x + arange(3)).error().is_some()), "", "true";
    "x.at[1].set(9)" => x.at(1).set(9), "in `jit` in the array's memory, where that dies", "Array(f32[3])";
    "x.at[7].get(mode='fill', fill_value=0)" => x.at(7).get_or(0), "", "Array(f32[])";
    "jax.lax.top_k(x, 2)" => topk(&x, 2, -1), "", "(Array(f32[2]), Array(i32[2]))";
    "jax.nn.one_hot(jnp.array([2, 0]), 3)" => Array::from([2, 0]).slice((.., NewAxis)).eq(arange(3)).cast(DType::F32), "", "Array(f32[2, 3])";
    "jax.nn.softmax(x)" => { let e = exp(&x - x.max(keepdims(-1))); &e / e.sum(keepdims(-1)) }, "one kernel in `jit`", "Array(f32[3])";
    "jax.lax.fori_loop(0, 3, lambda i, x: g(x), x)" => jit(move |x: Expr| fori_loop(0, 3, x, |_, x| g(x))).call((&x,))?, "a loop of Rust in `jit` is written out", "Array(f32[3])";
    "jax.lax.while_loop(lambda x: x.sum() < 99, g, x)" => jit(move |x: Expr| while_loop(x, |x| x.sum(..).lt(99), g)).call((&x,))?, "in `jit`", "Array(f32[3])";
    "jax.lax.cond(x.sum() > 1, g, lambda x: x, x)" => jit(move |x: Expr| cond(x.sum(..).gt(1), g, |x| x, x)).call((&x,))?, "in `jit`", "Array(f32[3])";
    "jax.lax.scan(lambda c, x: (c + x, c), 0., x)" => jit(|x: Expr| scan(|c, x| (c + x, c), Expr::from(0.0), x)).call((&x,))?, "in `jit`", "(Array(f32[]), Array(f32[3]))";
    "jax.lax.select_n(i, x, y)" => select_n(Array::from([0, 1, 0]), [&x, &x]), "", "Array(f32[3])";
    "jax.random.key(0)" => random::key(0), "one `u64`", "Array(u64[])";
    "jax.random.split(key, 2)" => random::split::<_, 2>(random::key(0)), "or `let [a, b] = …`", "[Array(u64[]), Array(u64[])]";
    "jax.random.uniform(key, (3,))" => random::uniform(random::key(0), 3, 0.0..1.0), "the same bits", "Array(f32[3])";
    "jax.random.normal(key, (3,), 'f8')" => dtype(DType::F64).normal(random::key(0), 3), "", "Array(f64[3])";
    "jax.random.randint(key, (3,), 1, 7)" => random::randint(random::key(0), 3, 1..7), "the same bits", "Array(i32[3])";
    "jax.random.permutation(key, 5)" => random::permutation(random::key(0), 5), "the same order", "Array(i32[5])";
    "jax.device_put(x, jax.devices()[0])" => x.on(Device::CPU), "", "Array(f32[3])";
}
