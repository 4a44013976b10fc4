//! `agent-collab` without a command: opens the screen.

use clap::Args;

use crate::app::startup::{StartAskPolicy, StartError, StartOptions, UnfinishedRunPolicy};
use crate::app::tui_loop::{self, TuiOptions, TuiStart};
use crate::config::ConfigFlags;
use crate::domain::phase::{Gate, Mode};
use crate::engine::log_sinks::FrontEnd;
use crate::engine::run_setup::{BranchPolicy, TestCommandPreference};
use crate::permission::{ScopePolicy, UncontainedCommandPolicy};
use crate::process::ChildSpawner;

use super::ConfigFlagArguments;
use super::uncontained_flag::UncontainedArguments;

/// Arguments of the screen.
#[derive(Debug, Clone, Default, Args)]
pub struct ScreenArguments {
    /// Move an unfinished run to history/ and start a new one
    #[arg(long)]
    pub new: bool,
    /// Resume the unfinished run at once; the next turn waits for you
    #[arg(long, conflicts_with = "new")]
    pub resume: bool,
    /// Watch the run read-only
    #[arg(long, conflicts_with_all = ["new", "resume"])]
    pub view: bool,
    /// What lifts the asking about commands that nothing holds.
    #[command(flatten)]
    pub holding: UncontainedArguments,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// Opens the screen in the current directory.
///
/// # Errors
/// See [`tui_loop::run_tui`].
pub async fn run(args: ScreenArguments) -> Result<u8, StartError> {
    let first = match (args.view, args.resume) {
        (true, _) => TuiStart::View,
        (false, true) => TuiStart::Resume,
        (false, false) => TuiStart::AskForGoal,
    };
    let mut opening = screen_options(args.choices.to_config_flags()?, first)?;
    opening.wishes.uncontained = args.holding.uncontained_commands();
    if args.new {
        opening.wishes.unfinished = UnfinishedRunPolicy::Archive;
    }
    tui_loop::run_tui(opening).await
}

/// Returns the screen's options for the current directory.
///
/// # Errors
/// The directory is gone.
pub(super) fn screen_options(
    choices: ConfigFlags,
    first: TuiStart,
) -> Result<TuiOptions, StartError> {
    let wishes = StartOptions {
        cwd: super::current_dir()?,
        choices,
        gate: Gate::Manual,
        mode: Mode::Default,
        branch: BranchPolicy::NewIfDefault,
        test_choice: TestCommandPreference::Configured,
        ask_policy: StartAskPolicy::Wait,
        scope_policy: ScopePolicy::Ask,
        unfinished: UnfinishedRunPolicy::Refuse,
        children: ChildSpawner::default(),
        uncontained: UncontainedCommandPolicy::AskEach,
        front_end: FrontEnd::FullScreen,
    };
    Ok(TuiOptions { wishes, first })
}
