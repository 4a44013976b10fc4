//! `agent-collab resume`: takes up the run that the program ended in, without a screen.

use clap::{Args, ValueEnum};

use crate::app::headless::{Task, Unconfirmed};
use crate::app::start::{Refusal, Unfinished};
use crate::domain::phase::Mode;

use super::run::{ConductArgs, conduct};

/// Arguments of `agent-collab resume`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "A turn that was cut off before EXECUTE is done again; a goal that no agent was asked about yet counts as \
                        confirmed. In EXECUTE nothing goes on by itself: say with --on-step what becomes of the step that \
                        was cut off.\n\n\
                        Example:\n  agent-collab resume --auto --yes-execute --on-step continue"
)]
pub struct ResumeArgs {
    /// What becomes of a step that was cut off
    #[arg(long, value_name = "WHAT")]
    pub on_step: Option<OnStep>,
    /// Confirms a goal that was talked about, as it was given
    #[arg(long)]
    pub yes_goal: bool,
    /// How the run is conducted.
    #[command(flatten)]
    pub conduct: ConductArgs,
}

/// `--on-step`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnStep {
    /// Goes on from what is there
    Continue,
    /// Takes what is there for the step's change; tests and commits it
    Done,
    /// Puts the tree back to before the step and begins it anew
    Redo,
    /// Goes back to the goal
    Stop,
}

impl OnStep {
    fn word(self) -> &'static str {
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
/// The flags do not fit together, or there is no run to take up.
pub async fn run(args: ResumeArgs) -> Result<u8, Refusal> {
    let mut conducted = args.conduct;
    conducted.answers.extend(
        args.on_step
            .map(|what| format!("step_recovery={}", what.word())),
    );
    let goal = match args.yes_goal {
        true => Unconfirmed::Counts,
        false => Unconfirmed::Waits,
    };
    conduct(
        &conducted,
        Task::Resume(goal),
        (Unfinished::Refuse, Mode::Default),
    )
    .await
}
