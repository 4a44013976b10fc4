//! The lists of todos in the stream: each agent's stands where it changed last, as it is now; where it stood before, a
//! row tells how far it was then.
//!
//! Refuses to change a list.

use std::collections::BTreeSet;

use super::ChatTranscript;
use super::transcript_block::{BlockAuthor, BlockContent, TranscriptBlock};
use crate::domain::ids::SessionId;
use crate::domain::todo_list::TodoList;
use crate::tui::text_wrap::clean_for_display;
use crate::tui::todo_lists::format_todo_list;

/// A list as it was written once; its text is drawable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoListCard {
    /// Whose it is.
    pub session: SessionId,
    /// How far it is, and its items below that.
    pub text: String,
    /// Whether it was written again since.
    pub is_outdated: bool,
}

impl ChatTranscript {
    /// Tells a list; the one that its agent wrote before is no longer what counts.
    pub(super) fn add_todo_list(&mut self, session: &SessionId, todos: &TodoList) {
        let is_last = |block: &mut TranscriptBlock| {
            block.todos().is_some_and(|told| told.session == *session)
        };
        // Where nothing happened since, there is nothing that the earlier one would be beside.
        while let Some(block) = self.blocks.pop_back_if(is_last) {
            self.n_bytes = self.n_bytes.saturating_sub(block.n_bytes());
        }
        self.scroll
            .follow_end_if_gone(self.end_number(), self.end_number());
        self.mark_todos_outdated(&BTreeSet::from([session.clone()]));
        let told = TodoListCard {
            session: session.clone(),
            text: clean_for_display(&format_todo_list(todos)),
            is_outdated: false,
        };
        self.push_blocks(vec![TranscriptBlock::new(
            BlockAuthor::System,
            BlockContent::Todos(told),
        )]);
    }

    /// Says of the lists of these agents that they were written again since.
    pub(super) fn mark_todos_outdated(&mut self, sessions: &BTreeSet<SessionId>) {
        for block in &mut self.blocks {
            if block
                .todos()
                .is_some_and(|told| sessions.contains(&told.session))
            {
                block.mark_todos_outdated();
            }
        }
    }

    /// Whose lists are told.
    pub(super) fn sessions_with_todos(&self) -> BTreeSet<SessionId> {
        let told = self.blocks.iter().filter_map(TranscriptBlock::todos);
        told.map(|told| told.session.clone()).collect()
    }
}
