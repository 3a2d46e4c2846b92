//! Programs of any size, for tests of growth.

use ndjit::{Array, Expr, cond};

/// Elements of each array.
pub const ELEMENTS: usize = 16;

/// A function of two arrays.
pub type Function = dyn Fn(Expr, Expr) -> Vec<Expr> + Send + Sync;

/// A kind of program.
pub struct Sort {
    pub name: &'static str,
    /// Whether its ops share kernels.
    pub fuse: bool,
    /// The function of about so many nodes.
    pub make: fn(usize) -> Box<Function>,
}

/// All kinds.
pub const SORTS: &[Sort] = &[
    Sort { name: "chain", fuse: true, make: chain },
    Sort { name: "unfused-chain", fuse: false, make: chain },
    Sort { name: "doubling", fuse: true, make: doubling },
    Sort { name: "tree", fuse: true, make: tree },
    Sort { name: "common-subtrees", fuse: true, make: common },
    Sort { name: "many-outputs", fuse: true, make: outputs },
    Sort { name: "many-inputs", fuse: true, make: inputs },
    Sort { name: "reductions", fuse: true, make: reductions },
    Sort { name: "functions", fuse: true, make: functions },
    Sort { name: "views", fuse: true, make: views },
    Sort { name: "branches", fuse: true, make: branches },
];

/// A chain of ops, every third with its own scalar.
fn chain(nodes: usize) -> Box<Function> {
    Box::new(move |x, y| {
        let step = |acc, i| match i % 3 {
            0 => acc * 0.5,
            1 => acc + y,
            _ => y - acc,
        };
        vec![(0..nodes).fold(x, step)]
    })
}

/// `y = y + y`: as a tree it has 2 to the power of `nodes` leaves.
fn doubling(nodes: usize) -> Box<Function> {
    Box::new(move |x, _| vec![(0..nodes).fold(x, |y, _| y + y)])
}

/// A balanced tree of distinct leaves.
fn tree(nodes: usize) -> Box<Function> {
    Box::new(move |x, y| {
        let mut level: Vec<Expr> =
            (0..nodes / 2).map(|i| if i % 2 == 0 { x * i as i32 } else { y * i as i32 }).collect();
        while level.len() > 1 {
            level = level.chunks(2).map(|pair| if let [a, b] = pair { *a + *b } else { pair[0] }).collect();
        }
        level
    })
}

/// Repeated common terms.
fn common(nodes: usize) -> Box<Function> {
    Box::new(move |x, y| vec![(0..nodes / 4).fold(x, |acc, i| acc + (x * y - y) * (i % 64) as i32)])
}

/// As many results as nodes.
fn outputs(nodes: usize) -> Box<Function> {
    Box::new(move |x, y| (0..nodes).map(|i| if i % 2 == 0 { x * i as i32 } else { y + i as i32 }).collect())
}

/// The sum of as many captured arrays as nodes.
fn inputs(nodes: usize) -> Box<Function> {
    let captured: Vec<Array> = (0..nodes).map(|i| Array::from([i as f32; ELEMENTS])).collect();
    Box::new(move |x, _| vec![captured.iter().fold(x, |acc, array| acc + array)])
}

/// Sums in sequence, each of which needs the previous one.
fn reductions(nodes: usize) -> Box<Function> {
    Box::new(move |x, y| vec![(0..nodes / 3).fold(x, |acc, _| acc - (acc * y).sum(..))])
}

/// Functions of many primitives each.
fn functions(nodes: usize) -> Box<Function> {
    let all: [fn(Expr, Expr) -> Expr; 8] = [
        |x, _| x.sin(),
        |x, _| x.exp(),
        |x, _| x.lgamma(),
        |x, _| x.tgamma(),
        |x, _| x.erfinv(),
        |x, y| x.pow(y),
        |x, y| x.atan2(y),
        |x, _| x.tanh(),
    ];
    Box::new(move |x, y| vec![(0..nodes).fold(x, |acc, i| all[i % all.len()](acc, y))])
}

/// Nested slices and reversals of computed arrays.
fn views(nodes: usize) -> Box<Function> {
    Box::new(move |x, y| {
        vec![(0..nodes / 2).fold(x, |acc, i| if i % 8 == 0 { acc.flip(0) * y } else { acc + y.flip(0) })]
    })
}

/// Branches and loops in sequence, each of which needs the previous one.
fn branches(nodes: usize) -> Box<Function> {
    Box::new(move |x, y| {
        vec![(0..nodes / 12).fold(x, |acc, _| cond((acc * y).sum(..).gt(0), |v: Expr| v - y, |v| v + 1, acc * 2))]
    })
}
