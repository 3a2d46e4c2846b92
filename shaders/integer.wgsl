// Total operations on integers of 32 bits: a zero divisor gives 0, a shift by the width or more gives 0 or the sign in every bit.

fn nd_udiv(a: u32, b: u32) -> u32 {
    return select(a / max(b, 1u), 0u, b == 0u);
}

fn nd_urem(a: u32, b: u32) -> u32 {
    return select(a % max(b, 1u), 0u, b == 0u);
}

fn nd_sdiv(a: u32, b: u32) -> u32 {
    // Through magnitudes: WGSL does not specify MIN / -1.
    let negative = ((a ^ b) >> 31u) == 1u;
    let quotient = nd_udiv(nd_magnitude(a), nd_magnitude(b));
    return select(quotient, 0u - quotient, negative);
}

fn nd_srem(a: u32, b: u32) -> u32 {
    let rest = nd_urem(nd_magnitude(a), nd_magnitude(b));
    return select(rest, 0u - rest, (a >> 31u) == 1u);
}

fn nd_magnitude(a: u32) -> u32 {
    return select(a, 0u - a, (a >> 31u) == 1u);
}

fn nd_shl(a: u32, b: u32) -> u32 {
    return select(a << (b & 31u), 0u, b > 31u);
}

fn nd_ushr(a: u32, b: u32) -> u32 {
    return select(a >> (b & 31u), 0u, b > 31u);
}

fn nd_sshr(a: u32, b: u32) -> u32 {
    return bitcast<u32>(bitcast<i32>(a) >> min(b, 31u));
}

// The sign of an integer in its `missing` high bits.
fn nd_sext(a: u32, missing: u32) -> u32 {
    return bitcast<u32>(bitcast<i32>(a << missing) >> missing);
}
