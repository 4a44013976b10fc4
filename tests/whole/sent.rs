//! Commands to a running instance: their effect, who may send them, and what happens if no instance runs.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};

use serde_json::{Value, json};

use crate::repository::forget_name;
use crate::script::{Agent, say, shell, write};
use crate::world::{PROGRAM, Ran, Running, World, wait_until};

const RUN: [&str; 5] = ["run", "--goal", "A test", "--auto", "--yes-execute"];

/// A run whose first step waits at the pipe `wait`; the second one does not.
fn under_way(world: &World) -> Running {
    let wait = world.fifo("wait");
    let planner = Agent::planning(&["Write one", "Write two"])
        .step(
            1,
            vec![
                say("I begin."),
                shell(&format!("cat {wait}")),
                write("one.txt", "one\n"),
                say("Wrote one."),
            ],
        )
        .step(2, vec![write("two.txt", "two\n"), say("Wrote two.")]);
    world.cast(&planner, &Agent::approving());
    let mut running = world.start(&RUN);
    running.until("planner │ I begin.");
    running
}

fn send(world: &World, arguments: &[&str]) -> Ran {
    let mut all = vec!["send"];
    all.extend(arguments);
    world.program(&all)
}

fn socket(world: &World) -> std::path::PathBuf {
    world.root.join(".agent-collab/socket")
}

/// Sends one line to the socket and returns the answer, from a process outside the run.
fn ask(world: &World, line: &str) -> Value {
    let mut stream = UnixStream::connect(socket(world)).expect("socket");
    stream.write_all(line.as_bytes()).expect("line");
    serde_json::from_str(&line_of(stream)).expect("JSON")
}

/// Returns the line that a client receives; empty if it is rejected.
fn line_of(stream: UnixStream) -> String {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("answer");
    line
}

#[test]
fn a_run_is_paused_released_and_let_go_on_from_outside() {
    let world = World::new();
    let mut running = under_way(&world);
    let meta = fs::metadata(socket(&world)).expect("socket");
    assert!(meta.file_type().is_socket());
    assert_eq!(meta.permissions().mode() & 0o777, 0o600);
    send(&world, &["go"])
        .ends(1)
        .complains("No turn is waiting to be sent.");
    send(&world, &["auto"])
        .ends(1)
        .complains("Already in Auto.");
    send(&world, &["pause"]).ends(0).says("pause: done");
    world.release("wait");
    running.until("? The next turn waits: the planner ");
    assert_eq!(world.state()["gate"], "manual");
    send(&world, &["go"]).ends(0);
    running.until("planner │ Wrote two.");
    running.until("? The next turn waits: the planner ");
    send(&world, &["auto"]).ends(0);
    running.wait().ends(0).says("done: 2 of 2 steps");
    assert!(!socket(&world).exists());
    assert_eq!(world.read("two.txt"), "two\n");
}

#[test]
fn a_run_is_cancelled_stopped_and_left_from_outside() {
    for (command, code, phase) in [
        ("cancel", 5, "CANCELLED"),
        ("stop", 3, "REFINE_GOAL"),
        ("quit", 130, "EXECUTE"),
    ] {
        let world = World::new();
        let running = under_way(&world);
        send(&world, &[command]).ends(0);
        running.wait().ends(code);
        assert_eq!(world.state()["phase"], phase, "{command}");
        assert_eq!(world.leftovers(), Vec::<String>::new());
        assert!(!socket(&world).exists());
    }
}

#[test]
fn what_decides_about_agents_is_not_taken_from_outside() {
    let world = World::new();
    let running = under_way(&world);
    for word in ["approve", "allow", "reject"] {
        send(&world, &[word])
            .ends(1)
            .complains("works only on the screen");
    }
    send(&world, &["answer", "yes"])
        .ends(1)
        .complains("works only on the screen");
    send(&world, &["aprove"])
        .ends(1)
        .complains("you cannot send `aprove`; you can send: go, interrupt, auto,");
    send(&world, &["changes", "more"])
        .ends(1)
        .complains("No approved plan is waiting for you.");
    running.signal("TERM");
    running.wait().ends(130);
}

#[test]
fn malformed_long_and_additional_requests_are_refused_and_the_run_goes_on() {
    let world = World::new();
    let running = under_way(&world);
    // This process started the run, and no run started it.
    for (line, why) in [
        ("nonsense\n".to_owned(), "not a valid request"),
        (
            "{\"command\":\"pause\",\"as\":1}\n".to_owned(),
            "unknown field",
        ),
        (
            "{\"command\":\"approve\"}\n".to_owned(),
            "only on the screen",
        ),
        (format!("{}\n", "x".repeat(1_100_000)), "longer than 1 MiB"),
    ] {
        let answer = ask(&world, &line);
        assert_eq!(answer["accepted"], false);
        let said = answer["why"].as_str().unwrap_or_default();
        assert!(said.contains(why), "{said}");
    }
    let silent: Vec<UnixStream> = (0..4)
        .map(|_| UnixStream::connect(socket(&world)).expect("socket"))
        .collect();
    let fifth = UnixStream::connect(socket(&world)).expect("socket");
    assert_eq!(line_of(fifth), "");
    let mut told = silent.into_iter().map(line_of);
    let first = told.next().unwrap_or_default();
    assert!(first.contains("no request arrived in time"), "{first}");
    assert_eq!(told.count(), 3);
    assert_eq!(
        ask(&world, "{\"command\":\"pause\"}\n"),
        json!({ "accepted": true })
    );
    send(&world, &["cancel"]).ends(0);
    running.wait().ends(5);
}

#[test]
fn an_agent_cannot_send_with_or_without_its_mark() {
    let world = World::new();
    let told = world.folder.join("told");
    let (program, told_text) = (PROGRAM, told.display());
    let command = format!(
        "{program} send pause > {told_text} 2>&1; \
         env -i PATH=\"$PATH\" HOME=\"$HOME\" setsid {program} send cancel >> {told_text} 2>&1; true"
    );
    let planner = Agent::planning(&["Write"]).step(
        1,
        vec![
            shell(&command),
            write("one.txt", "one\n"),
            say("Wrote one."),
        ],
    );
    world.cast(&planner, &Agent::approving());
    world.run(&[]).ends(0);
    let told = fs::read_to_string(&told).expect("told");
    let refused = told.matches("not done: this process cannot send commands: it was started by");
    assert_eq!(refused.count(), 2, "{told}");
    assert!(world.events_of("gate.changed").is_empty());
}

#[test]
fn without_an_instance_a_run_is_stopped_or_cancelled_under_the_lock() {
    let world = World::new();
    send(&world, &["cancel"])
        .ends(1)
        .complains("there is no unfinished run");
    assert!(!world.root.join(".agent-collab").exists());
    let running = under_way(&world);
    running.signal("KILL");
    running.wait();
    assert!(socket(&world).exists(), "a killed instance leaves it");
    send(&world, &["pause"])
        .ends(1)
        .complains("no agent-collab runs in")
        .complains("agent-collab resume");
    forget_name(&world.root);
    send(&world, &["stop"]).ends(0);
    assert_eq!(world.state()["phase"], "REFINE_GOAL");
    send(&world, &["stop"]).ends(1);
    send(&world, &["cancel"]).ends(0).says("cancel: done");
    assert_eq!(world.state()["phase"], "CANCELLED");
    assert_eq!(world.leftovers(), Vec::<String>::new());
    send(&world, &["cancel"])
        .ends(1)
        .complains("no unfinished run");
}

#[test]
fn a_stale_socket_is_replaced_and_a_stranger_at_its_place_is_not_believed() {
    let world = World::new();
    fs::create_dir(world.root.join(".agent-collab")).expect("folder");
    drop(UnixListener::bind(socket(&world)).expect("stale"));
    let running = under_way(&world);
    fs::remove_file(socket(&world)).expect("removed");
    let _stranger = UnixListener::bind(socket(&world)).expect("stranger");
    send(&world, &["pause"])
        .ends(1)
        .complains("another process listens there");
    running.signal("TERM");
    running.wait().ends(130);
}

#[test]
fn a_repository_that_lies_deep_is_reached_as_well() {
    let mut world = World::new();
    let deep = world.folder.join("d".repeat(100)).join("repository");
    fs::create_dir_all(deep.parent().expect("parent")).expect("folder");
    fs::rename(&world.root, &deep).expect("moved");
    world.root = deep;
    let running = under_way(&world);
    send(&world, &["cancel"]).ends(0);
    running.wait().ends(5);
}

#[test]
fn a_stopped_instance_is_told_at_once() {
    let world = World::new();
    let running = under_way(&world);
    running.signal("STOP");
    let stat = format!("/proc/{}/stat", running.pid());
    wait_until("the program to stop", || {
        fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") T "))
    });
    send(&world, &["pause"])
        .ends(4)
        .complains("is suspended (Ctrl+Z)")
        .complains("`fg` in its terminal");
    running.signal("CONT");
    send(&world, &["pause"]).ends(0);
    running.signal("TERM");
    running.wait().ends(130);
}
