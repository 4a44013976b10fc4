//! Who may connect to an instance after an earlier one was killed: its user, but no process that the killed one left.

use std::fs;
use std::process::Stdio;
use std::time::Instant;

use crate::script::{Agent, say, shell, write};
use crate::world::{LIMIT, PROGRAM, RUN, Running, World, wait_until};

const RESUME: [&str; 5] = ["resume", "--auto", "--yes-execute", "--on-step", "continue"];

/// Returns a command that clears its environment, starts its own session, loses its parents, waits at the pipe `go` in
/// another folder and sends; the answer goes into the pipe `told`.
fn slips_away(world: &World, name: &str) -> String {
    let (go, told) = (
        world.fifo(&format!("{name}-go")),
        world.fifo(&format!("{name}-told")),
    );
    let root = world.root.display();
    format!(
        "env -i PATH=\"$PATH\" HOME=\"$HOME\" setsid sh -c \
         'cd /; cat {go}; cd {root}; {PROGRAM} send pause > {told} 2>&1' < /dev/null > /dev/null 2>&1 &"
    )
}

/// Lets the detached process send, and returns the answer.
fn told(world: &World, name: &str) -> String {
    world.release(&format!("{name}-go"));
    world.heard(&format!("{name}-told"))
}

/// A run whose first step does this and then waits at the pipe `wait`.
fn under_way(world: &World, command: &str) -> Running {
    let wait = world.fifo("wait");
    let planner = Agent::planning(&["Write one"]).always(
        "[agent-collab EXECUTE step 1]",
        vec![
            say("I begin."),
            shell(command),
            say("I wait."),
            shell(&format!("cat {wait}")),
            write("one.txt", "one\n"),
            say("Wrote one."),
        ],
    );
    world.cast(&planner, &Agent::approving());
    let mut running = world.start(&RUN);
    running.until("planner │ I wait.");
    running
}

/// Kills the instance and resumes the run with another one, whose first step waits at the pipe with this name.
fn killed_and_taken_up(world: &World, running: Running, pipe: &str) -> Running {
    running.signal("KILL");
    running.wait();
    let again = world.fifo(pipe);
    let planner = Agent::planning(&["Write one"]).always(
        "[agent-collab EXECUTE step 1]",
        vec![
            say("I begin again."),
            shell(&format!("cat {again}")),
            write("one.txt", "one\n"),
            say("Wrote one."),
        ],
    );
    world.cast(&planner, &Agent::approving());
    let mut running = world.start(&RESUME);
    running.until("planner │ I begin again.");
    running
}

/// Starts a shell as a program apart from everything here would have: it has no parent that lives.
fn apart(world: &World, command: &str) {
    let started = world
        .shell(command)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(started.is_ok_and(|status| status.success()));
}

/// Waits until what starts now is later than what started before, as the process table counts.
fn next_tick() {
    let uptime = || {
        let text = fs::read_to_string("/proc/uptime").expect("the time since the start");
        let seconds = text.split_whitespace().next().map(str::parse::<f64>);
        seconds.expect("a number").expect("a number")
    };
    let before = uptime();
    // The table counts in hundredths of a second.
    wait_until("the next tick", || uptime() > before + 0.02);
}

#[test]
fn what_a_killed_instance_left_is_refused_and_its_user_is_heard() {
    let world = World::new();
    // The process existed before any instance, like a terminal of the user.
    apart(&world, &slips_away(&world, "earlier"));
    next_tick();
    let running = under_way(&world, &slips_away(&world, "left"));
    let running = killed_and_taken_up(&world, running, "again");
    let left = told(&world, "left");
    assert!(
        left.contains("may be left over from a killed instance"),
        "{left}"
    );
    assert!(world.events_of("gate.changed").is_empty());
    // The user's shells: of this session, and older than what was killed.
    world.program(&["send", "pause"]).ends(0);
    let earlier = told(&world, "earlier");
    assert!(earlier.contains("Already in Manual."), "{earlier}");
    world.program(&["send", "cancel"]).ends(0);
    running.wait().ends(5);
}

#[test]
fn a_killed_instance_that_left_nobody_makes_nobody_doubtful() {
    let world = World::new();
    let records = world
        .folder
        .join("home/.local/state/agent-collab/instances");
    let count_records = || fs::read_dir(&records).expect("records").count();
    let mut running = under_way(&world, "true");
    // A process that another test left without parents looks like one of ours: then the record is kept, and rightly.
    let give_up_at = Instant::now() + LIMIT;
    for time in 1.. {
        running = killed_and_taken_up(&world, running, &format!("again-{time}"));
        if count_records() == 1 {
            break;
        }
        assert!(Instant::now() < give_up_at, "an orphan each time");
    }
    apart(&world, &slips_away(&world, "later"));
    let later = told(&world, "later");
    assert!(later.contains("pause: done"), "{later}");
    world.program(&["send", "cancel"]).ends(0);
    running.wait().ends(5);
    assert_eq!(count_records(), 0, "who ends by itself leaves no record");
}

#[test]
fn a_sender_in_another_namespace_is_refused() {
    let world = World::new();
    let running = under_way(&world, "true");
    for sandbox in ["--user --map-root-user", "--user --map-root-user --mount"] {
        let line = format!("exec unshare {sandbox} {PROGRAM} send pause");
        let said = world.shell(&line).output().expect("unshare");
        let said = String::from_utf8_lossy(&said.stderr);
        assert!(
            said.contains("in another pid, mount or user namespace"),
            "{said}"
        );
    }
    assert!(world.events_of("gate.changed").is_empty());
    world.program(&["send", "cancel"]).ends(0);
    running.wait().ends(5);
}
