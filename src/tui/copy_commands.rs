//! Copying what is in front, and opening it in other programs.

use super::Screen;
use super::action::{Action, ExternalViewer};
use super::text_wrap::to_one_line;
use crate::domain::run::RunState;
use crate::text::{fenced_block, pluralize};
use std::hash::{DefaultHasher, Hash, Hasher};

impl Screen {
    /// Copies what is in front.
    pub(super) fn copy_selection(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if self.overlays.is_board_in_front() {
            return self.copy_from_board(state);
        }
        if let (Some(view), None) = (&self.overlays.diff, &self.overlays.pager) {
            let Some(text) = view.text() else {
                return self.show_toast("No diff here to copy.");
            };
            let lines = pluralize(text.lines().count(), "line");
            self.toast.text = Some(format!("Copied the diff, {lines}"));
            return vec![Action::Copy(text)];
        }
        if self.overlays.pager.is_none()
            && let Some(id) = self.tabs.focused().selected_discussion().cloned()
        {
            return self.copy_discussion_result(&id, state);
        }
        match self.selected_text(state) {
            Ok(text) => {
                self.toast.text = Some(format!("Copied: {}", to_one_line(&text)));
                vec![Action::Copy(text)]
            }
            Err(why) => self.show_toast_with_keys(&why),
        }
    }

    /// Returns the text of what is in front: the open pager, the selection, or the tab's content.
    fn selected_text(&mut self, state: Option<&RunState>) -> Result<String, String> {
        if let Some(pager) = &self.overlays.pager {
            return Ok(pager.copy_text());
        }
        let merge_command = self.selected_merge_command(state);
        let context = self.settings.tab_context(&self.documents, state);
        let tab = self.tabs.focused();
        match tab.selected_text(&context).or(merge_command) {
            Some(text) => Ok(text),
            None => tab.whole_text(&context),
        }
    }

    /// Copies a code block of what is in front: first the last one, then with each repetition the one above.
    pub(super) fn copy_code_block(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let code = self.selected_code_blocks(state);
        let n = code.len();
        let mut hasher = DefaultHasher::new();
        code.hash(&mut hasher);
        let all = hasher.finish();
        let at = match self.last_copied_code {
            Some((of, at)) if of == all && at + 1 < n => at + 1,
            _ => 0,
        };
        let Some(text) = code.into_iter().rev().nth(at) else {
            return self.show_toast("No code here. Select a block with code.");
        };
        self.last_copied_code = Some((all, at));
        let lines = pluralize(text.lines().count(), "line");
        self.toast.text = Some(match n {
            1 => format!("Copied: {lines} of code"),
            _ => format!(
                "Copied: code block {} of {n}, counted from the last, {lines}",
                at + 1
            ),
        });
        vec![Action::Copy(text)]
    }

    /// Returns the code blocks of what is in front; in a chat without a selection, those of all agent messages.
    fn selected_code_blocks(&mut self, state: Option<&RunState>) -> Vec<String> {
        let context = self.settings.tab_context(&self.documents, state);
        let tab = self.tabs.focused();
        let has_selection = self.overlays.pager.is_some() || tab.selected_text(&context).is_some();
        let texts = match tab.agent_texts().filter(|_| !has_selection) {
            Some(texts) => texts,
            None => self.selected_text(state).into_iter().collect(),
        };
        let blocks = texts
            .iter()
            .flat_map(|text| fenced_block::find_blocks(text));
        blocks.map(|block| block.content).collect()
    }

    /// Opens what is in front in another program.
    pub(super) fn open_in_viewer(
        &mut self,
        with: ExternalViewer,
        state: Option<&RunState>,
    ) -> Vec<Action> {
        let call = match &self.overlays.pager {
            Some(pager) => pager
                .transcript()
                .and_then(|shown| shown.selected_truncated_call()),
            None => self.tabs.focused().selected_truncated_call(),
        };
        if let Some(call) = call {
            return vec![Action::OpenCall { call, with }];
        }
        match self.selected_text(state) {
            Ok(text) => vec![Action::OpenText { text, with }],
            Err(why) => self.show_toast(&why),
        }
    }
}
