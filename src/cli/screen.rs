//! `agent-collab` without a command: opens the screen.

use clap::Args;

use crate::app::screen::{self, First, Opening};
use crate::app::start::{Asks, Refusal, Unfinished, Wishes};
use crate::domain::phase::Gate;
use crate::engine::setup::BranchPolicy;
use crate::process::Children;

use super::ChoiceArgs;

/// Arguments of the screen.
#[derive(Debug, Clone, Args)]
pub struct ScreenArgs {
    /// Archives an unfinished run to history/ and begins anew
    #[arg(long)]
    pub new: bool,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ChoiceArgs,
}

/// Opens the screen where the program was started.
///
/// # Errors
/// See [`screen::run`].
pub async fn run(args: ScreenArgs) -> Result<u8, Refusal> {
    let unfinished = match args.new {
        true => Unfinished::Archive,
        false => Unfinished::Refuse,
    };
    let wishes = Wishes {
        cwd: super::cwd()?,
        choices: args.choices.choices()?,
        gate: Gate::Manual,
        branch: BranchPolicy::Unless,
        asks: Asks::Wait,
        unfinished,
        children: Children::default(),
    };
    screen::run(Opening {
        wishes,
        first: First::AskForGoal,
    })
    .await
}
