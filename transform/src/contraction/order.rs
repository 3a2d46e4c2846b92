//! The order of a contraction's products. Products are of two arrays at a time, and labels that the result does not
//! need are summed at once, so the order determines the number of multiplications.
//!
//! The work of one product is its number of multiplications: the product of the extents of all labels of either array.
//! Up to [`EXACT`] arrays, dynamic programming over sets of arrays finds the order of least total work. For more, each
//! step takes the two whose product grows least, among the first [`WINDOW`] left. Both depend only on labels and
//! extents, and so do a program's results.

use super::{Contraction, Extents, LabelSet};

/// The maximum number of arrays for which the best order is found.
pub const EXACT: usize = 8;

/// The number of arrays among which the greedy order chooses.
pub const WINDOW: usize = 24;

/// Returns the products of a contraction, each of two arrays by their numbers: operands in their order, then products
/// in theirs. It is empty for fewer than two operands.
pub fn order(contraction: &Contraction, extents: &Extents) -> Vec<[usize; 2]> {
    let (sets, result) = (wanted(contraction), LabelSet::of(&contraction.result));
    match sets.len() {
        0 | 1 => Vec::new(),
        2 => vec![[0, 1]],
        count if count <= EXACT => exact(&sets, result, extents),
        _ => greedy(sets, result, extents),
    }
}

/// Returns the labels of each operand that the result or another operand has. Others are summed before any product.
fn wanted(contraction: &Contraction) -> Vec<LabelSet> {
    let sets = contraction.sets();
    let (mut once, mut twice) = (LabelSet::of(&contraction.result), LabelSet::of(&contraction.result));
    for &set in &sets {
        twice = twice.union(once.intersection(set));
        once = once.union(set);
    }
    sets.into_iter().map(|set| set.intersection(twice)).collect()
}

/// Returns the number of multiplications of the products. Saturates.
pub fn work(contraction: &Contraction, extents: &Extents, order: &[[usize; 2]]) -> u128 {
    let (mut sets, result) = (wanted(contraction), LabelSet::of(&contraction.result));
    let mut left: Vec<bool> = vec![true; sets.len()];
    let mut work = 0u128;
    for &[a, b] in order {
        let both = sets[a].union(sets[b]);
        work = work.saturating_add(extents.count(both));
        left[a] = false;
        left[b] = false;
        let others = sets.iter().zip(&left).filter(|(_, left)| **left).fold(result, |all, (set, _)| all.union(*set));
        sets.push(both.intersection(others));
        left.push(true);
    }
    work
}

/// The best order of the product of a set of arrays.
#[derive(Clone, Copy)]
struct Best {
    work: u128,
    /// The first of the two sets whose products are multiplied; 0 for one array.
    first: usize,
}

/// Finds the order with the least work. Sets of arrays are numbers with a bit for each.
fn exact(sets: &[LabelSet], result: LabelSet, extents: &Extents) -> Vec<[usize; 2]> {
    let count = sets.len();
    let all = (1usize << count) - 1;
    let union = |of: usize| {
        let own = sets.iter().enumerate().filter(|(n, _)| of >> n & 1 == 1);
        own.fold(LabelSet::default(), |labels, (_, set)| labels.union(*set))
    };
    // The labels of a set's product: those needed outside of it.
    let labels: Vec<LabelSet> = (0..=all).map(|of| union(of).intersection(union(all & !of).union(result))).collect();
    let mut best = vec![Best { work: 0, first: 0 }; all + 1];
    for of in (1..=all).filter(|of| of.count_ones() > 1) {
        let mut found: Option<Best> = None;
        // Each pair once: the first of the two has the lowest array.
        let lowest = of & of.wrapping_neg();
        let mut first = of;
        while first > 0 {
            first = (first - 1) & of;
            if first & lowest == 0 {
                continue;
            }
            let second = of & !first;
            let own = extents.count(labels[first].union(labels[second]));
            let work = own.saturating_add(best[first].work).saturating_add(best[second].work);
            if found.is_none_or(|found| work < found.work) {
                found = Some(Best { work, first });
            }
        }
        best[of] = found.unwrap_or(best[of]);
    }
    written_out(&best, count)
}

/// Returns the products of the whole set, dependencies first.
fn written_out(best: &[Best], count: usize) -> Vec<[usize; 2]> {
    // The sets that are split, from the whole one down; each set's parts come after it.
    let mut wanted = vec![(1usize << count) - 1];
    let mut at = 0;
    while let Some(&of) = wanted.get(at) {
        at += 1;
        let first = best[of].first;
        if first != 0 {
            wanted.extend([first, of & !first].into_iter().filter(|part| part.count_ones() > 1));
        }
    }
    let mut numbers: Vec<(usize, usize)> = (0..count).map(|n| (1 << n, n)).collect();
    let mut products = Vec::with_capacity(count - 1);
    for &of in wanted.iter().rev() {
        let number = |of: usize| numbers.iter().find(|(set, _)| *set == of).map_or(0, |(_, number)| *number);
        let (first, second) = (number(best[of].first), number(of & !best[of].first));
        products.push([first, second]);
        numbers.push((of, count + products.len() - 1));
    }
    products
}

/// Finds an order step by step: each step multiplies the two arrays whose product grows least beyond them; ties are
/// broken by the least work, then by order.
fn greedy(mut sets: Vec<LabelSet>, result: LabelSet, extents: &Extents) -> Vec<[usize; 2]> {
    let count = sets.len();
    let mut left: Vec<usize> = (0..count).collect();
    let mut products = Vec::with_capacity(count - 1);
    // The number of remaining arrays that have each label.
    let mut uses = [0usize; super::MAX_LABELS];
    for set in &sets {
        set.iter().for_each(|label| uses[usize::from(label)] += 1);
    }
    while left.len() > 1 {
        let mut best: Option<((i128, u128), [usize; 2], LabelSet)> = None;
        let window = &left[..left.len().min(WINDOW)];
        for (n, &a) in window.iter().enumerate() {
            for &b in &window[n + 1..] {
                let both = sets[a].union(sets[b]);
                let kept = both.iter().filter(|&label| {
                    let own = usize::from(sets[a].contains(label)) + usize::from(sets[b].contains(label));
                    result.contains(label) || uses[usize::from(label)] > own
                });
                let kept = LabelSet::of(&kept.collect::<Vec<_>>());
                let elements = |of| i128::try_from(extents.count(of)).unwrap_or(i128::MAX);
                let grows = elements(kept).saturating_sub(elements(sets[a])).saturating_sub(elements(sets[b]));
                let cost = (grows, extents.count(both));
                if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                    best = Some((cost, [a, b], kept));
                }
            }
        }
        let Some((_, [a, b], kept)) = best else { break };
        for gone in [a, b] {
            sets[gone].iter().for_each(|label| uses[usize::from(label)] -= 1);
        }
        kept.iter().for_each(|label| uses[usize::from(label)] += 1);
        left.retain(|&n| n != a && n != b);
        left.insert(0, sets.len());
        sets.push(kept);
        products.push([a, b]);
    }
    products
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contraction::Subscripts;
    use ndjit_ir::shape::Shape;

    fn of(text: &str, shapes: &[&[usize]]) -> (Contraction, Extents) {
        let ranks: Vec<usize> = shapes.iter().map(|shape| shape.len()).collect();
        let contraction = text.parse::<Subscripts>().unwrap().contraction(&ranks).unwrap();
        let shapes: Vec<Shape> = shapes.iter().map(|extents| Shape::new(extents)).collect();
        let extents = contraction.extents(&shapes).unwrap();
        (contraction, extents)
    }

    /// Finds the least work by trying all orders.
    fn least(sets: &[LabelSet], result: LabelSet, extents: &Extents) -> u128 {
        let mut least = if sets.len() == 1 { 0 } else { u128::MAX };
        for a in 0..sets.len() {
            for b in a + 1..sets.len() {
                let both = sets[a].union(sets[b]);
                let mut rest: Vec<LabelSet> =
                    (0..sets.len()).filter(|n| ![a, b].contains(n)).map(|n| sets[n]).collect();
                let wanted = rest.iter().fold(result, |all, set| all.union(*set));
                rest.push(both.intersection(wanted));
                least = least.min(extents.count(both) + self::least(&rest, result, extents));
            }
        }
        least
    }

    #[test]
    fn few_are_ordered_best() {
        for (text, shapes) in [
            ("ij,jk,kl", &[&[10, 1000][..], &[1000, 2], &[2, 300]][..]),
            ("ij,jk,kl,l", &[&[50, 60], &[60, 70], &[70, 80], &[80]]),
            ("ab,bc,cd,de,ea", &[&[3, 40], &[40, 5], &[5, 60], &[60, 7], &[7, 3]]),
            ("a,b,c,d->abcd", &[&[2], &[3], &[4], &[5]]),
            ("abx,bcy,cdx,a->d", &[&[4, 5, 9], &[5, 6, 30], &[6, 7, 9], &[4]]),
            ("abc,abd,acd,bcd->", &[&[4, 5, 6], &[4, 5, 7], &[4, 6, 7], &[5, 6, 7]]),
        ] {
            let (contraction, extents) = of(text, shapes);
            let order = order(&contraction, &extents);
            assert_eq!(order.len(), shapes.len() - 1, "{text}");
            let best = least(&wanted(&contraction), LabelSet::of(&contraction.result), &extents);
            assert_eq!(work(&contraction, &extents, &order), best, "{text}: {order:?}");
        }
    }

    #[test]
    fn many_are_ordered_well() {
        // A chain of matrices that ends in a vector: from there all are products with vectors.
        let letters: Vec<char> = ('a'..='z').collect();
        let mut text: Vec<String> = letters.windows(2).map(|pair| pair.iter().collect()).collect();
        text.push("z".to_owned());
        let mut shapes: Vec<&[usize]> = vec![&[30, 30]; 25];
        shapes.push(&[30]);
        let (contraction, extents) = of(&text.join(","), &shapes);
        let order = order(&contraction, &extents);
        assert_eq!(order.len(), 25);
        let each_once: std::collections::BTreeSet<usize> = order.iter().flatten().copied().collect();
        assert_eq!(each_once.len(), 50);
        assert!(work(&contraction, &extents, &order) < 25 * 30 * 30 * 30);
    }

    #[test]
    fn hundreds_take_no_time() {
        let text = vec!["ab"; 300].join(",") + "->";
        let (contraction, extents) = of(&text, &vec![&[3, 4][..]; 300]);
        assert_eq!(order(&contraction, &extents).len(), 299);
    }

    #[test]
    fn extents_that_do_not_meet_are_named() {
        let contraction = "ij,jk".parse::<Subscripts>().unwrap().contraction(&[2, 2]).unwrap();
        let of = |shapes: [[usize; 2]; 2]| contraction.extents(&shapes.map(Shape::from));
        assert_eq!(of([[2, 3], [4, 5]]).unwrap_err().to_string(), "axis 1 of x0 has 3, axis 0 of x1 has 4");
        assert_eq!(of([[2, 1], [4, 5]]).unwrap().count(LabelSet::of(&[34, 35, 36])), 40);
        let exact = Contraction { exact: LabelSet::of(&[35]), ..contraction.clone() };
        assert!(exact.extents(&[[2, 1], [4, 5]].map(Shape::from)).is_err());
    }
}
