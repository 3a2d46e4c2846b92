// Composite operations on integers of 64 bits, for either type, and their conversions.

// The product of two words: low and high word, by four products of halves (Knuth, TAOCP 4.3.1, algorithm M).
fn nd_product(a: u32, b: u32) -> vec2<u32> {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let cross = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let other = (a & 0xffffu) * (b >> 16u) + (cross & 0xffffu);
    return vec2<u32>((other << 16u) | (low & 0xffffu), (a >> 16u) * (b >> 16u) + (cross >> 16u) + (other >> 16u));
}

fn nd64_sext(a: u32) -> nd_u64 {
    return nd64_make(a, 0u - (a >> 31u));
}

fn nd64_negative(a: nd_u64) -> bool {
    return (nd64_high(a) >> 31u) == 1u;
}

fn nd64_negate(a: nd_u64) -> nd_u64 {
    return nd64_isub(nd64_make(0u, 0u), a);
}

fn nd64_magnitude(a: nd_u64) -> nd_u64 {
    return select(a, nd64_negate(a), nd64_negative(a));
}

fn nd64_sdiv(a: nd_u64, b: nd_u64) -> nd_u64 {
    let quotient = nd64_udiv(nd64_magnitude(a), nd64_magnitude(b));
    return select(quotient, nd64_negate(quotient), nd64_negative(a) != nd64_negative(b));
}

fn nd64_srem(a: nd_u64, b: nd_u64) -> nd_u64 {
    let rest = nd64_urem(nd64_magnitude(a), nd64_magnitude(b));
    return select(rest, nd64_negate(rest), nd64_negative(a));
}

fn nd64_ine(a: nd_u64, b: nd_u64) -> bool {
    return !nd64_ieq(a, b);
}

fn nd64_sle(a: nd_u64, b: nd_u64) -> bool {
    return !nd64_slt(b, a);
}

fn nd64_ule(a: nd_u64, b: nd_u64) -> bool {
    return !nd64_ult(b, a);
}

fn nd64_smin(a: nd_u64, b: nd_u64) -> nd_u64 {
    return select(b, a, nd64_slt(a, b));
}

fn nd64_smax(a: nd_u64, b: nd_u64) -> nd_u64 {
    return select(a, b, nd64_slt(a, b));
}

fn nd64_umin(a: nd_u64, b: nd_u64) -> nd_u64 {
    return select(b, a, nd64_ult(a, b));
}

fn nd64_umax(a: nd_u64, b: nd_u64) -> nd_u64 {
    return select(a, b, nd64_ult(a, b));
}

// Rounds to nearest, ties to even: the highest 32 bits, with a sticky last bit.
fn nd64_uint_to_f32(a: nd_u64) -> f32 {
    let high = nd64_high(a);
    if (high == 0u) { return nd_uint_to_f32(nd64_low(a)); }
    let zeros = countLeadingZeros(high);
    let moved = nd64_shl(a, nd64_make(zeros, 0u));
    let top = nd64_high(moved) | select(0u, 1u, nd64_low(moved) != 0u);
    return nd_hide(nd_uint_to_f32(top) * bitcast<f32>((159u - zeros) << 23u));
}

fn nd64_sint_to_f32(a: nd_u64) -> f32 {
    let size = nd64_uint_to_f32(nd64_magnitude(a));
    return bitcast<f32>(bitcast<u32>(size) | (nd64_high(a) & 0x80000000u));
}

// Truncates, saturates, NaN gives 0.
fn nd64_f32_to_uint(x: f32) -> nd_u64 {
    let bits = bitcast<u32>(x);
    if (bits > 0x7f800000u) { return nd64_make(0u, 0u); }
    let exponent = bits >> 23u;
    let fraction = nd64_make((bits & 0x7fffffu) | 0x800000u, 0u);
    if (exponent < 127u) { return nd64_make(0u, 0u); }
    if (exponent >= 191u) { return nd64_make(0xffffffffu, 0xffffffffu); }
    if (exponent >= 150u) { return nd64_shl(fraction, nd64_make(exponent - 150u, 0u)); }
    return nd64_ushr(fraction, nd64_make(150u - exponent, 0u));
}

fn nd64_f32_to_sint(x: f32) -> nd_u64 {
    let bits = bitcast<u32>(x);
    let size = nd64_f32_to_uint(bitcast<f32>(bits & 0x7fffffffu));
    let most = nd64_umin(size, nd64_make(0xffffffffu, 0x7fffffffu));
    let least = nd64_negate(nd64_umin(size, nd64_make(0u, 0x80000000u)));
    return select(most, least, (bits >> 31u) == 1u);
}
