//! The order in which elements are combined. It depends only on their number.

/// Elements of a block.
pub const BLOCK: usize = 1024;
/// Lanes of a block.
pub const LANES: usize = 16;

/// Combines `len` elements, numbered in row-major order of the reduced axes; `None` if there are none. This is the definition;
/// engines may use another order that gives the same bits.
///
/// - Elements are cut into blocks of [`BLOCK`]. In a block, lane `l` of [`LANES`] combines every 16th element from the `l`th on,
///   one after the other.
/// - The lanes of a block are combined by halving: lane `l` with lane `l + 8`, then with `l + 4`, `l + 2`, `l + 1`.
/// - The blocks are combined in a balanced tree: adjacent blocks in pairs, the pairs in pairs, and so on; an unpaired last one is
///   carried over.
///
/// Lanes without elements are skipped. Each element of a sum of `n` floats is rounded at most `64 + 4 + log2(n / 1024)` times
/// (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2: the error grows with that number).
pub fn fold<T>(len: usize, mut element: impl FnMut(usize) -> T, mut combine: impl FnMut(T, T) -> T) -> Option<T> {
    // Complete trees, the largest first: one for each set bit of the number of blocks, so memory is bounded.
    let mut trees: Vec<T> = Vec::new();
    for (before, start) in (0..len).step_by(BLOCK).enumerate() {
        let elements = (start..len.min(start + BLOCK)).map(&mut element);
        let mut tree = block(elements, &mut combine)?;
        for left in (0..before.trailing_ones()).map_while(|_| trees.pop()) {
            tree = combine(left, tree);
        }
        trees.push(tree);
    }
    trees.into_iter().rev().reduce(|right, left| combine(left, right))
}

/// Combines `len` elements up to each, and emits each result, in order. This is the definition; engines may use another order that
/// gives the same bits.
///
/// - Elements are cut into blocks of [`BLOCK`]. In a block they are combined one after the other: `local`.
/// - The totals of the blocks are combined one after the other: the `carry` of a block is that of the block before, combined with
///   that block's total. The first block has none.
/// - An element gives its carry combined with its local value, in the first block only the local value.
///
/// Each element of a sum of floats is rounded at most `1023 + n / 1024` times.
pub fn scan<T: Clone>(
    len: usize,
    mut element: impl FnMut(usize) -> T,
    mut combine: impl FnMut(T, T) -> T,
    mut give: impl FnMut(usize, T),
) {
    let mut carry: Option<T> = None;
    for start in (0..len).step_by(BLOCK) {
        let mut local: Option<T> = None;
        for i in start..len.min(start + BLOCK) {
            let next = match local.take() {
                Some(local) => combine(local, element(i)),
                None => element(i),
            };
            local = Some(next.clone());
            give(
                i,
                match &carry {
                    Some(carry) => combine(carry.clone(), next),
                    None => next,
                },
            );
        }
        carry = match (carry.take(), local) {
            (Some(carry), Some(total)) => Some(combine(carry, total)),
            (carry, total) => carry.or(total),
        };
    }
}

fn block<T>(elements: impl Iterator<Item = T>, combine: &mut impl FnMut(T, T) -> T) -> Option<T> {
    let mut lanes: [Option<T>; LANES] = [const { None }; LANES];
    let mut meet = |left: &mut Option<T>, right: T| {
        *left = Some(match left.take() {
            Some(left) => combine(left, right),
            None => right,
        });
    };
    for (i, element) in elements.enumerate() {
        meet(&mut lanes[i % LANES], element);
    }
    for half in [8, 4, 2, 1] {
        let (low, high) = lanes.split_at_mut(half);
        for (left, right) in low.iter_mut().zip(high) {
            if let Some(right) = right.take() {
                meet(left, right);
            }
        }
    }
    lanes[0].take()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree as text.
    fn tree(len: usize) -> String {
        fold(len, |i| i.to_string(), |a, b| format!("({a} {b})")).unwrap_or_default()
    }

    #[test]
    fn a_block_is_combined_lane_by_lane_and_by_halving() {
        assert_eq!(tree(0), "");
        assert_eq!(tree(1), "0");
        assert_eq!(tree(3), "((0 2) 1)");
        assert_eq!(tree(9), "((((0 8) 4) (2 6)) ((1 5) (3 7)))");
        assert_eq!(tree(18), "(((((0 16) 8) (4 12)) ((2 10) (6 14))) ((((1 17) 9) (5 13)) ((3 11) (7 15))))");
    }

    #[test]
    fn a_scan_combines_locally_and_with_what_the_blocks_before_gave() {
        let mut given = Vec::new();
        let name = |i: usize| match i % BLOCK {
            0 | 1 => i.to_string(),
            _ => String::new(),
        };
        let meet = |a: String, b: String| if b.is_empty() { a } else { format!("({a} {b})") };
        scan(2 * BLOCK + 2, name, meet, |i, text| {
            assert_eq!(i, given.len());
            given.push(text);
        });
        assert_eq!(given[..3], ["0", "(0 1)", "(0 1)"]);
        assert_eq!(given[BLOCK], "((0 1) 1024)");
        assert_eq!(given[2 * BLOCK - 1], "((0 1) (1024 1025))");
        assert_eq!(given[2 * BLOCK + 1], "(((0 1) (1024 1025)) (2048 2049))");
        scan(0, |_| unreachable!(), |a: u8, _| a, |_, _| unreachable!());
    }

    #[test]
    fn blocks_are_combined_in_a_balanced_tree() {
        // One named element of each block.
        let blocks = |n: usize| {
            let len = (n - 1) * BLOCK + 1;
            let name = |i: usize| i.is_multiple_of(BLOCK).then(|| (i / BLOCK).to_string());
            let meet = |a: Option<String>, b: Option<String>| match (a, b) {
                (Some(a), Some(b)) => Some(format!("({a} {b})")),
                (a, b) => a.or(b),
            };
            fold(len, name, meet).flatten().unwrap()
        };
        assert_eq!(blocks(3), "((0 1) 2)");
        assert_eq!(blocks(5), "(((0 1) (2 3)) 4)");
        assert_eq!(blocks(6), "(((0 1) (2 3)) (4 5))");
        assert_eq!(blocks(7), "(((0 1) (2 3)) ((4 5) 6))");
        assert_eq!(blocks(11), "((((0 1) (2 3)) ((4 5) (6 7))) ((8 9) 10))");
    }
}
