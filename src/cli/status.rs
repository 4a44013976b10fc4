//! `agent-collab status`: where the run in this repository stands, read from its snapshot, or from its log where
//! that cannot be read.
//!
//! Takes no lock and changes nothing, so it may be asked while the run goes on.

use std::io::{self, Write};

use clap::Args;
use serde_json::{Value, json};

use crate::app::start::Refusal;
use crate::domain::discussion::{Discussion, Status};
use crate::domain::run::State;
use crate::engine::containing;
use crate::engine::lying::stands;
use crate::process::ChildSpawner;
use crate::store::InstanceLock;
use crate::text::visible;
use crate::text::{clean, clean_json_line, one_line, truncate};

use super::ChoiceArgs;
use super::checkout::Checkout;

/// Arguments of `agent-collab status`.
#[derive(Debug, Clone, Args)]
pub struct StatusArgs {
    /// Prints the whole snapshot as JSON
    #[arg(long)]
    pub json: bool,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ChoiceArgs,
}

/// How much of a discussion's topic is shown, in characters.
const TOPIC_CHARS: usize = 60;

/// Runs the command.
///
/// # Errors
/// Neither snapshot nor log can be read.
pub async fn run(args: StatusArgs) -> Result<u8, Refusal> {
    let Checkout {
        root,
        loaded,
        layout,
        ..
    } = Checkout::find(&args.choices).await?;
    let found = stands(&layout)?;
    let held = InstanceLock::read_holder(&layout)?.is_some();
    let kernel = containing::kernel(&ChildSpawner::default(), &loaded.config, &root).await;
    let holding = containing::told(&kernel, &loaded.config);
    let mut out = io::stdout();
    let written = match (found, args.json) {
        (Some(found), true) => {
            let state = serde_json::to_value(&found.state).unwrap_or_default();
            writeln!(
                out,
                "{}",
                clean_json_line(
                    &json!({ "running": held, "last_seq": found.last_seq, "run": state, "problem": found.problem, "held": as_json(&holding) })
                        .to_string()
                )
            )
        }
        (Some(found), false) => {
            let work = if held { Work::UnderWay } else { Work::AtRest };
            let run = in_words(&found.state, work);
            let damaged = damaged_line(found.problem.as_deref());
            write!(out, "{damaged}{run}{}", lines_of(&holding))
        }
        (None, true) => writeln!(
            out,
            "{}",
            json!({ "running": held, "run": null, "held": as_json(&holding) })
        ),
        (None, false) => {
            let root = visible(&root.display().to_string());
            write!(out, "no run in {root}\n{}", lines_of(&holding))
        }
    };
    Ok(crate::cli::printed(written, 0))
}

/// What of a run's files cannot be read, in a line; empty where all can.
pub(super) fn damaged_line(problem: Option<&str>) -> String {
    problem.map_or_else(String::new, |problem| {
        format!("damaged    {}\n", clean(problem))
    })
}

/// Adapters, each with what the kernel holds and what its protocol alone does.
type Holding = [(String, (String, String))];

fn as_json(holding: &Holding) -> Value {
    let told = holding.iter().map(|(name, (kernel, protocol))| {
        let told = json!({ "kernel": kernel, "protocol_only": protocol });
        (name.clone(), told)
    });
    Value::Object(told.collect())
}

fn lines_of(holding: &Holding) -> String {
    let told = holding.iter().map(|(name, (kernel, protocol))| {
        let (name, kernel) = (clean(name), clean(kernel));
        format!("held       {name}, by the kernel: {kernel}\n           {name}, by protocol only: {protocol}\n")
    });
    told.collect()
}

/// Whether anybody works on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// An instance does.
    UnderWay,
    /// Nobody does; it can be taken up.
    AtRest,
    /// It lies in the history.
    Over,
}

/// Tells where a run stands, in lines.
pub(super) fn in_words(state: &State, work: Work) -> String {
    let mut lines = Vec::new();
    let goal = state
        .goal
        .as_ref()
        .map_or("none yet", |goal| goal.title.as_str());
    lines.push(format!("goal       {}", clean(goal)));
    let runs = match work {
        Work::UnderWay => "an instance works on it",
        Work::AtRest => "nobody works on it",
        Work::Over => "it lies in the history",
    };
    lines.push(format!("phase      {} ({runs})", state.phase));
    lines.push(format!("iteration  {} of {}", state.iteration, state.cap()));
    if let Some(verdict) = &state.verdict {
        let forced = if verdict.forced {
            ", let pass by the user"
        } else {
            ""
        };
        lines.push(format!("verdict    {}{forced}", verdict.value.in_words()));
    }
    for finding in state.findings.open() {
        let remark = &finding.remark;
        lines.push(format!(
            "finding    {}. [{}] {}",
            remark.n,
            remark.severity.word(),
            clean(&remark.text)
        ));
    }
    for question in state.awaiting.iter().chain(&state.asked) {
        lines.push(format!("waits      {}", clean(&question.kind.in_words())));
    }
    if let Some(plan) = &state.plan {
        for step in &plan.plan.steps {
            lines.push(step_line(state, step));
        }
    }
    let discussions = state.discussions.iter();
    lines.extend(discussions.map(|discussion| discussion_line(discussion, work)));
    lines.push(String::new());
    lines.join("\n")
}

fn discussion_line(discussion: &Discussion, work: Work) -> String {
    let id = &discussion.order.id;
    let goes_on = || format!("`agent-collab discuss --id {id}` goes on with it");
    let stands = match (discussion.status, work) {
        (Status::Running, Work::UnderWay) => "takes place".to_owned(),
        (Status::Running, Work::AtRest) => format!("was cut off; {}", goes_on()),
        (Status::Cancelled, Work::UnderWay | Work::AtRest) => format!("was stopped; {}", goes_on()),
        (Status::Running | Status::Cancelled, Work::Over) => "did not come to its end".to_owned(),
        (Status::Completed, _) => "is over".to_owned(),
        (Status::Failed, _) => "failed".to_owned(),
    };
    let topic = truncate::to_chars(&one_line(&discussion.order.topic), TOPIC_CHARS);
    format!("discussion {id} {stands}: {topic}")
}

fn step_line(state: &State, step: &crate::domain::plan::Step) -> String {
    let done = state
        .execution
        .iter()
        .flat_map(|execution| &execution.done)
        .find(|record| record.n == step.n);
    let tested = done.map_or(String::new(), |record| {
        format!(" ({})", record.tested_in_words())
    });
    let mark = if done.is_some_and(|record| !record.is_skipped()) {
        'x'
    } else {
        ' '
    };
    format!(
        "step       {}. [{mark}] {}{tested}",
        step.n,
        clean(&step.text)
    )
}
