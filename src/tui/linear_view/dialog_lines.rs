//! Prints the open dialog: the question, what is decided about, and numbered choices.

use super::LineInterface;
use super::line_commands::SEND;
use super::linear_state::PrintedDialog;
use super::plain_text::without_signs;
use crate::text::pluralize;
use crate::tui::composer_target::{self, ComposerTarget};
use crate::tui::dialog::ChoiceDialog;
use crate::tui::dialogs::approval_dialog;
use crate::tui::tab_kind::TabKind;
use crate::tui::theme;

/// What the title of a question begins with.
const QUESTION: &str = "Question: ";

impl LineInterface<'_> {
    /// Prints the open dialog, or what changed in it, and asks for the text that the user writes for it. Returns whether
    /// it is a new question.
    pub(super) fn push_question(&mut self, lines: &mut Vec<String>) -> bool {
        let put_aside = self
            .screen
            .dialogs
            .put_aside_line(self.state, self.screen.local_clock());
        let sheet = self
            .screen
            .pending_dialog(self.state)
            .filter(|_| put_aside.is_none());
        if let Some(line) = put_aside.filter(|_| self.screen.linear.dialog.is_some()) {
            lines.push(format!("{line}. /needs-me shows the question again."));
        }
        let Some(sheet) = sheet else {
            (self.screen.linear.dialog, self.screen.linear.asked) = (None, None);
            self.push_draft_question(lines);
            return false;
        };
        let now = print_dialog(&sheet);
        let before = self.screen.linear.dialog.replace(now.clone());
        let same = before.filter(|before| before.id == now.id);
        let n_before = lines.len();
        // A call is always printed whole.
        let is_call = sheet.id.starts_with(approval_dialog::DIALOG_ID_PREFIX);
        match &same {
            None => {
                let (title, body) = now.lines.split_at(now.lines.len().min(1));
                // A part of a text would say something else, so it is printed whole or not at all.
                let is_known =
                    !is_call && body.iter().all(|line| self.screen.linear.is_recent(line));
                let body = if is_known { &[] } else { body };
                let told = self.told_lines(&sheet);
                let body = body.iter().filter(|line| !told.contains(line));
                lines.extend(title.iter().chain(body).cloned());
                lines.extend(numbered(&now.choices));
            }
            Some(before) => {
                let is_new = |line: &&String| !before.lines.contains(line);
                lines.extend(now.lines.iter().filter(is_new).cloned());
                if before.choices != now.choices {
                    lines.extend(numbered(&now.choices));
                }
            }
        }
        if lines.len() > n_before {
            self.screen.linear.speaker = None;
            if same.is_none() {
                lines.push(self.describe_answer(&sheet));
            }
        }
        self.push_draft_question(lines);
        let asked = Some((now.id, now.choices));
        let is_new = self.screen.linear.asked != asked;
        self.screen.linear.asked = asked;
        is_new
    }

    /// Returns the question that is still open and its choices in one line, for the end of a long text.
    pub(super) fn describe_open_question(&self) -> Option<String> {
        let dialog = self.screen.linear.dialog.as_ref()?;
        let question = dialog.lines.first()?.strip_prefix(QUESTION)?;
        let choices: Vec<String> = numbered(&dialog.choices).collect();
        Some(format!("Still open: {question} {}", choices.join(", ")))
    }

    /// Returns the lines of a dialog that were just printed as news: all that the chat has, or the first of them.
    fn told_lines(&self, sheet: &ChoiceDialog) -> Vec<String> {
        let lines = sheet.texts_of_tab(TabKind::Chat).map(without_signs);
        let mut lines: Vec<String> = lines.collect();
        if !lines.iter().all(|line| self.screen.linear.is_recent(line)) {
            lines.truncate(1);
        }
        lines.retain(|line| self.screen.linear.is_recent(line));
        lines
    }

    /// Returns whether a number chooses from the choices that were printed.
    pub(super) fn is_dialog_printed(&self, sheet: &ChoiceDialog) -> bool {
        let now = print_dialog(sheet);
        self.screen.linear.asked == Some((now.id, now.choices))
    }

    /// Says how the dialog is answered.
    fn describe_answer(&self, sheet: &ChoiceDialog) -> String {
        let known = self.screen.dialog_context();
        let target = composer_target::composer_target(self.state, None, &known);
        let is_call = sheet.id.starts_with(approval_dialog::DIALOG_ID_PREFIX);
        let number = match is_call {
            true => "Type a number. Until then nothing is allowed.",
            false if self.screen.dialogs.own.is_some() => "Type a number, or /leave.",
            false => "Type a number.",
        };
        let is_own = self.screen.dialogs.own.is_some()
            || self.screen.dialogs.unfinished_run.is_some()
            || self.screen.dialogs.instructions.is_some()
            || self.state.is_none();
        let text = match target {
            ComposerTarget::Nobody(_) => None,
            _ if is_own || is_call => None,
            _ => Some(self.screen.describe_target(self.state)),
        };
        let text = text.map(|text| format!(" Or a text: {}.", without_signs(&text)));
        format!("{number}{}", text.unwrap_or_default())
    }

    /// Asks for the text that a choice needs, and tells of a text that is in the composer already.
    fn push_draft_question(&mut self, lines: &mut Vec<String>) {
        let draft = self.screen.composer.draft;
        if draft != self.screen.linear.draft && draft.is_some() {
            let target = self.screen.describe_target(self.state);
            lines.push(format!(
                "{}. Type the text, or /leave.",
                without_signs(&target)
            ));
        }
        self.screen.linear.draft = draft;
        let prepared = self.screen.composer.editor.text();
        if prepared != self.screen.linear.prepared && !prepared.is_empty() {
            let adds = match draft {
                Some(_) => "",
                None => ", your next text is added to it",
            };
            let whole = match prepared.lines().count() {
                1 => prepared.clone(),
                n_lines => pluralize(n_lines, "line"),
            };
            lines.push(format!("Prepared: {whole}"));
            lines.push(format!("{SEND} sends it{adds}, /leave drops it."));
        }
        self.screen.linear.prepared = prepared;
    }
}

fn numbered(choices: &[String]) -> impl Iterator<Item = String> {
    let choices = choices.iter().enumerate();
    choices.map(|(at, label)| format!("{}: {label}", at + 1))
}

fn print_dialog(sheet: &ChoiceDialog) -> PrintedDialog {
    let title = without_signs(&sheet.heading());
    let mut lines = vec![format!("{QUESTION}{title}")];
    for (line, style) in sheet.sequential_body() {
        // What an agent wants to run stays as it is.
        let line = if style == theme::CODE {
            line
        } else {
            without_signs(&line)
        };
        lines.extend((!line.trim().is_empty()).then_some(line));
    }
    if let Some(edit) = &sheet.edit {
        lines.extend(edit.to_diff().lines().map(str::to_owned));
    }
    let reads = sheet.choices.iter().any(|choice| choice.key == 'v');
    if sheet.full_text.is_some() && sheet.edit.is_none() && !reads {
        lines.push("/view prints the whole text.".to_owned());
    }
    PrintedDialog {
        id: sheet.id.clone(),
        lines,
        choices: sheet
            .choices
            .iter()
            .map(|choice| without_signs(&choice.label))
            .collect(),
    }
}
