//! What Enter does with the composer's text: run a command, give a task, or send a message.
//!
//! A text that nothing accepts stays in the composer.

use super::agent_dialogs::AgentMention;
use super::command::ScreenCommand;
use super::command_table::{CommandParseError, parse_slash_command};
use super::composer::MAX_TEXT_BYTES;
use super::composer_target::{self, ComposerOutcome};
use super::discussion_commands::DiscussionScreenCommand;
use super::keymap::ComposerFocus;
use super::text_wrap::to_one_line;
use super::{Screen, SubmitOutcome};
use crate::domain::run::RunState;

/// Says that a message is too large and where to put it instead; `n_bytes` is the size of the paste, if known.
pub fn describe_too_large(n_bytes: Option<usize>) -> String {
    let most = MAX_TEXT_BYTES >> 10;
    let what = match n_bytes.map(|n| n.div_ceil(1 << 10)) {
        Some(kb @ 0..1024) => format!("Paste of {kb} KB dropped: it does not fit"),
        Some(kb) => format!(
            "Paste of {}.{} MB dropped: it does not fit",
            kb >> 10,
            (kb % 1024) * 10 / 1024
        ),
        None => "The message is full".to_owned(),
    };
    format!("{what}. The limit is {most} KB. Put it in a file and name that with @.")
}

impl Screen {
    /// Returns the label that says what Enter does with the current text.
    pub(super) fn describe_enter(&self, state: Option<&RunState>) -> String {
        let label = match self.describe_enter_command() {
            Some(label) => label,
            None => {
                let target =
                    composer_target::composer_target(state, self.draft, &self.dialog_context());
                composer_target::target_label(&target, self.refiner, self.keymap())
            }
        };
        match self.assist.queued_messages.len() {
            0 => label,
            n => format!("{n} queued, ↑ edits · {label}"),
        }
    }

    /// Returns the label for a command, a task or a suggestion, which are not sent as a message.
    fn describe_enter_command(&self) -> Option<String> {
        if let Some(word) = self.assist.accepted_by_enter(&self.composer) {
            return Some(format!("Enter: insert {}", to_one_line(word.trim_end())));
        }
        let text = self.composer.text();
        match self.parse_mention(&text) {
            Some(AgentMention::Task(agent, _)) => {
                return Some(format!("Enter: give {agent} this task"));
            }
            Some(AgentMention::Wrong(why)) => return Some(why),
            None => {}
        }
        let name = text.split_whitespace().next().unwrap_or_default();
        match parse_slash_command(&text) {
            Ok(_) => Some(format!("Enter: run {name}")),
            Err(CommandParseError::Wrong(why)) => Some(why),
            Err(CommandParseError::Text) => None,
        }
    }

    /// Returns why a text that is only the letter of a choice is not sent: the user most likely means the dialog.
    fn refuse_dialog_letter(&self, text: &str, state: Option<&RunState>) -> Option<String> {
        let sheet = self
            .pending_dialog(state)
            .filter(|_| self.draft.is_none())?;
        let mut letters = text.trim().chars();
        let (letter, None) = (letters.next()?.to_ascii_lowercase(), letters.next()) else {
            return None;
        };
        let choice = sheet.choices.iter().find(|choice| choice.key == letter)?;
        let leave = self.keymap().key_label("leave", ComposerFocus::Focused);
        let key = choice.key.to_uppercase();
        Some(format!(
            "One letter is not sent. {leave}, then {key}: {}",
            choice.label
        ))
    }

    /// Sends the composer's text: a command, a task, or a message for its current target.
    pub(super) fn submit_composer(&mut self, state: Option<&RunState>) -> SubmitOutcome {
        let text = self.composer.text();
        let mention = self.parse_mention(&text);
        self.close_completion();
        match mention {
            Some(AgentMention::Task(agent, prompt)) => {
                self.composer.submit_text();
                return SubmitOutcome::Done(
                    self.perform_command(ScreenCommand::StartTask(agent, prompt), state),
                );
            }
            Some(AgentMention::Wrong(why)) => return SubmitOutcome::StaysInComposer(why),
            None => {}
        }
        let target = composer_target::composer_target(state, self.draft, &self.dialog_context());
        match parse_slash_command(&text) {
            Ok(command) => {
                if let ScreenCommand::Discuss(DiscussionScreenCommand::Start(topic)) = &command
                    && let Some(why) = self.talks.preset_typo_hint(topic)
                {
                    return SubmitOutcome::StaysInComposer(why);
                }
                let shown = self.readable_dialog_id();
                if let Some(why) = self.unseen_dialog_reason(&command, shown.as_deref(), state) {
                    return SubmitOutcome::StaysInComposer(why);
                }
                self.composer.submit_text();
                return SubmitOutcome::Done(self.perform_command(command, state));
            }
            Err(CommandParseError::Wrong(why)) => return SubmitOutcome::StaysInComposer(why),
            Err(CommandParseError::Text) => {}
        }
        if let Some(why) = self.refuse_dialog_letter(&text, state) {
            return SubmitOutcome::StaysInComposer(why);
        }
        match composer_target::submit_to_target(&target, &text, self.refiner) {
            Ok(ComposerOutcome::Act(actions)) => {
                self.composer.submit_text();
                let was_asked_for = self.draft.take().is_some();
                self.noted_line = None;
                self.transcript.go_to_end();
                if was_asked_for {
                    // The text belonged to a dialog, so the next dialog gets the keys.
                    self.composer_focus = ComposerFocus::Unfocused;
                }
                SubmitOutcome::Done(actions)
            }
            Ok(ComposerOutcome::QueueMessage(text)) => {
                self.composer.submit_text();
                self.assist.queued_messages.push(text);
                SubmitOutcome::Done(Vec::new())
            }
            Ok(ComposerOutcome::PickAnswer(text)) => {
                self.composer.submit_text();
                if self.draft.take().is_some() {
                    self.composer_focus = ComposerFocus::Unfocused;
                }
                SubmitOutcome::Done(self.pick_answer(&text, state))
            }
            Err(why) => SubmitOutcome::StaysInComposer(why),
        }
    }
}
