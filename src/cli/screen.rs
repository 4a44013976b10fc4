//! `agent-collab` without a command: opens the screen.

use clap::Args;

use crate::app::startup::{StartAskPolicy, StartError, StartOptions, UnfinishedRunPolicy};
use crate::app::terminal::{self, DisplayMode, ScreenBlocker};
use crate::app::tui_loop::{self, TuiOptions, TuiStart};
use crate::app::ui_config;
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
    /// Print the screen as lines of text and read your answers as lines: for screen readers, dumb
    /// terminals and logs
    #[arg(long)]
    pub linear: bool,
    /// What lifts the asking about commands that nothing holds.
    #[command(flatten)]
    pub holding: UncontainedArguments,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// Chooses how the screen is shown; says so if the terminal can only print.
///
/// # Errors
/// There is no terminal, and nobody asked for lines.
pub(super) fn display_mode(
    is_linear: bool,
    choices: &ConfigFlags,
) -> Result<DisplayMode, StartError> {
    if is_linear || ui_config::wants_linear(choices) {
        return Ok(DisplayMode::Linear);
    }
    match terminal::screen_blocker() {
        None => Ok(DisplayMode::FullScreen),
        Some(ScreenBlocker::PrintOnly(term)) => {
            let kind = match term.as_str() {
                "" => "TERM is not set".to_owned(),
                term => format!("a terminal of type `{term}` (TERM) can only print"),
            };
            super::print_progress(&format!(
                "note: {kind}, so this is linear mode (as with --linear); if it can do more, run: TERM=xterm-256color agent-collab"
            ));
            Ok(DisplayMode::Linear)
        }
        Some(ScreenBlocker::NoTerminal) => Err(StartError {
            problem: "no terminal to open the screen in".to_owned(),
            hint: "`agent-collab --linear` prints lines and reads answers without one; `agent-collab run --goal …` runs \
                   headless; `agent-collab --help` lists all commands"
                .to_owned(),
            code: 2,
        }),
    }
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
    let choices = args.choices.to_config_flags()?;
    let display = display_mode(args.linear, &choices)?;
    let mut opening = screen_options(choices, first)?;
    opening.display = display;
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
    Ok(TuiOptions {
        wishes,
        first,
        display: DisplayMode::FullScreen,
    })
}
