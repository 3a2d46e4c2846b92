//! Bytes: two checksums and the alignment of two sequences, which are sequential, and the blend of two images.

use super::{Case, called};
use ndjit::{Array, DType, Expr, arange, cummax, floor_divide, maximum, pad, scan, strong, where_};

/// Pseudo-random bytes, reproducible in other languages.
fn made(n: usize, of: usize) -> Vec<u8> {
    (0..n).map(|k| (k * 7919 % 100_003 % of) as u8).collect()
}

/// Less than any score.
const NONE: i32 = -1_000_000;

/// The score of the alignment of two sequences (Needleman and Wunsch), row by row: a gap from the left is a running maximum.
pub fn needleman(large: bool) -> Case {
    let n: usize = if large { 5000 } else { 500 };
    let (first, second) = (made(n, 4), made(n + 1000, 5)[1000..].to_vec());
    let (a, b) = (Array::from(first.clone()), Array::from(second.clone()));
    let ours = called!(
        move |a: Expr, b: Expr| {
            let gaps = Expr::from(arange(n + 1));
            let row = |above: Expr, letter: Expr| {
                let matched = above.slice(..-1) + where_(b.eq(letter), 1, -1);
                let best = maximum(above - 1, pad(matched, (1, 0), NONE));
                (cummax(best + gaps, 0) - gaps, ())
            };
            vec![scan(row, -gaps, a).0]
        },
        a,
        b
    );
    let rust = Box::new(move || {
        let mut row: Vec<i32> = (0..=n as i32).map(|j| -j).collect();
        for &letter in &first {
            let mut corner = row[0];
            row[0] -= 1;
            for j in 1..=n {
                let above = row[j];
                let matched = corner + if second[j - 1] == letter { 1 } else { -1 };
                row[j] = matched.max(above - 1).max(row[j - 1] - 1);
                corner = above;
            }
        }
        vec![Array::from(row)]
    });
    Case { size: format!("{n}x{n}"), steps: n, ours, rust, within: 0.0 }
}

/// Adler-32, one byte per step.
pub fn adler32(large: bool) -> Case {
    let n = if large { 10_000_000 } else { 100_000 };
    let data = made(n, 251);
    let x = Array::from(data.clone());
    let ours = called!(
        |x: Expr| {
            let step = |(a, b): (Expr, Expr), byte: Expr| {
                let a = (a + byte) % 65_521;
                ((a, (b + a) % 65_521), ())
            };
            let (a, b) = scan(step, (Expr::from(strong(1u32)), Expr::from(strong(0u32))), x).0;
            vec![b * 65_536 + a]
        },
        x
    );
    let rust = Box::new(move || {
        let (mut a, mut b) = (1u32, 0u32);
        for &byte in &data {
            a = (a + u32::from(byte)) % 65_521;
            b = (b + a) % 65_521;
        }
        vec![Array::from(b * 65_536 + a)]
    });
    Case { size: format!("{n}"), steps: n, ours, rust, within: 0.0 }
}

/// FNV-1a of 64 bits, one byte per step.
pub fn fnv1a(large: bool) -> Case {
    let n = if large { 10_000_000 } else { 100_000 };
    let data = made(n, 251);
    let x = Array::from(data.clone());
    let ours = called!(
        |x: Expr| {
            let step = |hash: Expr, byte: Expr| ((hash ^ byte.cast(DType::U64)) * 0x0100_0000_01b3i64, ());
            vec![scan(step, Expr::from(strong(0xcbf2_9ce4_8422_2325u64)), x).0]
        },
        x
    );
    let rust = Box::new(move || {
        let fold = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        vec![Array::from(data.iter().fold(0xcbf2_9ce4_8422_2325, fold))]
    });
    Case { size: format!("{n}"), steps: n, ours, rust, within: 0.0 }
}

/// Two images blended: `(a k + b (255 - k)) / 255` in 16 bits.
pub fn blend(large: bool) -> Case {
    let n = if large { 1 << 24 } else { 1 << 16 };
    let (first, second) = (made(n, 251), made(n + 1000, 256)[1000..].to_vec());
    let (a, b) = (Array::from(first.clone()), Array::from(second.clone()));
    let ours = called!(
        |a: Expr, b: Expr| {
            let sum = a.cast(DType::U16) * 77 + b.cast(DType::U16) * (255 - 77);
            vec![floor_divide(sum, 255).cast(DType::U8)]
        },
        a,
        b
    );
    let rust = Box::new(move || {
        let pixel = |(&a, &b): (&u8, &u8)| ((u16::from(a) * 77 + u16::from(b) * (255 - 77)) / 255) as u8;
        vec![Array::from(first.iter().zip(&second).map(pixel).collect::<Vec<u8>>())]
    });
    Case { size: format!("{n}"), steps: n, ours, rust, within: 0.0 }
}
