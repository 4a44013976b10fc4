//! Updates the cards of tool calls: how a call ended, and the files that it changed.

use super::ChatTranscript;
use super::tool_call_card::{ToolCallOutcome, ToolFileChange};
use super::transcript_block::TranscriptBlock;
use crate::domain::event::ToolStatus;

/// How many results are stored for tool calls whose start is not loaded.
const MAX_ORPHAN_TOOL_ENDS: usize = 10_000;

impl ChatTranscript {
    /// Ends a call on its card.
    pub(super) fn finish_tool(
        &mut self,
        wanted: &str,
        status: &ToolStatus,
        exit_code: Option<i32>,
        output: &str,
    ) {
        let ended = ToolCallOutcome::from_status(status, exit_code, output);
        let is_wanted = |block: &TranscriptBlock| block.running_tool() == Some(wanted);
        let at = self.blocks.iter().rposition(is_wanted);
        match at.and_then(|at| Some((at, self.blocks.get_mut(at)?))) {
            Some((at, block)) => {
                self.n_bytes += block.end_tool(ended);
                self.refold_reads(at);
            }
            None if self.orphan_tool_ends.len() < MAX_ORPHAN_TOOL_ENDS => {
                self.orphan_tool_ends.insert(wanted.to_owned(), ended);
            }
            None => {}
        }
    }

    /// Sets the changes of a call on its card; a call whose card was evicted already had them.
    pub(super) fn set_changed_files(&mut self, wanted: &str, files: Vec<ToolFileChange>) {
        let root = self.root.clone();
        let is_wanted =
            |block: &&mut TranscriptBlock| block.card().is_some_and(|card| card.item == wanted);
        if let Some(block) = self.blocks.iter_mut().rev().find(is_wanted) {
            let before = block.n_bytes();
            block.update_card(|card| card.set_file_changes(files));
            block.relativize_paths(&root);
            let now = block.n_bytes();
            self.n_bytes = (self.n_bytes + now).saturating_sub(before);
        }
    }
}
