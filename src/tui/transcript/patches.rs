//! What a task changed and handed over, as a card that opens to the changes themselves.
//!
//! Refuses to look at files: it shows what of the patch the event holds.

use super::Transcript;
use super::block::{Block, Content, Who};
use super::card::{Card, Changed, PATCH, ToolEnd};
use crate::domain::ids::SessionId;
use crate::domain::task_patch::TaskPatch;
use crate::text::unified_diff::{DiffLineKind, UnifiedDiff};

impl Transcript {
    /// Tells where a task's changes went, once they are there.
    pub(super) fn tell_patch(&mut self, session: &SessionId, patch: &TaskPatch) {
        if !patch.is_settled() {
            return;
        }
        let whose = self.tasks.get(session).map_or("a task", String::as_str);
        let mut card = Card::new("", PATCH, &format!("{whose}: {}", patch.describe()));
        card.change(changes(patch));
        card.end = Some(ToolEnd::new("completed", None, ""));
        self.push_all(vec![Block::new(Who::System, Content::Tool(card))]);
    }
}

/// The files of a patch with their lines, as far as they are known.
fn changes(patch: &TaskPatch) -> Vec<Changed> {
    let read = UnifiedDiff::parse(&patch.text);
    let lines = |n: usize| -> String {
        let lines = read.file_lines(n).iter();
        let of_text = lines.filter(|line| line.kind != DiffLineKind::File);
        of_text.map(|line| format!("{}\n", line.text)).collect()
    };
    let files = patch.files.iter().map(|file| {
        let at = read
            .files
            .iter()
            .position(|found| found.title() == file.path);
        let diff = at.map_or_else(String::new, lines);
        Changed::new(&file.path, &file.about, &diff)
    });
    files.collect()
}
