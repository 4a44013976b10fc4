//! What the terminal receives apart from the picture: notifications for a user who looks elsewhere, and the clipboard.

use crate::World;
use crate::keys::{ALT_Y, CTRL_C, CTRL_Y, ENTER, ESC, FOCUS_GAINED, FOCUS_LOST};
use crate::played::{PLAN, WANTS_MORE, cast, leave, talk};
use crate::programs::put_program;
use crate::script::{Agent, say};
use crate::terminal::Terminal;

/// A demo at the question for the goal, outside of the composer.
fn at_the_goal(world: &World, variables: &[(&str, &str)]) -> Terminal {
    let folder = world.repository().join("demo");
    let folder = folder.to_string_lossy();
    let mut terminal = world.open_so(&["demo", "--fast", "--dir", &folder], variables);
    terminal.wait_for("Is this the goal");
    terminal.type_keys(ESC);
    terminal.wait_until_letters_command();
    terminal
}

/// Returns what the terminal receives apart from frames and titles while a question arrives: bells, messages.
fn calls(notify: &str, variables: &[(&str, &str)], focus: &str) -> (usize, Vec<String>) {
    let world = World::new();
    if !notify.is_empty() {
        world.configure(&format!("[screen]\nnotify = \"{notify}\"\n"));
    }
    let mut terminal = at_the_goal(&world, variables);
    let before = terminal.raw.len();
    terminal.type_blindly(&format!("a\r{focus}"));
    terminal.wait_for("Run this plan (");
    terminal.type_keys("5");
    terminal.wait_for("Stage  ");
    let after = String::from_utf8_lossy(&terminal.raw[before..]).into_owned();
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.assert_given_back();
    let messages = after.split("\x1b]").skip(1).filter_map(|part| {
        let message = part.split("\x1b\\").next()?;
        let is_message = message.starts_with("9;") || message.starts_with("777;");
        is_message.then(|| message.to_owned())
    });
    let messages = messages.collect();
    (after.matches('\x07').count(), messages)
}

#[test]
fn who_looks_elsewhere_is_called_once_in_the_way_that_is_wanted() {
    let check = |notify: &str, term: &str, bells: usize, message: &str| {
        let (n_bells, messages) = calls(notify, &[("TERM", term)], FOCUS_LOST);
        let told = format!("{notify} in {term}: {n_bells} bells, {messages:?}");
        assert_eq!(n_bells, bells, "{told}");
        match message {
            "" => assert!(messages.is_empty(), "{told}"),
            _ => assert!(
                messages.len() == 1 && messages[0].starts_with(message),
                "{told}"
            ),
        }
    };
    check("", "xterm-256color", 1, "");
    check("bell", "xterm-256color", 1, "");
    check("message", "xterm-256color", 1, "9;agent-collab: ");
    check(
        "message",
        "rxvt-unicode-256color",
        1,
        "777;notify;agent-collab;",
    );
    check("osc9", "rxvt-unicode-256color", 1, "9;agent-collab: ");
    check("osc777", "xterm-256color", 1, "777;notify;agent-collab;");
    check("off", "xterm-256color", 0, "");
}

#[test]
fn who_looks_at_the_window_is_not_called() {
    for focus in ["", FOCUS_GAINED] {
        assert_eq!(calls("message", &[], focus), (0, Vec::new()));
    }
}

#[test]
fn what_is_copied_goes_to_the_terminals_clipboard() {
    let world = World::new();
    let mut terminal = at_the_goal(&world, &[]);
    assert_eq!(copied(&terminal), [""; 0]);
    terminal.type_keys(CTRL_Y);
    terminal.wait("the clipboard", |terminal| !copied(terminal).is_empty());
    let copied = copied(&terminal).remove(0);
    // It is the whole answer and not its picture: what the screen shows of it is in it.
    assert!(copied.contains("open last line"), "{copied}");
    assert!(
        !copied.contains(|c: char| c.is_control() && c != '\n'),
        "{copied:?}"
    );
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.assert_given_back();
}

#[test]
fn within_tmux_it_is_tmux_that_copies_and_one_that_does_not_answer_is_not_waited_for() {
    let world = World::new();
    let folder = world.home().join("bin");
    let taken = world.home().join("taken");
    let path = format!(
        "{}:{}",
        folder.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let variables = [("TMUX", "/nowhere,1,0"), ("PATH", path.as_str())];
    let tmux = |does: &str| put_program(&folder.join("tmux"), &format!("#!/bin/sh\n{does}\n"));
    tmux(&format!(
        "echo \"$@\" > '{0}'; cat >> '{0}'",
        taken.display()
    ));
    let mut terminal = at_the_goal(&world, &variables);
    terminal.type_keys(CTRL_Y);
    let read = || std::fs::read_to_string(&taken).unwrap_or_default();
    terminal.wait("what tmux was given", |_| read().contains("open last line"));
    assert!(read().starts_with("load-buffer -w -\n"), "{}", read());
    assert_eq!(copied(&terminal), [""; 0]);
    tmux("echo no such thing >&2; exit 1");
    terminal.type_keys(CTRL_Y);
    terminal.wait_for("tmux refused the text (it ended with exit code 1)");
    terminal.wait("the clipboard", |terminal| copied(terminal).len() == 1);
    tmux("exec sleep 1000");
    terminal.type_keys(CTRL_Y);
    terminal.wait_for("tmux refused the text (it took more than 2 s)");
    terminal.wait("the clipboard", |terminal| copied(terminal).len() == 2);
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
}

/// What was sent to the clipboard, in order.
fn copied(terminal: &Terminal) -> Vec<String> {
    let said = terminal.said();
    let sent = said.split("\x1b]52;c;").skip(1).filter_map(|part| {
        let end = part.find(['\x07', '\x1b'])?;
        Some(String::from_utf8(decoded(&part[..end])).unwrap())
    });
    sent.collect()
}

/// The shape of a key; it opens nothing.
const SECRET: &str = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
/// Clears the screen, sets a window title, fills the clipboard, and reverses the reading direction.
const STEERING: &str = "\x1b[2J\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\u{9b}31m\u{202e}";

#[test]
fn what_is_copied_holds_no_secret_and_nothing_that_steers_a_terminal() {
    let world = World::new();
    let text = format!("The key is {SECRET}{STEERING} here");
    let answer = format!("{text}.\n\n```sh\nlogin {SECRET}{STEERING} here\n```\n");
    let planner = Agent::new()
        .always("[agent-collab REFINE_GOAL]", vec![say(&answer)])
        .plan(&PLAN.replace("One word", &text));
    let reviewer = Agent::new().review(&WANTS_MORE.replace("Say more", &text));
    let config = cast(
        &world,
        &planner,
        &reviewer,
        "[workflow]\nmax_iterations = 1\n",
    );
    let mut terminal = talk(&world, &config);
    let mut n_copied = 0;
    let mut copy = |terminal: &mut Terminal, keys: &str| {
        terminal.type_keys(keys);
        n_copied += 1;
        terminal.wait("the clipboard", |terminal| {
            copied(terminal).len() == n_copied
        });
    };
    // The answer and its code; then the line of the plan and the finding that are pointed at.
    copy(&mut terminal, CTRL_Y);
    copy(&mut terminal, ALT_Y);
    terminal.type_keys("a");
    terminal.wait_for("Auto");
    terminal.type_keys(ENTER);
    terminal.wait_for("Review limit reached (");
    terminal.type_keys("2..");
    terminal.wait_for("▌ The key is");
    copy(&mut terminal, CTRL_Y);
    terminal.type_keys("3.");
    terminal.wait_for("major: The key is");
    copy(&mut terminal, CTRL_Y);
    for text in copied(&terminal) {
        assert!(text.contains("here"), "{text}");
        assert!(!text.contains(SECRET), "{text}");
        let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(steers), "{text:?}");
    }
    assert!(!terminal.said().contains("owned\x07"));
    leave(terminal);
}

/// The bytes that OSC 52 carries, six bits a letter.
fn decoded(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => panic!("{c} is no letter of base64 in {text}"),
    };
    let letters = text.trim_end_matches('=').bytes();
    let bits: Vec<u8> = letters
        .flat_map(|c| (0..6).rev().map(move |bit| (value(c) >> bit) & 1))
        .collect();
    let bytes = bits.chunks_exact(8);
    bytes
        .map(|bits| bits.iter().fold(0, |byte, bit| (byte << 1) | bit))
        .collect()
}
