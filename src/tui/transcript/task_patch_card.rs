//! The changes that a task handed over, as a card that opens to the diff. The diff comes from the event,
//! not from the files.

use super::ChatTranscript;
use super::block_content::BlockContent;
use super::tool_call_card::{ToolCallCard, ToolCallOutcome, ToolFileChange};
use super::transcript_block::{BlockAuthor, TranscriptBlock};
use crate::domain::event::{PathChange, ToolStatus};
use crate::domain::ids::SessionId;
use crate::domain::task_patch::TaskPatch;
use crate::text::unified_diff::{DiffLineKind, UnifiedDiff};

impl ChatTranscript {
    /// Adds a card for a task's patch once it is settled where the changes went.
    pub(super) fn add_task_patch(&mut self, session: &SessionId, patch: &TaskPatch) {
        if !patch.is_settled() {
            return;
        }
        let whose = self.tasks.get(session).map_or("Task", String::as_str);
        let mut card = ToolCallCard::of_patch(&format!("{whose}: {}", patch.describe()));
        card.set_file_changes(patch_file_changes(patch));
        card.end = Some(ToolCallOutcome::from_status(
            &ToolStatus::Completed,
            None,
            "",
        ));
        self.push_blocks(vec![TranscriptBlock::new(
            BlockAuthor::System,
            BlockContent::Tool(card),
        )]);
    }
}

/// Returns the files of a patch with their diff lines, as far as the patch has them.
fn patch_file_changes(patch: &TaskPatch) -> Vec<ToolFileChange> {
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
        ToolFileChange::new(&file.path, PathChange::Update, &diff)
    });
    files.collect()
}
