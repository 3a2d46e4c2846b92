//! What the passes of the target half change: a nest of ops, which becomes nests of primitives for a code generator.

use super::{Checked, NESTS, PassObserver, PassProgram, SPLIT, Unobserved, run};
use crate::clif::AccumulatorLayout;
use crate::passes::expand::{Divisions, expand};
use crate::passes::legalize::legalize;
use crate::passes::loops::LoopKernel;
use crate::passes::split::{NestPart, TargetKernel, split};
use crate::target::Target;
use ndjit_ir::loops::LoopNest;
use ndjit_ir::{Error, ErrorCode, Result};
use std::fmt::{self, Formatter};
use std::sync::Arc;

/// Runs the target half on a nest of ops.
///
/// # Errors
/// `Verify` if the invariants of the nest or of a pass's result are violated; `Backend` if the target does not support the nest.
pub fn lower_for(nest: &LoopNest, target: &Target) -> Result<TargetKernel> {
    lower_for_observed(nest, target, &mut Unobserved)
}

/// Like [`lower_for`], with an observer.
///
/// # Errors
/// Those of [`lower_for`].
pub fn lower_for_observed(nest: &LoopNest, target: &Target, observer: &mut dyn PassObserver) -> Result<TargetKernel> {
    nest.verify()?;
    let mut program = TargetNests::new(nest, target);
    // The next passes are checked after the last one.
    let checked = if CHECKED == Checked::All { Checked::All } else { Checked::None };
    run(SPLIT, &mut program, target, checked, observer)?;
    run(NESTS, &mut program, target, CHECKED, observer)?;
    program.finish()
}

/// The nest of a loop's steps, for a target.
///
/// # Errors
/// Those of [`lower_for`].
pub fn lower_steps(kernel: &LoopKernel, target: &Target) -> Result<NestPart> {
    lower_steps_observed(kernel, target, &mut Unobserved)
}

/// Like [`lower_steps`], with an observer.
///
/// # Errors
/// Those of [`lower_for`].
pub fn lower_steps_observed(kernel: &LoopKernel, target: &Target, observer: &mut dyn PassObserver) -> Result<NestPart> {
    let divisions = match kernel.form {
        AccumulatorLayout::Steps { .. } | AccumulatorLayout::While { .. } => Divisions::Lanes,
        AccumulatorLayout::Plain | AccumulatorLayout::Rows | AccumulatorLayout::Columns | AccumulatorLayout::Pairs => {
            Divisions::Vectors
        }
    };
    let nest = Arc::new(expanded_observed(&kernel.nest, target, divisions, observer)?);
    Ok(NestPart {
        name: Some("steps"),
        ops: Arc::clone(&kernel.nest),
        nest,
        form: kernel.form,
        wide: false,
        pairs: None,
    })
}

/// A nest of ops as primitives of a target, with its reduction, scan, sort or scatter. [`lower_for`] makes the nests for code generation.
///
/// # Errors
/// Those of [`lower_for`].
pub fn expanded(nest: &LoopNest, target: &Target) -> Result<LoopNest> {
    expanded_observed(nest, target, Divisions::Vectors, &mut Unobserved)
}

fn expanded_observed(
    nest: &LoopNest,
    target: &Target,
    divisions: Divisions,
    observer: &mut dyn PassObserver,
) -> Result<LoopNest> {
    let mut program = TargetNests { divisions, ..TargetNests::new(nest, target) };
    run(NESTS, &mut program, target, CHECKED, observer)?;
    program.nests.pop().ok_or_else(|| Error::new(ErrorCode::Verify, "pipeline: a pass lost the nest"))
}

/// Machine code is generated only from verified nests; between passes verification takes a tenth of the time to compile a long body.
const CHECKED: Checked = if cfg!(debug_assertions) { Checked::All } else { Checked::Last };

/// A nest for a target, in parts once it is split.
pub(super) struct TargetNests {
    /// The target's name.
    target: String,
    kernel: Option<TargetKernel>,
    /// The nest, or those of its parts without duplicates: parts may be the same nest in other forms of code.
    nests: Vec<LoopNest>,
    /// The same of ops, once the nest is split.
    ops: Vec<Arc<LoopNest>>,
    /// How its code divides, if the target does not divide by primitives.
    divisions: Divisions,
}

impl TargetNests {
    fn new(nest: &LoopNest, target: &Target) -> TargetNests {
        TargetNests {
            target: target.name.clone(),
            kernel: None,
            nests: vec![nest.clone()],
            ops: Vec::new(),
            divisions: Divisions::Vectors,
        }
    }

    /// The kernel, with the nests in its parts.
    fn finish(self) -> Result<TargetKernel> {
        let no = |what: &str| Error::new(ErrorCode::Verify, format!("pipeline: no pass {what}"));
        let mut kernel = self.kernel.ok_or_else(|| no("splits the nest"))?;
        let nests: Vec<Arc<LoopNest>> = self.nests.into_iter().map(Arc::new).collect();
        for part in kernel.parts_mut() {
            let nest = self.ops.iter().position(|ops| *ops == part.ops).and_then(|n| nests.get(n));
            part.nest = Arc::clone(nest.ok_or_else(|| no("makes the nest of a part"))?);
        }
        Ok(kernel)
    }

    pub fn split(&mut self, target: &Target) -> Result<()> {
        let Some(nest) = self.nests.pop() else { return Ok(()) };
        let kernel = split(&nest, target.combining)?;
        for part in kernel.parts() {
            if !self.ops.contains(&part.ops) {
                self.ops.push(Arc::clone(&part.ops));
                self.nests.push(LoopNest::clone(&part.ops));
            }
        }
        self.kernel = Some(kernel);
        Ok(())
    }

    pub fn expand(&mut self, target: &Target) -> Result<()> {
        let divisions = if target.replaces_division { self.divisions } else { Divisions::Primitives };
        self.each(|nest| expand(&nest, divisions))
    }

    pub fn legalize(&mut self, target: &Target) -> Result<()> {
        self.each(|nest| legalize(nest, target))
    }

    fn each(&mut self, pass: impl Fn(LoopNest) -> Result<LoopNest>) -> Result<()> {
        self.nests = std::mem::take(&mut self.nests).into_iter().map(pass).collect::<Result<_>>()?;
        Ok(())
    }
}

impl PassProgram for TargetNests {
    fn verify(&self, _: &str) -> Result<()> {
        self.nests.iter().try_for_each(LoopNest::verify)
    }

    fn write(&self, _: &str, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "; for the target {}", self.target)?;
        let Some(kernel) = &self.kernel else { return self.nests.iter().try_for_each(|nest| writeln!(f, "{nest}")) };
        for part in kernel.parts() {
            if let Some(name) = part.name {
                writeln!(f, "; {name}")?;
            }
            if let Some(nest) = self.ops.iter().position(|ops| *ops == part.ops).and_then(|n| self.nests.get(n)) {
                writeln!(f, "{nest}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pass;
    use super::*;
    use ndjit_ir::DType;
    use ndjit_ir::Op;
    use ndjit_ir::kernel::{OpBody, StmtKind};
    use ndjit_ir::loops::{Access, Stride};
    use std::fmt::Display;

    /// `x + x` of `f32` along one axis.
    fn doubling() -> LoopNest {
        let mut body = OpBody { inputs: vec![DType::F32], ..OpBody::default() };
        let x = body.push(StmtKind::Load(0), &[], DType::F32);
        let sum = body.push(StmtKind::Op(Op::Add), &[x, x], DType::F32);
        body.outputs = vec![sum];
        let array = Access::memory(DType::F32, Stride::Contiguous);
        LoopNest::map(1, vec![array], &[], vec![array], body)
    }

    struct Texts(Vec<(&'static str, String)>);

    impl PassObserver for Texts {
        fn begins(&mut self, pass: &'static str) {
            self.0.push((pass, String::new()));
        }

        fn ends(&mut self, pass: &'static str, made: &dyn Display) {
            let last = self.0.last_mut().expect("a pass begins before it ends");
            assert_eq!(last.0, pass);
            last.1 = made.to_string();
        }
    }

    #[test]
    fn each_pass_of_the_target_half_is_told_with_its_nests() {
        let mut texts = Texts(Vec::new());
        lower_for_observed(&doubling(), &Target::interpreter(), &mut texts).unwrap();
        let told: Vec<&str> = texts.0.iter().map(|(pass, _)| *pass).collect();
        let expected: Vec<&str> = super::super::target_passes().map(|(pass, _)| pass).collect();
        assert_eq!(told, expected);
        for (pass, text) in &texts.0 {
            let made = if *pass == "split" { "t1 = add t0, t0 : f32" } else { "r1 = fadd.f32 r0, r0" };
            assert!(
                text.starts_with("; for the target interpreter\nnest rank 1") && text.contains(made),
                "{pass}: {text}"
            );
        }
    }

    /// A stand-in for a pass with a bug.
    fn drop_outputs(program: &mut TargetNests, target: &Target) -> Result<()> {
        program.expand(target)?;
        program.each(|nest| Ok(LoopNest { outputs: Vec::new(), ..nest }))
    }

    #[test]
    fn a_broken_nest_is_an_error_after_its_pass() {
        let target = Target::interpreter();
        let lowered = |broken: &[&str], checked| {
            let stand_in = |pass: &Pass<TargetNests, Target>| {
                let run = if broken.contains(&pass.name) { drop_outputs } else { pass.run };
                Pass { run, ..*pass }
            };
            let passes: Vec<Pass<TargetNests, Target>> = NESTS.iter().map(stand_in).collect();
            let mut program = TargetNests::new(&doubling(), &target);
            run(&passes, &mut program, &target, checked, &mut Unobserved)
        };
        for (broken, checked) in [("expand", Checked::All), ("legalize", Checked::All), ("legalize", Checked::Last)] {
            let error = lowered(&[broken], checked).unwrap_err();
            let text = error.to_string();
            assert_eq!(error.code(), ErrorCode::Verify);
            let nest = format!("after the pass `{broken}`, of\n; for the target interpreter\nnest rank 1");
            assert!(text.contains(&nest) && text.contains("r1 = fadd.f32 r0, r0"), "{text}");
        }
        assert!(lowered(&[], Checked::All).is_ok());
    }
}
