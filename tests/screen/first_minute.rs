//! The first minute: from the welcome to the first finding with the keys that the screen names, and no others.

use crate::World;
use crate::keys::ENTER;
use crate::played::{PLAN, WANTS_MORE, cast, open, talking};
use crate::script::Agent;
use crate::terminal::Terminal;

/// The most keys that it takes after the goal is typed.
const MAX_KEYS: usize = 6;

/// What somebody who wants to go on reads on the buttons.
const GOES_ON: [&str; 2] = ["Confirm and write the plan", "Send"];

/// Returns the key that the screen names for going on.
fn named_key(shown: &str) -> Option<String> {
    if shown.contains("Confirm and write the plan  Enter") {
        return Some(ENTER.to_owned());
    }
    let key_of = |label: &str| {
        let mut buttons = shown.match_indices(label);
        buttons.find_map(|(at, _)| {
            let key = shown[at + label.len()..].strip_prefix("  ")?;
            let key = key.chars().next().filter(char::is_ascii_uppercase)?;
            Some(key.to_ascii_lowercase().to_string())
        })
    };
    GOES_ON.iter().find_map(|label| key_of(label))
}

/// Presses the key that the screen names next, once it takes keys; returns false when the finding is there.
fn go_on(terminal: &mut Terminal) -> bool {
    let is_found = |shown: &str| shown.contains("Say more");
    terminal.wait("the finding or a key that is named", |terminal| {
        let shown = terminal.text();
        is_found(&shown) || named_key(&shown).is_some()
    });
    let shown = terminal.text();
    if is_found(&shown) {
        return false;
    }
    let question = |shown: &str| {
        shown
            .lines()
            .find(|line| line.contains('?'))
            .map(str::to_owned)
    };
    let (key, asked) = (named_key(&shown).unwrap(), question(&shown));
    terminal.type_keys(&key);
    terminal.wait("another question, other keys, or the finding", |terminal| {
        let now = terminal.text();
        is_found(&now) || question(&now) != asked || named_key(&now).as_ref() != Some(&key)
    });
    true
}

#[test]
fn the_keys_that_the_screen_names_lead_from_the_welcome_to_the_first_finding() {
    let world = World::new();
    let reviewer = Agent::new().review(WANTS_MORE);
    let config = cast(&world, &talking().plan(PLAN), &reviewer, "");
    let mut terminal = open(&world, &config);
    let welcome = terminal.text();
    assert!(
        welcome.contains("Enter send") || welcome.contains("Enter to the planner"),
        "{welcome}"
    );
    terminal.type_keys("A test");
    terminal.wait_for("A test");
    terminal.type_keys(ENTER);
    let n_keys = (0..=MAX_KEYS).take_while(|_| go_on(&mut terminal)).count();
    assert!(n_keys <= MAX_KEYS, "{}", terminal.text());
    // What comes next is named, too.
    terminal.wait_for("Send the review to the planner?");
    assert_eq!(named_key(&terminal.text()).as_deref(), Some("g"));
}
