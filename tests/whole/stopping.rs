//! The user can always stop, and stopping loses nothing and leaves no process behind.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::json;

use crate::programs::put_program;
use crate::script::{Agent, say, shell, write};
use crate::world::{RUN, World, wait_until};

fn stalling() -> Agent {
    Agent::new().always(
        "[agent-collab WRITE_PLAN]",
        vec![say("I begin."), json!({ "do": "stall" })],
    )
}

fn check_signal(name: &str) {
    let world = World::new();
    world.cast(&stalling(), &Agent::approving());
    let mut running = world.start_run(&[]);
    running.until("planner │ I begin.");
    running.signal(name);
    let ran = running.wait();
    ran.ends(130).complains(&format!("SIG{name}"));
    assert_eq!(world.leftovers(), Vec::<String>::new());
    assert_eq!(world.state()["phase"], "WRITE_PLAN");
    assert_eq!(world.events_of("run.left").len(), 1);
    world.run(&[]).ends(3).complains("--new");
}

#[test]
fn an_interrupt_ends_a_turn_and_keeps_the_run() {
    check_signal("INT");
}

#[test]
fn a_termination_ends_a_turn_and_keeps_the_run() {
    check_signal("TERM");
}

#[test]
fn a_hangup_ends_a_turn_and_keeps_the_run() {
    check_signal("HUP");
}

#[test]
fn an_interrupt_ends_a_test_run_with_all_its_children() {
    let world = interrupted_in_tests("test.baseline=false");
    assert_eq!(world.read("new.txt"), "new\n");
}

#[test]
fn an_interrupt_ends_the_tests_before_the_first_step_too() {
    let world = interrupted_in_tests("test.baseline=true");
    assert_eq!(world.state()["busy"]["busy"], "baseline");
    assert!(world.events_of("baseline.skipped").is_empty());
}

fn interrupted_in_tests(baseline: &str) -> World {
    let world = World::new();
    let begun = world.written_by_tests("begun");
    let begun = world.fifo(&begun.display().to_string());
    let planner =
        Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&planner, &Agent::approving());
    let command = format!(
        "test.default_command=sh -c '(setsid sleep 600 &) ; echo begun > {begun}; sleep 600'"
    );
    let running = world.start(&[
        "run",
        "--goal",
        "A test",
        "--auto",
        "--yes-execute",
        "-s",
        &command,
        "-s",
        baseline,
    ]);
    assert_eq!(world.heard(&begun), "begun\n");
    running.signal("INT");
    let ran = running.wait();
    ran.ends(130);
    assert_eq!(world.leftovers(), Vec::<String>::new());
    assert_eq!(world.state()["phase"], "EXECUTE");
    world
}

#[test]
fn an_interrupt_ends_a_command_of_the_agent_with_all_its_children() {
    let world = World::new();
    let begun = world.fifo("begun");
    let run = format!("(setsid sleep 600 &) ; echo begun > {begun}; sleep 600");
    let planner = Agent::planning(&["Write"]).step(1, vec![shell(&run), say("Wrote.")]);
    world.cast(&planner, &Agent::approving());
    let running = world.start_run(&[]);
    assert_eq!(world.heard("begun"), "begun\n");
    running.signal("INT");
    running.wait().ends(130);
    assert_eq!(world.leftovers(), Vec::<String>::new());
}

#[test]
fn a_second_signal_ends_all_patience() {
    let mut world = World::new();
    let begun = world.fifo("begun");
    let (stubborn, heard) = (world.folder.join("stubborn.sh"), world.folder.join("heard"));
    put_program(
        &stubborn,
        &format!(
            "#!/bin/sh\nfor name in INT TERM HUP; do trap \"echo $name >> '{}'\" $name; done\necho begun > {begun}\n\
             while :; do sleep 600 & wait; done\n",
            heard.display()
        ),
    );
    world.config = format!(
        "[roles]\nplanner = \"own\"\n[adapters.own]\nkind = \"pipe\"\nprogram = {:?}\n",
        stubborn.display().to_string()
    );
    world.cast(&Agent::new(), &Agent::approving());
    let running = world.start(&["run", "--goal", "A test", "--auto"]);
    assert_eq!(world.heard("begun"), "begun\n");
    running.signal("INT");
    running.signal("TERM");
    running.wait().ends(130);
    // One signal alone would have it asked by an INT before the TERM.
    let heard = std::fs::read_to_string(heard).unwrap_or_default();
    assert!(!heard.contains("INT"), "{heard}");
    assert_eq!(world.leftovers(), Vec::<String>::new());
}

#[test]
fn a_signal_while_a_cli_is_probed_ends_the_program() {
    let world = World::new();
    let begun = world.fifo("begun");
    world.cast(&stalling(), &Agent::approving());
    let slow = world.folder.join("slow.sh");
    put_program(
        &slow,
        &format!("#!/bin/sh\necho begun > {begun}\nsleep 600\n"),
    );
    let set = format!("adapters.codex.command=[{:?}]", slow.display().to_string());
    let running = world.start(&["run", "--goal", "A test", "--auto", "-s", &set]);
    assert_eq!(world.heard("begun"), "begun\n");
    running.signal("INT");
    running.wait().ends(130);
    assert_eq!(world.leftovers(), Vec::<String>::new());
}

#[test]
fn a_signal_ends_a_run_whose_output_nobody_takes() {
    let world = World::new();
    world.cast(&stalling(), &Agent::approving());
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    fill(&mut writer);
    let mut child = world
        .command(&RUN)
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(Stdio::piped())
        .spawn()
        .expect("program");
    wait_until("the run to begin", || {
        world.root.join(".agent-collab/events.jsonl").is_file()
    });
    let program = nix::unistd::Pid::from_raw(child.id().cast_signed());
    nix::sys::signal::kill(program, nix::sys::signal::Signal::SIGTERM).expect("the program runs");
    assert_eq!(child.wait().expect("its end").code(), Some(130));
    assert_eq!(world.leftovers(), Vec::<String>::new());
    drop(reader);
    assert_eq!(world.state()["phase"], "WRITE_PLAN");
}

/// Fills a pipe completely, so that the next write blocks.
fn fill(pipe: &mut std::io::PipeWriter) {
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    let flags = |flags| fcntl(&*pipe, FcntlArg::F_SETFL(flags)).expect("flags");
    flags(OFlag::O_NONBLOCK);
    while (&*pipe).write(&[b'\n'; 4096]).is_ok() {}
    while (&*pipe).write(b"\n").is_ok() {}
    flags(OFlag::empty());
}

#[test]
fn an_output_that_nobody_reads_any_more_ends_the_run_cleanly() {
    let world = World::new();
    let wait = world.fifo("wait");
    let planner =
        Agent::planning(&["Write"]).step(1, vec![shell(&format!("cat {wait}")), say("Waited.")]);
    world.cast(&planner, &Agent::approving());
    let mut command = world.command(&[&RUN[..], &["--json"]].concat());
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("program");
    let mut line = String::new();
    let mut reader = BufReader::new(child.stdout.take().expect("stdout"));
    reader.read_line(&mut line).expect("line");
    drop(reader);
    // However slow this test is, there is some output left to read.
    world.release("wait");
    let output = child.wait_with_output().expect("end");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!err.contains("panicked"), "{err}");
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert_eq!(world.leftovers(), Vec::<String>::new());
    assert_eq!(world.events_of("run.left").len(), 1);
}
