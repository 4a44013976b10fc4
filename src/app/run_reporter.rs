//! Reports a headless run as it proceeds: lines of text for people, or the events themselves for programs.
//!
//! Prints without cleaning: text is cleaned when it becomes an event.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::domain::discussion::DiscussionEvent;
use crate::domain::event::{AgentActivity, ApprovalDecider, Event};
use crate::domain::ids::RequestId;
use crate::domain::missing_part;
use crate::domain::phase::{Gate, Phase};
use crate::domain::plan_execution::StepAssessment;
use crate::domain::question::CommitTarget;
use crate::domain::reversal_plan::steps_label;
use crate::domain::session::version_label;
use crate::domain::todo_list::{TodoItem, TodoList, TodoStatus};
use crate::domain::turn::{Role, TurnOutcome};
use crate::store::EventLogRecord;
use crate::text::pluralize;

/// The output format of a headless run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
    /// One or a few lines of text for each important event.
    Lines,
    /// The envelope of each event, one JSON object per line, as in `events.jsonl`.
    Json,
}

/// Prints records; remembers requests, to print a request and its decision in one line.
pub struct RunReporter<'a> {
    out: &'a mut dyn Write,
    pub format: ReportFormat,
    /// The requested permission and targets, by request.
    pending_approvals: BTreeMap<RequestId, String>,
    /// The number of the current review, from 1.
    review_number: u32,
}

impl<'a> RunReporter<'a> {
    /// Creates a reporter that prints to `out`.
    pub fn new(out: &'a mut dyn Write, form: ReportFormat) -> Self {
        Self {
            out,
            format: form,
            pending_approvals: BTreeMap::new(),
            review_number: 0,
        }
    }

    /// Prints a line that is not an event.
    ///
    /// # Errors
    /// The output is closed.
    pub fn print_line(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.out, "{line}")?;
        self.out.flush()
    }

    /// Prints records in order.
    ///
    /// # Errors
    /// The output is closed.
    pub fn print_records(&mut self, records: &[EventLogRecord<Event>]) -> io::Result<()> {
        for record in records {
            self.print_record(record)?;
        }
        self.out.flush()
    }

    fn print_record(&mut self, record: &EventLogRecord<Event>) -> io::Result<()> {
        let (out, form) = (&mut *self.out, self.format);
        if form == ReportFormat::Json {
            return print_event_record(out, form, record);
        }
        match &record.event {
            Event::ApprovalRequested(approval) => {
                let what = format!("{} {}", approval.permission, approval.targets.join(", "));
                self.pending_approvals
                    .insert(approval.request.clone(), what);
                Ok(())
            }
            Event::ApprovalDecided {
                request,
                allowed,
                by,
                reason,
                ..
            } => {
                let what = self.pending_approvals.remove(request).unwrap_or_default();
                match (*allowed, by) {
                    // If the phase itself allows the call, the tool call is printed without a decision.
                    (true, ApprovalDecider::Permission) => Ok(()),
                    (true, by) => writeln!(out, "  allowed by {by}: {what}"),
                    (false, _) => writeln!(out, "  denied: {what} ({reason})"),
                }
            }
            Event::PhaseChanged {
                to: Phase::Review, ..
            } => {
                self.review_number += 1;
                writeln!(out, "── {} {}", Phase::Review.label(), self.review_number)
            }
            Event::PhaseChanged {
                to: Phase::Respond, ..
            } => writeln!(out, "── Answers to review {}", self.review_number),
            _ => print_event_record(out, form, record),
        }
    }
}

fn print_event_record(
    out: &mut dyn Write,
    form: ReportFormat,
    record: &EventLogRecord<Event>,
) -> io::Result<()> {
    match form {
        ReportFormat::Json => {
            let line = record.to_line().map_err(io::Error::other)?;
            writeln!(out, "{line}")
        }
        ReportFormat::Lines => match describe_event(&record.event) {
            Some(text) => writeln!(out, "{text}"),
            None => Ok(()),
        },
    }
}

/// Describes an event in one or a few lines; `None` if there is nothing to print.
#[expect(
    clippy::too_many_lines,
    reason = "one arm an event that is told: a list to read"
)]
pub fn describe_event(event: &Event) -> Option<String> {
    Some(match event {
        Event::GoalConfirmed { title, .. } => format!("goal: {title}"),
        Event::PhaseChanged { to, .. } => format!("── {}", to.label()),
        Event::SessionVersion {
            role,
            adapter,
            version,
        } => format!("{} runs {}", role.name(), version_label(adapter, version)),
        Event::SessionLost { role, reason } => {
            format!(
                "{}: session lost ({reason}), a new one continues with a recovery prompt",
                role.name()
            )
        }
        Event::SessionMoved { role, adapter, .. } => {
            format!(
                "the {} continues on {adapter} with a recovery prompt",
                role.name()
            )
        }
        Event::SessionStayed { role, reason } => {
            format!("the {} stays on its CLI: {reason}", role.name())
        }
        Event::GateChanged { gate } => match gate {
            Gate::Auto => "auto: turns are sent automatically".to_owned(),
            Gate::Manual => "manual: every turn waits for you".to_owned(),
        },
        Event::ModeChanged { mode } => format!("mode {}: {}", mode.label(), mode.describe()),
        Event::LimitPassed { .. } => "the usage limit has reset".to_owned(),
        Event::Agent { role, news, .. } => return describe_agent_activity(*role, news),
        Event::TurnEnded {
            result: TurnOutcome::Failed { kind, message, .. },
            ..
        } => {
            format!("the turn failed ({kind}): {message}")
        }
        Event::TurnEnded {
            result: TurnOutcome::Interrupted,
            ..
        } => "the turn was interrupted".to_owned(),
        Event::PlanCommitted { plan, .. } => {
            let steps: Vec<String> = plan
                .steps
                .iter()
                .map(|step| format!("   {}. {}", step.n, step.text))
                .collect();
            format!(
                "the plan: {}\n{}",
                pluralize(plan.steps.len(), "step"),
                steps.join("\n")
            )
        }
        Event::ReviewCommitted { review, .. } => describe_review(review),
        Event::ResponseCommitted {
            responses,
            unanswered,
            plan,
            ..
        } => {
            let plan = if plan.is_some() {
                "plan changed"
            } else {
                "plan unchanged"
            };
            let left: Vec<String> = unanswered.iter().map(u32::to_string).collect();
            let left = if left.is_empty() {
                String::new()
            } else {
                format!("; unanswered: {}", left.join(", "))
            };
            format!(
                "answered {}, {plan}{left}",
                pluralize(responses.len(), "finding")
            )
        }
        Event::TaskStarted(order) if order.speaks.is_some() => {
            format!("  {} is answering", order.short_name())
        }
        Event::TaskStarted(order) => order.describe_start(),
        Event::Discussion { news, .. } => return describe_discussion_event(news),
        Event::TaskPatched { patch, .. } if patch.is_settled() => {
            format!("  {}", patch.describe())
        }
        Event::TaskEnded(result) => format!(
            "task {} {}: {}",
            result.display_name(),
            result.end.status().name(),
            result.end.user_message().lines().next().unwrap_or_default()
        ),
        Event::DocumentMissing { reason, .. } => format!("no document: {reason}"),
        Event::DocumentIncomplete { lacks, .. } => {
            format!(
                "asked again: {}",
                missing_part::describe_missing_parts(lacks)
            )
        }
        Event::QuestionAsked { question } => format!("? {}", question.kind.describe()),
        Event::ApprovalDecided {
            allowed: false,
            reason,
            ..
        } => format!("  denied: {reason}"),
        Event::ApprovalExpired { approval, reason } => {
            format!(
                "  expired without an answer: {} ({reason})",
                approval.describe()
            )
        }
        Event::ExecutionEntered { terms, .. } => match &terms.commits {
            CommitTarget::Off { reason } => format!("commits are off: {reason}"),
            CommitTarget::Current { branch } | CommitTarget::New { branch } => {
                format!("commits go to {branch}")
            }
        },
        Event::StepAudited(audit) if audit.changed.is_empty() => {
            format!("step {}: {}", audit.step, StepAssessment::CHANGED_NOTHING)
        }
        Event::StepAudited(audit) => {
            format!(
                "step {}: {} changed",
                audit.step,
                pluralize(audit.changed.len(), "file")
            )
        }
        Event::EditsPutBack { step, paths, .. } => {
            format!(
                "step {step}: restored to before the step: {}",
                paths.join(", ")
            )
        }
        Event::BaselineRan(baseline) => baseline.describe(),
        Event::BaselineSkipped { reason } => format!("no test run before step 1: {reason}"),
        Event::TestsRan { step, receipt, .. } => {
            format!("step {step}: {}", receipt.describe_with_origin())
        }
        Event::CommitMade {
            commit, message, ..
        } => {
            format!(
                "commit {} {message}",
                commit.chars().take(12).collect::<String>()
            )
        }
        Event::CommitSkipped { step, reason } => format!("step {step}: no commit, {reason}"),
        Event::CommitFailed { step, message } => {
            format!("step {step}: the commit failed: {message}")
        }
        Event::UndoFinished { way, steps, .. } => {
            format!("{} {}", steps_label(steps), way.past_participle())
        }
        Event::UndoFailed { reason } => format!("nothing was undone: {reason}"),
        Event::StoreTampered { files } => {
            let names: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
            format!("restored: {}", names.join(", "))
        }
        Event::TodosWritten { todos, .. } => describe_todos(todos),
        Event::AnswerPending { .. } => {
            "the agent ended its turn without your answer and gets it with its next turn".to_owned()
        }
        Event::PlanEntered { reason } => format!("back to planning: {reason}"),
        Event::LateResultReceived { role, text } => format!("for the {}: {text}", role.name()),
        Event::ToolBlocked { tool, reason, .. } => format!("the tool {tool} was blocked: {reason}"),
        Event::EffectFailed { what, message } => format!("failed to {what}: {message}"),
        Event::WarningRaised { what, message } => {
            format!("failed to {what}, the run continues: {message}")
        }
        _ => return None,
    })
}

fn describe_todos(todos: &TodoList) -> String {
    let mark = |status| match status {
        TodoStatus::Pending => " ",
        TodoStatus::InProgress => "~",
        TodoStatus::Completed => "x",
    };
    let done = todos.count_by_status(TodoStatus::Completed);
    let mut lines = vec![format!(
        "todos: {done} of {} completed",
        todos.items().len()
    )];
    let todo = |todo: &TodoItem| format!("   [{}] {}", mark(todo.status), todo.content);
    lines.extend(todos.items().iter().map(todo));
    lines.join("\n")
}

fn describe_discussion_event(news: &DiscussionEvent) -> Option<String> {
    match news {
        DiscussionEvent::Begun { order } => Some(format!("discussion started: {}", order.topic)),
        DiscussionEvent::Ended { outcome } => {
            let decided = outcome.decision.as_ref();
            let decided = decided.map_or("no decision".to_owned(), ToString::to_string);
            let (basis, stop) = (outcome.basis.as_str(), outcome.stop.describe());
            Some(format!("discussion finished: {decided} ({basis}), {stop}"))
        }
        DiscussionEvent::CutOff => Some("the discussion was interrupted".to_owned()),
        DiscussionEvent::SpeechBegan { .. }
        | DiscussionEvent::Spoke { .. }
        | DiscussionEvent::CheckBegan { .. }
        | DiscussionEvent::Checked { .. }
        | DiscussionEvent::StopAsked { .. }
        | DiscussionEvent::Continued => None,
    }
}

fn describe_review(review: &crate::domain::review::ReviewDocument) -> String {
    let mut lines = vec![format!("review: {}", review.verdict.label())];
    for remark in &review.remarks {
        lines.push(format!(
            "   {}. [{}] {}",
            remark.n,
            remark.severity.as_str(),
            crate::text::clean_text(&remark.text)
        ));
    }
    if !review.consistent {
        lines.push(
            "   its verdict and findings disagree, so it counts as changes required".to_owned(),
        );
    }
    lines.join("\n")
}

fn describe_agent_activity(role: Role, news: &AgentActivity) -> Option<String> {
    let who = role.name();
    Some(match news {
        AgentActivity::Text { text } => {
            let text = text.trim_end().replace('\n', &format!("\n{who} │ "));
            format!("{who} │ {text}")
        }
        AgentActivity::ToolStarted { tool, title, .. } => format!("  {tool}: {title}"),
        AgentActivity::CallDenied { tool, reason } => {
            format!("  the CLI refused {tool}: {reason}")
        }
        AgentActivity::Retrying { reason } => format!("  the CLI retries: {reason}"),
        AgentActivity::Silent { seconds, verdict } => {
            let why = verdict.as_ref().map(|why| format!("; {why}"));
            let why = why.unwrap_or_default();
            format!("  no output from the {who} for {seconds} s{why}")
        }
        AgentActivity::Malformed { problem } => {
            format!("  unreadable line from the CLI: {problem}")
        }
        AgentActivity::Notice { text } => format!("  {text}"),
        AgentActivity::Unknown { frame } => {
            format!("  · unknown message from the CLI: {frame}")
        }
        AgentActivity::Thinking { .. }
        | AgentActivity::ToolEnded { .. }
        | AgentActivity::FilesChanged { .. } => {
            return None;
        }
    })
}
