// Floats of 64 bits on devices without them: their bits are an `nd_u64`. They are moved, converted and compared, without
// arithmetic.

fn nd64_fneg(a: nd_u64) -> nd_u64 {
    return nd64_make(nd64_low(a), nd64_high(a) ^ 0x80000000u);
}

fn nd64_fabs(a: nd_u64) -> nd_u64 {
    return nd64_make(nd64_low(a), nd64_high(a) & 0x7fffffffu);
}

fn nd64_nan() -> nd_u64 {
    return nd64_make(0u, 0x7ff80000u);
}

fn nd64_is_nan(a: nd_u64) -> bool {
    let high = nd64_high(a) & 0x7fffffffu;
    return high > 0x7ff00000u || (high == 0x7ff00000u && nd64_low(a) != 0u);
}

fn nd64_are_zeros(a: nd_u64, b: nd_u64) -> bool {
    return (nd64_low(a) | nd64_low(b) | ((nd64_high(a) | nd64_high(b)) << 1u)) == 0u;
}

// A signed integer with the float's order, -0 before +0.
fn nd64_fkey(a: nd_u64) -> nd_u64 {
    let sign = 0u - (nd64_high(a) >> 31u);
    return nd64_make(nd64_low(a) ^ sign, nd64_high(a) ^ (sign >> 1u));
}

fn nd64_feq(a: nd_u64, b: nd_u64) -> bool {
    return (nd64_ieq(a, b) && !nd64_is_nan(a)) || nd64_are_zeros(a, b);
}

fn nd64_fne(a: nd_u64, b: nd_u64) -> bool {
    return !nd64_feq(a, b);
}

fn nd64_flt(a: nd_u64, b: nd_u64) -> bool {
    return nd64_slt(nd64_fkey(a), nd64_fkey(b)) && !nd64_are_zeros(a, b) && !nd64_is_nan(a) && !nd64_is_nan(b);
}

fn nd64_fle(a: nd_u64, b: nd_u64) -> bool {
    return (nd64_sle(nd64_fkey(a), nd64_fkey(b)) || nd64_are_zeros(a, b)) && !nd64_is_nan(a) && !nd64_is_nan(b);
}

// IEEE-754-2019 minimum: NaN if either is NaN; -0 < +0.
fn nd64_fmin(a: nd_u64, b: nd_u64) -> nd_u64 {
    let least = select(b, a, nd64_slt(nd64_fkey(a), nd64_fkey(b)));
    return select(least, nd64_nan(), nd64_is_nan(a) || nd64_is_nan(b));
}

// IEEE-754-2019 maximum: NaN if either is NaN; -0 < +0.
fn nd64_fmax(a: nd_u64, b: nd_u64) -> nd_u64 {
    let most = select(a, b, nd64_slt(nd64_fkey(a), nd64_fkey(b)));
    return select(most, nd64_nan(), nd64_is_nan(a) || nd64_is_nan(b));
}

// Exact: 29 bits are added to the fraction, 896 to the exponent.
fn nd64_fpromote(x: f32) -> nd_u64 {
    let bits = bitcast<u32>(x);
    let sign = bits & 0x80000000u;
    let size = bits & 0x7fffffffu;
    if (size == 0u) { return nd64_make(0u, sign); }
    if (size >= 0x7f800000u) { return nd64_make(bits << 29u, sign | 0x7ff00000u | ((bits & 0x7fffffu) >> 3u)); }
    let parts = nd_parts(bits);
    let exponent = (parts.y + 1023u) << 20u;
    return nd64_make(parts.x << 29u, sign | exponent | ((parts.x & 0x7fffffu) >> 3u));
}

// Rounds to nearest, ties to even: the highest 32 bits of the fraction, with a sticky last bit.
fn nd64_fdemote(a: nd_u64) -> f32 {
    let high = nd64_high(a);
    let low = nd64_low(a);
    let sign = high & 0x80000000u;
    let exponent = (high >> 20u) & 0x7ffu;
    if (nd64_is_nan(a)) { return nd_nan(); }
    if (exponent == 0x7ffu) { return bitcast<f32>(sign | 0x7f800000u); }
    // Less than half of the least subnormal number, 2^-150, including f64's own subnormal numbers, whose exponent is 0.
    if (exponent < 873u) { return bitcast<f32>(sign); }
    let fraction = 0x80000000u | ((high & 0xfffffu) << 11u) | (low >> 21u) | select(0u, 1u, (low << 11u) != 0u);
    return nd_round(sign, exponent - 1023u, fraction);
}

// Rounds to nearest, ties to even.
fn nd64_uint_to_double(a: nd_u64) -> nd_u64 {
    let high = nd64_high(a);
    if ((high | nd64_low(a)) == 0u) { return a; }
    let zeros = select(countLeadingZeros(high), 32u + countLeadingZeros(nd64_low(a)), high == 0u);
    let moved = nd64_shl(a, nd64_make(zeros, 0u));
    let kept = nd64_ushr(moved, nd64_make(11u, 0u));
    let rest = nd64_low(moved) & 0x7ffu;
    let up = rest > 0x400u || (rest == 0x400u && (nd64_low(kept) & 1u) == 1u);
    // The highest kept bit adds one to the exponent, and so does a carry.
    return nd64_iadd(kept, nd64_make(select(0u, 1u, up), (1085u - zeros) << 20u));
}

fn nd64_sint_to_double(a: nd_u64) -> nd_u64 {
    let size = nd64_uint_to_double(nd64_magnitude(a));
    return nd64_make(nd64_low(size), nd64_high(size) | (nd64_high(a) & 0x80000000u));
}

// Truncates, saturates, NaN gives 0.
fn nd64_double_to_uint(a: nd_u64) -> nd_u64 {
    if (nd64_negative(a) || nd64_is_nan(a)) { return nd64_make(0u, 0u); }
    let exponent = nd64_high(a) >> 20u;
    if (exponent < 1023u) { return nd64_make(0u, 0u); }
    if (exponent >= 1087u) { return nd64_make(0xffffffffu, 0xffffffffu); }
    let fraction = nd64_make(nd64_low(a), (nd64_high(a) & 0xfffffu) | 0x100000u);
    if (exponent >= 1075u) { return nd64_shl(fraction, nd64_make(exponent - 1075u, 0u)); }
    return nd64_ushr(fraction, nd64_make(1075u - exponent, 0u));
}

fn nd64_double_to_sint(a: nd_u64) -> nd_u64 {
    let size = nd64_double_to_uint(nd64_fabs(a));
    let most = nd64_umin(size, nd64_make(0xffffffffu, 0x7fffffffu));
    let least = nd64_negate(nd64_umin(size, nd64_make(0u, 0x80000000u)));
    return select(most, least, nd64_negative(a));
}

fn nd_double_to_uint(a: nd_u64) -> u32 {
    return nd64_low(nd64_umin(nd64_double_to_uint(a), nd64_make(0xffffffffu, 0u)));
}

fn nd_double_to_sint(a: nd_u64) -> u32 {
    let size = nd64_double_to_uint(nd64_fabs(a));
    let least = 0u - nd64_low(nd64_umin(size, nd64_make(0x80000000u, 0u)));
    return select(nd64_low(nd64_umin(size, nd64_make(0x7fffffffu, 0u))), least, nd64_negative(a));
}
