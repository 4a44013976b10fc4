//! Diagnoses a silent turn as stuck or slow from two observations of its processes.
//!
//! It is pure. The message contains no durations, so that the same diagnosis has the same words.

use std::time::Duration;

use crate::domain::ids::UnixMillis;
use crate::process::{InputWait, ProcessActivity, ProcessIdentity, ProcessState};
use crate::text::{clean_text, clean_to_one_line, truncate};

/// How much of a processor counts as using it, in percent.
const BUSY_CPU_PERCENT: u128 = 5;
/// How much earlier than its call was reported a command's process may have started.
const CALL_START_TOLERANCE: Duration = Duration::from_secs(2);
/// The longest command in a diagnosis, in characters.
const MAX_COMMAND_CHARS: usize = 60;

/// A tool call that has started and not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningToolCall {
    /// One line: the command, the path, the query.
    pub title: String,
    pub since: UnixMillis,
    /// How long ago it started.
    pub age: Duration,
}

/// The facts about a silent turn.
#[derive(Debug, Clone, Copy)]
pub struct SilenceObservation<'a> {
    pub root: ProcessIdentity,
    /// The oldest open tool call.
    pub call: Option<&'a RunningToolCall>,
    /// The activity of the processes at the first check.
    pub before: &'a [ProcessActivity],
    /// The activity of the processes at the second check.
    pub now: &'a [ProcessActivity],
    /// The time between the two checks.
    pub between: Duration,
}

/// Returns one line that says why the turn is silent: `slow: …`, `waiting: …`, `stuck: …`, or `stopped: …`.
pub fn diagnose_silence(observed: &SilenceObservation<'_>) -> String {
    if observed.now.is_empty() {
        return "waiting: its processes are not visible on this system".to_owned();
    }
    let is_root = |one: &&ProcessActivity| one.id == observed.root;
    if let Some(root) = observed.now.iter().find(is_root).filter(is_stopped) {
        return stopped_message("the CLI", root);
    }
    match observed.call {
        Some(call) => diagnose_call(observed, call),
        None if is_busy(observed, |_| true) => "slow: the CLI itself uses CPU".to_owned(),
        None => {
            "waiting: the model has not answered, no command is running, no CPU is used".to_owned()
        }
    }
}

fn diagnose_call(observed: &SilenceObservation<'_>, call: &RunningToolCall) -> String {
    let is_of_call = |one: &ProcessActivity| {
        one.id != observed.root && one.age <= call.age + CALL_START_TOLERANCE
    };
    let commands: Vec<&ProcessActivity> =
        observed.now.iter().filter(|one| is_of_call(one)).collect();
    let title = shorten_command(&call.title);
    let since = call.since.to_utc_hour_minute();
    if let Some(one) = commands.iter().find(|one| is_stopped(one)) {
        return stopped_message(&format!("`{title}`"), one);
    }
    if let Some(one) = commands
        .iter()
        .find(|one| one.input_wait == InputWait::Waiting)
    {
        let command = shorten_command(&one.command);
        return format!("stuck: `{command}` waits for input on stdin");
    }
    if is_busy(observed, is_of_call) {
        return format!("slow: `{title}` has been running since {since} and uses CPU");
    }
    if commands
        .iter()
        .any(|one| one.state == ProcessState::Uninterruptible)
    {
        return format!("slow: `{title}` has been running since {since} and waits for a device");
    }
    if commands.is_empty() {
        format!("waiting: `{title}` has been running since {since}, without its own process")
    } else {
        format!("waiting: `{title}` has been running since {since} and uses no CPU")
    }
}

fn is_stopped(one: &&ProcessActivity) -> bool {
    one.state == ProcessState::Stopped
}

fn stopped_message(what: &str, one: &ProcessActivity) -> String {
    let pid = one.id.pid;
    format!("stopped: {what} was stopped by a signal; `kill -CONT {pid}` resumes it")
}

/// Returns whether these processes used the processor between the two checks.
fn is_busy(observed: &SilenceObservation<'_>, counts: impl Fn(&ProcessActivity) -> bool) -> bool {
    let used = |list: &[ProcessActivity]| -> Duration {
        let those = list.iter().filter(|one| counts(one));
        those.map(|one| one.cpu_time).sum()
    };
    let used = used(observed.now).saturating_sub(used(observed.before));
    used.as_millis() * 100 >= observed.between.as_millis() * BUSY_CPU_PERCENT && !used.is_zero()
}

fn shorten_command(command: &str) -> String {
    truncate::to_chars(&clean_to_one_line(&clean_text(command)), MAX_COMMAND_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: ProcessIdentity = ProcessIdentity {
        pid: 10,
        start_time: 100,
    };

    fn one(pid: u32, command: &str, cpu: u64) -> ProcessActivity {
        ProcessActivity {
            id: ProcessIdentity {
                pid,
                start_time: u64::from(pid) * 10,
            },
            command: command.to_owned(),
            state: ProcessState::Normal,
            cpu_time: Duration::from_millis(cpu),
            age: Duration::from_secs(if pid == ROOT.pid { 900 } else { 60 }),
            input_wait: InputWait::Unknown,
        }
    }

    fn check(call: Option<&str>, change: impl Fn(&mut [ProcessActivity]), expected: &str) {
        let call = call.map(|title| RunningToolCall {
            title: title.to_owned(),
            since: UnixMillis(0),
            age: Duration::from_secs(60),
        });
        let server = ProcessActivity {
            age: Duration::from_secs(800),
            ..one(11, "an-mcp-server", 0)
        };
        let before = vec![one(10, "codex", 500), server, one(12, "sh -c x", 0)];
        let mut now = before.clone();
        change(&mut now);
        let observed = SilenceObservation {
            root: ROOT,
            call: call.as_ref(),
            before: &before,
            now: &now,
            between: Duration::from_secs(10),
        };
        assert_eq!(diagnose_silence(&observed), expected);
    }

    fn burn(list: &mut [ProcessActivity], n: usize, milliseconds: u64) {
        list[n].cpu_time += Duration::from_millis(milliseconds);
    }

    #[test]
    fn a_model_that_does_not_answer_is_waited_for() {
        let waits = "waiting: the model has not answered, no command is running, no CPU is used";
        check(None, |_| {}, waits);
        check(None, |list| burn(list, 0, 499), waits);
        check(
            None,
            |list| burn(list, 0, 500),
            "slow: the CLI itself uses CPU",
        );
    }

    #[test]
    fn a_command_is_slow_while_it_uses_the_processor_and_waits_when_it_does_not() {
        let call = Some("cargo test\n--all");
        check(
            call,
            |list| burn(list, 2, 600),
            "slow: `cargo test --all` has been running since 00:00Z and uses CPU",
        );
        check(
            call,
            |list| burn(list, 1, 9_000),
            "waiting: `cargo test --all` has been running since 00:00Z and uses no CPU",
        );
        check(
            call,
            |list| list[2].state = ProcessState::Uninterruptible,
            "slow: `cargo test --all` has been running since 00:00Z and waits for a device",
        );
        check(
            call,
            |list| list[2].age = Duration::from_secs(500),
            "waiting: `cargo test --all` has been running since 00:00Z, without its own process",
        );
    }

    #[test]
    fn a_command_that_waits_for_input_is_stuck_and_a_server_that_does_is_none() {
        check(
            Some("npm init"),
            |list| list[2].input_wait = InputWait::Waiting,
            "stuck: `sh -c x` waits for input on stdin",
        );
        check(
            Some("npm init"),
            |list| {
                (list[0].input_wait, list[1].input_wait) = (InputWait::Waiting, InputWait::Waiting)
            },
            "waiting: `npm init` has been running since 00:00Z and uses no CPU",
        );
    }

    #[test]
    fn what_a_signal_stopped_is_told_before_all_else() {
        check(
            Some("make"),
            |list| {
                list[2].state = ProcessState::Stopped;
                list[2].input_wait = InputWait::Waiting;
            },
            "stopped: `make` was stopped by a signal; `kill -CONT 12` resumes it",
        );
        check(
            None,
            |list| list[0].state = ProcessState::Stopped,
            "stopped: the CLI was stopped by a signal; `kill -CONT 10` resumes it",
        );
    }

    #[test]
    fn where_nothing_is_known_nothing_is_claimed() {
        let observed = SilenceObservation {
            root: ROOT,
            call: None,
            before: &[],
            now: &[],
            between: Duration::from_secs(10),
        };
        assert_eq!(
            diagnose_silence(&observed),
            "waiting: its processes are not visible on this system"
        );
    }
}
