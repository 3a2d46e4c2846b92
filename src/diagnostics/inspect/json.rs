//! The stages as JSON (feature `json`), for other programs; graphs are read back too.
//!
//! Every document is an object with `"ndjit": 1`, the version of this form, and `"stage"`, its name.
//! - Graphs (`graph`, `typed`, `simplified`): `"graphs"` is a list of graphs, those that are called before those that call them; the last
//!   is the program. Each has `"params"` (`value`, `type`, `shape`, and `stored` where a weak one is stored otherwise than usual),
//!   `"calls"` (positions in the list), `"controls"` (if there is control flow: of each piece `kind` and two `graphs`, each with `graph`, its
//!   position in the list, and `operands`, the positions of its parameters among the operands of the piece's nodes), `"slots"`
//!   (`{"literal": "2"}` or `{"argument": 0, "type": "i*"}`), `"nodes"` and `"outputs"`.
//!   A node has `results` (each with `value`, `type`, `shape`), `kind` (an op, a reduction, a scan, or `literal`, `cast`, `view`,
//!   `reshape`, `gather`, `scatter add`, `concat`, `iota`, `while`, `cond`, `call`), `operands`, and what its kind needs of `slot`, `policy`,
//!   `reason`, `view`, `axes`, `axis`, `keepdims`, `contracts`, `dtype`, `control` (a position in `"controls"`) and `result`, `call`; and `places`,
//!   where they are known.
//! - `kernels` and `loops`: `"kernels"` or `"nests"`, a list of objects with `text`, as the stage prints it, and what it reads and stores:
//!   `inputs` and `outputs` (values of the simplified graph), `literals` (slots). Of a kernel `shape`, of a nest `extents`.
//! - Other stages: `"text"`.
//!
//! Values are numbers, as in `%2`. What is not there is `null` or left out.

use ndjit_inspect::json;
use ndjit_ir::graph::{Graph, Type};
use ndjit_ir::{Error, Result};
use std::str::FromStr;

/// The version of the form.
///
/// ```
/// assert_eq!(ndjit::inspect::VERSION, 1);
/// ```
pub const VERSION: u64 = json::VERSION;

/// Reads a graph from the document that a graph gives: with [`ValueType`](ndjit_ir::ValueType) the stage `graph`, with
/// [`DType`](ndjit_ir::DType) the others. Places are not read. The result is not verified.
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
/// `Parse` for what is no such document, of this version.
pub fn graph_from_json<T: Type>(text: &str) -> Result<Graph<T>>
where
    Graph<T>: FromStr<Err = Error>,
{
    json::read_graph(text)
}
