//! Commands sent from outside the screen: a subset of the slash commands.
//!
//! Commands that decide an agent's call or answer a question are rejected. Agents run as the same user and
//! could send them, so these decisions need a person at the screen.

use super::action::Action;
use super::command::ScreenCommand;
use super::command_table::{
    CommandParseError, edit_distance, is_sendable, parse_slash_command, sendable_rows, takes_text,
};
use crate::domain::event::Event;
use crate::text::clean_text;

/// Returns the commands that can be sent, as help text: `go, auto, steer TEXT`.
pub fn sendable_commands() -> String {
    let names: Vec<String> = sendable_rows().map(|row| row.slash.to_string()).collect();
    names.join(", ").replace('/', "")
}

/// Checks that a command exists and may be sent, independent of the run's state.
///
/// # Errors
/// The command does not exist or may not be sent; the message says why.
pub fn check_remote_command(name: &str, text: &str) -> Result<(), String> {
    parse_remote_command(name, &clean_text(text)).map(drop)
}

pub(super) fn sends_turn(action: &Action) -> bool {
    matches!(
        action,
        Action::Event(Event::TurnSendConfirmed | Event::GoalConfirmed { .. })
    )
}

pub(super) fn parse_remote_command(name: &str, text: &str) -> Result<ScreenCommand, String> {
    if !name.chars().all(|c| c.is_ascii_alphabetic()) {
        return Err(format!("`{}` is not a command", clean_text(name)));
    }
    let command = match parse_slash_command(&format!("/{name} {text}")) {
        Ok(command) => command,
        Err(CommandParseError::Wrong(why)) if remote_command_names().any(|known| known == name) => {
            return Err(why.trim_start_matches('/').to_owned());
        }
        Err(CommandParseError::Wrong(_) | CommandParseError::Text) => {
            return Err(describe_local_only_command(name));
        }
    };
    if !is_sendable(&command) {
        return Err(format!(
            "`{name}` works only on the screen; {}",
            describe_remote_commands()
        ));
    }
    if !takes_text(&command) && !text.trim().is_empty() {
        Err(format!("`{name}` takes no text"))
    } else if takes_text(&command) && text.trim().is_empty() {
        Err(format!("{name} needs a text"))
    } else {
        Ok(command)
    }
}

/// Returns the names of the commands that can be sent.
fn remote_command_names() -> impl Iterator<Item = &'static str> {
    sendable_rows().map(|row| row.slash.name.trim_start_matches('/'))
}

fn describe_remote_commands() -> String {
    format!("you can send: {}", sendable_commands())
}

fn describe_local_only_command(name: &str) -> String {
    let near = remote_command_names().find(|known| edit_distance(name, known) <= 2);
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    format!(
        "you cannot send `{name}`; {near}{}",
        describe_remote_commands()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::UnixMillis;
    use crate::tui::tests::created;
    use crate::tui::{QuitStep, Screen, ScreenSettings};

    #[test]
    fn only_what_is_listed_can_be_sent() {
        let listed = sendable_commands();
        assert_eq!(
            listed,
            "go, interrupt, auto, pause, stop, steer TEXT, goal TEXT, cancel, changes TEXT, quit"
        );
        for entry in listed.split(", ") {
            let (name, text) = entry.split_once(' ').unwrap_or((entry, ""));
            assert!(parse_remote_command(name, text).is_ok(), "{entry}");
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
            assert!(parse_remote_command(name, text).is_err(), "{name} {text}");
        }
    }

    #[test]
    fn a_name_that_cannot_be_sent_is_held_against_those_that_can() {
        let told = |name: &str| parse_remote_command(name, "").unwrap_err();
        assert_eq!(
            told("bogus"),
            format!("you cannot send `bogus`; {}", describe_remote_commands())
        );
        assert!(told("pauze").contains("did you mean `pause`?"));
        assert!(told("answer").starts_with("you cannot send `answer`; you"));
        assert!(told("board").starts_with("`board` works only on the screen; you"));
        assert_eq!(told("steer"), "Write a text after /steer.");
    }

    #[test]
    fn a_refusal_says_why_and_what_the_user_is_at_stays() {
        let mut screen = Screen::new(ScreenSettings::default());
        screen.set_toast("a word");
        let refused = screen.perform_remote_command("cancel", "", None);
        assert_eq!(refused, Err("There is no run to cancel.".to_owned()));
        assert_eq!(screen.toast.text.as_deref(), Some("a word"));
        let pointed_at = Some(("question 7".to_owned(), 2));
        screen.dialogs.chosen.clone_from(&pointed_at);
        let state = crate::domain::run::Run::new(UnixMillis(0), &created())
            .state()
            .clone();
        assert!(
            screen
                .perform_remote_command("cancel", "", Some(&state))
                .is_ok()
        );
        assert_eq!(screen.dialogs.chosen, pointed_at);
        let quit = screen.perform_remote_command("quit", "", None);
        assert_eq!(quit, Ok(vec![Action::Quit(QuitStep::Ask)]));
    }
}
