//! `agent-collab demo`: scripted agents play a whole run in a scratch repository.
//!
//! Only prepares the run: the project with its failing test, the scripts and the configuration. The run itself uses the
//! ordinary adapters and does not know that it is a demo.

mod scenes;
mod workspace;

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::app::auto_answers::{AutoAnswers, FlagConsent};
use crate::app::headless::{self, HeadlessCommand, HeadlessRun, UnconfirmedGoal};
use crate::app::run_reporter::ReportFormat;
use crate::app::startup::{StartAskPolicy, StartError, StartOptions, UnfinishedRunPolicy};
use crate::app::terminal::{self, DisplayMode, ScreenBlocker};
use crate::app::tui_loop::{self, TuiOptions, TuiStart};
use crate::app::write_watchdog::WatchedWriter;
use crate::config::ConfigFlags;
use crate::domain::phase::{Gate, Mode};
use crate::engine::log_sinks::FrontEnd;
use crate::engine::run_setup::{BranchPolicy, TestCommandPreference};
use crate::permission::{ScopePolicy, UncontainedCommandPolicy};
use crate::process::ChildSpawner;

use super::screen;
use scenes::DemoScene;
use workspace::{DemoFolder, create_demo, open_demo_folder};

/// Arguments of `agent-collab demo`.
#[derive(Debug, Clone, Args)]
pub struct DemoArguments {
    /// Print the run as lines and answer every question automatically [default without a terminal]
    #[arg(long)]
    pub headless: bool,
    /// Print the screen as lines of text, and read your answers as lines
    #[arg(long, conflicts_with = "headless")]
    pub linear: bool,
    /// Skip the agents' pauses
    #[arg(long)]
    pub fast: bool,
    /// Folder for the scratch repository: empty, new, or that of an earlier demo, which is then
    /// reopened [default: a new temporary folder]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Add an event to the run; can be repeated
    #[arg(long = "scene", value_name = "SCENE")]
    pub scenes: Vec<DemoScene>,
}

/// How fast the scripted agents play
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemoSpeed {
    /// Slow enough to read along: about half a minute for a run
    Readable,
    Fast,
}

/// A demo that is ready to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoWorkspace {
    /// The folder of the demo; it is kept.
    pub folder: PathBuf,
    /// The scratch repository.
    pub root: PathBuf,
    /// The file for `--config`.
    pub config_file: PathBuf,
    pub goal: String,
}

/// The reason why the demo cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The folder is not empty.
    #[error(
        "{path} is not empty and contains no demo\nhint: pass an empty or new folder to --dir, or omit it"
    )]
    NotEmpty { path: PathBuf },
    /// A file or folder could not be created.
    #[error(
        "cannot create {path}: {source}\nhint: pass a folder that you can create to --dir, or omit it"
    )]
    Make {
        path: PathBuf,
        source: std::io::Error,
    },
    /// git could not be started.
    #[error(
        "cannot start git: {source}\nhint: the demo makes real commits; install git and put it on PATH"
    )]
    NoGit { source: std::io::Error },
    /// A git command failed.
    #[error("git {command} failed: {said}")]
    Git {
        /// Its arguments.
        command: String,
        /// Its output.
        said: String,
    },
    /// The folder has a demo already, whose scenes are fixed.
    #[error(
        "{path} already contains a demo, and its scenes cannot be changed\nhint: omit --scene to reopen it, or pass another folder to --dir"
    )]
    AlreadyMade { path: PathBuf },
    /// The configuration or a script could not be written as text.
    #[error("cannot write the demo's files: {0}")]
    Write(#[from] toml::ser::Error),
    /// A script could not be parsed.
    #[error("cannot read the demo's script: {0}")]
    Read(#[from] toml::de::Error),
}

/// Creates or opens the demo, runs it and prints where everything is.
///
/// # Errors
/// The demo cannot be prepared.
pub async fn run(args: DemoArguments) -> Result<u8, StartError> {
    let failed = |error: DemoError| StartError::new(error, "");
    let speed = if args.fast {
        DemoSpeed::Fast
    } else {
        DemoSpeed::Readable
    };
    let program = std::env::current_exe()
        .map_err(|error| StartError::new(format!("cannot find this program: {error}"), ""))?;
    let (demo, story) = match open_demo_folder(args.dir.as_deref()).map_err(failed)? {
        DemoFolder::Empty(folder) => {
            let made = create_demo(&folder, &program, speed, &args.scenes);
            (made.map_err(failed)?, DemoRunStart::New)
        }
        DemoFolder::Existing(demo) if args.scenes.is_empty() => (demo, DemoRunStart::Resumed),
        DemoFolder::Existing(DemoWorkspace { folder: path, .. }) => {
            return Err(failed(DemoError::AlreadyMade { path }));
        }
    };
    let display = if args.headless {
        None
    } else {
        demo.display_mode(args.linear)?
    };
    if let Some(display) = display {
        let code = tui_loop::run_tui(demo.screen_options(story, display)).await?;
        let farewell = format!("{}\n", demo.farewell_text());
        let _closed = match display {
            DisplayMode::FullScreen => terminal::write_final_text(&farewell),
            DisplayMode::Linear => WatchedWriter(std::io::stdout()).write_all(farewell.as_bytes()),
        };
        return Ok(code);
    }
    let (mut out, mut err) = (
        WatchedWriter(std::io::stdout()),
        WatchedWriter(std::io::stderr()),
    );
    // If standard output is closed, the run reports it.
    let _closed = writeln!(out, "{}", demo.welcome_text());
    let code = headless::run_headless(demo.headless_options(story), &mut out, &mut err).await;
    let _closed = writeln!(out, "\n{}", demo.farewell_text());
    Ok(code)
}

/// How the run of a demo starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DemoRunStart {
    New,
    /// Continues the run of an earlier call.
    Resumed,
}

impl DemoWorkspace {
    fn start_options(&self, gate: Gate, asks: StartAskPolicy) -> StartOptions {
        StartOptions {
            cwd: self.root.clone(),
            choices: ConfigFlags {
                file: Some(self.config_file.clone()),
                overrides: Vec::new(),
                instructions: None,
            },
            gate,
            mode: Mode::Default,
            branch: BranchPolicy::NewIfDefault,
            test_choice: TestCommandPreference::Configured,
            ask_policy: asks,
            scope_policy: ScopePolicy::Ask,
            unfinished: UnfinishedRunPolicy::Refuse,
            children: ChildSpawner::default(),
            // The agents are this program's own scripts.
            uncontained: UncontainedCommandPolicy::FollowRules,
            front_end: FrontEnd::Lines,
        }
    }

    /// Chooses how the demo's screen is shown; `None` without a terminal.
    fn display_mode(&self, is_linear: bool) -> Result<Option<DisplayMode>, StartError> {
        let choices = self
            .start_options(Gate::Manual, StartAskPolicy::Wait)
            .choices;
        match terminal::screen_blocker() {
            Some(ScreenBlocker::NoTerminal) if !is_linear => Ok(None),
            _ => screen::display_mode(is_linear, &choices).map(Some),
        }
    }

    /// Returns the options for a demo on the screen; the user answers every question.
    fn screen_options(&self, story: DemoRunStart, display: DisplayMode) -> TuiOptions {
        TuiOptions {
            wishes: StartOptions {
                front_end: FrontEnd::FullScreen,
                ..self.start_options(Gate::Manual, StartAskPolicy::Wait)
            },
            first: TuiStart::Demo {
                goal: (story == DemoRunStart::New).then(|| self.goal.clone()),
            },
            display,
        }
    }

    /// Returns the options for a demo without a screen; every question is answered in advance.
    fn headless_options(&self, story: DemoRunStart) -> HeadlessRun {
        let answers = DemoScene::value_variants()
            .iter()
            .flat_map(|scene| scene.headless_answers)
            .chain(&[("step_recovery", "continue")])
            .map(|&(kind, choice)| (kind.to_owned(), choice.to_owned()));
        HeadlessRun {
            wishes: self.start_options(Gate::Auto, StartAskPolicy::Deny),
            command: match story {
                DemoRunStart::New => HeadlessCommand::Begin {
                    goal: self.goal.clone(),
                    plan: None,
                },
                DemoRunStart::Resumed => HeadlessCommand::Resume(UnconfirmedGoal::WaitForUser),
            },
            answers: AutoAnswers {
                execute: Some(FlagConsent),
                plan_test: Some(FlagConsent),
                by_kind: answers.collect(),
                ..AutoAnswers::default()
            },
            format: ReportFormat::Lines,
        }
    }

    /// Returns the text to print before the run.
    pub fn welcome_text(&self) -> String {
        format!(
            "This is a demo: two scripted agents play codex and claude. No model is called, and nothing leaves this machine.\n\
             The edits, the test runs and the commits are real, in {}\n",
            self.root.display()
        )
    }

    /// Returns the text to print after the run.
    pub fn farewell_text(&self) -> String {
        let root = self.root.display();
        // A demo that was left early has no plan, and so no step.
        let (plan, proof) = if self.root.join(".agent-collab/plan.md").exists() {
            (
                format!("cat '{root}/.agent-collab/plan.md'\n  "),
                format!("Check what proves the steps:\n  cd '{root}' && agent-collab verify\n"),
            )
        } else {
            (String::new(), String::new())
        };
        format!(
            "The repository is kept: {root}\n\
             Look around:\n  \
             git -C '{root}' log --oneline --stat\n  \
             {plan}sh '{root}/tests/run.sh'\n\
             {proof}Reopen it:\n  \
             agent-collab demo --dir '{}'\n\
             No model was called.\n",
            self.folder.display()
        )
    }
}

#[cfg(test)]
mod tests;
