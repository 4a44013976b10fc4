//! Labels for values of the run that several parts of the screen show.

use ratatui::style::Style;

use crate::domain::findings::FindingSeverity;
use crate::domain::ids::UnixMillis;
use crate::domain::plan_execution::StepAssessment;
use crate::domain::plan_execution::StepStage;
use crate::domain::plan_thread::ThreadAuthor;
use crate::domain::question::QuestionKind;
use crate::domain::receipt::{Receipt, TestOutcome};
use crate::domain::review::Verdict;
use crate::domain::run::ProgramOperation;
use crate::domain::run::RunState;
use crate::domain::turn::{Role, TurnPurpose};

pub use crate::domain::event_wording::short_commit;

use super::text_wrap::to_one_line;
use super::theme;

/// Returns the name of who says something in a thread, and its style.
pub fn author_label(author: ThreadAuthor) -> (&'static str, Style) {
    match author {
        ThreadAuthor::User => ("You", theme::YOU),
        ThreadAuthor::Planner => ("Planner", theme::role_style(Role::Planner)),
        ThreadAuthor::Reviewer => ("Reviewer", theme::role_style(Role::Reviewer)),
    }
}

/// Returns the role's name at the start of a sentence.
pub fn role_title(role: Role) -> &'static str {
    match role {
        Role::Planner => "Planner",
        Role::Reviewer => "Reviewer",
    }
}

/// Returns a verdict's symbol and label, and their style.
pub fn verdict_label(verdict: Verdict) -> (String, Style) {
    let style = match verdict {
        Verdict::Approved => theme::GOOD,
        Verdict::ChangesRequired => theme::PLAIN,
    };
    (format!("{} {}", verdict.symbol(), verdict.label()), style)
}

/// Returns the style of a finished step.
pub fn assessment_style(came: StepAssessment) -> Style {
    match came {
        StepAssessment::Committed | StepAssessment::Uncommitted => theme::GOOD,
        StepAssessment::Unchanged => theme::QUIET,
        StepAssessment::Failing => theme::BAD,
    }
}

/// Formats the time between two instants as `m:ss` or `h:mm:ss`.
pub fn format_elapsed(from: UnixMillis, to: UnixMillis) -> String {
    let seconds = to.0.saturating_sub(from.0).max(0) / 1_000;
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// The user's time zone, as seconds ahead of UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct LocalClock(pub i32);

impl LocalClock {
    /// Formats the time of day to the second: `14:05:09`.
    pub fn time_with_seconds(self, at: UnixMillis) -> String {
        let seconds = self.local_seconds(at);
        format!("{}:{:02}", self.time_with_minutes(at), seconds % 60)
    }

    /// Formats the time of day to the minute: `14:05`.
    pub fn time_with_minutes(self, at: UnixMillis) -> String {
        let minutes = self.local_seconds(at) / 60;
        format!("{:02}:{:02}", minutes / 60, minutes % 60)
    }

    /// Formats the time of day, with the weekday if it is not today: `Fri 14:05`.
    pub fn time_with_day(self, at: UnixMillis, now: UnixMillis) -> String {
        /// 1970-01-01 was a Thursday.
        const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
        let minute = self.time_with_minutes(at);
        let (day, today) = (self.local_day_number(at), self.local_day_number(now));
        let name = usize::try_from(day.rem_euclid(7)).ok();
        match name.and_then(|day| DAYS.get(day)).filter(|_| day != today) {
            Some(name) => format!("{name} {minute}"),
            None => minute,
        }
    }

    /// Converts each UTC time in a text, such as `14:05Z`, to the user's time zone.
    pub fn localize_utc_times(self, text: &str) -> String {
        let mut local = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('Z') {
            let (before, after) = rest.split_at(at);
            let begins = at.checked_sub("00:00".len());
            let time =
                begins.and_then(|begins| Some((before.get(..begins)?, before.get(begins..)?)));
            match time.and_then(|(before, time)| Some((before, parse_utc_minutes(time)?))) {
                Some((before, minutes)) if !before.ends_with(|c: char| c.is_alphanumeric()) => {
                    local.push_str(before);
                    local.push_str(&self.time_with_minutes(UnixMillis(minutes * 60_000)));
                }
                _ => {
                    local.push_str(before);
                    local.push('Z');
                }
            }
            rest = after.get(1..).unwrap_or_default();
        }
        local.push_str(rest);
        local
    }

    /// Returns the number of local days since 1970-01-01.
    fn local_day_number(self, at: UnixMillis) -> i64 {
        let seconds = at.0.div_euclid(1_000).saturating_add(i64::from(self.0));
        seconds.div_euclid(86_400)
    }

    fn local_seconds(self, at: UnixMillis) -> i64 {
        let seconds = at.0.div_euclid(1_000).saturating_add(i64::from(self.0));
        seconds.rem_euclid(86_400)
    }
}

/// Parses a time of day such as `14:05` into minutes.
fn parse_utc_minutes(time: &str) -> Option<i64> {
    let (hours, minutes) = time.split_once(':')?;
    let number = |text: &str| {
        let is_two = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i64>().ok().filter(|_| is_two)
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}

/// Formats a duration in minutes: `45 min`, `5 h`, `7 days`.
pub fn format_minutes(minutes: u32) -> String {
    match (minutes / 1_440, minutes % 1_440, minutes % 60) {
        (1, 0, _) => "a day".to_owned(),
        (days @ 1.., 0, _) => format!("{days} days"),
        (_, _, 0) => format!("{} h", minutes / 60),
        _ => format!("{minutes} min"),
    }
}

/// Formats a duration in milliseconds: `8.2 s`, `21 s`, `2:05`, `1:02:05`.
pub fn format_millis(millis: i64) -> String {
    match millis {
        0..10_000 => format!("{}.{} s", millis / 1_000, millis / 100 % 10),
        10_000..60_000 => format!("{} s", millis / 1_000),
        _ => format_elapsed(UnixMillis(0), UnixMillis(millis)),
    }
}

/// Summarizes a test run: `✓ 7 passed`, `✗ 1 of 12 failed`.
pub fn summarize_receipt(receipt: &Receipt) -> String {
    let counts = receipt.counts.unwrap_or_default();
    let n = counts.passed + counts.failed;
    match &receipt.outcome {
        TestOutcome::Passed if counts.passed > 0 => format!("✓ {} passed", counts.passed),
        TestOutcome::Passed => "✓ passed".to_owned(),
        TestOutcome::Failed if counts.failed > 0 => format!("✗ {} of {n} failed", counts.failed),
        TestOutcome::Failed => match receipt.exit_code {
            Some(code) => format!("✗ failed, exit {code}"),
            None => "✗ failed".to_owned(),
        },
        TestOutcome::NoTests => "no tests found".to_owned(),
        TestOutcome::TimedOut => "✗ time limit".to_owned(),
        TestOutcome::NotStarted(_) => "✗ not started".to_owned(),
        TestOutcome::NoCommand => "not tested".to_owned(),
    }
}

/// Formats the time until an instant, rounded up to the minute: `in 12 min`, `in 3 h 05 min`.
pub fn format_until(at: UnixMillis, now: UnixMillis) -> String {
    let left = at.0.saturating_sub(now.0).max(0);
    let minutes = left / 60_000 + i64::from(left % 60_000 > 0);
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("in {minutes} min"),
        (hours @ 1..48, minutes) => format!("in {hours} h {minutes:02} min"),
        (hours, _) => format!("in {} days", hours / 24),
    }
}

/// Describes the usage limit that the run waits for, if it does.
pub fn describe_usage_limit(
    state: &RunState,
    now: UnixMillis,
    clock: LocalClock,
) -> Option<String> {
    let waits = describe_usage_wait(state, clock)?;
    let QuestionKind::UsageLimit { adapter, until, .. } = &state.awaiting.as_ref()?.kind else {
        return None;
    };
    Some(format!(
        "{waits} ({}): {} usage limit",
        format_until(*until, now),
        to_one_line(adapter)
    ))
}

/// What a fresh session is called that judges a dispute.
pub const JUDGE_TITLE: &str = "Judge";

/// Returns the name of who does a turn.
pub fn turn_title(purpose: &TurnPurpose) -> &'static str {
    match purpose {
        TurnPurpose::Judge => JUDGE_TITLE,
        purpose => role_title(purpose.role()),
    }
}

/// Describes who waits until when for a usage limit, if the run waits for one.
pub fn describe_usage_wait(state: &RunState, clock: LocalClock) -> Option<String> {
    let QuestionKind::UsageLimit { purpose, until, .. } = &state.awaiting.as_ref()?.kind else {
        return None;
    };
    Some(format!(
        "{} waits until {}",
        turn_title(purpose),
        clock.time_with_minutes(*until)
    ))
}

/// Formats a number of tokens: `950`, `1.2k`, `34k`, `5.6M`.
pub fn format_tokens(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..10_000 => format!("{}.{}k", n / 1_000, n / 100 % 10),
        10_000..1_000_000 => format!("{}k", n / 1_000),
        1_000_000..10_000_000 => format!("{}.{}M", n / 1_000_000, n / 100_000 % 10),
        10_000_000.. => format!("{}M", n / 1_000_000),
    }
}

/// Formats a cost given in millionths of a dollar.
pub fn format_dollars(micro: u64) -> String {
    format!("${}.{:02}", micro / 1_000_000, micro / 10_000 % 100)
}

/// Describes the program's own operation.
pub fn describe_program_operation(busy: &ProgramOperation, state: &RunState) -> String {
    let execution = state.execution.as_ref();
    let current = execution.and_then(|execution| execution.current.as_ref());
    let text = match (busy, current) {
        (ProgramOperation::Collecting { .. }, _) => "Reading the document",
        (ProgramOperation::Storing { .. }, _) => "Saving the working tree",
        (ProgramOperation::Held { .. }, _) => "Waiting for your answer",
        (ProgramOperation::Surveying, _) => "Checking the repository",
        (ProgramOperation::Entering, _) => "Preparing the branch",
        (ProgramOperation::Baseline, _) => "Running the tests before step 1",
        (ProgramOperation::Moving { .. }, _) => "Moving to the other CLI",
        (ProgramOperation::Stepping { .. }, Some(step)) => {
            let verb = match step.stage {
                StepStage::Test => "Testing",
                StepStage::Prove => "Proving",
                StepStage::Code
                | StepStage::Audit
                | StepStage::Fix
                | StepStage::Commit
                | StepStage::Record => "Checking",
            };
            &format!("{verb} step {}", step.n)
        }
        (ProgramOperation::Stepping { .. }, None) => "Checking the step",
        (ProgramOperation::Reversing { .. }, _) => "Restoring files",
    };
    text.to_owned()
}

/// Returns the style of a severity before a finding: a minor one needs nobody's attention.
pub fn finding_label_style(severity: FindingSeverity) -> Style {
    match severity {
        FindingSeverity::Blocking | FindingSeverity::Major => theme::severity_style(severity),
        FindingSeverity::Minor => theme::QUIET,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_utc_is_told_as_the_users() {
        let check = |text: &str, wanted: &str| {
            assert_eq!(LocalClock(3_600).localize_utc_times(text), wanted)
        };
        check("until 23:05Z: Zeit", "until 00:05: Zeit");
        check("10:00Z und 11:30Z", "11:00 und 12:30");
        check(
            "2026-11-22T10:00Z, 25:00Z, 1:00Z, é0:00Z, Z",
            "2026-11-22T10:00Z, 25:00Z, 1:00Z, é0:00Z, Z",
        );
        check("", "");
    }

    #[test]
    fn a_count_of_tokens_has_a_unit_that_keeps_it_short() {
        let counts = [999, 1_250, 258_000, 1_000_000, 1_260_000, 42_000_000];
        let wanted = ["999", "1.2k", "258k", "1.0M", "1.2M", "42M"];
        assert_eq!(counts.map(format_tokens), wanted);
    }

    #[test]
    fn another_day_is_named() {
        // This instant is a Tuesday, 22:13 UTC.
        let now = UnixMillis(1_700_000_000_000);
        assert_eq!(
            LocalClock(0).time_with_day(UnixMillis(now.0 + 3_600_000), now),
            "23:13"
        );
        assert_eq!(
            LocalClock(0).time_with_day(UnixMillis(now.0 + 7_200_000), now),
            "Wed 00:13"
        );
        assert_eq!(
            LocalClock(7_200).time_with_day(UnixMillis(now.0 + 7_200_000), now),
            "02:13"
        );
        assert_eq!(
            (
                format_minutes(300),
                format_minutes(10_080),
                format_minutes(90)
            ),
            ("5 h".to_owned(), "7 days".to_owned(), "90 min".to_owned())
        );
    }
}
