//! Tests of the activity of real processes: one that sleeps, one that computes, one that reads, one that is
//! stopped.

use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::*;

/// Waits for the process in the tree whose command line starts like this and that is in the expected state.
async fn until_one(
    running: &RunningChild,
    command: &str,
    wanted: impl Fn(&ProcessActivity) -> bool,
) -> ProcessActivity {
    let mut found = None;
    until(&format!("a `{command}` as wanted"), || {
        found = read_tree_activity(running.identity())
            .into_iter()
            .find(|one| one.command.starts_with(command) && wanted(one));
        found.is_some()
    })
    .await;
    found.unwrap()
}

#[tokio::test]
async fn one_that_sleeps_uses_no_processor_time_and_waits_for_no_input() {
    let mut running = spawn(&sh("sleep 1000; true")).await.unwrap();
    let one = until_one(&running, "sleep 1000", |_| true).await;
    assert_eq!(
        (one.state, one.input_wait),
        (ProcessState::Normal, InputWait::Unknown)
    );
    assert!(one.cpu_time < Duration::from_secs(1));
    assert_eq!(
        read_tree_activity(running.identity())[0].id,
        running.identity()
    );
    running.stop(StopLadder::immediate()).await;
}

#[tokio::test]
async fn one_that_computes_uses_processor_time_wherever_it_went() {
    let script = "setsid sh -c 'while :; do :; done' & wait";
    let mut running = spawn(&sh(script)).await.unwrap();
    let spins = |one: &ProcessActivity| one.cpu_time >= Duration::from_millis(50);
    until_one(&running, "sh -c while", spins).await;
    running.stop(StopLadder::immediate()).await;
}

#[tokio::test]
async fn one_that_reads_its_input_waits_for_it_unless_a_sibling_writes_there() {
    let mut running = spawn(&sh("cat <&0; true")).await.unwrap();
    until_one(&running, "cat", |one| one.input_wait == InputWait::Waiting).await;
    running.stop(StopLadder::immediate()).await;

    let mut running = spawn(&sh("sleep 1000 | tail -n 7")).await.unwrap();
    let tail = until_one(&running, "tail -n 7", |one| {
        std::fs::read_to_string(format!("/proc/{}/syscall", one.id.pid))
            .is_ok_and(|call| call.starts_with("0 0x0") || call.starts_with("63 0x0"))
    })
    .await;
    assert_eq!(tail.input_wait, InputWait::Unknown);
    running.stop(StopLadder::immediate()).await;
}

#[tokio::test]
async fn one_that_a_signal_stopped_is_told() {
    let mut running = spawn(&sh("sleep 1000; true")).await.unwrap();
    let one = until_one(&running, "sleep 1000", |_| true).await;
    let pid = Pid::from_raw(i32::try_from(one.id.pid).unwrap());
    kill(pid, Signal::SIGSTOP).unwrap();
    until_one(&running, "sleep 1000", |one| {
        one.state == ProcessState::Stopped
    })
    .await;
    kill(pid, Signal::SIGCONT).unwrap();
    until_one(&running, "sleep 1000", |one| {
        one.state == ProcessState::Normal
    })
    .await;
    running.stop(StopLadder::immediate()).await;
}
