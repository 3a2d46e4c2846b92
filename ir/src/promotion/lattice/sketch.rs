//! The Hasse diagram of a lattice as text, for terminals: lower nodes below, lines in Braille dots, marked nodes in
//! brackets.

use super::value::Lattice;
use crate::drawing::layout;
use std::fmt::Write;

/// The number of columns of a node beside its name, and of pixels of the layout in a column.
const SIDES: usize = 2;
const COLUMN: f64 = 8.0;
/// The number of lines of text from layer to layer, including that of the names.
const LAYER: usize = 3;
/// The numbers of dots of a character, across and down.
const DOTS: (usize, usize) = (2, 4);

impl Lattice {
    /// Draws the Hasse diagram as text: a node is above all nodes that promote to it. Nodes for which `marked` returns
    /// true are in brackets.
    ///
    /// ```
    /// use ndjit_ir::promotion::Lattice;
    ///
    /// let text = Lattice::named("python")?.to_text(|node| node == "f*");
    /// assert_eq!(text, "  c*\n   ⡇\n   ⡇\n [f*]\n   ⡇\n   ⡇\n  i*\n");
    /// # Ok::<(), ndjit_ir::promotion::LatticeError>(())
    /// ```
    pub fn to_text(&self, marked: impl Fn(&str) -> bool) -> String {
        let columns = |name: &String| name.chars().count() + 2 * SIDES;
        let widths: Vec<f64> = self.nodes().iter().map(|name| columns(name) as f64 * COLUMN).collect();
        let edges: Vec<(usize, usize)> = self.edge_indices().collect();
        let plan = layout(&widths, &edges);
        let top = plan.layer.iter().max().copied().unwrap_or(0);
        let (width, height) = ((plan.width / COLUMN).ceil() as usize + 1, top * LAYER + 1);
        let mut page = BraillePage { width, cells: vec![0; width * height] };
        let row = |layer: usize| (top - layer) * LAYER;
        for route in &plan.routes {
            for line in route.windows(2) {
                let [(from, below), (to, above)] = [line[0], line[1]];
                let column = |x: f64| x / COLUMN * DOTS.0 as f64;
                // The line runs from below the upper name to above the lower one. Bends have no name: lines go through
                // them.
                let (start, end) = ((row(above) + 1) * DOTS.1, row(below) * DOTS.1 - 1);
                page.line((column(to), start), (column(from), end));
            }
            for bend in route.get(1..route.len().saturating_sub(1)).unwrap_or_default() {
                let (x, y) = (bend.0 / COLUMN * DOTS.0 as f64, row(bend.1) * DOTS.1);
                page.line((x, y), (x, y + DOTS.1 - 1));
            }
        }
        let mut names: Vec<Vec<(usize, String)>> = vec![Vec::new(); top + 1];
        for (node, name) in self.nodes().iter().enumerate() {
            let text = if marked(name) { format!("[{name}]") } else { format!(" {name} ") };
            let column = (plan.x[node] / COLUMN - text.chars().count() as f64 / 2.0).round().max(0.0) as usize;
            names[plan.layer[node]].push((column, text));
        }
        let mut out = String::new();
        for line in 0..height {
            let mut cells: Vec<char> = page.row(line).collect();
            let layer = top - line / LAYER;
            let here = if line.is_multiple_of(LAYER) { names[layer].as_slice() } else { &[] };
            for (column, name) in here {
                cells.iter_mut().skip(*column).zip(name.chars()).for_each(|(cell, letter)| *cell = letter);
            }
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{}", cells.into_iter().collect::<String>().trim_end());
        }
        out
    }

    /// Returns a shortest chain of immediate successors from one node up to another, both included; `None` if there is
    /// none.
    ///
    /// ```
    /// use ndjit_ir::promotion::Lattice;
    ///
    /// assert_eq!(Lattice::named("jax")?.chain("i32", "f*").unwrap(), ["i32", "i64", "f*"]);
    /// # Ok::<(), ndjit_ir::promotion::LatticeError>(())
    /// ```
    pub fn chain(&self, from: &str, to: &str) -> Option<Vec<&str>> {
        let to = self.index_of(to)?;
        let mut chains = vec![vec![self.index_of(from)?]];
        let mut next = 0;
        while let Some(chain) = chains.get(next).cloned() {
            let end = *chain.last()?;
            if end == to {
                return Some(chain.into_iter().map(|node| self.nodes()[node].as_str()).collect());
            }
            for (_, above) in self.edge_indices().filter(|(lower, _)| *lower == end) {
                if !chains.iter().any(|known| known.contains(&above)) {
                    chains.push(chain.iter().copied().chain([above]).collect());
                }
            }
            next += 1;
        }
        None
    }
}

/// A page of Braille characters, each a byte of dots.
struct BraillePage {
    width: usize,
    cells: Vec<u8>,
}

impl BraillePage {
    /// Draws a line of dots from a point down to another; rows are of dots.
    fn line(&mut self, (from, top): (f64, usize), (to, bottom): (f64, usize)) {
        let rows = bottom.saturating_sub(top).max(1) as f64;
        let steps = (rows.max((to - from).abs()).ceil() as usize).max(1);
        for step in 0..=steps {
            let part = step as f64 / steps as f64;
            let (x, y) = (from + (to - from) * part, top as f64 + rows * part);
            self.dot(x.round() as usize, y.round() as usize);
        }
    }

    fn dot(&mut self, x: usize, y: usize) {
        // The bits of the Braille block, by column and row.
        const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        let at = y / DOTS.1 * self.width + (x / DOTS.0).min(self.width - 1);
        if let Some(cell) = self.cells.get_mut(at) {
            *cell |= BITS[x % DOTS.0][y % DOTS.1];
        }
    }

    fn row(&self, line: usize) -> impl Iterator<Item = char> + '_ {
        let cells = self.cells.iter().skip(line * self.width).take(self.width);
        cells.map(|&dots| match dots {
            0 => ' ',
            dots => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
        })
    }
}
