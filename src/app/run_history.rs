//! Lists the finished runs of a repository from their snapshots.
//!
//! Reads a log only if the snapshot is unreadable, so that a list of many long runs costs one small file each. Changes
//! nothing.

use std::path::PathBuf;

use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::{Value, json};

use crate::app::local_timezone;
use crate::app::startup::StartError;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::plan_execution::StepOutcome;
use crate::domain::run::RunState;
use crate::engine::stored_run::load_partial_run;
use crate::store::run_archives::{self, RunArchive};
use crate::store::{StoreError, WorkdirLayout};
use crate::text::{clean_to_one_line, pluralize};

/// The name of a run that is over but not archived yet.
const LATEST_NAME: &str = "latest";

/// A run in the history.
#[derive(Debug, Clone)]
pub struct RunHistoryEntry {
    /// The name of its directory; also opens the run.
    pub name: String,
    /// When it was archived.
    pub date: Date,
    pub layout: WorkdirLayout,
    /// The summary from its snapshot or its log; else what is wrong with them.
    pub summary: Result<RunHistorySummary, String>,
    /// What could not be read, if the log supplied the rest.
    pub problem: Option<String>,
}

/// The facts about a run that a list shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunHistorySummary {
    /// When the run was created.
    pub created: UnixMillis,
    /// The goal's title; empty if the run has no goal.
    pub title: String,
    /// The last phase.
    pub phase: Phase,
    /// Number of steps done.
    pub n_done: usize,
    /// Number of steps in the plan.
    pub n_steps: usize,
    pub n_commits: usize,
    /// The adapters of planner and reviewer.
    pub agents: Vec<String>,
}

impl RunHistorySummary {
    /// Says how many steps are done, as `2 of 3 steps`.
    fn steps_label(&self) -> String {
        format!("{} of {}", self.n_done, pluralize(self.n_steps, "step"))
    }
}

/// Lists the finished runs, latest first, without those that had only tasks.
///
/// # Errors
/// The history cannot be listed. A run that cannot be read is listed with its problem.
pub fn list_runs(layout: &WorkdirLayout) -> Result<Vec<RunHistoryEntry>, StoreError> {
    let archived = run_archives::list_archives(layout)?
        .into_iter()
        .filter_map(read_archive);
    let mut runs: Vec<RunHistoryEntry> = latest_finished_run(layout)
        .into_iter()
        .chain(archived)
        .collect();
    let created = |run: &RunHistoryEntry| run.summary.as_ref().ok().map(|told| told.created);
    runs.sort_by(|a, b| {
        let by = |run: &RunHistoryEntry| (run.date, created(run), run.name.clone());
        by(b).cmp(&by(a))
    });
    Ok(runs)
}

/// Returns the run that is over but not archived yet: the start of the next run archives it.
fn latest_finished_run(layout: &WorkdirLayout) -> Option<RunHistoryEntry> {
    let latest = |made: Timestamp, told, problem| RunHistoryEntry {
        name: LATEST_NAME.to_owned(),
        date: made.to_zoned(local_timezone::local_timezone()).date(),
        layout: layout.clone(),
        summary: told,
        problem,
    };
    match load_partial_run(layout) {
        Ok(found) => {
            let found = found.filter(|found| found.state.phase.is_final())?;
            let made = Timestamp::from_millisecond(found.state.created.0).ok()?;
            Some(latest(
                made,
                Ok(summarize_state(&found.state)),
                found.problem,
            ))
        }
        // Whether the run is over is unknown; list it so that the user learns of it.
        Err(error) => {
            let written = layout.state().metadata().and_then(|meta| meta.modified());
            let written = written.ok().and_then(|at| Timestamp::try_from(at).ok());
            let made = written.unwrap_or_else(Timestamp::now);
            Some(latest(
                made,
                Err(clean_to_one_line(&error.to_string())),
                None,
            ))
        }
    }
}

/// Reads an archived run; `None` if it has neither a goal nor a discussion: tasks from the command line leave such
/// runs.
fn read_archive(archive: RunArchive) -> Option<RunHistoryEntry> {
    let (told, problem) = match load_partial_run(&archive.layout) {
        Ok(Some(found)) if is_empty_run(&found.state) => return None,
        Ok(Some(found)) => (Ok(summarize_state(&found.state)), found.problem),
        Ok(None) => {
            let cut_off = "state.json is missing: the run was interrupted before its first event";
            (Err(cut_off.to_owned()), None)
        }
        Err(error) => (Err(clean_to_one_line(&error.to_string())), None),
    };
    Some(RunHistoryEntry {
        name: archive.name,
        date: archive.date,
        layout: archive.layout,
        summary: told,
        problem,
    })
}

fn is_empty_run(state: &RunState) -> bool {
    state.goal.is_none() && state.discussions.is_empty()
}

fn summarize_state(state: &RunState) -> RunHistorySummary {
    let done = state.execution.iter().flat_map(|execution| &execution.done);
    let is_commit = |outcome: &StepOutcome| matches!(outcome, StepOutcome::Committed { .. });
    let sessions = [Some(&state.planner), state.reviewer.as_ref()];
    let steps = state.step_count();
    RunHistorySummary {
        created: state.created,
        title: state
            .goal
            .as_ref()
            .map_or_else(String::new, |goal| clean_to_one_line(&goal.title)),
        phase: state.phase,
        n_done: steps.done,
        n_steps: steps.all,
        n_commits: done.filter(|step| is_commit(&step.outcome)).count(),
        agents: sessions
            .into_iter()
            .flatten()
            .map(|session| clean_to_one_line(&session.adapter))
            .collect(),
    }
}

/// Finds a run by its number in the list (1 is the latest), its name, or a part of only one name.
///
/// # Errors
/// No run or several runs match; the text says which.
pub fn find_run<'a>(
    runs: &'a [RunHistoryEntry],
    wanted: &str,
) -> Result<&'a RunHistoryEntry, String> {
    if let Ok(n) = wanted.parse::<usize>() {
        let run = n.checked_sub(1).and_then(|at| runs.get(at));
        return run.ok_or_else(|| format!("no finished run {n}, the history has {}", runs.len()));
    }
    if let Some(run) = runs.iter().find(|run| run.name == wanted) {
        return Ok(run);
    }
    let mut like = runs.iter().filter(|run| run.name.contains(wanted));
    match (like.next(), like.next()) {
        (Some(run), None) => Ok(run),
        (None, _) => Err(format!(
            "no finished run is named `{}`",
            clean_to_one_line(wanted)
        )),
        (Some(_), Some(_)) => Err(format!(
            "several finished runs match `{}`",
            clean_to_one_line(wanted)
        )),
    }
}

/// Lists the runs and finds one, as [`find_run`] does. Blocks.
///
/// # Errors
/// The runs cannot be listed; none or several match.
pub fn load_run(layout: &WorkdirLayout, wanted: &str) -> Result<RunHistoryEntry, StartError> {
    let runs = list_runs(layout)?;
    let run = find_run(&runs, wanted).map_err(|problem| StartError::new(problem, ""))?;
    Ok(run.clone())
}

impl RunHistoryEntry {
    /// Returns whether it was archived before its end.
    pub fn is_unfinished(&self) -> bool {
        let told = self.summary.as_ref();
        told.is_ok_and(|told| !told.phase.is_final())
    }

    /// Returns the last phase as a label.
    pub fn end_label(&self) -> String {
        match &self.summary {
            Ok(told) if told.phase.is_final() => told.phase.label().to_owned(),
            Ok(told) => format!("unfinished in {}", told.phase.label()),
            Err(_) => "damaged".to_owned(),
        }
    }

    /// Returns the goal's title, or what is wrong with the files.
    pub fn subject(&self) -> &str {
        match &self.summary {
            Ok(told) if told.title.is_empty() => "without a goal",
            Ok(told) => &told.title,
            Err(problem) => problem,
        }
    }

    /// Returns the number of steps and commits as a label; `None` if the run cannot be read.
    pub fn progress_label(&self) -> Option<String> {
        let told = self.summary.as_ref().ok()?;
        let commits = pluralize(told.n_commits, "commit");
        Some(format!("{}, {commits}", told.steps_label()))
    }

    /// Returns the steps of a run that is done, as `3 of 3 steps`, else in a word how it ended.
    pub fn short_result(&self) -> String {
        match &self.summary {
            Ok(told) if told.phase == Phase::Done => told.steps_label(),
            Ok(told) if told.phase.is_final() => told.phase.label().to_lowercase(),
            Ok(_) => "unfinished".to_owned(),
            Err(_) => "damaged".to_owned(),
        }
    }

    /// Returns everything as JSON; `n` is the number in the list.
    pub fn to_json(&self, n: usize) -> Value {
        let mut fields = json!({
            "n": n,
            "name": self.name,
            "date": self.date.to_string(),
            "path": self.directory(),
        });
        let more = match &self.summary {
            Ok(told) => json!({
                "title": told.title,
                "phase": told.phase.name(),
                "finished": told.phase.is_final(),
                "steps_done": told.n_done,
                "steps": told.n_steps,
                "commits": told.n_commits,
                "agents": told.agents,
                "problem": self.problem,
            }),
            Err(problem) => json!({ "problem": problem }),
        };
        if let (Value::Object(fields), Value::Object(more)) = (&mut fields, more) {
            fields.extend(more);
        }
        fields
    }

    /// Returns the run's directory.
    pub fn directory(&self) -> PathBuf {
        self.layout.workdir().to_path_buf()
    }
}
