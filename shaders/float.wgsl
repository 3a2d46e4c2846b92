// Floats of 32 bits where WGSL's builtins are unspecified. An implementation may assume that NaN does not occur, so it is
// recognised by its bits, and infinities, zeros and subnormal numbers are handled with integers.

fn nd_isnan(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

// A signed integer with the float's order, -0 before +0.
fn nd_key(x: f32) -> i32 {
    let bits = bitcast<i32>(x);
    return bits ^ ((bits >> 31u) & 0x7fffffff);
}

// IEEE-754-2019 minimum: NaN if either is NaN; -0 < +0.
fn nd_fmin(x: f32, y: f32) -> f32 {
    let least = select(y, x, nd_key(x) < nd_key(y));
    return select(least, bitcast<f32>(0x7fc00000u), nd_isnan(x) || nd_isnan(y));
}

// IEEE-754-2019 maximum: NaN if either is NaN; -0 < +0.
fn nd_fmax(x: f32, y: f32) -> f32 {
    let most = select(y, x, nd_key(x) > nd_key(y));
    return select(most, bitcast<f32>(0x7fc00000u), nd_isnan(x) || nd_isnan(y));
}

fn nd_feq(x: f32, y: f32) -> bool {
    let a = bitcast<u32>(x);
    let b = bitcast<u32>(y);
    return (a == b && !nd_isnan(x)) || ((a | b) << 1u) == 0u;
}

fn nd_flt(x: f32, y: f32) -> bool {
    let zeros = ((bitcast<u32>(x) | bitcast<u32>(y)) << 1u) == 0u;
    return nd_key(x) < nd_key(y) && !zeros && !nd_isnan(x) && !nd_isnan(y);
}

fn nd_fle(x: f32, y: f32) -> bool {
    let zeros = ((bitcast<u32>(x) | bitcast<u32>(y)) << 1u) == 0u;
    return (nd_key(x) <= nd_key(y) || zeros) && !nd_isnan(x) && !nd_isnan(y);
}

// For devices that read subnormal numbers as zeros: their floor is 0 or -1.
fn nd_ffloor(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    let small = (bits & 0x7fffffffu) < 0x3f800000u;
    let below = select(bits & 0x80000000u, 0xbf800000u, bits > 0x80000000u);
    return select(floor(x), bitcast<f32>(below), small);
}

fn nd_fceil(x: f32) -> f32 {
    return nd_fneg(nd_ffloor(nd_fneg(x)));
}

// A compiler that turns a flipped sign into a negation flushes subnormal numbers, like a driver of NVIDIA: it cannot know the mask.
fn nd_fneg(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ (0x80000000u | params[0].x));
}

// The same number, computed in a way opaque to compilers: they neither contract nor reorder across it.
fn nd_hide(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ params[0].x);
}

// Both halves are exact; the sum rounds once, to nearest.
fn nd_uint_to_f32(x: u32) -> f32 {
    let high = nd_hide(f32(x >> 16u) * 65536.0);
    return nd_hide(high + f32(x & 0xffffu));
}

fn nd_sint_to_f32(x: u32) -> f32 {
    let size = nd_uint_to_f32(nd_magnitude(x));
    return bitcast<f32>(bitcast<u32>(size) | (x & 0x80000000u));
}

// Truncates, saturates, NaN gives 0; with integers, since out-of-range conversions are undefined.
fn nd_f32_to_uint(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    if (bits > 0x7f800000u) { return 0u; }
    let exponent = bits >> 23u;
    let fraction = (bits & 0x7fffffu) | 0x800000u;
    if (exponent < 127u) { return 0u; }
    if (exponent >= 159u) { return 0xffffffffu; }
    if (exponent >= 150u) { return fraction << (exponent - 150u); }
    return fraction >> (150u - exponent);
}

fn nd_f32_to_sint(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let size = nd_f32_to_uint(bitcast<f32>(bits & 0x7fffffffu));
    let negative = (bits >> 31u) == 1u;
    return select(min(size, 0x7fffffffu), 0u - min(size, 0x80000000u), negative);
}
