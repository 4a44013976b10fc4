//! Todo lists in the stream: an agent's current list is shown where it changed last; an earlier position
//! keeps one row with the progress at that time.

use std::collections::BTreeSet;

use super::ChatTranscript;
use super::block_content::BlockContent;
use super::transcript_block::{BlockAuthor, TranscriptBlock};
use crate::domain::ids::SessionId;
use crate::domain::todo_list::TodoList;
use crate::tui::text_wrap::clean_for_display;
use crate::tui::todo_lists::format_todo_list;

/// A todo list as it was at one time; its text is cleaned for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoListCard {
    pub session: SessionId,
    /// Its progress, with its items below.
    pub text: String,
    /// Whether the agent has written a newer list.
    pub is_outdated: bool,
}

impl ChatTranscript {
    /// Adds a list and marks the agent's previous one as outdated.
    pub(super) fn add_todo_list(&mut self, session: &SessionId, todos: &TodoList) {
        let is_last = |block: &mut TranscriptBlock| {
            block.todos().is_some_and(|told| told.session == *session)
        };
        // If nothing happened in between, the previous list has no information of its own, so it is
        // removed.
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

    /// Marks the lists of these agents as outdated.
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

    /// Returns the sessions whose lists are shown.
    pub(super) fn sessions_with_todos(&self) -> BTreeSet<SessionId> {
        let told = self.blocks.iter().filter_map(TranscriptBlock::todos);
        told.map(|told| told.session.clone()).collect()
    }
}
