//! Copying what is in front, and opening it in other programs.

use super::action::{Action, ExternalViewer};
use super::appearance::ScreenSettings;
use super::diff_view::DiffView;
use super::document_texts::DisplayDocuments;
use super::overlays::OverlayStack;
use super::pager::TextPager;
use super::run_commands::CommandOutcome;
use super::run_summary::merge_command;
use super::tab_kind::TabKind;
use super::tabs::ScreenTabs;
use super::tabs::chat::CopiedCodeBlock;
use super::text_wrap::{to_one_line, truncate_to_columns};
use crate::domain::ids::DiscussionId;
use crate::domain::run::RunState;
use crate::text::{fenced_block, pluralize};
use std::hash::{DefaultHasher, Hash, Hasher};

/// How much of the first line a note about copied lines shows.
const MAX_COPIED_COLUMNS: usize = 40;

/// What is in front: the open pager or diff, otherwise the tab that has the keys.
#[derive(Debug)]
pub(super) struct FrontView<'a> {
    pub(super) overlays: &'a OverlayStack,
    pub(super) tabs: &'a mut ScreenTabs,
    pub(super) documents: &'a DisplayDocuments,
    pub(super) settings: &'a ScreenSettings,
    pub(super) state: Option<&'a RunState>,
}

impl FrontView<'_> {
    /// Copies what the tab shows; a view that covers it copies itself.
    pub(super) fn copy_selection(&mut self) -> CommandOutcome {
        if let Some(id) = self.tabs.focused().selected_discussion() {
            return copy_discussion_result(id, self.state);
        }
        match self.selected_text() {
            Ok(text) => CommandOutcome::copy(text),
            Err(why) => CommandOutcome::refuse(&why).with_clickable_keys(),
        }
    }

    /// Returns the text of what is in front: the open pager, the selection, or the tab's content.
    fn selected_text(&mut self) -> Result<String, String> {
        if let Some(pager) = self.overlays.find::<TextPager>() {
            return Ok(pager.copy_text());
        }
        let merge_command = self.selected_merge_command();
        let context = self.settings.tab_context(self.documents, self.state);
        let tab = self.tabs.focused();
        match tab.selected_text(&context).or(merge_command) {
            Some(text) => Ok(text),
            None => tab.whole_text(&context),
        }
    }

    /// Returns the merge command while the summary card is visible and nothing else is selected.
    fn selected_merge_command(&self) -> Option<String> {
        let is_shown = self.tabs.view.shown == TabKind::Chat
            && !self.overlays.has::<TextPager>()
            && !self.overlays.has::<DiffView>();
        let is_at_end = self.tabs.chat.transcript.follows_end()
            && self.tabs.chat.transcript.selected_text().is_none();
        let over = self
            .state
            .filter(|state| state.is_over() && is_shown && is_at_end);
        merge_command(self.settings, over?)
    }

    /// Copies a code block of what is in front: first the last one, then with each repetition the one above.
    pub(super) fn copy_code_block(&mut self, last: &mut CopiedCodeBlock) -> CommandOutcome {
        let code = self.selected_code_blocks();
        let n = code.len();
        let mut hasher = DefaultHasher::new();
        code.hash(&mut hasher);
        let all = hasher.finish();
        let at = match *last {
            Some((of, at)) if of == all && at + 1 < n => at + 1,
            _ => 0,
        };
        let Some(text) = code.into_iter().rev().nth(at) else {
            return CommandOutcome::refuse("No code here. Select a block with code.");
        };
        *last = Some((all, at));
        let lines = pluralize(text.lines().count(), "line");
        let note = match n {
            1 => format!("Copied: {lines} of code"),
            _ => format!(
                "Copied: code block {} of {n}, counted from the last, {lines}",
                at + 1
            ),
        };
        CommandOutcome::act(Action::Copy(text)).with_note(&note)
    }

    /// Returns the code blocks of what is in front; in a chat without a selection, those of all agent messages.
    fn selected_code_blocks(&mut self) -> Vec<String> {
        let context = self.settings.tab_context(self.documents, self.state);
        let tab = self.tabs.focused();
        let has_selection =
            self.overlays.has::<TextPager>() || tab.selected_text(&context).is_some();
        let texts = match tab.agent_texts().filter(|_| !has_selection) {
            Some(texts) => texts,
            None => self.selected_text().into_iter().collect(),
        };
        let blocks = texts
            .iter()
            .flat_map(|text| fenced_block::find_blocks(text));
        blocks.map(|block| block.content).collect()
    }

    /// Opens what is in front in another program.
    pub(super) fn open_in_viewer(&mut self, with: ExternalViewer) -> CommandOutcome {
        let call = match self.overlays.find::<TextPager>() {
            Some(pager) => pager
                .transcript()
                .and_then(|shown| shown.selected_truncated_call()),
            None => self.tabs.focused().selected_truncated_call(),
        };
        if let Some(call) = call {
            return CommandOutcome::act(Action::OpenCall { call, with });
        }
        match self.selected_text() {
            Ok(text) => CommandOutcome::act(Action::OpenText { text, with }),
            Err(why) => CommandOutcome::refuse(&why),
        }
    }
}

impl CommandOutcome {
    /// Copies a text, and says so with its beginning: of a long one, how long it is.
    pub(super) fn copy(text: String) -> Self {
        let mut lines = text.trim().lines();
        let first = to_one_line(lines.next().unwrap_or_default());
        let note = match lines.count() {
            0 => format!("Copied: {first}"),
            n => {
                let first = truncate_to_columns(&first, MAX_COPIED_COLUMNS);
                format!("Copied {} lines: {first}", n + 1)
            }
        };
        Self::act(Action::Copy(text)).with_note(&note)
    }
}

/// Copies a discussion's result, or its current state.
fn copy_discussion_result(id: &DiscussionId, state: Option<&RunState>) -> CommandOutcome {
    match state.and_then(|state| state.discussion(id)) {
        Some(discussion) => CommandOutcome::copy(discussion.result_to_markdown()),
        None => CommandOutcome::refuse("That discussion is not part of this run."),
    }
}
