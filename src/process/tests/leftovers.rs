//! Tests that processes of a dead program are found and ended.

use std::io::{BufRead, BufReader, Lines};
use std::process::{ChildStdout, Command, Stdio};

use super::super::process_table::read_identity;
use super::*;

/// Starts a process as a dead program would have left it.
fn left_behind(mark: &str) -> std::process::Child {
    Command::new("sleep")
        .arg("1000")
        .env(MARK_VARIABLE, mark)
        .spawn()
        .unwrap()
}

fn found(prefix: &str) -> Vec<u32> {
    find_leftovers(prefix)
        .into_iter()
        .map(|leftover| leftover.id.pid)
        .collect()
}

#[tokio::test]
async fn a_leftover_is_found_by_its_run_and_owner_and_ended() {
    let mut left = left_behind("run_left1:planner:1.999999999999.0");
    until("the leftover's exec", || !found("run_left1").is_empty()).await;
    assert_eq!(found("run_left1"), [left.id()]);
    assert_eq!(found("run_left1:planner"), [left.id()]);
    assert_eq!(
        (found("run_left"), found("run_left1:reviewer")),
        (vec![], vec![])
    );
    let leftovers = find_leftovers("run_left1");
    assert_eq!(
        (leftovers[0].command.as_str(), leftovers[0].marker.as_str()),
        ("sleep 1000", "run_left1:planner:1.999999999999.0")
    );
    assert_eq!(
        terminate_leftovers(&leftovers, Duration::from_secs(5)).await,
        []
    );
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&left.wait().unwrap()),
        Some(15)
    );
}

#[tokio::test]
async fn a_stranger_with_a_leftovers_number_is_let_alone() {
    let mut stranger = left_behind("run_left2:planner:1.999999999999.0");
    until("the stranger's exec", || !found("run_left2").is_empty()).await;
    let mut leftovers = find_leftovers("run_left2");
    leftovers[0].id.start_time -= 1;
    assert_eq!(
        terminate_leftovers(&leftovers, Duration::from_secs(5)).await,
        []
    );
    assert_eq!(found("run_left2"), [stranger.id()]);
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

/// Needs a working bubblewrap.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_contained_leftover_is_found_though_it_cleared_its_environment() {
    let mark = "run_left4:planner:1.999999999999.0";
    let containment = SandboxSpec::new(std::path::Path::new("bwrap"), []);
    let mut left = Command::new(containment.program())
        .args(containment.to_arguments(&std::env::temp_dir(), mark))
        .args(["env", "-i", "/bin/sh", "-c", "exec /bin/sleep 1000"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .spawn()
        .unwrap();
    until("the leftover's mounts", || !found("run_left4").is_empty()).await;
    assert_eq!(found("run_left4:reviewer"), Vec::<u32>::new());
    terminate_leftovers_by_prefix("run_left4", Duration::from_secs(5)).await;
    assert_eq!(found("run_left4"), Vec::<u32>::new());
    assert!(!left.wait().unwrap().success());
}

#[tokio::test]
async fn a_child_of_a_program_that_runs_is_no_leftover() {
    let mut spec = sh("echo ready; exec sleep 1000");
    spec.mark = ProcessMark::new("run_left3", "owner");
    let mut running = spawn(&spec).await.unwrap();
    assert_eq!(
        running.next_event().await,
        OutputEvent::Stdout("ready".to_owned())
    );
    assert_eq!(found("run_left3"), Vec::<u32>::new());
    running.stop(StopLadder::immediate()).await;
}

const INTERMEDIARY: &str = "AGENT_COLLAB_TEST_INTERMEDIARY";

/// Not a test of its own: the program between a test and its grandchildren.
#[tokio::test]
async fn an_intermediary_does_what_its_test_asks() {
    let Ok(task) = std::env::var(INTERMEDIARY) else {
        return;
    };
    become_subreaper().unwrap();
    // One lives on when its input ends; the other escaped without mark, session and parent.
    let mut running = spawn(&sh(
        "echo $$; (setsid env -i sh -c 'echo $$; exec sleep 1000' &); exec sleep 1000",
    ))
    .await
    .unwrap();
    for _ in 0..2 {
        let OutputEvent::Stdout(pid) = running.next_event().await else {
            panic!("the child ended")
        };
        println!("\npid {pid}");
    }
    match task.as_str() {
        "end everything" => assert_eq!(terminate_descendants(Duration::from_secs(5)).await, []),
        _ => std::future::pending().await,
    }
}

/// Runs the intermediary; returns it and the two processes below it.
fn intermediary(
    task: &str,
) -> (
    std::process::Child,
    Vec<ProcessIdentity>,
    Lines<BufReader<ChildStdout>>,
) {
    let mut intermediary = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "process::tests::leftovers::an_intermediary_does_what_its_test_asks",
            "--nocapture",
        ])
        .env(INTERMEDIARY, task)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The caller keeps the pipe: the intermediary's test harness fails if its output has no reader.
    let mut lines = BufReader::new(intermediary.stdout.take().unwrap()).lines();
    let pids = lines
        .by_ref()
        .filter_map(|line| line.unwrap().strip_prefix("pid ")?.parse().ok());
    let ids = pids.map(read_identity).take(2).collect();
    (intermediary, ids, lines)
}

#[tokio::test]
async fn a_child_dies_with_the_program() {
    let (mut program, below, _lines) = intermediary("wait to be killed");
    program.kill().unwrap();
    program.wait().unwrap();
    until("the child's death", || !is_alive(below[0])).await;
    // The stray process carries no mark, so the program cannot find it; it is ended here.
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(below[1].pid as i32),
        nix::sys::signal::Signal::SIGKILL,
    )
    .unwrap();
}

#[tokio::test]
async fn at_the_programs_end_even_unmarked_strays_are_ended() {
    let (mut program, below, _lines) = intermediary("end everything");
    assert!(program.wait().unwrap().success());
    assert_eq!(below.iter().filter(|id| is_alive(**id)).count(), 0);
}
