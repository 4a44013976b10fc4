//! `agent-collab resume`: continues the run in which the program ended, without a screen.

use std::io::{self, Write};

use clap::{Args, ValueEnum};
use strum::IntoStaticStr;

use crate::app::headless::{HeadlessCommand, UnconfirmedGoal};
use crate::app::startup::{
    StartError, StartOptions, UnarchivedRun, UnfinishedRunPolicy, lock_and_unarchive_run,
};
use crate::domain::phase::Mode;
use crate::text::clean_text;

use super::run::{HeadlessRunArguments, run_headless};
use super::screen::screen_options;
use crate::app::terminal::DisplayMode;
use crate::app::tui_loop::{self, TuiStart};

/// Arguments of `agent-collab resume`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "A turn that was interrupted before Execute is repeated. A goal that no agent has discussed yet counts as \
                        confirmed. In Execute, --on-step says what to do with the step that \
                        was interrupted.\n\n\
                        Example:\n  agent-collab resume --auto --yes-execute --on-step continue\n  \
                        agent-collab resume 2 --auto       # the second of `agent-collab history`"
)]
pub struct ResumeArguments {
    /// An unfinished run to restore from the history: its number in `agent-collab history`,
    /// its name or part of it; the current run must be finished and moves to the history
    #[arg(value_name = "NAME|N")]
    pub run: Option<String>,
    /// What to do with a step that was interrupted
    #[arg(long, value_name = "WHAT")]
    pub on_step: Option<OnStepFlag>,
    /// Confirm a goal that was discussed, as you gave it
    #[arg(long)]
    pub yes_goal: bool,
    /// Open the screen in linear mode in place of running headless; takes no other flags
    #[arg(long, exclusive = true)]
    pub linear: bool,
    /// How the run is conducted.
    #[command(flatten)]
    pub conduct: HeadlessRunArguments,
}

/// `--on-step`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum OnStepFlag {
    /// Continue from the current files
    Continue,
    /// Accept the current files as the step's result; test and commit them
    Done,
    /// Restore the files from before the step and start it again
    Redo,
    /// Go back to the goal
    Stop,
}

impl OnStepFlag {
    fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Runs the command.
///
/// # Errors
/// The flags do not fit together, or there is no run to resume.
pub async fn run(args: ResumeArguments) -> Result<u8, StartError> {
    if args.linear {
        let choices = args.conduct.choices.to_config_flags()?;
        let mut opening = screen_options(choices, TuiStart::Resume)?;
        opening.display = DisplayMode::Linear;
        return tui_loop::run_tui(opening).await;
    }
    let mut conducted = args.conduct;
    if let Some(wanted) = &args.run {
        let wishes = StartOptions::without_turns(
            super::current_dir()?,
            conducted.choices.to_config_flags()?,
        );
        let back = lock_and_unarchive_run(&wishes, wanted).await?;
        let told = clean_text(&back.describe());
        if !back.has_goal() {
            let told = format!("{told}\n{}", format_next_actions(&back));
            return Ok(crate::cli::print_output(&told));
        }
        // If standard error is closed, there is nowhere left to report it.
        let _closed = writeln!(io::stderr(), "note: {told}");
    }
    conducted.answers.extend(
        args.on_step
            .map(|what| format!("step_recovery={}", what.as_str())),
    );
    let goal = if args.yes_goal {
        UnconfirmedGoal::Accept
    } else {
        UnconfirmedGoal::WaitForUser
    };
    run_headless(
        &conducted,
        HeadlessCommand::Resume(goal),
        UnfinishedRunPolicy::Refuse,
        Mode::Default,
    )
    .await
}

/// Lists what the user can do in a run without an open goal, one line each.
fn format_next_actions(back: &UnarchivedRun) -> String {
    let talks = back.state.discussions.iter();
    let left = talks.filter(|talk| talk.is_running() || talk.can_resume());
    let mut lines: Vec<String> = left
        .map(|talk| format!("`agent-collab discuss --id {}` continues it\n", talk.id()))
        .collect();
    if lines.is_empty() {
        lines.push(
            "the run has no goal: `agent-collab` opens it, and you can give it one there\n"
                .to_owned(),
        );
    }
    lines.concat()
}
