//! The block that the user points at: to be opened, copied, gone on from.
//!
//! Refuses to know keys. Numbers of blocks never change, so what is pointed at stays.

use super::Transcript;
use super::block::{Content, Who};
use super::card::LongCall;
use super::scroll::Scroll;
use crate::domain::ids::DiscussionId;

/// Where to point next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Along {
    /// The next block.
    Next,
    /// The one before.
    Previous,
    /// The next turn.
    NextTurn,
    /// The turn before.
    PreviousTurn,
}

impl Transcript {
    /// Points at another block, and brings it into view.
    pub fn pick(&mut self, along: Along) {
        let wanted = |at: &usize| match along {
            Along::Next | Along::Previous => self.can_be_picked(*at),
            Along::NextTurn | Along::PreviousTurn => self.begins_a_turn(*at),
        };
        let end = self.end();
        let found = match (along, self.picked_now()) {
            (Along::Next | Along::NextTurn, Some(picked)) => (picked + 1..end).find(wanted),
            (Along::Previous | Along::PreviousTurn, Some(picked)) => {
                (self.first..picked).rev().find(wanted)
            }
            // Whoever begins to point means what is on the screen.
            (Along::Next | Along::NextTurn, None) => {
                let top = self.shown.first().copied().unwrap_or(self.first);
                (top..end).find(wanted)
            }
            (Along::Previous | Along::PreviousTurn, None) => {
                let bottom = self.shown.last().map_or(end, |last| last + 1);
                (self.first..bottom).rev().find(wanted)
            }
        };
        if let Some(number) = found {
            self.point_at(number);
        }
    }

    /// Points at a block, by its number.
    pub(super) fn point_at(&mut self, number: usize) {
        self.picked = Some(number);
        // The row at the edge may be a part of it only.
        let rows = self.shown.get(1..self.shown.len().saturating_sub(1));
        let is_shown =
            self.scroll == self.shown_at && rows.is_some_and(|rows| rows.contains(&number));
        if !is_shown {
            self.scroll = Scroll::at(number, 0);
        }
    }

    /// Points at the block of a row of the window.
    pub fn pick_row(&mut self, row: usize) {
        if let Some(number) = self.shown.get(row).copied() {
            self.picked = Some(number).filter(|number| self.can_be_picked(*number));
        }
    }

    /// Points at nothing; tells whether something was pointed at.
    pub fn pick_nothing(&mut self) -> bool {
        self.picked.take().is_some()
    }

    /// The number of the block that is pointed at, while it is kept.
    pub(super) fn picked_now(&self) -> Option<usize> {
        self.picked
            .filter(|picked| (self.first..self.end()).contains(picked))
    }

    /// Opens or folds what is pointed at; tells whether there is something to open.
    pub fn open_picked(&mut self) -> bool {
        let (first, thinking) = (self.first, self.thinking);
        let Some(picked) = self.picked_now() else {
            return false;
        };
        let block = self.blocks.get_mut(picked - first);
        let turned = block.is_some_and(|block| block.turn(thinking));
        if turned {
            self.keep_in_view(picked);
        }
        turned
    }

    /// Keeps the rows above a block where they are: what opens pushes its own head out of no window.
    fn keep_in_view(&mut self, number: usize) {
        if let Some(row) = self.shown.iter().position(|shown| *shown == number) {
            self.scroll.hold(number, row);
        }
    }

    /// The discussion that is pointed at.
    pub fn picked_discussion(&self) -> Option<&DiscussionId> {
        let at = self.picked_now()? - self.first;
        self.blocks.get(at)?.talk().map(|talk| &talk.id)
    }

    /// The call that is pointed at, where its tool said more than is here.
    pub fn picked_long(&self) -> Option<LongCall> {
        let at = self.picked_now()? - self.first;
        self.blocks.get(at)?.card()?.long()
    }

    /// The text of what is pointed at.
    pub fn picked_text(&self) -> Option<String> {
        let at = self.picked_now()? - self.first;
        self.blocks.get(at).map(|block| block.content.text())
    }

    /// The finished texts of agents, the last one last.
    pub fn said(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.blocks
            .iter()
            .filter_map(|block| match (&block.who, &block.content) {
                (Who::Agent(_), Content::Speech { text }) => Some(text.as_str()),
                _ => None,
            })
    }

    /// The last of them.
    pub fn last_said(&self) -> Option<&str> {
        self.said().next_back()
    }

    fn can_be_picked(&self, number: usize) -> bool {
        let block = self.blocks.get(number.wrapping_sub(self.first));
        block.is_some_and(|block| match &block.content {
            Content::Speech { .. }
            | Content::Provisional { .. }
            | Content::Thinking { .. }
            | Content::Tool(_)
            | Content::Todos(_)
            | Content::Ending(_)
            | Content::Talk(_) => true,
            Content::Fact { more, .. } => !more.is_empty(),
            Content::Notice { .. } | Content::Divider { .. } => false,
        })
    }

    fn begins_a_turn(&self, number: usize) -> bool {
        let block = self.blocks.get(number.wrapping_sub(self.first));
        block.is_some_and(|block| block.is_named && block.who != Who::System)
    }
}
