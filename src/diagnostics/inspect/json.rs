//! The stages as JSON (feature `json`), for other programs. Graphs can be read back.
//!
//! Every document is an object with `"ndjit": 1`, the version of the format, and `"stage"`, its name.
//! - Graphs (`graph`, `typed`, `simplified`): `"graphs"` is a list of graphs, callees before callers; the last is the
//!   program. Each has `"params"` (`value`, `type`, `shape`, and `stored` for a weak one with another dtype than
//!   usual), `"calls"` (indices in the list), `"controls"` (for each piece of control flow `kind` and two `graphs`,
//!   each with `graph`, its index in the list, and `operands`, the indices of its parameters among the operands of the
//!   piece's nodes), `"slots"` (`{"literal": "2"}` or `{"argument": 0, "type": "i*"}`), `"nodes"` and `"outputs"`. A
//!   node has `results` (each with `value`, `type`, `shape`), `kind` (an op, a reduction, a scan, or `literal`, `cast`,
//!   `view`, `reshape`, `gather`, `scatter add`, `concat`, `iota`, `while`, `cond`, `call`), and `operands`. Depending
//!   on its kind it has `slot`, `policy`, `reason`, `view`, `axes`, `axis`, `keepdims`, `contracts`, `dtype`, `control`
//!   (an index in `"controls"`) and `result`, `call`; and `places`, if known.
//! - `kernels` and `loops`: `"kernels"` or `"nests"`, a list of objects with `text`, as the stage prints it, and
//!   `inputs`, `outputs` (values of the simplified graph) and `literals` (slots). A kernel also has `shape`, a nest
//!   `extents`.
//! - Other stages: `"text"`.
//!
//! Values are numbers, as in `%2`. Absent items are `null` or omitted.

use ndjit_inspect::json;
use ndjit_ir::graph::{Graph, Type};
use ndjit_ir::{Error, Result};
use std::str::FromStr;

/// The version of the format.
///
/// ```
/// assert_eq!(ndjit::inspect::VERSION, 1);
/// ```
pub const VERSION: u64 = json::VERSION;

/// Parses a graph from its JSON document: the stage `graph` with [`ValueType`](ndjit_ir::ValueType), other stages with
/// [`DType`](ndjit_ir::DType). Places are ignored. The result is not verified.
///
/// ```
/// use ndjit::inspect::graph_from_json;
/// use ndjit::{DType, Stage, jit, spec};
///
/// let f = jit(|x, y| x + y * 2);
/// let lowered = f.trace(&[spec(DType::F32, [3]), spec(DType::I8, [3])])?.lower()?;
/// let graph: ndjit_ir::graph::Graph<DType> = graph_from_json(&lowered.json(Stage::Simplified)?)?;
/// assert_eq!(graph.to_string(), lowered.explain(Stage::Simplified));
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// `Parse` for a text that is not a document of this version.
pub fn graph_from_json<T: Type>(text: &str) -> Result<Graph<T>>
where
    Graph<T>: FromStr<Err = Error>,
{
    json::read_graph(text)
}
