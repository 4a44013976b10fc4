//! What Enter does with the composer's text: a command, a task for the agent that it names, or a text for whoever takes
//! it now.
//!
//! Refuses to lose a text that nobody takes: it stays in the composer.

use super::agents::Mention;
use super::command::{self, Command, NoCommand};
use super::composer::MAX_BYTES;
use super::discussing::Wish;
use super::keymap::IsWriting;
use super::sheet::Draft;
use super::wrap::one_line;
use super::writing::{self, Sent};
use super::{Screen, Submitted};
use crate::domain::run::RunState;

/// Says that there is more than a message holds, and where else it can go; `n_bytes` were to come, where that is known.
pub fn too_much(n_bytes: Option<usize>) -> String {
    let most = MAX_BYTES >> 10;
    let what = match n_bytes.map(|n| n.div_ceil(1 << 10)) {
        Some(kb @ 0..1024) => format!("a paste of {kb} KB was not taken: it does not fit"),
        Some(kb) => format!(
            "a paste of {}.{} MB was not taken: it does not fit",
            kb >> 10,
            (kb % 1024) * 10 / 1024
        ),
        None => "the message is full".to_owned(),
    };
    format!("{what}, {most} KB are the most; put it in a file and name that with @")
}

impl Screen {
    /// Says what Enter does with what is written, as far as it is.
    pub(super) fn what_enter_does(&self, state: Option<&RunState>) -> String {
        let label = match self.what_enter_carries_out() {
            Some(label) => label,
            None => {
                let target = writing::target(state, self.draft, &self.known());
                let label = writing::label(&target, self.refiner, self.keymap());
                match self.waiting(state) {
                    // Enter in an empty composer is the dialog's.
                    Some(_) if self.composer.is_empty() && !self.is_about_plan() => {
                        label.replacen("Enter:", "write, then Enter:", 1)
                    }
                    _ => label,
                }
            }
        };
        match self.helped.queued.len() {
            0 => label,
            n => format!("{n} queued, ↑ takes it back · {label}"),
        }
    }

    /// The same of what goes to no agent as a text: a command, a task, a word that is offered.
    fn what_enter_carries_out(&self) -> Option<String> {
        if let Some(word) = self.helped.taken_by_enter(&self.composer) {
            return Some(format!("Enter: take {}", one_line(word.trim_end())));
        }
        let text = self.composer.text();
        match self.mention(&text) {
            Some(Mention::Task(agent, _)) => {
                return Some(format!("Enter: give {agent} this task"));
            }
            Some(Mention::Wrong(why)) => return Some(why),
            None => {}
        }
        let name = text.split_whitespace().next().unwrap_or_default();
        match command::read(&text) {
            Ok(_) => Some(format!("Enter: carry out {name}")),
            Err(NoCommand::Wrong(why)) => Some(why),
            Err(NoCommand::Text) => None,
        }
    }

    /// Tells whether what is written is for a line of the plan.
    fn is_about_plan(&self) -> bool {
        matches!(self.draft, Some(Draft::Note | Draft::Line))
    }

    /// Why a text is not sent that is nothing but the letter of a choice: whoever reads the dialog types that.
    fn is_meant_for_dialog(&self, text: &str, state: Option<&RunState>) -> Option<String> {
        let sheet = self.waiting(state).filter(|_| self.draft.is_none())?;
        let mut letters = text.trim().chars();
        let (letter, None) = (letters.next()?.to_ascii_lowercase(), letters.next()) else {
            return None;
        };
        let choice = sheet.choices.iter().find(|choice| choice.key == letter)?;
        let leave = self.keymap().named("leave", IsWriting::Yes);
        let key = choice.key.to_uppercase();
        Some(format!(
            "{leave}, then {key}: {} · one letter is not sent",
            choice.label
        ))
    }

    /// Sends what is written: a command, or a text to whoever takes it now.
    pub(super) fn submit(&mut self, state: Option<&RunState>) -> Submitted {
        let text = self.composer.text();
        let mention = self.mention(&text);
        self.end_offer();
        match mention {
            Some(Mention::Task(agent, prompt)) => {
                self.composer.take();
                return Submitted::Done(self.perform(Command::Task(agent, prompt), state));
            }
            Some(Mention::Wrong(why)) => return Submitted::Kept(why),
            None => {}
        }
        let target = writing::target(state, self.draft, &self.known());
        match command::read(&text) {
            Ok(command) => {
                if let Command::Discuss(Wish::Begin(topic)) = &command
                    && let Some(why) = self.talks.slip(topic)
                {
                    return Submitted::Kept(why);
                }
                let shown = self.shown();
                if let Some(why) = self.unseen_word(&command, shown.as_deref(), state) {
                    return Submitted::Kept(why);
                }
                self.composer.take();
                return Submitted::Done(self.perform(command, state));
            }
            Err(NoCommand::Wrong(why)) => return Submitted::Kept(why),
            Err(NoCommand::Text) => {}
        }
        if let Some(why) = self.is_meant_for_dialog(&text, state) {
            return Submitted::Kept(why);
        }
        match writing::send(&target, &text, self.refiner) {
            Ok(Sent::Act(actions)) => {
                self.composer.take();
                let was_asked_for = self.draft.take().is_some();
                self.noting = None;
                self.transcript.go_to_end();
                if was_asked_for {
                    // The text belonged to a dialog; the next one gets the keys.
                    self.writing = IsWriting::No;
                }
                Submitted::Done(actions)
            }
            Ok(Sent::Later(text)) => {
                self.composer.take();
                self.helped.queued.push(text);
                Submitted::Done(Vec::new())
            }
            Ok(Sent::Pick(text)) => {
                self.composer.take();
                if self.draft.take().is_some() {
                    self.writing = IsWriting::No;
                }
                Submitted::Done(self.pick(&text, state))
            }
            Err(why) => Submitted::Kept(why),
        }
    }
}
