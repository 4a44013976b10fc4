//! How wide the blocks of each author are: over the whole window, or two agents beside each other.
//!
//! Refuses to know what they hold; rows keep their order whatever stands beside them.

use super::transcript_block::{BlockAuthor, TranscriptBlock};
use crate::domain::event::Event;
use crate::domain::turn::Role;

/// How many columns stand between two agents beside each other.
const COLUMN_GAP: usize = 3;

/// How wide the window is, and where each author stands in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscriptColumns {
    /// All of them over the whole width.
    Single(usize),
    /// The planner at the left, the reviewer at the right, others over the whole width.
    SideBySide(usize),
}

impl TranscriptColumns {
    /// How wide a block of somebody is, and how far to the right it begins.
    pub(super) fn width_and_indent(self, who: BlockAuthor) -> (usize, usize) {
        match (self, who) {
            (Self::SideBySide(columns), BlockAuthor::Agent(role)) => {
                let half = columns.saturating_sub(COLUMN_GAP) / 2;
                let indent = match role {
                    Role::Planner => 0,
                    Role::Reviewer => half + COLUMN_GAP,
                };
                (half, indent)
            }
            (Self::Single(columns) | Self::SideBySide(columns), _) => (columns, 0),
        }
    }
}

/// Whose turn an event comes of; `None` where it is about the run.
pub(super) fn role_of(event: &Event) -> Option<Role> {
    match event {
        Event::ReviewCommitted { .. } => Some(Role::Reviewer),
        Event::PlanCommitted { .. } | Event::ResponseCommitted { .. } => Some(Role::Planner),
        Event::Agent { role, .. }
        | Event::SessionLost { role, .. }
        | Event::SessionMoved { role, .. }
        | Event::SessionStayed { role, .. }
        | Event::SessionVersion { role, .. } => Some(*role),
        _ => None,
    }
}

/// The same blocks, told about a turn of somebody.
pub(super) fn with_role(role: Option<Role>, told: Vec<TranscriptBlock>) -> Vec<TranscriptBlock> {
    let told = told.into_iter();
    told.map(|block| block.with_role(role)).collect()
}
