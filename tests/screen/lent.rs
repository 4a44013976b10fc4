//! The terminal while an editor or a pager uses it: it stays theirs, and it is restored however they or the program
//! end.

use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::Signal;

use crate::World;
use crate::demo::n_agents;
use crate::keys::{ALT_L, CTRL_C, CTRL_E, CTRL_Z, ENTER};
use crate::lifecycle::assert_hears;
use crate::played::{PLAN, cast, give_goal, leave, open_again, read, talking};
use crate::programs::put_program;
use crate::script::Agent;
use crate::terminal::Terminal;

/// What its user wrote and had not saved.
const UNSAVED: &str = "2. [ ] Sing, which was not saved";
/// Switches off what the editor below switched on.
const TIDY: &str = r#"printf "\033[?25h\033[?2004l\033[?1000l\033[?1049l"; stty sane"#;

/// Writes a full-screen editor, or pager, that shows a text; `on_end` is what it does when it is asked to end.
fn program(world: &World, on_end: &str) -> PathBuf {
    let path = world.home().join("full-screen");
    let text = format!(
        "#!/bin/sh\nfile=$1\nsave() {{ echo '{UNSAVED}' >> \"$file\"; {TIDY}; exit 1; }}\n\
         trap '{on_end}' TERM HUP\nstty raw -echo\n\
         printf '\\033[?1049h\\033[?1000h\\033[?2004h\\033[?25lIT HAS THE SCREEN'\n\
         while :; do sleep 0.05; printf '\\033[m'; done\n"
    );
    put_program(&path, &text);
    path
}

/// Starts a run with a plan that waits for its review; `viewer` is the user's editor and pager.
fn with_a_plan(world: &World, viewer: &str) -> Terminal {
    let config = cast(world, &talking().plan(PLAN), &Agent::approving(), "");
    let arguments = ["--config", &config.to_string_lossy()];
    let variables = [("VISUAL", viewer), ("PAGER", viewer)];
    let variables = variables.iter().filter(|(_, viewer)| !viewer.is_empty());
    let variables: Vec<(&str, &str)> = variables.copied().collect();
    let mut terminal = world.open_so(&arguments, &variables);
    terminal.wait_for("Describe the goal");
    give_goal(&mut terminal);
    for released in [
        "Send the goal to the planner?",
        "Send the plan to the reviewer?",
    ] {
        terminal.type_keys(ENTER);
        terminal.wait_for(released);
    }
    terminal
}

/// Opens the full-screen program by a key.
fn lend(terminal: &mut Terminal, keys: &str) {
    terminal.type_keys(keys);
    terminal.wait_for("IT HAS THE SCREEN");
}

/// The processes of this world that still live, the program's own among them.
fn n_left(world: &World) -> usize {
    n_agents(&world.folder.path().to_string_lossy())
}

#[test]
fn signals_of_the_keyboard_and_going_on_leave_an_editor_its_terminal() {
    let world = World::new();
    let mut terminal = with_a_plan(&world, "");
    terminal.type_keys("2e");
    terminal.wait_for("THE EDITOR HAS plan.md");
    for signal in [Signal::SIGCONT, Signal::SIGINT, Signal::SIGQUIT] {
        terminal.signal(signal);
        // The program handles signals before requests, so an answer shows that it has handled this one.
        assert_hears(&world);
        terminal.look();
        assert!(!terminal.is_taken(), "{signal}");
        assert!(terminal.text().contains("THE EDITOR HAS"), "{signal}");
    }
    terminal.type_keys("2. [ ] Sing\r");
    terminal.wait("the terminal taken again", |terminal| terminal.is_taken());
    terminal.wait_for("Sing");
    assert!(read(&world, "plan.md").contains("2. [ ] Sing"));
    leave(terminal);
}

#[test]
fn a_program_that_stands_still_finds_what_its_editor_wrote_meanwhile() {
    let world = World::new();
    let mut terminal = with_a_plan(&world, "");
    terminal.type_keys("2e");
    terminal.wait_for("THE EDITOR HAS plan.md");
    terminal.signal(Signal::SIGTSTP);
    terminal.wait_for_stop();
    terminal.type_blindly("2. [ ] Sing\r");
    terminal.wait("what the editor wrote", |_| {
        read(&world, "plan.md").contains("2. [ ] Sing")
    });
    terminal.look();
    assert!(!terminal.is_taken());
    terminal.signal(Signal::SIGCONT);
    terminal.wait("the terminal taken again", |terminal| terminal.is_taken());
    terminal.wait_for("Sing");
    leave(terminal);
}

#[test]
fn a_signal_has_the_editor_save_what_it_holds_and_gives_the_terminal_back() {
    for signal in [Signal::SIGTERM, Signal::SIGHUP] {
        let world = World::new();
        let editor = program(&world, "save");
        let mut terminal = with_a_plan(&world, &editor.to_string_lossy());
        lend(&mut terminal, "2e");
        terminal.signal(signal);
        assert_eq!(terminal.wait_for_end().code(), Some(130), "{signal}");
        terminal.assert_given_back();
        assert_eq!(n_left(&world), 0, "{signal}");
        assert!(read(&world, "plan.md").contains(UNSAVED), "{signal}");
        let log = read(&world, "events.jsonl");
        assert!(log.contains("interrupted by SIG"), "{signal}: {log}");
        // The run is there, and so is the plan as it was written last.
        let config = world.folder.path().join("config.toml");
        let mut terminal = open_again(&world, &config);
        terminal.wait_for("Resume the unfinished run?");
        terminal.type_keys("2");
        terminal.wait_for("Sing, which was not saved");
        leave(terminal);
    }
}

#[test]
fn an_editor_that_takes_a_second_to_save_has_it() {
    let world = World::new();
    // The children that it starts for saving are asked to end as well, and ignore that.
    let editor = program(&world, "trap \"\" TERM; sleep 0.8; save");
    let mut terminal = with_a_plan(&world, &editor.to_string_lossy());
    lend(&mut terminal, "2e");
    terminal.signal(Signal::SIGTERM);
    assert_eq!(terminal.wait_for_end().code(), Some(130));
    terminal.assert_given_back();
    assert_eq!(n_left(&world), 0);
    assert!(read(&world, "plan.md").contains(UNSAVED));
}

#[test]
fn a_viewer_that_does_not_want_to_end_is_killed_and_the_terminal_made_whole() {
    for keys in ["2e", CTRL_E, ALT_L] {
        let world = World::new();
        let viewer = program(&world, "");
        let mut terminal = with_a_plan(&world, &viewer.to_string_lossy());
        lend(&mut terminal, keys);
        terminal.signal(Signal::SIGTERM);
        assert_eq!(terminal.wait_for_end().code(), Some(130), "{keys:?}");
        terminal.assert_given_back();
        assert_eq!(n_left(&world), 0, "{keys:?}");
    }
}

#[test]
fn a_command_from_outside_that_ends_the_program_ends_the_viewer_too() {
    let world = World::new();
    let pager = program(&world, "save");
    let mut terminal = with_a_plan(&world, &pager.to_string_lossy());
    lend(&mut terminal, ALT_L);
    let asked = Command::new(env!("CARGO_BIN_EXE_agent-collab"))
        .args(["send", "quit"])
        .current_dir(world.repository())
        .env("HOME", world.home())
        .status();
    assert!(asked.unwrap().success());
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.assert_given_back();
    assert_eq!(n_left(&world), 0);
}

#[test]
fn a_window_that_is_closed_ends_the_editor_with_the_program() {
    let world = World::new();
    let editor = program(&world, "save");
    let mut terminal = with_a_plan(&world, &editor.to_string_lossy());
    lend(&mut terminal, "2e");
    terminal.hang_up();
    terminal.wait("the program's end", |terminal| terminal.end().is_some());
    terminal.wait("the editor's end", |_| n_left(&world) == 0);
    assert!(read(&world, "plan.md").contains(UNSAVED));
}

#[test]
fn what_a_viewer_that_crashed_left_on_is_not_taken_for_the_users_own() {
    let world = World::new();
    let viewer = world.home().join("crashing");
    put_program(
        &viewer,
        "#!/bin/sh\nstty raw -echo\nprintf '\\033[?1049h\\033[?1000h\\033[?1003h'\nkill -KILL $$\n",
    );
    let mut terminal = with_a_plan(&world, &viewer.to_string_lossy());
    terminal.type_keys(ALT_L);
    terminal.wait_for("the pager failed with");
    terminal.wait("the terminal taken again", |terminal| terminal.is_taken());
    terminal.wait("the window's title again", |terminal| {
        let said = terminal.said();
        said.rfind("\x1b]2;") > said.rfind("\x1b[22;2t")
    });
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.assert_given_back();
    // The read-only view reports it, too.
    let viewer = viewer.to_string_lossy();
    let mut terminal = world.open_so(&["--view"], &[("PAGER", &viewer)]);
    terminal.wait_for("read-only, not running");
    terminal.wait_for("Plan written");
    terminal.type_keys(ALT_L);
    terminal.wait_for("the pager failed with");
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
}

#[test]
fn what_the_terminal_did_not_take_of_a_frame_is_not_written_into_an_editor() {
    let world = World::new();
    let mut terminal = with_a_plan(&world, "");
    let n_before = n_left(&world);
    terminal.stand_still();
    terminal.look();
    let n_shown = terminal.raw.len();
    terminal.type_blindly("2");
    assert_hears(&world);
    terminal.type_blindly("e");
    terminal.wait("the editor", |_| n_left(&world) > n_before);
    terminal.go_on();
    // Of its screen nothing is known: what came before may have been cut off in the middle of anything.
    terminal.wait("the editor's words", |terminal| {
        terminal.said().matches("THE EDITOR HAS plan.md").count() == 1
    });
    // What is left to be sent on is tried again sooner than this is over.
    for _ in 0..3 {
        assert_hears(&world);
    }
    terminal.look();
    let shown = String::from_utf8_lossy(&terminal.raw[n_shown..]).into_owned();
    assert!(!shown.contains("\x1b[?2026h"), "{shown:?}");
    terminal.type_blindly("2. [ ] Sing\r");
    terminal.wait("the terminal taken again", |terminal| terminal.is_taken());
    terminal.wait_for("Sing");
    // Output to the dead terminal is lost, including the reset of its modes, so the final state is not checked.
    terminal.signal(Signal::SIGTERM);
    assert_eq!(terminal.wait_for_end().code(), Some(130));
}

#[test]
fn a_program_that_is_ended_behind_the_shell_leaves_it_the_terminal() {
    let world = World::new();
    let config = cast(&world, &talking().plan(PLAN), &Agent::approving(), "");
    let program = env!("CARGO_BIN_EXE_agent-collab");
    // The shell waits for a job only as long as it considers the job stopped.
    let script = format!(
        "'{program}' --config '{}'; echo IT STOPPED; pid=$(jobs -p %1); kill %1\n\
         while kill -0 $pid 2>/dev/null; do sleep 0.02; done; echo IT IS GONE",
        config.display()
    );
    let (home, repository) = (world.home(), world.repository());
    let arguments = ["--norc", "-m", "-c", &script];
    let mut terminal = Terminal::start(Path::new("/bin/bash"), &arguments, &home, &repository);
    terminal.wait_for("Describe the goal");
    give_goal(&mut terminal);
    terminal.type_keys(CTRL_E);
    terminal.wait_for("THE EDITOR HAS");
    terminal.type_keys(CTRL_Z);
    terminal.wait_for("IT STOPPED");
    terminal.wait_for("IT IS GONE");
    assert!(terminal.text().contains("Saved: A test"));
    assert!(terminal.wait_for_end().success());
    assert_eq!(n_left(&world), 0);
}
