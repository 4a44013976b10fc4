//! `agent-collab undo`: undoes steps of the run in this repository, or redoes them.
//!
//! Prints what would happen and does it only with `--yes`. Needs the lock, so no instance may run.

use std::io::{self, Write};

use clap::Args;

use crate::app::startup::{self, RunCommitMode, StartError, StartOptions};
use crate::domain::event::Event;
use crate::domain::reversal_plan::{
    FileReversalKind, ReversalPreview, UndoRequest, replaced_files_hint, steps_label,
};
use crate::engine::tree_reversal::preview_reversals;
use crate::engine::{Engine, EngineError, ViewUpdate};

use super::ConfigFlagArguments;

/// Arguments of `agent-collab undo`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Without --step, undoes the last step that changed something. Only files that the steps changed are restored. \
                        The replaced versions are kept under refs/agent-collab/. Commits are reverted by a new commit.\n\n\
                        Example:\n  agent-collab undo --step 2 --yes"
)]
pub struct UndoArguments {
    /// Undo this step and all later ones
    #[arg(long, value_name = "N")]
    pub step: Option<u32>,
    /// Redo what was undone last
    #[arg(long, conflicts_with = "step")]
    pub redo: bool,
    /// Do it; without this flag, only show what would happen
    #[arg(long)]
    pub yes: bool,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// Runs the command.
///
/// # Errors
/// There is no run, another instance has the lock, or nothing can be undone.
pub async fn run(args: UndoArguments) -> Result<u8, StartError> {
    let wishes =
        StartOptions::without_turns(super::current_dir()?, args.choices.to_config_flags()?);
    let wish = match (args.step, args.redo) {
        (_, true) => UndoRequest::Redo,
        (Some(step), false) => UndoRequest::BackTo(step),
        (None, false) => UndoRequest::Last,
    };
    let mut occupied = startup::lock_project_with_run(&wishes).await?;
    let started = startup::reopen_run(&mut occupied, &wishes, RunCommitMode::Enabled).await?;
    let mut engine = started.engine;
    let offer = match choose_reversal(&engine, wish).await {
        Ok(offer) => offer,
        Err(why) => {
            let hint = "`agent-collab status` lists the steps, `agent-collab diff --step N` shows what one changed";
            return Err(StartError::new(why, hint));
        }
    };
    let mut out = io::stdout();
    let told = print_preview(&offer, &mut out);
    told.map_err(|error| StartError::new(format!("cannot print: {error}"), ""))?;
    if !args.yes {
        return Err(StartError {
            problem: "nothing was changed yet".to_owned(),
            hint: "repeat with --yes to do it".to_owned(),
            code: 3,
        });
    }
    apply_reversal(&mut engine, &offer).await
}

async fn choose_reversal(engine: &Engine, wish: UndoRequest) -> Result<ReversalPreview, String> {
    let state = engine.state();
    if state.running.is_some() || state.busy.is_some() {
        return Err("this run was interrupted: run `agent-collab resume` first".to_owned());
    }
    if let Some(why) = state.undo_blocker() {
        return Err(why);
    }
    let execution = state.execution.as_ref();
    let execution = execution.ok_or("no step has changed anything yet")?;
    // The flag decides between undo and redo; without `--step`, undo the last step.
    let wish = match wish {
        UndoRequest::Last => UndoRequest::BackTo(
            *execution
                .undoable_steps()
                .first()
                .ok_or("no step to undo; --redo restores what was undone")?,
        ),
        other => other,
    };
    let offers = preview_reversals(
        engine.repository(),
        &engine.reversal_commit_repository(),
        execution,
        wish,
    )
    .await?;
    let first = offers.into_iter().next();
    first.ok_or_else(|| "nothing to undo".to_owned())
}

fn print_preview(offer: &ReversalPreview, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} {}", offer.way.verb(), steps_label(&offer.steps))?;
    for (fate, file) in &offer.files {
        let sign = match fate {
            FileReversalKind::Modify => '~',
            FileReversalKind::Restore => '+',
            FileReversalKind::Delete => '-',
        };
        writeln!(out, "  {sign} {file}")?;
    }
    for file in &offer.user_edited {
        writeln!(out, "  changed since, restored anyway: {file}")?;
    }
    if let Some(step) = offer.unfinished {
        writeln!(
            out,
            "  step {step} is not finished: all changes since it started are removed"
        )?;
    }
    for (commit, subject) in &offer.commits {
        writeln!(out, "  reverts {commit} {subject}")?;
    }
    if let Some(subject) = &offer.commit_subject {
        writeln!(out, "  commits {subject}")?;
    }
    out.flush()
}

/// Applies the reversal that was shown, and waits for its end.
async fn apply_reversal(engine: &mut Engine, offer: &ReversalPreview) -> Result<u8, StartError> {
    let failed = |error: EngineError| StartError::new(error, "everything recorded so far is kept");
    let asked = engine.apply_event(Event::UndoAsked {
        way: offer.way,
        seen: offer.inspected_tree.clone(),
    });
    asked.map_err(failed)?;
    while engine.state().busy.is_some() && engine.outcome().is_none() {
        let inward = engine.next_input().await;
        engine.handle_input(inward).map_err(failed)?;
    }
    let updates = engine.take_view_updates().into_iter();
    let records: Vec<_> = updates.filter_map(ViewUpdate::into_record).collect();
    engine.shut_down().await;
    for record in &records {
        if let Event::WarningRaised { what, message } = &record.event {
            let _closed = writeln!(io::stderr(), "note: failed to {what}: {message}");
        }
    }
    let end = records.iter().find_map(|record| match &record.event {
        Event::UndoFinished { kept, commit, .. } => Some(Ok((kept.clone(), commit.clone()))),
        Event::UndoFailed { reason } => Some(Err(reason.clone())),
        Event::EffectFailed { what, message } => Some(Err(format!("{what}: {message}"))),
        _ => None,
    });
    match end {
        Some(Ok((kept, commit))) => {
            let done = offer.way.describe_result(&offer.steps, commit.as_deref());
            let _closed = writeln!(io::stdout(), "{done}\n{}", replaced_files_hint(&kept));
            Ok(0)
        }
        Some(Err(reason)) => Err(StartError::new(reason, "the files are unchanged")),
        None => Err(StartError::new(
            "the run did not react",
            "check `agent-collab status`",
        )),
    }
}
