//! `agent-collab resume`: continues the run in which the program ended, without a screen.

use std::io::{self, Write};

use clap::{Args, ValueEnum};

use crate::app::headless::{HeadlessCommand, UnconfirmedGoal};
use crate::app::startup::{
    StartError, StartOptions, UnarchivedRun, UnfinishedRunPolicy, lock_and_unarchive_run,
};
use crate::domain::phase::Mode;
use crate::text::clean_text;

use super::exit_code_after_print;
use super::run::{HeadlessRunArguments, run_headless};

/// Arguments of `agent-collab resume`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "A turn that was cut off before EXECUTE is done again; a goal that no agent was asked about yet counts as \
                        confirmed. In EXECUTE nothing goes on by itself: say with --on-step what becomes of the step that \
                        was cut off.\n\n\
                        Example:\n  agent-collab resume --auto --yes-execute --on-step continue\n  \
                        agent-collab resume 2 --auto       # the second of `agent-collab history`"
)]
pub struct ResumeArguments {
    /// An unfinished run of the history, which becomes the one that lies here again: its number in `agent-collab history`,
    /// its name or a part of it; the run that lies here must be over and goes to the history
    #[arg(value_name = "NAME|N")]
    pub run: Option<String>,
    /// What becomes of a step that was cut off
    #[arg(long, value_name = "WHAT")]
    pub on_step: Option<OnStepFlag>,
    /// Confirms a goal that was talked about, as it was given
    #[arg(long)]
    pub yes_goal: bool,
    /// How the run is conducted.
    #[command(flatten)]
    pub conduct: HeadlessRunArguments,
}

/// `--on-step`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnStepFlag {
    /// Goes on from what is there
    Continue,
    /// Takes what is there for the step's change; tests and commits it
    Done,
    /// Puts the tree back to before the step and begins it anew
    Redo,
    /// Goes back to the goal
    Stop,
}

impl OnStepFlag {
    fn as_str(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Done => "done",
            Self::Redo => "redo",
            Self::Stop => "stop",
        }
    }
}

/// Runs the command.
///
/// # Errors
/// The flags do not fit together, or there is no run to resume.
pub async fn run(args: ResumeArguments) -> Result<u8, StartError> {
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
            return Ok(exit_code_after_print(
                io::stdout().write_all(told.as_bytes()),
                0,
            ));
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
        .map(|talk| {
            format!(
                "`agent-collab discuss --id {}` goes on with it\n",
                talk.id()
            )
        })
        .collect();
    if lines.is_empty() {
        lines.push(
            "it has no goal: `agent-collab` opens it, and a goal can follow in it\n".to_owned(),
        );
    }
    lines.concat()
}
