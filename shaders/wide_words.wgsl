// Integers of 64 bits on devices without them: the type `nd_u64` is `vec2<u32>`, the low word first.

fn nd64_make(low: u32, high: u32) -> nd_u64 {
    return nd_u64(low, high);
}

fn nd64_low(a: nd_u64) -> u32 {
    return a.x;
}

fn nd64_high(a: nd_u64) -> u32 {
    return a.y;
}

fn nd64_iadd(a: nd_u64, b: nd_u64) -> nd_u64 {
    let low = a.x + b.x;
    return nd_u64(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn nd64_isub(a: nd_u64, b: nd_u64) -> nd_u64 {
    return nd_u64(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn nd64_imul(a: nd_u64, b: nd_u64) -> nd_u64 {
    let low = nd_product(a.x, b.x);
    return nd_u64(low.x, low.y + a.x * b.y + a.y * b.x);
}

// Bit by bit, the highest first.
fn nd64_divide(a: nd_u64, b: nd_u64) -> vec4<u32> {
    var quotient = nd_u64(0u, 0u);
    var rest = nd_u64(0u, 0u);
    for (var i = 0u; i < 64u; i++) {
        let at = 63u - i;
        let bit = select((a.x >> (at & 31u)) & 1u, (a.y >> (at & 31u)) & 1u, at > 31u);
        // A rest of 64 bits loses its highest one here: then it is certainly at least `b`.
        let over = (rest.y >> 31u) == 1u;
        rest = nd_u64((rest.x << 1u) | bit, (rest.y << 1u) | (rest.x >> 31u));
        if (over || !nd64_ult(rest, b)) {
            rest = nd64_isub(rest, b);
            quotient = nd_u64(quotient.x | select(1u << (at & 31u), 0u, at > 31u), quotient.y | select(0u, 1u << (at & 31u), at > 31u));
        }
    }
    return vec4<u32>(quotient, rest);
}

fn nd64_udiv(a: nd_u64, b: nd_u64) -> nd_u64 {
    return select(nd64_divide(a, b).xy, nd_u64(0u, 0u), b.x == 0u && b.y == 0u);
}

fn nd64_urem(a: nd_u64, b: nd_u64) -> nd_u64 {
    return select(nd64_divide(a, b).zw, nd_u64(0u, 0u), b.x == 0u && b.y == 0u);
}

fn nd64_and(a: nd_u64, b: nd_u64) -> nd_u64 {
    return a & b;
}

fn nd64_or(a: nd_u64, b: nd_u64) -> nd_u64 {
    return a | b;
}

fn nd64_xor(a: nd_u64, b: nd_u64) -> nd_u64 {
    return a ^ b;
}

fn nd64_not(a: nd_u64) -> nd_u64 {
    return ~a;
}

fn nd64_ieq(a: nd_u64, b: nd_u64) -> bool {
    return a.x == b.x && a.y == b.y;
}

fn nd64_ult(a: nd_u64, b: nd_u64) -> bool {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

fn nd64_slt(a: nd_u64, b: nd_u64) -> bool {
    return nd64_ult(nd_u64(a.x, a.y ^ 0x80000000u), nd_u64(b.x, b.y ^ 0x80000000u));
}

fn nd64_shl(a: nd_u64, b: nd_u64) -> nd_u64 {
    let by = b.x & 31u;
    let carried = select(a.x >> ((32u - by) & 31u), 0u, by == 0u);
    let near = nd_u64(a.x << by, (a.y << by) | carried);
    let moved = select(near, nd_u64(0u, a.x << by), b.x > 31u);
    return select(moved, nd_u64(0u, 0u), b.y != 0u || b.x > 63u);
}

fn nd64_ushr(a: nd_u64, b: nd_u64) -> nd_u64 {
    let by = b.x & 31u;
    let carried = select(a.y << ((32u - by) & 31u), 0u, by == 0u);
    let near = nd_u64((a.x >> by) | carried, a.y >> by);
    let moved = select(near, nd_u64(a.y >> by, 0u), b.x > 31u);
    return select(moved, nd_u64(0u, 0u), b.y != 0u || b.x > 63u);
}

fn nd64_sshr(a: nd_u64, b: nd_u64) -> nd_u64 {
    let sign = 0u - (a.y >> 31u);
    let flip = nd_u64(sign, sign);
    return nd64_ushr(a ^ flip, b) ^ flip;
}
