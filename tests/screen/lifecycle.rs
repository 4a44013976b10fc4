//! The program sets up the terminal and restores it, whatever happens in between.

use std::path::Path;
use std::process::Command;

use agent_collab::app::terminal;
use nix::sys::signal::Signal;

use crate::World;
use crate::keys::{CTRL_C, CTRL_Z};
use crate::terminal::Terminal;

/// The signals that end the program.
pub const ENDING: [Signal; 4] = [
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
];

#[test]
fn it_opens_and_ctrl_c_closes_it_at_once() {
    let world = World::new();
    let mut terminal = world.open(&[]);
    let lock = world.repository().join(".agent-collab/lock");
    terminal.wait("the lock", |_| lock.is_file());
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.assert_given_back();
    let state = world.repository().join(".agent-collab/state.json");
    assert!(!state.exists(), "opening the screen made a run");
}

#[test]
fn signals_give_the_terminal_back() {
    for signal in ENDING {
        let world = World::new();
        let mut terminal = world.open(&[]);
        terminal.signal(signal);
        assert_eq!(terminal.wait_for_end().code(), Some(130), "{signal}");
        terminal.assert_given_back();
    }
}

#[test]
fn signals_end_it_while_the_terminal_takes_nothing() {
    for signal in ENDING {
        let world = World::new();
        world.git(&["checkout", "--quiet", "-B", "main"]);
        let mut terminal = world.open(&[]);
        terminal.wait_for(" · main");
        terminal.stand_still();
        terminal.type_blindly("nobody sees this");
        assert_hears(&world);
        terminal.signal(signal);
        let status = terminal.wait_for_end_unseen();
        assert_eq!(status.code(), Some(130), "{signal}");
    }
}

#[test]
fn a_terminal_that_takes_nothing_for_a_while_keeps_nobody_waiting() {
    let world = World::new();
    world.git(&["checkout", "--quiet", "-B", "main"]);
    let mut terminal = world.open(&[]);
    terminal.wait_for(" · main");
    terminal.stand_still();
    terminal.type_blindly("written into the dark");
    assert_hears(&world);
    terminal.look();
    assert!(!terminal.text().contains("into the dark"));
    terminal.go_on();
    terminal.wait_for("written into the dark");
    terminal.type_keys(", and more");
    terminal.wait_for("written into the dark, and more");
    terminal.signal(Signal::SIGTERM);
    assert_eq!(terminal.wait_for_end().code(), Some(130));
    terminal.assert_given_back();
}

/// Fails unless the instance of this world answers who asks it something from outside.
pub fn assert_hears(world: &World) {
    let asked = Command::new(env!("CARGO_BIN_EXE_agent-collab"))
        .args(["send", "pause"])
        .current_dir(world.repository())
        .env("HOME", world.home())
        .output();
    let said = String::from_utf8_lossy(&asked.unwrap().stderr).into_owned();
    assert!(said.contains("not done: "), "{said}");
}

#[test]
fn a_half_written_text_is_called_back_whatever_ended_the_program() {
    for signal in [None, Some(Signal::SIGTERM), Some(Signal::SIGHUP)] {
        let world = World::new();
        world.git(&["checkout", "--quiet", "-B", "main"]);
        let mut terminal = world.open(&[]);
        // The branch is drawn once the directory was opened.
        terminal.wait_for(" · main");
        terminal.type_keys("precious words 空");
        terminal.wait_for("precious words 空");
        match signal {
            Some(signal) => terminal.signal(signal),
            None => terminal.type_keys(CTRL_C),
        }
        terminal.wait_for_end();
        let mut terminal = world.open(&[]);
        terminal.wait_for(" · main");
        terminal.type_keys("\x1b[A");
        terminal.wait_for("precious words 空");
        terminal.type_keys(CTRL_C);
        terminal.wait_for_end();
    }
}

#[test]
fn ctrl_z_stops_it_and_it_comes_back() {
    let world = World::new();
    let mut terminal = world.open(&[]);
    terminal.type_keys(CTRL_Z);
    terminal.wait_for_stop();
    terminal.signal(Signal::SIGCONT);
    terminal.wait("the terminal taken again", |terminal| terminal.is_taken());
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.assert_given_back();
}

#[test]
fn a_panic_is_told_after_the_terminal_is_given_back() {
    let world = World::new();
    let this = std::env::current_exe().unwrap();
    let inner = "lifecycle::inside_a_terminal_this_panics";
    let arguments = ["--exact", inner, "--ignored", "--nocapture"];
    let mut terminal = Terminal::start(&this, &arguments, &world.home(), Path::new("/"));
    assert!(!terminal.wait_for_end().success());
    terminal.assert_given_back();
    // A backtrace, where one is wanted, may be longer than the screen.
    let told = terminal.said();
    assert!(told.contains("in the middle of a frame"), "{told}");
}

#[test]
#[ignore = "panics; another test runs it inside a terminal"]
fn inside_a_terminal_this_panics() {
    terminal::restore_on_panic(terminal::DisplayMode::FullScreen);
    let mut taken = terminal::TuiTerminal::acquire().unwrap();
    let _never = taken.draw(|_| panic!("in the middle of a frame"));
}
