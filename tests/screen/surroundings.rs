//! The terminal and the user's settings of it: its background, its colours, its size, the mouse, keys.

use std::path::PathBuf;
use std::process::Command;

use vt100::Color;

use crate::World;
use crate::keys::{CTRL_C, ENTER};
use crate::played::leave;

const QUESTION: &str = "\x1b]11;?\x1b\\";
const READY: &str = "What should we build?";

#[test]
fn a_light_ground_is_followed_and_the_answer_is_nobodys_key() {
    for answer in [
        "\x1b]11;rgb:ffff/ffff/ffff\x1b\\",
        "\x1b]11;rgb:FA/FA/FA\x07",
    ] {
        let world = World::new();
        let mut terminal = world.open(&[]);
        terminal.wait("the question", |terminal| {
            terminal.said().contains(QUESTION)
        });
        // It arrives in the middle of the user's typing.
        terminal.type_keys(&format!("hel{answer}lo"));
        terminal.wait_for("hello");
        terminal.wait("the colours of a light ground", |terminal| {
            terminal.colours().contains(&Color::Idx(242))
        });
        assert!(!terminal.text().contains("rgb"), "{}", terminal.text());
        leave(terminal);
    }
}

#[test]
fn a_terminal_that_answers_nothing_is_not_waited_for() {
    let world = World::new();
    let mut terminal = world.open(&[]);
    terminal.type_keys("\x1b]typed");
    terminal.wait_for("typed");
    let first = terminal.said().find("agent-collab").unwrap();
    let question = terminal.said().find(QUESTION).unwrap();
    assert!(
        first < question,
        "the first frame comes before the question"
    );
    leave(terminal);
}

#[test]
fn what_the_environment_says_of_colours_is_kept_to() {
    let check = |variables: &[(&str, &str)], wrong: fn(&Color) -> bool| {
        let world = World::new();
        let mut terminal = world.open_with(variables);
        terminal.wait_for(READY);
        let colours = terminal.colours();
        assert!(!colours.iter().any(wrong), "{variables:?}: {colours:?}");
        assert!(!terminal.said().contains(QUESTION), "{variables:?}");
        // It resets everything, and bold and reverse with it.
        assert!(!terminal.said().contains("\x1b[;m"), "{variables:?}");
        leave(terminal);
    };
    check(&[("NO_COLOR", "1")], |colour| *colour != Color::Default);
    check(&[("TERM", "screen")], |colour| {
        !matches!(colour, Color::Default | Color::Idx(0..=15))
    });
}

#[test]
fn a_locale_that_is_not_utf_8_has_frames_of_ascii() {
    let world = World::new();
    let mut terminal = world.open_with(&[("LANG", "C")]);
    terminal.wait_for(READY);
    terminal.type_keys("a goal");
    terminal.wait_for("a goal");
    assert!(terminal.raw.is_ascii(), "{}", terminal.said());
    assert!(terminal.text().contains("|  a goal"), "{}", terminal.text());
    leave(terminal);
}

#[test]
fn frames_are_sent_as_a_whole_where_that_is_known_to_be_understood() {
    let world = World::new();
    let mut terminal = world.open(&[]);
    terminal.wait_for(READY);
    assert!(terminal.said().contains("\x1b[?2026h"));
    leave(terminal);
    let mut terminal = world.open_with(&[("TERM", "linux")]);
    terminal.wait_for(READY);
    assert!(!terminal.said().contains("\x1b[?2026h"));
    leave(terminal);
}

#[test]
fn after_a_storm_of_sizes_the_picture_is_that_of_the_last() {
    let world = World::new();
    let mut terminal = world.open(&[]);
    terminal.wait_for(READY);
    for n in 0..60u16 {
        let size = [(1, 1), (400, 100), (40 + n, 12 + n / 2), (1 + n * 3, 1 + n)];
        let (columns, rows) = size[usize::from(n % 4)];
        terminal.resize(columns, rows);
    }
    terminal.resize(100, 30);
    terminal.wait("a line as wide as the window", |terminal| {
        let text = terminal.text();
        let is_whole = text
            .lines()
            .any(|line| line.trim_end().chars().count() == 98 && line.ends_with(" help"));
        is_whole && text.contains(READY) && text.contains("Ctrl+P commands")
    });
    let n_composers = terminal.text().matches("▌  Describe the goal").count();
    assert_eq!(
        n_composers,
        1,
        "of other sizes nothing is left:\n{}",
        terminal.text()
    );
    // A key that comes together with a change of size may only be read with the next key: crossterm takes the first of
    // two sources that are ready, and is not told of the other one again.
    terminal.wait("a key after all sizes", |terminal| {
        terminal.type_keys("x");
        terminal.text().contains("▌  x")
    });
    terminal.wait("an empty composer", |terminal| {
        terminal.type_keys("\x7f");
        !terminal.text().contains("▌  x")
    });
    leave(terminal);
}

#[test]
fn the_mouse_is_left_to_the_terminal_by_configuration_and_by_a_key() {
    let world = World::new();
    world.configure("[screen]\nmouse = false\n");
    let mut terminal = world.open_plain("", &[]);
    terminal.wait("no mouse", |terminal| {
        terminal.said().contains("\x1b[?1002l")
    });
    terminal.type_keys("\x1bOR");
    terminal.wait_for("The mouse works here now");
    terminal.wait("the mouse", |terminal| terminal.is_taken());
    terminal.type_keys("\x1bOR");
    terminal.wait_for("Your terminal has the mouse now");
    leave(terminal);
}

#[test]
fn keys_of_the_users_own_work_and_wrong_ones_are_told_before_anything_begins() {
    let world = World::new();
    world.configure("[keys]\nhelp = \"f9\"\nquit = [\"ctrl+q\", \"ctrl+c\"]\n");
    let mut terminal = world.open(&[]);
    terminal.wait_for("F9 help");
    terminal.type_keys("\x11");
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    world.configure("[keys]\nhelp = \"ctlr+h\"\n");
    let mut terminal = world.open_plain("", &[]);
    assert_eq!(terminal.wait_for_end().code(), Some(1));
    let text = terminal.text();
    assert!(
        text.contains("config.toml:2:8: `keys.help`: `ctlr+h` is not a key"),
        "{text}"
    );
    terminal.assert_given_back();
}

#[test]
fn what_was_sent_is_called_back_after_the_program_ended() {
    let world = World::new();
    let mut terminal = world.open(&[]);
    // The branch is shown once the repository is known, and with it what was sent earlier.
    terminal.wait_for("repository · ");
    terminal.type_keys("/side ");
    terminal.wait_for("/side");
    terminal.type_keys("\r");
    terminal.wait_gone("/side");
    leave(terminal);
    let mut terminal = world.open(&[]);
    terminal.wait("what was sent", |terminal| {
        terminal.type_keys("\x1b[A");
        terminal.text().contains("/side")
    });
    leave(terminal);
}

#[test]
fn a_folder_with_an_evil_name_says_nothing_to_the_terminal() {
    let world = World::new();
    let evil = world.repository().join("a\x1b]0;evil\x07b");
    std::fs::create_dir(&evil).unwrap();
    let mut git = Command::new("git");
    let is_made = git
        .arg("-C")
        .arg(&evil)
        .args(["init", "--quiet"])
        .status()
        .unwrap();
    assert!(is_made.success());
    let mut terminal = world.open_in("a\x1b]0;evil\x07b", &[]);
    // The folder is refused: agents would misread its name.
    assert_eq!(terminal.wait_for_end().code(), Some(1));
    terminal.assert_given_back();
    assert!(
        !terminal.said().contains("\x1b]0;evil"),
        "{:?}",
        terminal.text()
    );
    assert!(terminal.said().contains("\x1b]2;"), "a title");
    let titles = terminal.said();
    for title in titles.split("\x1b]2;").skip(1) {
        let title = title.split("\x1b\\").next().unwrap();
        assert!(!title.chars().any(char::is_control), "{title:?}");
    }
}

/// Writes a program that only reports its version and whether a user is logged in.
fn script(world: &World, name: &str, version: &str, login: &str) -> PathBuf {
    let path = world.home().join(name);
    let text =
        format!("#!/bin/sh\ncase $1 in --version) echo '{version}';; *) echo '{login}';; esac\n");
    crate::programs::put_program(&path, &text);
    path
}

#[test]
fn a_start_says_who_is_not_logged_in_and_how_that_is_done() {
    let world = World::new();
    let claude = script(
        &world,
        "claude",
        "2.1.330 (Claude Code)",
        "{\"loggedIn\": false}",
    );
    let codex = script(
        &world,
        "codex",
        "codex-cli 0.169.0",
        "Logged in using ChatGPT",
    );
    world.configure(&format!(
        "[adapters.claude]\nprogram = {claude:?}\n[adapters.codex]\nprogram = {codex:?}\n"
    ));
    let mut terminal = world.open(&[]);
    terminal.wait_for("You are not logged in to claude");
    terminal.wait_for("Run claude auth login");
    assert!(!terminal.text().contains("logged in at codex"));
    leave(terminal);
}

#[test]
fn a_theme_that_is_chosen_is_there_at_the_next_start_and_one_that_cannot_be_kept_is_told() {
    let world = World::new();
    world.git(&["checkout", "--quiet", "-B", "main"]);
    world.configure("# mine\n[screen]\nmouse = true # clicks\n");
    let file = world.home().join(".config/agent-collab/config.toml");
    let mut terminal = world.open(&[]);
    terminal.wait_for(" · main");
    terminal.type_keys("/theme nord\r");
    terminal.wait_for("Theme nord, saved in ~/.config/agent-collab/config.toml");
    let kept = "# mine\n[screen]\ntheme = \"nord\"\nmouse = true # clicks\n";
    assert_eq!(std::fs::read_to_string(&file).unwrap(), kept);
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    let mut terminal = world.open(&[]);
    terminal.wait_for(" · main");
    terminal.type_keys("/theme");
    terminal.type_keys("\r");
    terminal.wait_for("▸ F  nord");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    terminal.type_keys(ENTER);
    terminal.wait_for("Theme nord is not saved: Is a directory");
    terminal.wait_for("To keep it, set `screen.theme = \"nord\"` in");
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
}
