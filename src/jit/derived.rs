//! Transformations of programs: gradients and `vmap`.

use crate::api::config::with_settings;
use crate::api::transforms::{gradients, over_lanes};
use crate::jit::program::Program;
use crate::jit::spec::Spec;
use crate::trace::expr::Expr;
use crate::trace::operand::ArrayLike;
use ndjit_ir::axes::position;
use ndjit_ir::{Error, ErrorCode, Result, SourceLoc};

impl Program {
    /// Computes the gradients of the first result, a real scalar, with respect to the arguments at these indices. The
    /// result is a program with the same parameters. Other results are dropped.
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
    /// `Arity` for an index out of range; `Shape` or `DType` if the first result is not a real scalar; `DType` for
    /// arguments of integers or bools.
    #[track_caller]
    pub fn grad(&self, by: &[usize]) -> Result<Program> {
        let place = SourceLoc::caller();
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

    /// Maps the program over lanes. `axes` has the lane axis of each argument, or `None` for an argument shared by all
    /// lanes. Results have their lanes along axis 0, as with [`vmap`](fn@crate::vmap).
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
    /// `Arity` if the number of axes differs from that of arguments; `Shape` for an axis out of range, or if no
    /// argument has lanes.
    #[track_caller]
    pub fn vmap(&self, lanes: usize, axes: &[Option<isize>]) -> Result<Program> {
        let place = SourceLoc::caller();
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

    /// Traces another program from the operations of this one, under its policy.
    fn traced_again(&self, specs: &[Spec], function: impl FnOnce(&[Expr]) -> Vec<Expr>) -> Result<Program> {
        with_settings(self.settings(), || Program::trace(specs, function))
    }
}
