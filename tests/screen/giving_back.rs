//! The terminal during a run: suspended and resumed, hung up, left in a hurry, and after a panic.

use std::path::Path;

use nix::sys::signal::Signal;

use crate::World;
use crate::demo::{log_of, n_agents};
use crate::keys::{CTRL_C, CTRL_Z};
use crate::lifecycle::ENDING;
use crate::terminal::Terminal;

/// A demo at a human speed, in the middle of the planner's first turn.
pub fn in_a_turn(world: &World, variables: &[(&str, &str)]) -> (Terminal, String) {
    let folder = world.repository().join("demo");
    let folder = folder.to_string_lossy().into_owned();
    let mut terminal = world.open_so(&["demo", "--dir", &folder], variables);
    terminal.wait_for("▎ Planner  codex");
    (terminal, folder)
}

/// Returns whether a frame is whole and as wide as that: the last column before the margin ends the header and the footer.
fn is_frame_of(text: &str, columns: u16) -> bool {
    let widths = text.lines().map(|line| line.trim_end().chars().count());
    let margin = match columns {
        ..60 => 0,
        60..100 => 1,
        100.. => 2,
    };
    text.contains("commands") && widths.max() == Some(usize::from(columns - margin))
}

#[test]
fn a_run_that_was_put_aside_is_drawn_whole_again_and_goes_on() {
    let world = World::new();
    let (mut terminal, _) = in_a_turn(&world, &[]);
    // With its key, and with a signal from outside; each time the window has another size afterwards.
    for (n, (columns, rows)) in [(90, 30), (110, 36)].into_iter().enumerate() {
        match n {
            0 => terminal.type_keys(CTRL_Z),
            _ => terminal.signal(Signal::SIGTSTP),
        }
        terminal.wait_for_stop();
        terminal.scribble("\x1b[2J\x1b[Hthe shell was here");
        terminal.wait_for("the shell was here");
        terminal.resize(columns, rows);
        terminal.signal(Signal::SIGCONT);
        terminal.wait("the terminal taken again", |terminal| terminal.is_taken());
        terminal.wait_gone("the shell was here");
        terminal.wait("a frame of the new size", |terminal| {
            is_frame_of(&terminal.text(), columns)
        });
    }
    // The turn ends as if nothing had been.
    terminal.wait_for("Is this the goal");
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.assert_given_back();
}

#[test]
fn a_window_that_is_closed_in_a_turn_ends_the_program_and_its_agents() {
    let world = World::new();
    let (mut terminal, folder) = in_a_turn(&world, &[]);
    assert!(n_agents(&folder) > 0);
    terminal.hang_up();
    terminal.wait("the program's end", |terminal| terminal.end().is_some());
    terminal.wait("the agents' end", |_| n_agents(&folder) == 0);
    let log = log_of(&world);
    assert!(log.contains("run.left"), "{log}");
}

#[test]
fn a_window_that_is_closed_ends_a_program_that_is_not_told_by_a_signal() {
    // Without a key, and with the beginning of one, whose rest the reader of keys waits for.
    for typed in ["", "\x1b["] {
        let world = World::new();
        // The window's end is told to the shell alone, which passes it on to nobody.
        let script = "trap '' HUP; \"$0\"; exit 7";
        let arguments = ["-c", script, env!("CARGO_BIN_EXE_agent-collab")];
        let places = (world.home(), world.repository());
        let places = (&*places.0, &*places.1);
        let mut terminal = Terminal::start_with(Path::new("/bin/sh"), &arguments, places, &[]);
        terminal.wait_for("Describe the goal");
        terminal.type_blindly(typed);
        terminal.hang_up();
        assert_eq!(terminal.wait_for_end_unseen().code(), Some(7), "{typed:?}");
    }
}

#[test]
fn a_key_of_which_only_the_beginning_came_holds_up_nothing() {
    let world = World::new();
    let mut terminal = world.open(&[]);
    terminal.wait_for("Describe the goal");
    terminal.type_blindly("\x1b[");
    terminal.resize(90, 30);
    terminal.wait("a frame of the new size", |terminal| {
        is_frame_of(&terminal.text(), 90)
    });
    // The rest makes it a key.
    terminal.type_blindly("Zx");
    terminal.wait_for("x");
}

#[test]
fn a_key_that_comes_together_with_a_new_size_is_read_at_once() {
    let world = World::new();
    let mut terminal = world.open(&[]);
    terminal.wait_for("Describe the goal");
    for n in 0..120u16 {
        terminal.resize(100 + n % 2, 30);
        // The size and the key are to meet in the reader, so they come at different distances.
        for _ in 0..u32::from(n % 12) * 2_000 {
            std::hint::spin_loop();
        }
        let letter = char::from_u32(0x4e00 + u32::from(n)).unwrap().to_string();
        terminal.type_blindly(&letter);
        terminal.wait_for(&letter);
        terminal.type_blindly("\x7f");
        terminal.wait_gone(&letter);
    }
}

#[test]
fn the_second_ctrl_c_ends_it_at_once_and_no_agent_stays() {
    let world = World::new();
    let (mut terminal, folder) = in_a_turn(&world, &[]);
    terminal.type_blindly(CTRL_C);
    terminal.type_blindly(CTRL_C);
    assert!(
        terminal.wait_for_end().code().is_some(),
        "a signal ended it"
    );
    terminal.assert_given_back();
    terminal.wait("the agents' end", |_| n_agents(&folder) == 0);
}

#[test]
fn every_signal_in_a_turn_gives_the_terminal_back_and_ends_the_agents() {
    for signal in ENDING {
        let world = World::new();
        let (mut terminal, folder) = in_a_turn(&world, &[]);
        terminal.signal(signal);
        assert_eq!(terminal.wait_for_end().code(), Some(130), "{signal}");
        terminal.assert_given_back();
        assert_eq!(n_agents(&folder), 0, "{signal}");
        let log = log_of(&world);
        assert!(log.contains("interrupted by SIG"), "{signal}: {log}");
    }
}

#[test]
fn a_program_that_breaks_in_a_turn_gives_the_terminal_back_keeps_the_run_and_leaves_no_agent() {
    for wish in ["frame", "beside"] {
        let world = World::new();
        let file = world.home().join("break");
        let name = file.to_string_lossy().into_owned();
        let (mut terminal, folder) = in_a_turn(&world, &[("AGENT_COLLAB_TEST_BREAK", &name)]);
        let config = world.repository().join("demo/config.toml");
        std::fs::write(&file, wish).unwrap();
        let status = terminal.wait_for_end();
        terminal.assert_given_back();
        let said = terminal.said();
        assert!(said.contains("broken on purpose"), "{wish}: {said}");
        assert_eq!(status.code(), Some(101), "{wish}");
        terminal.wait("the agents' end", |_| n_agents(&folder) == 0);
        // The record so far is complete, and the next start offers to continue it.
        for line in log_of(&world).lines() {
            assert!(
                line.starts_with('{') && line.ends_with('}'),
                "{wish}: {line}"
            );
        }
        let flags = ["--config", &config.to_string_lossy()];
        let mut terminal = world.open_in("demo/wordstat", &flags);
        terminal.wait_for("Resume the unfinished run?");
        terminal.type_keys(CTRL_C);
        assert_eq!(terminal.wait_for_end().code(), Some(0));
        terminal.assert_given_back();
    }
}
