//! The inputs of the kernels: seeded uniform values, in the ranges of the other libraries' benchmark.

use ndjit::{Array, Complex, DType, Result};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// The elements of an argument.
#[derive(Clone, Copy, Debug)]
pub enum Input {
    /// Floats between two numbers.
    Uniform(f64, f64),
    /// Integers of a dtype from -100 to 99.
    Integers(DType),
    /// Complex numbers with parts between -0.2 and 0.2.
    Disc,
}

/// An argument: the array, and its elements as `f64` (for complex ones real and imaginary parts, interleaved).
pub struct Made {
    /// The array.
    pub array: Array,
    /// Its elements.
    pub exact: Vec<f64>,
}

/// The arguments of a kernel, of these shapes.
pub fn make(inputs: &[Input], shapes: &[Vec<usize>], dtype: DType) -> Result<Vec<Made>> {
    let mut random = StdRng::seed_from_u64(0);
    let one = |(input, shape): (&Input, &Vec<usize>)| {
        let len: usize = shape.iter().product();
        let mut uniform = |low: f64, high: f64| random.random_range(low..high);
        let made = match *input {
            Input::Uniform(low, high) if dtype == DType::F64 => {
                let values: Vec<f64> = (0..len).map(|_| uniform(low, high)).collect();
                Made { array: Array::from(values.clone()), exact: values }
            }
            Input::Uniform(low, high) => {
                let values: Vec<f32> = (0..len).map(|_| uniform(low, high) as f32).collect();
                Made { exact: values.iter().map(|&x| f64::from(x)).collect(), array: Array::from(values) }
            }
            Input::Integers(of) => {
                let values: Vec<i32> = (0..len).map(|_| uniform(-100.0, 100.0).floor() as i32).collect();
                let exact = values.iter().map(|&x| f64::from(x)).collect();
                Made { array: Array::from(values).cast(of), exact }
            }
            Input::Disc => {
                let values: Vec<Complex<f32>> =
                    (0..len).map(|_| Complex::new(uniform(-0.2, 0.2) as f32, uniform(-0.2, 0.2) as f32)).collect();
                let exact = values.iter().flat_map(|z| [f64::from(z.re), f64::from(z.im)]).collect();
                Made { array: Array::from(values), exact }
            }
        };
        let array = made.array.reshape(shape.clone());
        array.eval()?;
        Ok(Made { array, ..made })
    };
    inputs.iter().zip(shapes).map(one).collect()
}
