//! Layout of acyclic graphs: layers by height, few crossings, straight lines.
//!
//! The method of Sugiyama, Tagawa and Toda (1981). A node's layer is the length of the longest chain below it. An edge over
//! several layers has a bend in each layer between, so that it avoids the nodes there. Layers are ordered by the mean positions
//! of adjacent vertices, and positions are a least-squares fit to these that keeps order and distances. Time grows a little
//! faster than the number of nodes, edges and bends, of which there are at most [`MAX_BENDS`]; nothing recurses.

/// The space between adjacent nodes of a layer, from border to border.
const GAP: f64 = 26.0;
/// Passes over the layers: enough to draw every named lattice of `ndjit-ir` without crossings.
const ORDER_PASSES: usize = 24;
const PLACE_PASSES: usize = 80;
/// The weight of edge parts between two bends, relative to others.
const BEND_WEIGHT: f64 = 6.0;
/// The maximum number of bends of all edges. Beyond it the last edges run straight, behind other nodes.
const MAX_BENDS: usize = 40_000;

/// A drawing plan.
pub struct LayeredLayout {
    /// The centre of each node across its layer. The leftmost border is at 0.
    pub x: Vec<f64>,
    /// The layer of each node; 0 is the lowest.
    pub layer: Vec<usize>,
    /// For each edge the points `(x, layer)` it passes, from the lower node to the upper.
    pub routes: Vec<Vec<(f64, usize)>>,
    /// The rightmost border.
    pub width: f64,
}

/// Places nodes of the given widths. `edges` are `(lower, upper)` without cycles. Edges on a cycle, or of missing nodes, are
/// ignored and have empty routes.
pub fn layout(widths: &[f64], edges: &[(usize, usize)]) -> LayeredLayout {
    let mut graph = Layered::new(widths, edges);
    graph.order();
    graph.place();
    let x = graph.x.get(..widths.len()).unwrap_or_default().to_vec();
    let point = |&v: &usize| (graph.x[v], graph.layer[v]);
    let routes = graph.chains.iter().map(|chain| chain.iter().map(point).collect()).collect();
    let width = graph.vertices().map(|v| graph.x[v] + graph.width[v] / 2.0).fold(0.0, f64::max);
    LayeredLayout { x, layer: graph.layer[..widths.len()].to_vec(), routes, width }
}

/// The graph with a vertex for every bend, after those of the nodes.
struct Layered {
    nodes: usize,
    width: Vec<f64>,
    layer: Vec<usize>,
    /// The vertices one layer below and above that each vertex has a line to.
    below: Vec<Vec<usize>>,
    above: Vec<Vec<usize>>,
    /// The vertices of each edge, from the lower node to the upper.
    chains: Vec<Vec<usize>>,
    /// The vertices of each layer, from left to right.
    layers: Vec<Vec<usize>>,
    x: Vec<f64>,
}

impl Layered {
    fn new(widths: &[f64], edges: &[(usize, usize)]) -> Layered {
        let mut layer = heights(widths.len(), edges);
        let mut width = widths.to_vec();
        let mut chains = Vec::new();
        for &(lower, upper) in edges {
            let drawn = lower < widths.len() && upper < widths.len() && layer[lower] < layer[upper];
            if !drawn {
                chains.push(Vec::new());
                continue;
            }
            let mut chain = vec![lower];
            let bends = layer[upper] - layer[lower] - 1;
            if layer.len() - widths.len() + bends <= MAX_BENDS {
                for between in layer[lower] + 1..layer[upper] {
                    chain.push(layer.len());
                    layer.push(between);
                    width.push(0.0);
                }
            }
            chain.push(upper);
            chains.push(chain);
        }
        let vertices = layer.len();
        let (mut below, mut above) = (vec![Vec::new(); vertices], vec![Vec::new(); vertices]);
        let next_to = |line: &&[usize]| layer[line[0]] + 1 == layer[line[1]];
        for line in chains.iter().flat_map(|chain| chain.windows(2)).filter(next_to) {
            above[line[0]].push(line[1]);
            below[line[1]].push(line[0]);
        }
        let mut layers = vec![Vec::new(); layer.iter().max().map_or(0, |top| top + 1)];
        for vertex in connected_order(&below, &above) {
            layers[layer[vertex]].push(vertex);
        }
        Layered { nodes: widths.len(), width, layer, below, above, chains, layers, x: vec![0.0; vertices] }
    }

    fn vertices(&self) -> std::ops::Range<usize> {
        0..self.layer.len()
    }

    /// Orders the layers for few crossings: sweeps by the mean position of connected vertices, keeping the best order.
    fn order(&mut self) {
        let mut position = self.positions();
        let mut best = (self.crossings(&position), self.layers.clone());
        for pass in 0..ORDER_PASSES {
            if best.0 == 0 {
                break;
            }
            let upwards = pass % 2 == 0;
            for step in 0..self.layers.len() {
                let l = if upwards { step } else { self.layers.len() - 1 - step };
                self.sort_layer(l, upwards, &mut position);
            }
            self.swap_neighbours(&position);
            position = self.positions();
            let crossings = self.crossings(&position);
            if crossings < best.0 {
                best = (crossings, self.layers.clone());
            }
        }
        self.layers = best.1;
    }

    /// Sorts a layer by the mean position of the vertices connected to each, below or above.
    fn sort_layer(&mut self, l: usize, upwards: bool, position: &mut [usize]) {
        let near = if upwards { &self.below } else { &self.above };
        let mean = |v: usize| {
            let sum: usize = near[v].iter().map(|&n| position[n]).sum();
            if near[v].is_empty() { position[v] as f64 } else { sum as f64 / near[v].len() as f64 }
        };
        let mut sorted: Vec<(f64, usize)> = self.layers[l].iter().map(|&v| (mean(v), v)).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (i, &(_, v)) in sorted.iter().enumerate() {
            self.layers[l][i] = v;
            position[v] = i;
        }
    }

    /// Swaps adjacent vertices of a layer where that removes crossings.
    fn swap_neighbours(&mut self, position: &[usize]) {
        let ends =
            |near: &[Vec<usize>]| -> Vec<Vec<usize>> { near.iter().map(|near| sorted(near, position)).collect() };
        let (below, above) = (ends(&self.below), ends(&self.above));
        // The number of crossings of the lines of `left` and `right`, adjacent in the layer.
        let crossings =
            |left: usize, right: usize| passed(&below[left], &below[right]) + passed(&above[left], &above[right]);
        for layer in &mut self.layers {
            for i in 1..layer.len() {
                let (u, v) = (layer[i - 1], layer[i]);
                if crossings(v, u) < crossings(u, v) {
                    layer.swap(i - 1, i);
                }
            }
        }
    }

    /// Each vertex's position in its layer.
    fn positions(&self) -> Vec<usize> {
        let mut position = vec![0; self.layer.len()];
        for layer in &self.layers {
            for (i, &vertex) in layer.iter().enumerate() {
                position[vertex] = i;
            }
        }
        position
    }

    fn crossings(&self, position: &[usize]) -> usize {
        let ends = |layer: &Vec<usize>| layer.iter().flat_map(|&v| sorted(&self.above[v], position)).collect();
        self.layers.iter().map(|layer| inversions(ends(layer))).sum()
    }

    /// Moves vertices towards the ones they are connected to, layer by layer, up and down.
    fn place(&mut self) {
        for l in 0..self.layers.len() {
            self.fit(l, |_, _| (0.0, 0.0));
        }
        for pass in 0..PLACE_PASSES {
            for step in 0..self.layers.len() {
                let l = if pass % 2 == 0 { step } else { self.layers.len() - 1 - step };
                self.fit(l, |graph, v| graph.pull(v));
            }
        }
        let left = self.vertices().map(|v| self.x[v] - self.width[v] / 2.0).fold(f64::INFINITY, f64::min);
        self.x.iter_mut().for_each(|x| *x -= left);
    }

    /// The position to which connected vertices pull a vertex, and the weight.
    fn pull(&self, v: usize) -> (f64, f64) {
        let bend = |v: usize| v >= self.nodes;
        let (mut sum, mut weight) = (0.0, 0.0);
        for &n in self.below[v].iter().chain(&self.above[v]) {
            let w = if bend(v) && bend(n) { BEND_WEIGHT } else { 1.0 };
            sum += w * self.x[n];
            weight += w;
        }
        if weight == 0.0 { (self.x[v], 0.0) } else { (sum / weight, weight) }
    }

    /// Places a layer's vertices as near to their pulls as order and distances allow: least squares, by pooling adjacent vertices
    /// that would come too close (isotonic regression).
    fn fit(&mut self, l: usize, pull: impl Fn(&Layered, usize) -> (f64, f64)) {
        /// Vertices that touch: their number, the wanted position of the first, and the weight.
        struct PooledBlock {
            len: usize,
            start: f64,
            weight: f64,
        }
        let layer = &self.layers[l];
        // Distances from the first vertex if all touch: relative to them only the order remains to keep.
        let mut offsets = Vec::with_capacity(layer.len());
        for (i, &v) in layer.iter().enumerate() {
            let touching = |u: usize| offsets[i - 1] + (self.width[u] + self.width[v]) / 2.0 + GAP;
            offsets.push(if i == 0 { 0.0 } else { touching(layer[i - 1]) });
        }
        let mut blocks: Vec<PooledBlock> = Vec::new();
        for (&v, offset) in layer.iter().zip(&offsets) {
            let (wish, weight) = pull(self, v);
            // A vertex without a pull keeps its position, with little weight.
            let mut block = PooledBlock { len: 1, start: wish - offset, weight: weight.max(0.01) };
            while let Some(left) = blocks.pop_if(|left| left.start > block.start) {
                let weight = left.weight + block.weight;
                let start = (left.start * left.weight + block.start * block.weight) / weight;
                block = PooledBlock { len: left.len + block.len, start, weight };
            }
            blocks.push(block);
        }
        let starts = blocks.iter().flat_map(|block| std::iter::repeat_n(block.start, block.len));
        for ((&v, offset), start) in layer.iter().zip(&offsets).zip(starts) {
            self.x[v] = start + offset;
        }
    }
}

/// The positions of a vertex's connections, ascending: its own lines do not cross.
fn sorted(near: &[usize], position: &[usize]) -> Vec<usize> {
    let mut ends: Vec<usize> = near.iter().map(|&v| position[v]).collect();
    ends.sort_unstable();
    ends
}

/// The number of pairs of a number in `a` and a smaller one in `b`; both ascend.
fn passed(a: &[usize], b: &[usize]) -> usize {
    let (mut smaller, mut pairs) = (0, 0);
    for &x in a {
        while b.get(smaller).is_some_and(|&y| y < x) {
            smaller += 1;
        }
        pairs += smaller;
    }
    pairs
}

/// The number of pairs in descending order, by merge sort.
fn inversions(mut numbers: Vec<usize>) -> usize {
    let (mut pairs, mut run) = (0, 1);
    while run < numbers.len() {
        let mut merged = Vec::with_capacity(numbers.len());
        for both in numbers.chunks(2 * run) {
            let (mut left, mut right) = both.split_at(run.min(both.len()));
            loop {
                match (left, right) {
                    ([a, rest @ ..], [b, ..]) if a <= b => {
                        merged.push(*a);
                        left = rest;
                    }
                    (_, [b, rest @ ..]) => {
                        pairs += left.len();
                        merged.push(*b);
                        right = rest;
                    }
                    (_, []) => break merged.extend(left),
                }
            }
        }
        numbers = merged;
        run *= 2;
    }
    pairs
}

/// The length of the longest chain below each node; of nodes on a cycle 0.
fn heights(nodes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let (mut above, mut waiting) = (vec![Vec::new(); nodes], vec![0usize; nodes]);
    for &(lower, upper) in edges.iter().filter(|&&(lower, upper)| lower < nodes && upper < nodes) {
        above[lower].push(upper);
        waiting[upper] += 1;
    }
    let mut heights = vec![0; nodes];
    let mut ready: Vec<usize> = (0..nodes).filter(|&node| waiting[node] == 0).collect();
    while let Some(lower) = ready.pop() {
        for &upper in &above[lower] {
            heights[upper] = heights[upper].max(heights[lower] + 1);
            waiting[upper] -= 1;
            if waiting[upper] == 0 {
                ready.push(upper);
            }
        }
    }
    (0..nodes).map(|node| if waiting[node] == 0 { heights[node] } else { 0 }).collect()
}

/// All vertices, grouped by connected component: components lie side by side.
fn connected_order(below: &[Vec<usize>], above: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(below.len());
    let mut seen = vec![false; below.len()];
    for start in 0..below.len() {
        let mut open = vec![start];
        while let Some(vertex) = open.pop() {
            if !std::mem::replace(&mut seen[vertex], true) {
                order.push(vertex);
                open.extend(below[vertex].iter().chain(&above[vertex]).rev().copied());
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The subsets of a set of `n`, ordered by inclusion.
    fn subsets(n: u32) -> (Vec<f64>, Vec<(usize, usize)>) {
        let edges = (0..1 << n).flat_map(|set: usize| (0..n).map(move |bit| (set, set | 1 << bit)));
        (vec![50.0; 1 << n], edges.filter(|(a, b)| a != b).collect())
    }

    /// A layout in which nodes keep apart, edges lead upwards and end at their nodes, and bends keep clear of nodes.
    fn checked(widths: &[f64], edges: &[(usize, usize)]) -> LayeredLayout {
        let plan = layout(widths, edges);
        let apart = |x: f64, width: f64, v: usize| (x - plan.x[v]).abs() >= (width + widths[v]) / 2.0 + GAP - 1e-6;
        for (a, &width) in widths.iter().enumerate() {
            assert!(plan.x[a] - width / 2.0 >= -1e-6 && plan.x[a] + width / 2.0 <= plan.width + 1e-6);
            for b in 0..a {
                assert!(plan.layer[a] != plan.layer[b] || apart(plan.x[a], width, b), "{a} touches {b}");
            }
        }
        for (route, &(lower, upper)) in plan.routes.iter().zip(edges) {
            assert_eq!(route.first(), Some(&(plan.x[lower], plan.layer[lower])));
            assert_eq!(route.last(), Some(&(plan.x[upper], plan.layer[upper])));
            assert!(route.windows(2).all(|line| line[1].1 == line[0].1 + 1));
            for &(x, layer) in &route[1..route.len() - 1] {
                let clear = (0..widths.len()).all(|v| plan.layer[v] != layer || apart(x, 0.0, v));
                assert!(clear, "the edge {lower} -> {upper} touches a node");
            }
        }
        plan
    }

    #[test]
    fn any_order_is_drawn_apart() {
        for n in 0..=6 {
            let (widths, edges) = subsets(n);
            let plan = checked(&widths, &edges);
            assert!((0..1_usize << n).all(|set| plan.layer[set] == set.count_ones() as usize));
        }
        // Edges over many layers, unconnected parts, and nodes without edges.
        let edges: Vec<_> = (0..9).map(|v| (v, v + 1)).chain([(0, 9), (2, 7), (11, 12), (12, 13), (11, 9)]).collect();
        let widths: Vec<f64> = (0..16).map(|v| 20.0 + 10.0 * f64::from(v)).collect();
        checked(&widths, &edges);
        assert_eq!(checked(&[], &[]).width, 0.0);
    }

    #[test]
    fn inversions_are_counted() {
        assert_eq!(inversions(vec![]), 0);
        assert_eq!(inversions(vec![3, 1, 2, 2, 0]), 7);
        assert_eq!(inversions((0..100).rev().collect()), 4950);
        assert_eq!(passed(&[1, 4, 4, 9], &[0, 4, 5]), 1 + 1 + 1 + 3);
    }

    #[test]
    fn what_is_no_order_leaves_edges_out() {
        let plan = layout(&[10.0; 4], &[(0, 1), (1, 2), (2, 1), (0, 9), (3, 3)]);
        assert!(plan.routes.iter().map(Vec::len).eq([0, 0, 0, 0, 0]), "{:?}", plan.routes);
    }

    /// A chain whose beginning is used everywhere has more bends than the maximum, and nodes that all others use.
    #[test]
    fn large_graphs_are_laid_out() {
        let n = 10_000;
        let edges: Vec<_> = (1..n).flat_map(|v| [(v - 1, v), (0, v), (1, v)]).filter(|(a, b)| a < b).collect();
        assert_eq!(layout(&vec![50.0; n], &edges).layer[n - 1], n - 1);
        let edges: Vec<_> = (2..n).flat_map(|v| [(0, v), (1, v)]).collect();
        assert_eq!(layout(&vec![50.0; n], &edges).layer[n - 1], 1);
    }
}
