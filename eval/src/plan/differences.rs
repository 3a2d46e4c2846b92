//! Differences between a call and a plan's signature.

use crate::argument::{ArgumentLayout, ArgumentType, Signature};
use crate::plan::compiled::Plan;
use crate::settings::Settings;
use ndjit_ir::ValueType;

/// The number of differences between a call and a plan's signature.
pub fn distance(call: &Signature, known: &Plan) -> usize {
    let arguments = known.arguments.iter().zip(&call.arguments).filter(|(known, call)| known != call).count();
    let arguments = arguments + usize::from(known.structure != call.structure);
    match known.settings == call.settings {
        true => arguments,
        false => arguments + settings(&call.settings, &known.settings).len(),
    }
}

/// Arguments as a list.
pub fn listed(arguments: &[ArgumentType]) -> String {
    let arguments: Vec<String> = arguments.iter().map(ArgumentType::to_string).collect();
    format!("({})", arguments.join(", "))
}

/// The differences between a call and a plan's signature.
pub fn differences(call: &Signature, known: &Plan) -> Vec<String> {
    let arguments = call.arguments.iter().zip(&known.arguments).enumerate();
    let arguments = arguments.filter(|(_, (call, known))| call != known);
    let mut all: Vec<String> =
        arguments.map(|(n, (call, known))| format!("argument {n}: {}", argument(call, known))).collect();
    if call.structure != known.structure {
        all.push("the structure of the arguments: lists of other lengths".to_owned());
    }
    all.extend(settings(&call.settings, &known.settings));
    if !known.is_alive() {
        all.push("the device was lost, and its plans with it".to_owned());
    }
    all
}

fn argument(call: &ArgumentType, known: &ArgumentType) -> String {
    use ArgumentLayout::{Contiguous, Scalar, Strided};
    let same = call.ty == known.ty && call.shape == known.shape;
    match (&call.layout, &known.layout) {
        (Scalar, Scalar) => match (call.ty, known.ty) {
            (ValueType::Weak(call), ValueType::Weak(known)) => format!("a number of kind {call}, known {known}"),
            _ => format!("{call}, known {known}"),
        },
        (Strided(layout), Contiguous) if same => format!("strides {:?}, known in row-major order", layout.strides),
        (Contiguous, Strided(layout)) if same => format!("in row-major order, known strides {:?}", layout.strides),
        (Strided(call), Strided(known)) if same && call.strides != known.strides => {
            format!("strides {:?}, known {:?}", call.strides, known.strides)
        }
        (Strided(call), Strided(known)) if same => format!("begins at byte {}, known {}", call.offset, known.offset),
        (Contiguous, Contiguous) if same => format!("stored as {}, known {}", call.dtype, known.dtype),
        _ => format!("{call}, known {known}"),
    }
}

fn settings(call: &Settings, known: &Settings) -> Vec<String> {
    let Settings { policy, default_dtype, support, device, fallback, interpreted, state_bytes } = call;
    let mut all = Vec::new();
    let mut note = |differs: bool, what: String| {
        if differs {
            all.push(what);
        }
    };
    let dtype =
        |dtype: &Option<_>| dtype.map_or("that of floats".to_owned(), |dtype: ndjit_ir::DType| dtype.to_string());
    let (own, other) = (policy.to_string(), known.policy.to_string());
    let policies = match own == other {
        true => format!(
            "policy: other default dtypes, {}, known {}",
            policy.defaults().float,
            known.policy.defaults().float
        ),
        false => format!("policy: {own}, known {other}"),
    };
    note(*policy != known.policy, policies);
    let dtypes = format!("default dtype: {}, known {}", dtype(default_dtype), dtype(&known.default_dtype));
    note(*default_dtype != known.default_dtype, dtypes);
    note(*device != known.device, format!("device: {device}, known {}", known.device));
    note(*fallback != known.fallback, format!("fallback: {fallback}, known {}", known.fallback));
    note(support.casting != known.support.casting, "casting modes".to_owned());
    note(support.restrictions != known.support.restrictions, "declared dtypes".to_owned());
    let described = support.device != known.support.device && *device == known.device;
    note(described, "the device whose dtypes count".to_owned());
    let states = format!("states of loops kept: {state_bytes} bytes, known {}", known.state_bytes);
    note(*state_bytes != known.state_bytes, states);
    let runs = |interpreted: bool| if interpreted { "the interpreter" } else { "compiled code" };
    note(
        *interpreted != known.interpreted,
        format!("run by {}, known {}", runs(*interpreted), runs(known.interpreted)),
    );
    all
}
