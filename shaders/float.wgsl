// IEEE-754 operations that WGSL's builtins leave open: an implementation may assume that NaN does not occur, so NaN is
// recognised by its bits.

fn nd_isnan(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

// IEEE-754-2019 minimum: NaN if either is NaN; -0 < +0.
fn nd_fmin(x: f32, y: f32) -> f32 {
    let nan = bitcast<f32>(select(bitcast<u32>(y), bitcast<u32>(x), nd_isnan(x)) | 0x7fc00000u);
    // Equal operands differ at most in the sign of zero: or keeps the minus.
    let same = bitcast<f32>(bitcast<u32>(x) | bitcast<u32>(y));
    let ordered = select(select(y, x, x < y), same, x == y);
    return select(ordered, nan, nd_isnan(x) || nd_isnan(y));
}

// IEEE-754-2019 maximum: NaN if either is NaN; -0 < +0.
fn nd_fmax(x: f32, y: f32) -> f32 {
    let nan = bitcast<f32>(select(bitcast<u32>(y), bitcast<u32>(x), nd_isnan(x)) | 0x7fc00000u);
    let same = bitcast<f32>(bitcast<u32>(x) & bitcast<u32>(y));
    let ordered = select(select(y, x, x > y), same, x == y);
    return select(ordered, nan, nd_isnan(x) || nd_isnan(y));
}
