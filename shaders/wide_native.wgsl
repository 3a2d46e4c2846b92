// Integers of 64 bits on devices with them: the type `nd_u64` is `u64`; operations are signed or unsigned.

fn nd64_make(low: u32, high: u32) -> nd_u64 {
    return u64(low) | (u64(high) << 32u);
}

fn nd64_low(a: nd_u64) -> u32 {
    return u32(a & 0xfffffffflu);
}

fn nd64_high(a: nd_u64) -> u32 {
    return u32(a >> 32u);
}

fn nd64_iadd(a: nd_u64, b: nd_u64) -> nd_u64 {
    return a + b;
}

fn nd64_isub(a: nd_u64, b: nd_u64) -> nd_u64 {
    return a - b;
}

fn nd64_imul(a: nd_u64, b: nd_u64) -> nd_u64 {
    return a * b;
}

fn nd64_udiv(a: nd_u64, b: nd_u64) -> nd_u64 {
    return select(a / max(b, 1lu), 0lu, b == 0lu);
}

fn nd64_urem(a: nd_u64, b: nd_u64) -> nd_u64 {
    return select(a % max(b, 1lu), 0lu, b == 0lu);
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
    return a == b;
}

fn nd64_ult(a: nd_u64, b: nd_u64) -> bool {
    return a < b;
}

fn nd64_slt(a: nd_u64, b: nd_u64) -> bool {
    return bitcast<i64>(a) < bitcast<i64>(b);
}

fn nd64_shl(a: nd_u64, b: nd_u64) -> nd_u64 {
    return select(a << (nd64_low(b) & 63u), 0lu, b > 63lu);
}

fn nd64_ushr(a: nd_u64, b: nd_u64) -> nd_u64 {
    return select(a >> (nd64_low(b) & 63u), 0lu, b > 63lu);
}

fn nd64_sshr(a: nd_u64, b: nd_u64) -> nd_u64 {
    return bitcast<u64>(bitcast<i64>(a) >> nd64_low(min(b, 63lu)));
}
