//! A custom promotion lattice of four dtypes, in which no integer loses digits, used as a policy: its joins, its errors,
//! its evaluation, and a graph that is not a lattice.

use ndjit::{Array, Lattice, Policy, jit, with_policy};
use std::error::Error;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // Each type with its immediate successors: i16 is exact in f32, i32 only in f64. Stars mark the types of bare numbers.
    let lattice = Lattice::new(
        "exact",
        [("i*", &["i16", "f*"][..]), ("i16", &["i32", "f32"]), ("i32", &["f64"]), ("f*", &["f32"]), ("f32", &["f64"])],
    )?
    .total()?;
    let policy = Policy::from_lattice(&lattice, Policy::Standard.rules())?;
    let (short, long) = (Array::from([1i16, 2]), Array::from([16_777_217i32, 3]));
    let single = Array::from([0.5f32, 0.25]);

    println!("{lattice}");
    println!("dtype      exact  standard");
    let lines: [(&str, &dyn Fn() -> Array); 4] = [
        ("i16 + f32", &|| &short + &single),
        ("i32 + f32", &|| &long + &single),
        ("i32 + 0.5", &|| &long + 0.5),
        ("i16 + 1", &|| &short + 1),
    ];
    for (name, line) in lines {
        println!("{name:<10} {:<6} {}", with_policy(policy, line).dtype(), line().dtype());
    }
    let f = jit(|x, y| x + y).with_policy(policy);
    println!("exact:     {}", f.call((&long, &single))?);
    println!("standard:  {}", &long + &single);

    let error = f.call((&long, &Array::from([1u8]))).err().ok_or("u8 is not in the lattice")?;
    println!("u8 + i32:  {}", error.headline());
    println!("rounded in a join: {} pairs; in JAX's lattice {}", rounded(&lattice), rounded(&Lattice::named("jax")?));

    // Two minimal upper bounds: the join of a and b is ambiguous.
    let crossed = Lattice::new("crossed", [("i16", ["f16", "bf16"]), ("u8", ["f16", "bf16"])]);
    println!("{}", crossed.err().ok_or("a crossed graph is no lattice")?);
    Ok(())
}

/// Pairs of types whose join cannot represent all their values.
fn rounded(lattice: &Lattice) -> usize {
    lattice.audit().lost_precision.len()
}
