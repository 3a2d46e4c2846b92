// Floats of 64 bits where WGSL's builtins are unspecified, on devices with them and integers of that size.

fn nd_isnan64(x: f64) -> bool {
    return (bitcast<u64>(x) & 0x7ffffffffffffffflu) > 0x7ff0000000000000lu;
}

fn nd_hide64(x: f64) -> f64 {
    return bitcast<f64>(bitcast<u64>(x) ^ u64(params[0].x));
}

fn nd_nan64() -> f64 {
    return bitcast<f64>(nd64_make(0u, 0x7ff80000u));
}

// A signed integer with the float's order, -0 before +0.
fn nd_key64(x: f64) -> i64 {
    let bits = bitcast<i64>(x);
    return bits ^ ((bits >> 63u) & 0x7fffffffffffffffli);
}

// IEEE-754-2019 minimum: NaN if either is NaN; -0 < +0.
fn nd_fmin64(x: f64, y: f64) -> f64 {
    let least = select(y, x, nd_key64(x) < nd_key64(y));
    return select(least, nd_nan64(), nd_isnan64(x) || nd_isnan64(y));
}

// IEEE-754-2019 maximum: NaN if either is NaN; -0 < +0.
fn nd_fmax64(x: f64, y: f64) -> f64 {
    let most = select(y, x, nd_key64(x) > nd_key64(y));
    return select(most, nd_nan64(), nd_isnan64(x) || nd_isnan64(y));
}

fn nd_feq64(x: f64, y: f64) -> bool {
    let a = bitcast<u64>(x);
    let b = bitcast<u64>(y);
    return (a == b && !nd_isnan64(x)) || ((a | b) & 0x7ffffffffffffffflu) == 0lu;
}

fn nd_flt64(x: f64, y: f64) -> bool {
    let zeros = ((bitcast<u64>(x) | bitcast<u64>(y)) & 0x7ffffffffffffffflu) == 0lu;
    return nd_key64(x) < nd_key64(y) && !zeros && !nd_isnan64(x) && !nd_isnan64(y);
}

fn nd_fle64(x: f64, y: f64) -> bool {
    let zeros = ((bitcast<u64>(x) | bitcast<u64>(y)) & 0x7ffffffffffffffflu) == 0lu;
    return (nd_key64(x) <= nd_key64(y) || zeros) && !nd_isnan64(x) && !nd_isnan64(y);
}

// Rounding to integral values with integers: Mesa 22's builtins round wrong, and lose the sign of zero.
fn nd_ftrunc64(x: f64) -> f64 {
    let bits = bitcast<u64>(x);
    let exponent = u32((bits >> 52u) & 0x7fflu);
    if (exponent >= 1075u) { return x; }
    if (exponent < 1023u) { return bitcast<f64>(bits & 0x8000000000000000lu); }
    return bitcast<f64>(bits & (0xfffffffffffffffflu << (1075u - exponent)));
}

fn nd_ffloor64(x: f64) -> f64 {
    let whole = nd_ftrunc64(x);
    if (whole > x) { return nd_hide64(whole - 1.0lf); }
    return whole;
}

fn nd_fceil64(x: f64) -> f64 {
    let down = nd_ffloor64(bitcast<f64>(bitcast<u64>(x) ^ 0x8000000000000000lu));
    return bitcast<f64>(bitcast<u64>(down) ^ 0x8000000000000000lu);
}

// Ties to even: 2^52 has no bits below 1, and is added and subtracted.
fn nd_fround64(x: f64) -> f64 {
    let sign = bitcast<u64>(x) & 0x8000000000000000lu;
    let size = bitcast<f64>(bitcast<u64>(x) ^ sign);
    if (bitcast<u64>(size) >= 0x4330000000000000lu) { return x; }
    let above = nd_hide64(size + bitcast<f64>(0x4330000000000000lu));
    let rounded = nd_hide64(above - bitcast<f64>(0x4330000000000000lu));
    return bitcast<f64>(bitcast<u64>(rounded) | sign);
}

// Both words are exact; the sum rounds once, to nearest.
fn nd64_uint_to_f64(a: nd_u64) -> f64 {
    return nd_hide64(f64(nd64_high(a)) * 4294967296.0lf) + f64(nd64_low(a));
}

fn nd64_sint_to_f64(a: nd_u64) -> f64 {
    return nd_hide64(f64(bitcast<i32>(nd64_high(a))) * 4294967296.0lf) + f64(nd64_low(a));
}

// Truncates, saturates, NaN gives 0; with integers, since out-of-range conversions are undefined.
fn nd64_f64_to_uint(x: f64) -> nd_u64 {
    let bits = bitcast<u64>(x);
    if (bits > 0x7ff0000000000000lu) { return 0lu; }
    let exponent = u32(bits >> 52u);
    let fraction = (bits & 0xffffffffffffflu) | 0x10000000000000lu;
    if (exponent < 1023u) { return 0lu; }
    if (exponent >= 1087u) { return 0xfffffffffffffffflu; }
    if (exponent >= 1075u) { return fraction << (exponent - 1075u); }
    return fraction >> (1075u - exponent);
}

fn nd64_f64_to_sint(x: f64) -> nd_u64 {
    let bits = bitcast<u64>(x);
    let size = nd64_f64_to_uint(bitcast<f64>(bits & 0x7ffffffffffffffflu));
    let least = 0lu - min(size, 0x8000000000000000lu);
    return select(min(size, 0x7ffffffffffffffflu), least, (bits >> 63u) == 1lu);
}

fn nd_f64_to_uint(x: f64) -> u32 {
    return u32(min(nd64_f64_to_uint(x), 0xfffffffflu));
}

fn nd_f64_to_sint(x: f64) -> u32 {
    let bits = bitcast<u64>(x);
    let size = nd64_f64_to_uint(bitcast<f64>(bits & 0x7ffffffffffffffflu));
    let least = 0u - u32(min(size, 0x80000000lu));
    return select(u32(min(size, 0x7ffffffflu)), least, (bits >> 63u) == 1lu);
}

// For devices that convert subnormal numbers of 32 bits to zeros: their digits, in units of the least of them. Without a branch, which
// a driver of NVIDIA (580.159) compiled in twice the time, and whose other side's zero it took in one of 1000 multiplications and additions.
fn nd_promote(x: f32) -> f64 {
    let bits = bitcast<u32>(x);
    let size = f64(bits & 0x007fffffu) * bitcast<f64>(0x36a0000000000000lu);
    let tiny = bitcast<f64>(bitcast<u64>(size) | (u64(bits >> 31u) << 63u));
    return select(f64(x), tiny, (bits & 0x7f800000u) == 0u);
}

// A multiplication and addition of floats of 32 bits with one rounding: the product is exact, the sum is rounded to odd, so that
// the second rounding is correct (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008).
fn nd_fma_by_f64(x: f32, y: f32, z: f32) -> f32 {
    let product = nd_hide64(nd_promote(x) * nd_promote(y));
    let addend = nd_promote(z);
    let sum = nd_hide64(product + addend);
    let part = nd_hide64(sum - product);
    let lost = nd_hide64(nd_hide64(product - nd_hide64(sum - part)) + nd_hide64(addend - part));
    let bits = bitcast<u64>(sum);
    // Towards the lost part if the last bit is even; infinities and NaN lost nothing.
    let away = (bitcast<u64>(lost) >> 63u) == (bits >> 63u);
    let odd = select(bits - 1lu, bits + 1lu, away);
    let inexact = (bitcast<u64>(lost) & 0x7ffffffffffffffflu) != 0lu && !nd_isnan64(lost);
    return nd_hide(f32(bitcast<f64>(select(bits, odd, inexact && (bits & 1lu) == 0lu))));
}

// As nd_fadd in soft.wgsl. Sums of two floats of 32 bits may be rounded to 53 bits first: no result changes
// (Figueroa, When is double rounding innocuous?, 1995).
fn nd_fadd_by_f64(x: f32, y: f32) -> f32 {
    let sum = nd_hide(x + y);
    if (nd_from(sum, 0x0d800000u)) { return sum; }
    return nd_hide(f32(nd_hide64(nd_promote(x) + nd_promote(y))));
}

fn nd_fsub_by_f64(x: f32, y: f32) -> f32 {
    return nd_fadd_by_f64(x, nd_fneg(y));
}

// The product is exact.
fn nd_fmul_by_f64(x: f32, y: f32) -> f32 {
    let product = nd_hide(x * y);
    if (nd_from(product, 0x00800000u)) { return product; }
    return nd_hide(f32(nd_hide64(nd_promote(x) * nd_promote(y))));
}

fn nd_fused_by_f64(x: f32, y: f32, z: f32) -> f32 {
    let result = nd_hide(fma(x, y, z));
    if (nd_from(result, 0x00800000u) && !nd_is_tiny(x) && !nd_is_tiny(y) && !nd_is_tiny(z)) { return result; }
    return nd_fma_by_f64(x, y, z);
}
