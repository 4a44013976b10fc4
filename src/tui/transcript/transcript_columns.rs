//! Width and position of each author's blocks: full width, or both agents side by side. The order of blocks
//! is the same in both layouts.

use super::transcript_block::{BlockAuthor, TranscriptBlock};
use crate::domain::event::Event;
use crate::domain::turn::Role;

/// How many columns the bar of a speaker and the blank behind it take; the program's own lines have none.
pub const LEAD_COLUMNS: usize = 2;
/// Gap between the two agents' columns.
const COLUMN_GAP: usize = 3;

/// The column layout and the width of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscriptColumns {
    /// Every author over the full width.
    Single(usize),
    /// The planner at the left, the reviewer at the right, others over the full width.
    SideBySide(usize),
}

impl TranscriptColumns {
    /// Returns the width and the indent of a block. What has no bar begins where the bars are, and ends where the others
    /// end.
    pub(super) fn width_and_indent(self, block: &TranscriptBlock) -> (usize, usize) {
        let (columns, indent) = self.column_of(block.column_owner());
        match block.author {
            BlockAuthor::System => (columns + LEAD_COLUMNS, indent),
            _ => (columns, indent),
        }
    }

    fn column_of(self, who: BlockAuthor) -> (usize, usize) {
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

/// Returns the role whose turn an event belongs to; `None` if it is about the run.
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

/// Marks the blocks as being about a role's turn.
pub(super) fn with_role(role: Option<Role>, told: Vec<TranscriptBlock>) -> Vec<TranscriptBlock> {
    let told = told.into_iter();
    told.map(|block| block.with_role(role)).collect()
}
