//! The example of docs/promotion.md with output.

use super::{Examples, examples};
use ndjit::Result;

fn why_f64() -> Result<()> {
    use ndjit::{Array, jit, strong};

    fn main() -> Result<(), ndjit::Error> {
        let scale = 2.5f64;
        let f = jit(move |x| x * strong(scale) + 1);
        let y = f.call((&Array::from([1.0f32, 2.0]),))?;
        println!("{} is {}\n", y, y.dtype());
        println!("{}\n", f.explain_dtype(0).expect("a result"));
        println!("{}", f.first_widening().expect("a product of f64"));
        Ok(())
    }
    main()
}

examples!(why_f64);
