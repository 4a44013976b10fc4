//! What Enter does with the composer's text: a command, a task for the agent that it names, or a text for whoever takes
//! it now.
//!
//! Refuses to lose a text that nobody takes: it stays in the composer.

use super::agents::Mention;
use super::command::{self, Command, NoCommand};
use super::keymap::IsWriting;
use super::writing::{self, Sent};
use super::{Screen, Submitted};
use crate::domain::run::State;

impl Screen {
    /// Sends what is written: a command, or a text to whoever takes it now.
    pub(super) fn submit(&mut self, state: Option<&State>) -> Submitted {
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
                self.composer.take();
                return Submitted::Done(self.perform(command, state));
            }
            Err(NoCommand::Wrong(why)) => return Submitted::Kept(why),
            Err(NoCommand::Text) => {}
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
