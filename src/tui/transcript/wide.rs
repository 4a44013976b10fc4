//! How wide the blocks of each author are: over the whole window, or two agents beside each other.
//!
//! Refuses to know what they hold; rows keep their order whatever stands beside them.

use super::block::Who;
use crate::domain::turn::Role;

/// How many columns stand between two agents beside each other.
const GAP: usize = 3;

/// How wide the window is, and where each author stands in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wide {
    /// All of them over the whole width.
    Whole(usize),
    /// The planner at the left, the reviewer at the right, others over the whole width.
    Halves(usize),
}

impl Wide {
    /// How wide a block of somebody is, and how far to the right it begins.
    pub(super) fn of(self, who: Who) -> (usize, usize) {
        match (self, who) {
            (Self::Halves(columns), Who::Agent(role)) => {
                let half = columns.saturating_sub(GAP) / 2;
                let indent = match role {
                    Role::Planner => 0,
                    Role::Reviewer => half + GAP,
                };
                (half, indent)
            }
            (Self::Whole(columns) | Self::Halves(columns), _) => (columns, 0),
        }
    }
}
