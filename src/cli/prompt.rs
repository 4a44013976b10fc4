//! `agent-collab prompt`: prints the prompt that a turn of the run in this repository would get now.
//!
//! Sends and writes nothing and takes no lock, so it works while the run continues.

use std::io::{self, Write};

use clap::{Args, ValueEnum};

use crate::app::startup::{self, StartError, StartOptions};
use crate::domain::ids::TurnId;
use crate::domain::run::RunState;
use crate::domain::turn::{TurnOrder, TurnPurpose};
use crate::text::clean_text;

use super::ConfigFlagArguments;

/// Arguments of `agent-collab prompt`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "The prompt is built from the run's files, your prompt templates and the configuration, as if the turn started now: \
                        with the plan, the findings and the step of this moment. Nothing is sent or written, and the run may be in progress. On the screen, a turn that waits shows its prompt too.\n\n\
                        Examples:\n  agent-collab prompt review          # what the reviewer would get\n  \
                        agent-collab prompt execute | less  # the step that runs or comes next"
)]
pub struct PromptArguments {
    /// The turn whose prompt to print
    pub phase: PromptPhase,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// The turns that have a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PromptPhase {
    /// The talk about the goal
    Goal,
    /// The planner writes the plan
    Plan,
    /// The reviewer judges the plan
    Review,
    /// The planner answers the review
    Respond,
    /// A fresh session judges disputed findings
    Judge,
    /// The executor makes the change of a step
    Execute,
    /// The executor sums the run up
    Summary,
}

impl PromptPhase {
    fn purpose(self, state: &RunState) -> TurnPurpose {
        let current = state
            .execution
            .as_ref()
            .and_then(|execution| execution.current.as_ref());
        match self {
            Self::Goal => TurnPurpose::RefineGoal {
                said: state
                    .goal
                    .as_ref()
                    .map_or_else(String::new, |goal| goal.text.clone()),
                by: state.refiner,
            },
            Self::Plan => TurnPurpose::WritePlan,
            Self::Review => TurnPurpose::Review,
            Self::Respond => TurnPurpose::Respond,
            Self::Judge => TurnPurpose::Judge,
            Self::Execute => TurnPurpose::Step {
                n: current.map_or(1, |current| current.n),
            },
            Self::Summary => TurnPurpose::Summary,
        }
    }
}

/// Runs the command.
///
/// # Errors
/// There is no run, its files cannot be read, or it has no such turn now.
pub async fn run(args: PromptArguments) -> Result<u8, StartError> {
    let wishes =
        StartOptions::without_turns(super::current_dir()?, args.choices.to_config_flags()?);
    let reader = startup::open_prompt_reader(&wishes).await?;
    let order = TurnOrder {
        turn: TurnId::new("trn_preview"),
        purpose: args.phase.purpose(reader.state()),
        again: None,
    };
    let prompt = reader.preview_prompt(&order).map_err(|error| {
        StartError::new(
            format!("this run has no such prompt now: {error}"),
            "`agent-collab status` shows the phase; choose the turn that comes next",
        )
    })?;
    let written = writeln!(io::stdout(), "{}", clean_text(&prompt).trim_end());
    Ok(super::exit_code_after_print(written, 0))
}
