// A multiplication and addition of floats of 64 bits with one rounding, with integers only, like soft.wgsl with words of 64 bits.
// A pair of words is a `vec2<u64>`, the low one first.

// `countLeadingZeros` takes 32 bits.
fn nd_zeros64(a: u64) -> u32 {
    let high = nd64_high(a);
    return select(countLeadingZeros(high), 32u + countLeadingZeros(nd64_low(a)), high == 0u);
}

// The product of two words of 64 bits, like nd_product.
fn nd_product64(a: u64, b: u64) -> vec2<u64> {
    let low = (a & 0xfffffffflu) * (b & 0xfffffffflu);
    let cross = (a >> 32u) * (b & 0xfffffffflu) + (low >> 32u);
    let other = (a & 0xfffffffflu) * (b >> 32u) + (cross & 0xfffffffflu);
    return vec2<u64>((other << 32u) | (low & 0xfffffffflu), (a >> 32u) * (b >> 32u) + (cross >> 32u) + (other >> 32u));
}

fn nd_exponent64(bits: u64) -> i32 {
    let exponent = i32(u32((bits >> 52u) & 0x7fflu));
    return select(exponent - 1023, -1011 - i32(nd_zeros64(bits & 0xffffffffffffflu)), exponent == 0);
}

fn nd_fraction64(bits: u64) -> u64 {
    let fraction = bits & 0xffffffffffffflu;
    if ((bits & 0x7ff0000000000000lu) != 0lu) { return fraction | 0x10000000000000lu; }
    return fraction << (nd_zeros64(fraction) - 11u);
}

fn nd_jam64(a: u64, by: u32) -> u64 {
    if (by > 63u) { return select(0lu, 1lu, a != 0lu); }
    return (a >> by) | select(0lu, 1lu, ((a >> by) << by) != a);
}

fn nd_jam_pair64(a: vec2<u64>, by: u32) -> vec2<u64> {
    if (by == 0u) { return a; }
    if (by > 63u) { return vec2<u64>(nd_jam64(a.y, by - 64u) | select(0lu, 1lu, a.x != 0lu), 0lu); }
    return vec2<u64>((a.x >> by) | (a.y << (64u - by)) | select(0lu, 1lu, (a.x << (64u - by)) != 0lu), a.y >> by);
}

fn nd_round64(sign: u64, exponent: i32, fraction: u64) -> f64 {
    let biased = exponent + 1023;
    if (biased > 2046) { return bitcast<f64>(sign | 0x7ff0000000000000lu); }
    let lost = select(0u, u32(1 - biased), biased < 1);
    let jammed = nd_jam64(fraction, lost);
    let kept = jammed >> 11u;
    let rest = jammed & 0x7fflu;
    let up = rest > 0x400lu || (rest == 0x400lu && (kept & 1lu) == 1lu);
    let scale = select(u64(u32(max(biased, 1) - 1)) << 52u, 0lu, biased < 1);
    return bitcast<f64>(sign | (scale + kept + select(0lu, 1lu, up)));
}

// There is one trip, unknown to compilers: Mesa's compiles loop-free code in one piece, in quadratic time.
fn nd_fma64(x: f64, y: f64, z: f64) -> f64 {
    var result = z;
    for (var i = params[0].x; i < 1u; i++) {
        result = nd_fma64_once(x, y, z);
    }
    return result;
}

fn nd_fma64_once(x: f64, y: f64, z: f64) -> f64 {
    let a = bitcast<u64>(x);
    let b = bitcast<u64>(y);
    let c = bitcast<u64>(z);
    let infinity = 0x7ff0000000000000lu;
    let a_size = a & 0x7ffffffffffffffflu;
    let b_size = b & 0x7ffffffffffffffflu;
    let c_size = c & 0x7ffffffffffffffflu;
    let sign = (a ^ b) & 0x8000000000000000lu;
    let c_sign = c & 0x8000000000000000lu;
    if (a_size > infinity || b_size > infinity || c_size > infinity) { return nd_nan64(); }
    if (a_size == infinity || b_size == infinity) {
        if (a_size == 0lu || b_size == 0lu || (c_size == infinity && c_sign != sign)) { return nd_nan64(); }
        return bitcast<f64>(sign | infinity);
    }
    if (c_size == infinity) { return z; }
    if (a_size == 0lu || b_size == 0lu) {
        return bitcast<f64>(select(c, c & sign, c_size == 0lu));
    }
    // From 2^124 on, like the fraction of the third operand.
    let low = nd_product64(nd_fraction64(a), nd_fraction64(b));
    var product = vec2<u64>(low.x << 20u, (low.y << 20u) | (low.x >> 44u));
    var exponent = nd_exponent64(a) + nd_exponent64(b);
    var total = product;
    var total_sign = sign;
    if (c_size != 0lu) {
        let c_exponent = nd_exponent64(c);
        var addend = vec2<u64>(0lu, nd_fraction64(c) << 8u);
        let distance = exponent - c_exponent;
        if (distance >= 0) {
            addend = nd_jam_pair64(addend, u32(distance));
        } else {
            product = nd_jam_pair64(product, u32(-distance));
            exponent = c_exponent;
        }
        if (sign == c_sign) {
            let sum = product.x + addend.x;
            total = vec2<u64>(sum, product.y + addend.y + select(0lu, 1lu, sum < product.x));
        } else {
            if (product.x == addend.x && product.y == addend.y) { return bitcast<f64>(0lu); }
            if (product.y < addend.y || (product.y == addend.y && product.x < addend.x)) {
                let swapped = product;
                product = addend;
                addend = swapped;
                total_sign = c_sign;
            }
            total = vec2<u64>(product.x - addend.x, product.y - addend.y - select(0lu, 1lu, product.x < addend.x));
        }
    }
    let zeros = select(nd_zeros64(total.y), 64u + nd_zeros64(total.x), total.y == 0lu);
    if (zeros > 63u) {
        total = vec2<u64>(0lu, total.x << (zeros - 64u));
    } else if (zeros > 0u) {
        total = vec2<u64>(total.x << zeros, (total.y << zeros) | (total.x >> (64u - zeros)));
    }
    let fraction = total.y | select(0lu, 1lu, total.x != 0lu);
    return nd_round64(total_sign, exponent + 3 - i32(zeros), fraction);
}
