//! Stand-in until promotion lands.
/// Policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Policy {
    /// Standard.
    #[default]
    Standard,
    /// Strict.
    Strict,
}
