//! The user can always stop, and stopping loses nothing and leaves no process behind.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::json;

use crate::programs::put_program;
use crate::repository::commit_all;
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

/// A new test that, without the step's code and until a file exists, starts a process of its own and never ends.
fn endless_without_code(world: &World, begun: &str, may_end: &std::path::Path) -> String {
    let begun = world.fifo(begun);
    format!(
        "import test from 'node:test';\nimport assert from 'node:assert';\nimport fs from 'node:fs';\nimport {{ spawn }} from 'node:child_process';\nimport * as sums from '../src/sum.js';\n\n\
         if (!sums.product && !fs.existsSync({may_end:?})) {{\n  spawn('sleep', ['600'], {{ detached: true, stdio: 'ignore' }}).unref();\n  fs.writeFileSync({begun:?}, 'begun\\n');\n  await new Promise(() => setInterval(() => {{}}, 1000000));\n}}\n\n\
         test('multiplies', () => {{\n  assert.equal(sums.product(2, 3), 6);\n}});\n"
    )
}

#[test]
fn a_proof_that_is_stopped_leaves_no_process_and_is_done_again() {
    const SUM: &str = "export const sum = (a, b) => a + b;\n";
    const PRODUCT: &str = "export const product = (a, b) => a * b;\n";
    const PLAN: &str = "# Task: Products\n\n## Goal\nA product.\n\n## Steps\n1. [ ] Multiply\n   Files: src/**, test/**\n   Test first: test/product.test.js\n";
    for is_interrupted in [false, true] {
        let mut world = World::new();
        world.proves_steps = true;
        world.config = "[test]\ndefault_command = \"npm test\"\n".to_owned();
        let may_end = world.written_by_tests("may-end");
        let begun = "home/.ccache/begun";
        let test = endless_without_code(&world, begun, &may_end);
        let package =
            "{\"name\":\"sums\",\"type\":\"module\",\"scripts\":{\"test\":\"node --test\"}}\n";
        world.put("package.json", package);
        world.put("src/sum.js", SUM);
        commit_all(&world.root, "project");
        let actions = vec![
            write("src/sum.js", &format!("{SUM}{PRODUCT}")),
            write("test/product.test.js", &test),
            say("The step is complete."),
        ];
        let agent = Agent::new().plan(PLAN).step(1, actions);
        world.cast(&agent, &Agent::approving());
        let continues = ["--answer", "step_recovery=continue", "--mode", "yolo"];
        let running = world.start_run(&continues);
        assert_eq!(world.heard(begun), "begun\n");
        std::fs::write(&may_end, "").expect("a file");
        let ran = if is_interrupted {
            // The run itself goes on, so it is the interrupt that ends the test.
            world.program(&["send", "interrupt"]).ends(0);
            running.wait()
        } else {
            running.signal("INT");
            running.wait().ends(130);
            assert_eq!(world.leftovers(), Vec::<String>::new());
            assert_eq!(world.state()["execution"]["current"]["stage"], "prove");
            let resume = ["resume", "--auto", "--yes-execute", "--on-step", "continue"];
            world.program(&resume)
        };
        ran.ends(0)
            .says("new tests on old code: ✗ as it should")
            .says("1 of 1 proven");
        assert_eq!(world.leftovers(), Vec::<String>::new());
        world.program(&["verify"]).ends(0).says("step 1  proven");
    }
}
