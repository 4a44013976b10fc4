//! The lists of todos in the stream: each agent's stands where it changed last, as it is now; where it stood before, a
//! row tells how far it was then.
//!
//! Refuses to change a list.

use std::collections::BTreeSet;

use super::Transcript;
use super::block::{Block, Content, Who};
use crate::domain::ids::SessionId;
use crate::domain::todo_list::TodoList;
use crate::tui::todos::told;
use crate::tui::wrap::shown;

/// A list as it was written once; its text is drawable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Whose it is.
    pub session: SessionId,
    /// How far it is, and its items below that.
    pub text: String,
    /// Whether it was written again since.
    pub is_past: bool,
}

impl Transcript {
    /// Tells a list; the one that its agent wrote before is no longer what counts.
    pub(super) fn tell_todos(&mut self, session: &SessionId, todos: &TodoList) {
        let is_last =
            |block: &mut Block| block.todos().is_some_and(|told| told.session == *session);
        // Where nothing happened since, there is nothing that the earlier one would be beside.
        while let Some(block) = self.blocks.pop_back_if(is_last) {
            self.n_bytes = self.n_bytes.saturating_sub(block.n_bytes());
        }
        self.scroll.clamp(self.end(), self.end());
        self.pass_todos(&BTreeSet::from([session.clone()]));
        let told = Told {
            session: session.clone(),
            text: shown(&told(todos)),
            is_past: false,
        };
        self.push_all(vec![Block::new(Who::System, Content::Todos(told))]);
    }

    /// Says of the lists of these agents that they were written again since.
    pub(super) fn pass_todos(&mut self, sessions: &BTreeSet<SessionId>) {
        for block in &mut self.blocks {
            if block
                .todos()
                .is_some_and(|told| sessions.contains(&told.session))
            {
                block.pass_todos();
            }
        }
    }

    /// Whose lists are told.
    pub(super) fn todos_of(&self) -> BTreeSet<SessionId> {
        let told = self.blocks.iter().filter_map(Block::todos);
        told.map(|told| told.session.clone()).collect()
    }
}
