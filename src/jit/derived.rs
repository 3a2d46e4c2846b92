//! Programs of programs: gradients and lanes.

use crate::api::config::with_settings;
use crate::api::transforms::{gradients, over_lanes};
use crate::jit::program::Program;
use crate::jit::spec::Spec;
use crate::trace::expr::Expr;
use crate::trace::operand::Computed;
use ndjit_ir::axes::position;
use ndjit_ir::{Error, ErrorCode, Place, Result};

impl Program {
    /// The gradients of the first result, one real number, by arguments of these positions: a program of the same arguments. Other results are left out.
    ///
    /// ```
    /// use ndjit::{Array, Program};
    ///
    /// let text = "graph (%0: f32[2]) {\n  %1 = multiply %0, %0 : f32[2]\n  %2 = sum %1 axes [0] : f32[]\n  return %2\n}";
    /// let slopes = Program::parse(text)?.grad(&[0])?;
    /// assert_eq!(slopes.call([&Array::from([1.0f32, 3.0])])?[0].to_vec::<f32>()?, [2.0, 6.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Arity` for a position that there is not; `Shape` or `DType` if the first result is not one real number, `DType` for arguments that are integers or bools.
    #[track_caller]
    pub fn grad(&self, by: &[usize]) -> Result<Program> {
        let place = Place::caller();
        let inputs = self.inputs();
        if let Some(beyond) = by.iter().find(|&&n| n >= inputs.len()) {
            return Err(Error::new(ErrorCode::Arity, format!("grad: there is no argument {beyond}"))
                .at(place)
                .fact(format_args!("the program has {}, counted from 0", inputs.len())));
        }
        if self.results().is_empty() {
            return Err(Error::new(ErrorCode::Arity, "grad: the program has no results").at(place));
        }
        self.traced_again(&inputs, |parameters| {
            let values: Vec<Expr> = by.iter().map(|&n| parameters[n]).collect();
            let made = gradients(("grad", place), &values, true, |variables| {
                let mut own = parameters.to_vec();
                by.iter().zip(variables).for_each(|(&n, &variable)| own[n] = variable);
                self.replayed(&own)
            });
            match made {
                Ok((_, gradients)) => gradients,
                Err(error) => vec![Expr::failed(error)],
            }
        })
    }

    /// The program for so many lanes: `axes` says for each argument along which axis it has them, `None` for those that are the same in all lanes. Results have the
    /// lanes along their first axis, as of [`vmap`](fn@crate::vmap).
    ///
    /// ```
    /// use ndjit::{Array, Program, spec, DType};
    ///
    /// let dot = Program::trace(&[spec(DType::F32, [2]), spec(DType::F32, [2])], |p| vec![ndjit::sum(p[0] * p[1], ..)])?;
    /// let rows = dot.vmap(2, &[Some(0), None])?;
    /// let (x, y) = (Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]), Array::from([10.0f32, 1.0]));
    /// assert_eq!(rows.call([&x, &y])?[0].to_vec::<f32>()?, [12.0, 34.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Arity` for another number of axes than arguments; `Shape` for an axis that an argument cannot have, and if none has lanes.
    #[track_caller]
    pub fn vmap(&self, lanes: usize, axes: &[Option<isize>]) -> Result<Program> {
        let place = Place::caller();
        let inputs = self.inputs();
        if axes.len() != inputs.len() {
            let headline = format!("vmap: {} axes of {} arguments", axes.len(), inputs.len());
            return Err(Error::new(ErrorCode::Arity, headline).at(place).help("name one for each, or `None`"));
        }
        let with_lanes = |(input, axis): (&Spec, &Option<isize>)| {
            let Some(axis) = axis else { return Ok(input.clone()) };
            if input.is_number() {
                return Err(Error::new(ErrorCode::Shape, "vmap: a number has no lanes").help("name `None` for it"));
            }
            let mut extents: Vec<usize> = input.shape().extents().to_vec();
            extents.insert(position(*axis, extents.len() + 1)?, lanes);
            Ok(crate::spec(input.value_type(), extents))
        };
        let specs: Result<Vec<Spec>> = inputs.iter().zip(axes).map(with_lanes).collect();
        let specs = specs.map_err(|error: Error| error.of("vmap").at(place))?;
        self.traced_again(&specs, |parameters| {
            let given: Vec<(Expr, Option<isize>)> = parameters.iter().copied().zip(axes.iter().copied()).collect();
            over_lanes(("vmap", place), &given, None, |lanes| self.replayed(lanes))
        })
    }

    /// Another program of this one's operations, under its policy.
    fn traced_again(&self, specs: &[Spec], function: impl FnOnce(&[Expr]) -> Vec<Expr>) -> Result<Program> {
        with_settings(self.settings(), || Program::trace(specs, function))
    }
}
