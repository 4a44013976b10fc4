//! Read-only screens: of a run in the history, and of the run of another instance.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::World;
use crate::keys::{CTRL_C, ENTER, ESC, FOCUS_LOST};
use crate::terminal::Terminal;

/// A demo that waits at its first gate, in front of a person.
fn open_demo(world: &World) -> Terminal {
    let folder = world.repository().join("demo");
    let mut terminal = world.open(&["demo", "--fast", "--dir", &folder.to_string_lossy()]);
    terminal.wait_for("Is this the goal");
    terminal.type_keys(ESC);
    terminal.wait_until_letters_command();
    terminal.type_keys(ENTER);
    terminal.wait_for("Send the goal to the planner?");
    terminal
}

const ROOT: &str = "demo/wordstat";

/// Everything below a folder, with its bytes, mode and time of change.
fn everything(folder: &Path) -> Vec<(PathBuf, u32, std::time::SystemTime, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let bytes = fs::read(&path).unwrap_or_default();
            let mode = meta.permissions().mode();
            found.push((path.clone(), mode, meta.modified().unwrap(), bytes));
            if meta.is_dir() {
                open.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_second_start_explains_itself_follows_the_run_and_takes_over() {
    let world = World::new();
    let mut first = open_demo(&world);
    let config = world.repository().join("demo/config.toml");
    let config = config.to_string_lossy().into_owned();
    let mut second = world.open_in(ROOT, &["--config", &config]);
    second.wait_for(&format!("read-only, used by process {}", first.pid()));
    second.wait_for("Waiting for its user");
    second.type_keys("g");
    second.wait_for("read-only: used by process");
    // The release of the first one is seen in the second one.
    first.type_keys(ENTER);
    first.wait_for("Send the plan to the reviewer?");
    second.wait_for("Plan written, 3 steps");
    second.type_keys("2");
    second.wait_for("plan.md · version 1");
    second.type_keys("1");
    first.type_keys(CTRL_C);
    assert_eq!(first.wait_for_end().code(), Some(0));
    second.wait_for("The other instance has exited");
    second.type_keys(ENTER);
    second.wait_for("Resume the unfinished run?");
    second.type_keys("y");
    second.wait_for("Send the plan to the reviewer?");
    second.type_keys(CTRL_C);
    assert_eq!(second.wait_for_end().code(), Some(0));
    second.assert_given_back();
}

#[test]
fn an_instance_that_is_killed_is_seen_to_end() {
    let world = World::new();
    let mut first = world.open(&[]);
    let lock = world.repository().join(".agent-collab/lock");
    first.wait("the lock", |_| lock.is_file());
    let mut second = world.open(&["--view"]);
    second.wait_for("used by process");
    first.signal(nix::sys::signal::Signal::SIGKILL);
    first.wait_for_end();
    second.wait_for("The other instance has exited");
    second.type_keys("n");
    second.wait_for("read-only, not running");
    second.type_keys("q");
    assert_eq!(second.wait_for_end().code(), Some(0));
    second.assert_given_back();
}

#[test]
fn looking_writes_nothing_and_needs_no_right_to_write() {
    let world = World::new();
    let mut first = open_demo(&world);
    first.type_keys(ENTER);
    first.wait_for("Send the plan to the reviewer?");
    first.type_keys(CTRL_C);
    assert_eq!(first.wait_for_end().code(), Some(0));
    let folder = world.repository().join(ROOT).join(".agent-collab");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    let before = (everything(&world.repository()), everything(&world.home()));
    let mut terminal = world.open_in(ROOT, &["--view"]);
    terminal.wait_for("read-only, not running");
    terminal.wait_for("Plan written, 3 steps");
    for (key, text) in [
        ("2", "plan.md · version 1"),
        ("3", "No review yet"),
        ("4", "plan written"),
        ("5", "Idle"),
    ] {
        terminal.type_keys(key);
        terminal.wait_for(text);
    }
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.assert_given_back();
    let after = (everything(&world.repository()), everything(&world.home()));
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(before == after, "looking changed something");
}

#[test]
fn there_has_to_be_something_to_look_at() {
    let world = World::new();
    // It may end before anybody sees that it had the terminal.
    let mut terminal = world.open_plain("", &["--view"]);
    assert_eq!(terminal.wait_for_end().code(), Some(1));
    assert!(terminal.text().contains("no run to view"));
    assert!(!world.repository().join(".agent-collab").exists());
}

#[test]
fn a_finished_run_is_opened_from_the_screen_and_by_its_sub_command() {
    let world = World::new();
    let folder = world.repository().join("demo");
    let program = Path::new(env!("CARGO_BIN_EXE_agent-collab"));
    let demo = std::process::Command::new(program)
        .args(["demo", "--fast", "--headless", "--dir"])
        .arg(&folder)
        .env("HOME", world.home())
        .output();
    assert!(demo.unwrap().status.success());
    let history = world.repository().join(ROOT).join(".agent-collab/history");
    fs::create_dir_all(history.join("2026-01-02-broken")).unwrap();
    let state = fs::read(
        world
            .repository()
            .join(ROOT)
            .join(".agent-collab/state.json"),
    )
    .unwrap();
    let done = history.join("2026-01-01-done");
    fs::create_dir_all(&done).unwrap();
    fs::write(done.join("state.json"), state).unwrap();
    let events = world
        .repository()
        .join(ROOT)
        .join(".agent-collab/events.jsonl");
    fs::copy(events, done.join("events.jsonl")).unwrap();
    let mut terminal = world.open_in(ROOT, &[]);
    terminal.wait_for("What should we build?");
    // One that the page of the start names is opened by a click, before any list of them was.
    terminal.click_on("2026-01-01");
    terminal.wait_for("read-only, from the history");
    terminal.wait_for("3 of 3 steps · ");
    terminal.type_keys(ESC);
    terminal.wait_for("What should we build?");
    terminal.type_keys("/history");
    terminal.type_keys(ENTER);
    // The current run is the first of them.
    terminal.wait_for("3 earlier runs");
    terminal.wait_for("2026-01-02 · damaged · state.json is missing");
    terminal.type_keys("3");
    terminal.wait_for("read-only, from the history");
    terminal.wait_for("3 of 3 steps · ");
    terminal.type_keys("x");
    terminal.wait_for("read-only: This run is in the history");
    terminal.type_keys(ESC);
    terminal.wait_for("What should we build?");
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    let mut terminal = world.open_in(ROOT, &["history", "3"]);
    terminal.wait_for("3 of 3 steps · ");
    terminal.type_keys("q");
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.assert_given_back();
}

#[test]
fn whoever_looks_at_another_run_is_called_for_their_own() {
    let world = World::new();
    world.configure("[screen]\nnotify = \"bell\"\n");
    let mut first = open_demo(&world);
    let history = world.repository().join(ROOT).join(".agent-collab/history");
    fs::create_dir_all(history.join("2026-01-02-broken")).unwrap();
    let config = world.repository().join("demo/config.toml");
    let config = config.to_string_lossy().into_owned();
    first.type_keys("/");
    first.type_keys("history");
    first.type_keys(ENTER);
    first.wait_for("2026-01-02 · damaged");
    first.type_keys("1");
    first.wait_for("read-only, from the history");
    first.wait_for("Your run is waiting for you");
    first.type_keys(FOCUS_LOST);
    let mut sends = world.open_plain(ROOT, &["send", "go", "--config", &config]);
    assert_eq!(sends.wait_for_end().code(), Some(0));
    first.wait("the window's title", |first| {
        first.said().contains("Send the plan to the reviewer?")
    });
    first.wait("the bell", |first| first.said().contains('\x07'));
    first.wait_for("Your run is waiting for you");
    // A theme that is taken here stays.
    first.type_keys("\x10theme nord");
    first.wait_for("nord");
    first.type_keys(ENTER);
    first.wait_for("Theme nord, saved in");
    let colours = first.colours();
    first.type_keys("q");
    first.wait_for("Send the plan to the reviewer?");
    let of_nord =
        |colour: &vt100::Color| matches!(colour, vt100::Color::Rgb(..) | vt100::Color::Idx(16..));
    assert_eq!(
        colours.iter().any(of_nord),
        first.colours().iter().any(of_nord)
    );
    first.type_keys(CTRL_C);
    assert_eq!(first.wait_for_end().code(), Some(0));
}

#[test]
fn a_command_from_another_terminal_is_carried_out_in_front_of_the_user() {
    let world = World::new();
    let mut first = open_demo(&world);
    let config = world.repository().join("demo/config.toml");
    let config = config.to_string_lossy().into_owned();
    let send = |command: &str| {
        let mut terminal = world.open_plain(ROOT, &["send", command, "--config", &config]);
        terminal.wait_for_end().code()
    };
    assert_eq!(send("approve"), Some(1));
    assert_eq!(send("go"), Some(0));
    first.wait_for("received `agent-collab send go`");
    first.wait_for("Send the plan to the reviewer?");
    assert_eq!(send("quit"), Some(0));
    assert_eq!(first.wait_for_end().code(), Some(0));
    first.assert_given_back();
}

#[test]
fn a_long_run_is_read_back_to_its_beginning_and_forgotten_again() {
    let world = World::new();
    let side = tempfile::tempdir().unwrap();
    crate::long_run::make(&world.repository(), side.path(), 6_000, 600).unwrap();
    let mut terminal = world.open(&["--view"]);
    terminal.wait_for("the last of 6000 events");
    for _ in 0..2 {
        terminal.type_keys("\x1b[5~");
        terminal.wait_for("Home goes to the start");
        terminal.type_keys("\x1b[H");
        // The goal is the first text that was sent.
        terminal.wait_for("Make it fast");
        terminal.wait_for("Go on");
        terminal.wait_gone("loading earlier messages");
        terminal.type_keys("\x1b[F");
        terminal.wait_for("the last of 6000 events");
    }
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
}

#[test]
fn a_view_opens_at_the_end_of_a_long_run_without_reading_what_comes_before() {
    let world = World::new();
    let side = tempfile::tempdir().unwrap();
    crate::long_run::make(&world.repository(), side.path(), 8_000, 3_000).unwrap();
    let log = world.repository().join(".agent-collab/events.jsonl");
    let n_bytes = fs::metadata(log).unwrap().len();
    let mut terminal = world.open(&["--view"]);
    terminal.wait_for("the last of 8000 events");
    terminal.wait_for("read-only, not running");
    let io = fs::read_to_string(format!("/proc/{}/io", terminal.pid())).unwrap();
    let n_read = io.lines().find_map(|line| line.strip_prefix("rchar: "));
    let n_read: u64 = n_read.unwrap().parse().unwrap();
    assert!(n_read < n_bytes / 2, "{n_read} of {n_bytes} bytes");
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
}
