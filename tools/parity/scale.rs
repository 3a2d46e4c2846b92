//! The numbers of compared operands. Logarithms are to base 2.

use ndjit_ir::Shape;

/// The amount of comparisons.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// The maximum number of operand bits that are tested exhaustively.
    pub all: u32,
    /// The logarithm of the number of `f32` operands.
    pub floats: u32,
    /// The logarithm of the number of other operands of at most 32 bits, or of their pairs and triples.
    pub random: u32,
    /// The logarithm of the number of 64-bit operands.
    pub wide: u32,
    /// Operands of each primitive.
    pub primitives: usize,
    /// Elements of each op and cast compared with the interpreter.
    pub interpreted: usize,
    /// Whether reductions run along all lengths and axes, and on arrays with gaps.
    pub shapes: bool,
    /// Random programs.
    pub graphs: u64,
}

/// Everything.
pub const FULL: Scale = Scale {
    all: 24,
    floats: 24,
    random: 22,
    wide: 16,
    primitives: 1 << 17,
    interpreted: 128,
    shapes: true,
    graphs: 300,
};
/// In minutes.
pub const QUICK: Scale = Scale {
    all: 16,
    floats: 16,
    random: 12,
    wide: 10,
    primitives: 1 << 12,
    interpreted: 16,
    shapes: false,
    graphs: 10,
};

impl Scale {
    /// For casts, which are fast.
    pub fn of_casts(self) -> Scale {
        Scale { wide: self.random.min(20), random: self.random.min(20), floats: self.floats.min(20), ..self }
    }

    /// For devices that emulate floats with integers.
    pub fn of_words(self) -> Scale {
        Scale { all: self.all.min(16), floats: self.floats.min(20), random: self.random.min(20), ..self }
    }

    /// Shapes, each with sets of reduced axes; a scan is along the first.
    pub fn shapes(&self) -> Vec<(Shape, Vec<Vec<isize>>)> {
        let lengths: &[usize] = match self.shapes {
            true => &[0, 1, 2, 15, 16, 17, 33, 1023, 1024, 1025, 2048, 16383, 16384, 16385, 1_000_000],
            false => &[16385],
        };
        let planes: &[[usize; 2]] = match self.shapes {
            true => {
                &[[0, 3], [3, 0], [5, 17], [17, 5], [3, 1025], [1025, 3], [64, 64], [2, 16385], [16385, 2], [300, 1100]]
            }
            false => &[[5, 1025]],
        };
        let mut all: Vec<_> = lengths.iter().map(|&length| (Shape::from([length]), vec![vec![0]])).collect();
        let axes = vec![vec![0], vec![1], vec![1, 0]];
        all.extend(planes.iter().map(|&plane| (Shape::from(plane), axes.clone())));
        if self.shapes {
            all.push((Shape::from([7, 33, 50]), vec![vec![1], vec![2, 0], vec![0, 1, 2]]));
        }
        all
    }

    /// Strides of reduced arrays along the last axis, in elements; negative ones are backwards.
    pub fn steps(&self) -> &'static [isize] {
        if self.shapes { &[1, 1, 3, -1] } else { &[1, 1] }
    }
}
