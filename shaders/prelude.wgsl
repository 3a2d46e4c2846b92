// Every kernel begins with this: its run-time geometry. Extents and strides are arguments, so one module serves all sizes.
// It holds: the number of elements, the rank, then `rank` extents, then for each operand its offset and `rank` strides.
// Offsets and strides count elements, not bytes; strides are two's complement.
@group(0) @binding(0) var<storage, read> geometry: array<u32>;

// The position in an operand's buffer of element `flat` of the iteration space, outermost axis first.
fn position(flat: u32, operand: u32) -> u32 {
    let rank = geometry[1];
    let base = 2u + rank + operand * (rank + 1u);
    var rest = flat;
    var at = geometry[base];
    for (var axis = rank; axis > 0u; axis = axis - 1u) {
        let extent = max(geometry[1u + axis], 1u);
        at = at + (rest % extent) * geometry[base + axis];
        rest = rest / extent;
    }
    return at;
}
