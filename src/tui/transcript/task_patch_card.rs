//! The changes that a task handed over, for a card that opens to the diff. The diff comes from the event,
//! not from the files.

use super::tool_call_card::ToolFileChange;
use crate::domain::event::PathChange;
use crate::domain::task_patch::TaskPatch;
use crate::text::unified_diff::{DiffLineKind, UnifiedDiff};

/// Returns the files of a patch with their diff lines, as far as the patch has them.
pub(super) fn patch_file_changes(patch: &TaskPatch) -> Vec<ToolFileChange> {
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
