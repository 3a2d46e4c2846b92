// IEEE-754 arithmetic on floats of 32 bits with integers, for operations that a device does not round to nearest or flushes to zero.
// Method: Berkeley SoftFloat; quotients and roots begin with the device's. A number is a sign, an exponent and a fraction of 32 or 64 bits with a sticky lowest
// bit.

// The fraction of a finite nonzero number, from 2^23 on, and its exponent.
fn nd_parts(bits: u32) -> vec2<u32> {
    let exponent = (bits >> 23u) & 0xffu;
    let fraction = bits & 0x7fffffu;
    if (exponent != 0u) { return vec2<u32>(fraction | 0x800000u, exponent - 127u); }
    let zeros = countLeadingZeros(fraction) - 8u;
    return vec2<u32>(fraction << zeros, 0u - 126u - zeros);
}

// A shift to the right with a sticky bit.
fn nd_jam(a: u32, by: u32) -> u32 {
    if (by > 31u) { return select(0u, 1u, a != 0u); }
    return (a >> by) | select(0u, 1u, ((a >> by) << by) != a);
}

fn nd_jam_pair(a: vec2<u32>, by: u32) -> vec2<u32> {
    if (by == 0u) { return a; }
    if (by > 31u) { return vec2<u32>(nd_jam(a.y, by - 32u) | select(0u, 1u, a.x != 0u), 0u); }
    return vec2<u32>((a.x >> by) | (a.y << (32u - by)) | select(0u, 1u, (a.x << (32u - by)) != 0u), a.y >> by);
}

// The float of a fraction whose highest bit is set and represents 2^exponent: rounded to nearest, ties to even.
fn nd_round(sign: u32, exponent: u32, fraction: u32) -> f32 {
    let biased = bitcast<i32>(exponent) + 127;
    if (biased > 254) { return bitcast<f32>(sign | 0x7f800000u); }
    // Subnormal numbers have fewer bits.
    let lost = select(0u, bitcast<u32>(1 - biased), biased < 1);
    let jammed = nd_jam(fraction, lost);
    let kept = jammed >> 8u;
    let rest = jammed & 0xffu;
    let up = rest > 0x80u || (rest == 0x80u && (kept & 1u) == 1u);
    // The highest kept bit adds one to the exponent, and so does a carry.
    let scale = select(bitcast<u32>(biased - 1) << 23u, 0u, biased < 1);
    return bitcast<f32>(sign | (scale + kept + select(0u, 1u, up)));
}

fn nd_nan() -> f32 {
    return bitcast<f32>(0x7fc00000u);
}

fn nd_fma(x: f32, y: f32, z: f32) -> f32 {
    let a = bitcast<u32>(x);
    let b = bitcast<u32>(y);
    let c = bitcast<u32>(z);
    let a_size = a & 0x7fffffffu;
    let b_size = b & 0x7fffffffu;
    let c_size = c & 0x7fffffffu;
    let sign = (a ^ b) & 0x80000000u;
    let c_sign = c & 0x80000000u;
    if (a_size > 0x7f800000u || b_size > 0x7f800000u || c_size > 0x7f800000u) { return nd_nan(); }
    if (a_size == 0x7f800000u || b_size == 0x7f800000u) {
        if (a_size == 0u || b_size == 0u || (c_size == 0x7f800000u && c_sign != sign)) { return nd_nan(); }
        return bitcast<f32>(sign | 0x7f800000u);
    }
    if (c_size == 0x7f800000u) { return z; }
    if (a_size == 0u || b_size == 0u) {
        // A sum of zeros of both signs is +0.
        return bitcast<f32>(select(c, c & sign, c_size == 0u));
    }
    let p = nd_parts(a);
    let q = nd_parts(b);
    // From 2^60 on, like the fraction of the third operand.
    let low = nd_product(p.x, q.x);
    var product = vec2<u32>(low.x << 14u, (low.y << 14u) | (low.x >> 18u));
    var exponent = bitcast<i32>(p.y + q.y);
    var total = product;
    var total_sign = sign;
    if (c_size != 0u) {
        let r = nd_parts(c);
        var addend = vec2<u32>(0u, r.x << 5u);
        let distance = exponent - bitcast<i32>(r.y);
        if (distance >= 0) {
            addend = nd_jam_pair(addend, bitcast<u32>(distance));
        } else {
            product = nd_jam_pair(product, bitcast<u32>(-distance));
            exponent = bitcast<i32>(r.y);
        }
        if (sign == c_sign) {
            let sum = product.x + addend.x;
            total = vec2<u32>(sum, product.y + addend.y + select(0u, 1u, sum < product.x));
        } else {
            if (product.x == addend.x && product.y == addend.y) { return bitcast<f32>(0u); }
            if (product.y < addend.y || (product.y == addend.y && product.x < addend.x)) {
                let swapped = product;
                product = addend;
                addend = swapped;
                total_sign = c_sign;
            }
            total = vec2<u32>(product.x - addend.x, product.y - addend.y - select(0u, 1u, product.x < addend.x));
        }
    }
    let zeros = select(countLeadingZeros(total.y), 32u + countLeadingZeros(total.x), total.y == 0u);
    if (zeros > 31u) {
        total = vec2<u32>(0u, total.x << (zeros - 32u));
    } else if (zeros > 0u) {
        total = vec2<u32>(total.x << zeros, (total.y << zeros) | (total.x >> (32u - zeros)));
    }
    let fraction = total.y | select(0u, 1u, total.x != 0u);
    return nd_round(total_sign, bitcast<u32>(exponent + 3) - zeros, fraction);
}

// The following are for devices that read or write subnormal numbers as zeros. The device's own result is kept where it cannot depend on
// them; zeros, infinities and NaN, whose results are too, take the longer way.

// Whether the magnitude is at least that of `least` and finite, or infinite.
fn nd_from(x: f32, least: u32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) - least <= 0x7f800000u - least;
}

// Zeros are among them.
fn nd_is_tiny(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) < 0x00800000u;
}

// From 2^-100 on, a subnormal operand is less than a quarter of a unit in the other's last place.
fn nd_fadd(x: f32, y: f32) -> f32 {
    let sum = nd_hide(x + y);
    if (nd_from(sum, 0x0d800000u)) { return sum; }
    // A product of zero ends early.
    let zero = (bitcast<u32>(y) << 1u) == 0u;
    return nd_fma(select(x, y, zero), bitcast<f32>(0x3f800000u), select(y, x, zero));
}

fn nd_fsub(x: f32, y: f32) -> f32 {
    return nd_fadd(x, nd_fneg(y));
}

// The product with a flushed operand is zero or NaN. The added zero has the product's sign.
fn nd_fmul(x: f32, y: f32) -> f32 {
    let product = nd_hide(x * y);
    if (nd_from(product, 0x00800000u)) { return product; }
    return nd_fma(x, y, bitcast<f32>((bitcast<u32>(x) ^ bitcast<u32>(y)) & 0x80000000u));
}

// For devices that fuse as well.
fn nd_fused(x: f32, y: f32, z: f32) -> f32 {
    let result = nd_hide(fma(x, y, z));
    if (nd_from(result, 0x00800000u) && !nd_is_tiny(x) && !nd_is_tiny(y) && !nd_is_tiny(z)) { return result; }
    return nd_fma(x, y, z);
}

fn nd_fdiv(x: f32, y: f32) -> f32 {
    let a = bitcast<u32>(x);
    let b = bitcast<u32>(y);
    let a_size = a & 0x7fffffffu;
    let b_size = b & 0x7fffffffu;
    let sign = (a ^ b) & 0x80000000u;
    if (a_size > 0x7f800000u || b_size > 0x7f800000u) { return nd_nan(); }
    if (a_size == b_size && (a_size == 0u || a_size == 0x7f800000u)) { return nd_nan(); }
    if (a_size == 0x7f800000u || b_size == 0u) { return bitcast<f32>(sign | 0x7f800000u); }
    if (a_size == 0u || b_size == 0x7f800000u) { return bitcast<f32>(sign); }
    let p = nd_parts(a);
    let q = nd_parts(b);
    var exponent = p.y - q.y;
    var rest = p.x;
    if (rest < q.x) {
        rest = rest << 1u;
        exponent = exponent - 1u;
    }
    // The device's quotient has 26 bits, the last few of which may be wrong (2.5 ULP in WGSL are 10 units). The remainder, which fits 32
    // bits, says by how much; the quotient of the two, rounded down, is wrong by at most one.
    let scaled = f32(q.x);
    var quotient = u32(f32(rest) / scaled * 33554432.0);
    var left = bitcast<i32>((rest << 25u) - quotient * q.x);
    let units = i32(floor(f32(left) / scaled));
    quotient = quotient + bitcast<u32>(units);
    left = left - units * bitcast<i32>(q.x);
    if (left < 0) {
        quotient = quotient - 1u;
        left = left + bitcast<i32>(q.x);
    } else if (left >= bitcast<i32>(q.x)) {
        quotient = quotient + 1u;
        left = left - bitcast<i32>(q.x);
    }
    return nd_round(sign, exponent, (quotient << 6u) | select(0u, 1u, left != 0));
}

fn nd_fsqrt(x: f32) -> f32 {
    let a = bitcast<u32>(x);
    if ((a << 1u) == 0u || a == 0x7f800000u) { return x; }
    if (a >= 0x7f800000u) { return nd_nan(); }
    let p = nd_parts(a);
    // An even exponent, and a square of 2^24 times the fraction: the root has 25 bits.
    let odd = p.y & 1u;
    let exponent = bitcast<u32>(bitcast<i32>(p.y - odd) >> 1u);
    let fraction = p.x << (1u + odd);
    // As for quotients: the device's root is wrong by a few units (5 ULP in WGSL are 10). The remainder over twice the root says by how many.
    var root = u32(sqrt(f32(fraction)) * 4096.0);
    let units = i32(floor(f32(bitcast<i32>((fraction << 24u) - root * root)) / f32(root << 1u)));
    root = root + bitcast<u32>(units);
    var left = bitcast<i32>((fraction << 24u) - root * root);
    if (left < 0) {
        root = root - 1u;
        left = left + bitcast<i32>((root << 1u) + 1u);
    } else if (left > bitcast<i32>(root << 1u)) {
        left = left - bitcast<i32>((root << 1u) + 1u);
        root = root + 1u;
    }
    return nd_round(0u, exponent, (root << 7u) | select(0u, 1u, left != 0));
}
