//! `agent-collab status`: prints the state of the run in this repository, from its snapshot, or from its log if that
//! cannot be read.
//!
//! Takes no lock and changes nothing, so it works while the run continues.

use std::io::{self, Write};

use clap::Args;
use serde_json::{Value, json};

use crate::app::startup::StartError;
use crate::domain::discussion::{DiscussionStatus, GroupDiscussion};
use crate::domain::findings::{Finding, FindingOutcome, FindingStatus};
use crate::domain::run::RunState;
use crate::domain::run_timeline::{ReviewSpan, UnopenedFiles};
use crate::engine::sandbox;
use crate::engine::stored_run::load_partial_run;
use crate::process::ChildSpawner;
use crate::store::InstanceLock;
use crate::text::escape_invisible;
use crate::text::{clean_json_line, clean_text, clean_to_one_line, truncate};

use super::ConfigFlagArguments;
use super::cli_context::CliContext;

/// Arguments of `agent-collab status`.
#[derive(Debug, Clone, Args)]
pub struct StatusArguments {
    /// Print the whole snapshot as JSON
    #[arg(long)]
    pub json: bool,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// Maximum length of a discussion's topic, in characters.
const TOPIC_CHARS: usize = 60;

/// Runs the command.
///
/// # Errors
/// Neither snapshot nor log can be read.
pub async fn run(args: StatusArguments) -> Result<u8, StartError> {
    let CliContext {
        root,
        loaded,
        layout,
        ..
    } = CliContext::load(&args.choices).await?;
    let found = load_partial_run(&layout)?;
    let held = InstanceLock::read_holder(&layout)?.is_some();
    let kernel =
        sandbox::find_sandbox_support(&ChildSpawner::default(), &loaded.config, &root).await;
    let holding = sandbox::describe_role_sandboxes(&kernel, &loaded.config);
    let mut out = io::stdout();
    let written = match (found, args.json) {
        (Some(found), true) => {
            let state = serde_json::to_value(&found.state).unwrap_or_default();
            writeln!(
                out,
                "{}",
                clean_json_line(
                    &json!({ "running": held, "last_seq": found.last_seq, "run": state, "review": review_to_json(&found.state), "problem": found.problem, "held": sandbox_to_json(&holding) })
                        .to_string()
                )
            )
        }
        (Some(found), false) => {
            let work = if held {
                RunActivity::Running
            } else {
                RunActivity::Stopped
            };
            let run = format_run(&found.state, work);
            let damaged = format_damage(found.problem.as_deref());
            write!(out, "{damaged}{run}{}", format_sandbox(&holding))
        }
        (None, true) => writeln!(
            out,
            "{}",
            json!({ "running": held, "run": null, "held": sandbox_to_json(&holding) })
        ),
        (None, false) => {
            let root = escape_invisible(&root.display().to_string());
            write!(out, "no run in {root}\n{}", format_sandbox(&holding))
        }
    };
    Ok(crate::cli::exit_code_after_print(written, 0))
}

/// Returns what the reviews of a run came to: how they ended, the findings by what became of them, and what the reviewer
/// did not open (`null` where that is not known).
pub(super) fn review_to_json(state: &RunState) -> Value {
    let numbers = |findings: &mut dyn Iterator<Item = &Finding>| {
        findings
            .map(|finding| finding.remark.n)
            .collect::<Vec<u32>>()
    };
    let is_rebutted = |finding: &&Finding| finding.status == FindingStatus::Rebutted;
    let unopened = state
        .last_review()
        .and_then(|review| review.unopened.as_ref());
    json!({
        "ended": state.describe_review_end(),
        "open": numbers(&mut state.findings.open()),
        "disputed": numbers(&mut state.findings.disputed()),
        "residual": numbers(&mut state.findings.residual()),
        "rebutted": numbers(&mut state.findings.all().iter().filter(is_rebutted)),
        "unopened": match unopened {
            Some(UnopenedFiles::Files(files)) => Some(files),
            Some(UnopenedFiles::Unknown) | None => None,
        },
    })
}

/// Formats what is unreadable in the run's files, in one line; empty if nothing.
pub(super) fn format_damage(problem: Option<&str>) -> String {
    problem.map_or_else(String::new, |problem| {
        format!("damaged    {}\n", clean_text(problem))
    })
}

/// Each adapter with what the kernel contains and what only its protocol does.
type AdapterSandboxSummary = [(String, (String, String))];

fn sandbox_to_json(holding: &AdapterSandboxSummary) -> Value {
    let told = holding.iter().map(|(name, (kernel, protocol))| {
        let told = json!({ "kernel": kernel, "protocol_only": protocol });
        (name.clone(), told)
    });
    Value::Object(told.collect())
}

fn format_sandbox(holding: &AdapterSandboxSummary) -> String {
    let told = holding.iter().map(|(name, (kernel, protocol))| {
        let (name, kernel) = (clean_text(name), clean_text(kernel));
        format!(
            "sandbox    {name}: {kernel}\n           {name}, checked by protocol only: {protocol}\n"
        )
    });
    told.collect()
}

/// Whether an instance works on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunActivity {
    /// An instance works on it.
    Running,
    /// No instance works on it; it can be resumed.
    Stopped,
    /// It is in the history.
    Archived,
}

/// Formats the state of a run, in several lines.
pub(super) fn format_run(state: &RunState, work: RunActivity) -> String {
    let mut lines = Vec::new();
    let goal = state
        .goal
        .as_ref()
        .map_or("none yet", |goal| goal.title.as_str());
    lines.push(format!("goal       {}", clean_text(goal)));
    let runs = match work {
        RunActivity::Running => "running",
        RunActivity::Stopped => "not running",
        RunActivity::Archived => "in the history",
    };
    lines.push(format!("phase      {} ({runs})", state.phase.label()));
    lines.push(format!(
        "review     {} of {}",
        state.iteration,
        state.iteration_limit()
    ));
    if let Some(verdict) = &state.verdict {
        let forced = if verdict.forced {
            ", forced by you"
        } else {
            ""
        };
        lines.push(format!("verdict    {}{forced}", verdict.value.label()));
    }
    if let Some(end) = state.describe_review_end() {
        lines.push(format!("ended      {}", clean_text(&end)));
    }
    if let Some(unopened) = state.last_review().and_then(ReviewSpan::describe_unopened) {
        lines.push(format!("reviewer   {}", clean_text(&unopened)));
    }
    let is_rejected = |finding: &&Finding| finding.outcome() == FindingOutcome::Rejected;
    let rejected = state.findings.all().iter().filter(is_rejected);
    let line = |finding: &Finding| clean_text(&finding.describe_in_line());
    for finding in state.findings.open() {
        let why = finding.status_note();
        let why = why.map_or(String::new(), |why| format!(" ({why})"));
        lines.push(format!("finding    {}{why}", line(finding)));
    }
    let left = state.findings.residual();
    lines.extend(left.map(|finding| format!("left open  {}", line(finding))));
    lines.extend(rejected.map(|finding| format!("rejected   {}", line(finding))));
    for question in state.awaiting.iter().chain(&state.asked) {
        lines.push(format!(
            "waiting    {}",
            clean_text(&question.kind.describe())
        ));
    }
    if let Some(plan) = &state.plan {
        for step in &plan.plan.steps {
            lines.push(format_step(state, step));
        }
    }
    let discussions = state.discussions.iter();
    lines.extend(discussions.map(|discussion| format_discussion(discussion, work)));
    lines.push(String::new());
    lines.join("\n")
}

fn format_discussion(discussion: &GroupDiscussion, work: RunActivity) -> String {
    let id = &discussion.order.id;
    let goes_on = || format!("`agent-collab discuss --id {id}` continues it");
    let stands = match (discussion.status, work) {
        (DiscussionStatus::Running, RunActivity::Running) => "is running".to_owned(),
        (DiscussionStatus::Running, RunActivity::Stopped) => {
            format!("was interrupted; {}", goes_on())
        }
        (DiscussionStatus::Cancelled, RunActivity::Running | RunActivity::Stopped) => {
            format!("was stopped; {}", goes_on())
        }
        (DiscussionStatus::Running | DiscussionStatus::Cancelled, RunActivity::Archived) => {
            "did not finish".to_owned()
        }
        (DiscussionStatus::Completed, _) => "finished".to_owned(),
        (DiscussionStatus::Failed, _) => "failed".to_owned(),
    };
    let topic = truncate::to_chars(&clean_to_one_line(&discussion.order.topic), TOPIC_CHARS);
    format!("discussion {id} {stands}: {topic}")
}

fn format_step(state: &RunState, step: &crate::domain::plan::Step) -> String {
    let done = state
        .execution
        .iter()
        .flat_map(|execution| &execution.done)
        .find(|record| record.n == step.n);
    let tested = done.map_or(String::new(), |record| {
        format!(" ({})", record.describe_tests())
    });
    let mark = if done.is_some_and(|record| !record.is_skipped()) {
        'x'
    } else {
        ' '
    };
    format!(
        "step       {}. [{mark}] {}{tested}",
        step.n,
        clean_text(&step.text)
    )
}
