//! Tables of policies: 18 by 18 types, with differences from another policy marked.

use super::policy::Policy;
use crate::value_type::ValueType;
use std::fmt;

impl Policy {
    /// Returns the table of joins, one row per left operand: `-` if the policy refuses the pair.
    ///
    /// ```
    /// # use ndjit_ir::Policy;
    /// let text = Policy::Standard.table().to_string();
    /// assert!(text.starts_with("        bool    u8   u16"));
    /// ```
    pub fn table(self) -> impl fmt::Display {
        TableText { policy: self, against: self }
    }

    /// Returns the table of joins, with `!` before each cell that differs from `other`.
    pub fn table_against(self, other: Policy) -> impl fmt::Display {
        TableText { policy: self, against: other }
    }

    /// Returns the pairs whose join differs from `other`'s, in the order of the table.
    pub fn differences(self, other: Policy) -> Vec<(ValueType, ValueType)> {
        let pairs = ValueType::ALL.into_iter().flat_map(|left| ValueType::ALL.map(|right| (left, right)));
        pairs.filter(|&(left, right)| self.join(left, right) != other.join(left, right)).collect()
    }
}

struct TableText {
    policy: Policy,
    against: Policy,
}

impl fmt::Display for TableText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>6}", "")?;
        for right in ValueType::ALL {
            write!(f, "{right:>6}")?;
        }
        for left in ValueType::ALL {
            write!(f, "\n{left:>6}")?;
            for right in ValueType::ALL {
                let join = self.policy.join(left, right);
                let name = join.map_or("-", ValueType::name);
                if join == self.against.join(left, right) {
                    write!(f, "{name:>6}")?;
                } else {
                    write!(f, "{:>6}", format!("!{name}"))?;
                }
            }
        }
        Ok(())
    }
}
