//! Commands that were sent from outside the screen: the same as typed, and fewer.
//!
//! Refuses what decides about an agent's call or answers a question: agents run as the same user, so
//! that is done in front of the screen only. Refuses to know who sent it.

use super::Screen;
use super::action::Action;
use super::command::{self, Command, NoCommand};
use super::sheet::Then;
use crate::domain::event::Event;
use crate::domain::run::RunState;
use crate::text::clean_text;

/// What can be sent, as it is listed for people.
pub const SENDABLE: &str =
    "go, auto, pause, stop, interrupt, cancel, steer TEXT, changes TEXT, goal TEXT, quit";

impl Screen {
    /// Makes actions of a command that was sent; nothing of what the user is at on the screen changes.
    /// What a key would ask about once more was meant.
    ///
    /// # Errors
    /// Why it is not done, in words.
    pub fn on_sent(
        &mut self,
        (name, text): (&str, &str),
        state: Option<&RunState>,
    ) -> Result<Vec<Action>, String> {
        let command = read(name, &clean_text(text))?;
        let chosen = self.chosen.clone();
        let at_hand = (self.own.take(), self.toast.take(), self.writing, self.draft);
        let is_release = command == Command::Go;
        let actions = self.perform(command, state);
        let confirm = self.own.take();
        let why = self.toast.take();
        (self.own, self.toast, self.writing, self.draft) = at_hand;
        self.chosen = chosen;
        let actions = match confirm.and_then(|sheet| sheet.choices.into_iter().next()) {
            Some(yes) => match yes.then {
                Then::ActAndBack(actions) => actions,
                _ => Vec::new(),
            },
            None => actions,
        };
        // Some dialogs name `g` what is an answer.
        if is_release && !actions.iter().all(releases) {
            return Err("not yet: a question waits for its answer on the screen".to_owned());
        }
        self.note_leaving(&actions);
        match actions.is_empty() {
            true => Err(why.unwrap_or_else(|| "there is nothing to do".to_owned())),
            false => Ok(actions),
        }
    }
}

/// Tells whether there is such a command and it may be sent, whatever the run is at.
///
/// # Errors
/// Why not, in words.
pub fn check_sent((name, text): (&str, &str)) -> Result<(), String> {
    read(name, &clean_text(text)).map(drop)
}

fn releases(action: &Action) -> bool {
    matches!(
        action,
        Action::Event(Event::TurnSendConfirmed | Event::GoalConfirmed { .. })
    )
}

fn read(name: &str, text: &str) -> Result<Command, String> {
    if !name.chars().all(|c| c.is_ascii_alphabetic()) {
        return Err(format!("`{}` is no command", clean_text(name)));
    }
    let command = match command::read(&format!("/{name} {text}")) {
        Ok(command) => command,
        Err(NoCommand::Wrong(why)) if sendable().any(|known| known == name) => {
            return Err(why.trim_start_matches('/').to_owned());
        }
        Err(NoCommand::Wrong(_) | NoCommand::Text) => return Err(cannot_be_sent(name)),
    };
    let takes_text = match &command {
        Command::Go
        | Command::Auto
        | Command::Pause
        | Command::Stop
        | Command::Interrupt
        | Command::Cancel
        | Command::Quit => false,
        Command::Changes(_) | Command::Steer(_) => true,
        Command::Goal(goal) if !goal.is_empty() => true,
        Command::Goal(_) => return Err("goal needs a text after it".to_owned()),
        _ => {
            return Err(format!(
                "`{name}` is done on the screen only; {}",
                what_can()
            ));
        }
    };
    match takes_text || text.trim().is_empty() {
        true => Ok(command),
        false => Err(format!("`{name}` takes no text")),
    }
}

/// The names of what can be sent.
fn sendable() -> impl Iterator<Item = &'static str> {
    let entries = SENDABLE.split(", ");
    entries.map(|entry| entry.split(' ').next().unwrap_or(entry))
}

fn what_can() -> String {
    format!("there can be sent: {SENDABLE}")
}

fn cannot_be_sent(name: &str) -> String {
    let near = sendable().find(|known| command::distance(name, known) <= 2);
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    format!("`{name}` cannot be sent; {near}{}", what_can())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::UnixMillis;
    use crate::tui::tests::created;
    use crate::tui::{QuitStep, ScreenSettings};

    #[test]
    fn only_what_is_listed_can_be_sent() {
        let listed = SENDABLE.split(", ").map(|entry| entry.split_once(' '));
        for (entry, with_text) in SENDABLE.split(", ").zip(listed) {
            let (name, text) = with_text.unwrap_or((entry, ""));
            assert!(read(name, text).is_ok(), "{entry}");
        }
        for (name, text) in [
            ("approve", ""),
            ("allow", ""),
            ("reject", ""),
            ("answer", "yes"),
            ("undo", ""),
            ("edit", "plan"),
            ("resume", ""),
            ("go", "on"),
            ("changes", " "),
            ("goal", ""),
            ("", ""),
            ("go\n/approve", ""),
            ("answer yes", ""),
        ] {
            assert!(read(name, text).is_err(), "{name} {text}");
        }
    }

    #[test]
    fn a_name_that_cannot_be_sent_is_held_against_those_that_can() {
        let told = |name: &str| read(name, "").unwrap_err();
        assert_eq!(
            told("bogus"),
            format!("`bogus` cannot be sent; there can be sent: {SENDABLE}")
        );
        assert!(told("pauze").contains("did you mean `pause`?"));
        assert!(told("answer").starts_with("`answer` cannot be sent; there"));
        assert!(told("board").starts_with("`board` is done on the screen only; there"));
        assert_eq!(told("steer"), "steer needs a text after it");
    }

    #[test]
    fn a_refusal_says_why_and_what_the_user_is_at_stays() {
        let mut screen = Screen::new(ScreenSettings::default());
        screen.on_word("a word");
        let refused = screen.on_sent(("cancel", ""), None);
        assert_eq!(
            refused,
            Err("there is no run that could be cancelled".to_owned())
        );
        assert_eq!(screen.toast.as_deref(), Some("a word"));
        let pointed_at = Some(("question 7".to_owned(), 2));
        screen.chosen.clone_from(&pointed_at);
        let state = crate::domain::run::Run::new(UnixMillis(0), &created())
            .state()
            .clone();
        assert!(screen.on_sent(("cancel", ""), Some(&state)).is_ok());
        assert_eq!(screen.chosen, pointed_at);
        let quit = screen.on_sent(("quit", ""), None);
        assert_eq!(quit, Ok(vec![Action::Quit(QuitStep::Ask)]));
    }
}
