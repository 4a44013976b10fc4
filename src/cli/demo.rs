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
use crate::app::terminal;
use crate::app::tui_loop::{self, TuiOptions, TuiStart};
use crate::app::write_watchdog::WatchedWriter;
use crate::config::ConfigFlags;
use crate::domain::phase::{Gate, Mode};
use crate::engine::log_sinks::FrontEnd;
use crate::engine::run_setup::{BranchPolicy, TestCommandPreference};
use crate::permission::UncontainedCommandPolicy;
use crate::process::ChildSpawner;

use scenes::DemoScene;
use workspace::{DemoFolder, create_demo, open_demo_folder};

/// Arguments of `agent-collab demo`.
#[derive(Debug, Clone, Args)]
pub struct DemoArguments {
    /// Prints the run as lines, without a screen, and answers every question by itself; taken without a terminal.
    #[arg(long)]
    pub headless: bool,
    /// Leaves the agents' pauses out.
    #[arg(long)]
    pub fast: bool,
    /// Where to put the scratch repository: a folder that is empty or does not exist [default: a
    /// new folder for temporary files]. A folder of an earlier demo is opened again.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Lets something happen on the way; may be given more than once.
    #[arg(long = "scene", value_name = "SCENE")]
    pub scenes: Vec<DemoScene>,
}

/// How fast the scripted agents play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemoSpeed {
    /// Slow enough to read along: about half a minute for a run.
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
        "{path} is not empty and holds no demo\nhint: give --dir a folder that is empty or does not exist, or leave it out"
    )]
    NotEmpty { path: PathBuf },
    /// A file or folder could not be created.
    #[error(
        "cannot make {path}: {source}\nhint: give --dir a folder that you can make, or leave it out"
    )]
    Make {
        path: PathBuf,
        source: std::io::Error,
    },
    /// git could not be started.
    #[error(
        "start git: {source}\nhint: the demo makes real commits; install git and put it on PATH"
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
        "a demo is in {path} already, and its scenes were chosen when it was made\nhint: leave --scene out to open it again, or give --dir another folder"
    )]
    AlreadyMade { path: PathBuf },
    /// The configuration or a script could not be written as text.
    #[error("write the demo's files: {0}")]
    Write(#[from] toml::ser::Error),
    /// A script could not be parsed.
    #[error("read the demo's script: {0}")]
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
    if !args.headless && terminal::is_usable() {
        let code = tui_loop::run_tui(demo.screen_options(story)).await?;
        let _closed = terminal::write_final_text(&format!("{}\n", demo.farewell_text()));
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
            unfinished: UnfinishedRunPolicy::Refuse,
            children: ChildSpawner::default(),
            // The agents are this program's own scripts.
            uncontained: UncontainedCommandPolicy::FollowRules,
            front_end: FrontEnd::Lines,
        }
    }

    /// Returns the options for a demo on the screen; the user answers every question.
    fn screen_options(&self, story: DemoRunStart) -> TuiOptions {
        TuiOptions {
            wishes: StartOptions {
                front_end: FrontEnd::FullScreen,
                ..self.start_options(Gate::Manual, StartAskPolicy::Wait)
            },
            first: TuiStart::Demo {
                goal: (story == DemoRunStart::New).then(|| self.goal.clone()),
            },
        }
    }

    /// Returns the options for a demo without a screen; every question is answered in advance.
    fn headless_options(&self, story: DemoRunStart) -> HeadlessRun {
        let answers = DemoScene::value_variants()
            .iter()
            .filter_map(|scene| scene.headless_answer())
            .chain([("step_recovery", "continue")])
            .map(|(kind, choice)| (kind.to_owned(), choice.to_owned()));
        HeadlessRun {
            wishes: self.start_options(Gate::Auto, StartAskPolicy::Deny),
            command: match story {
                DemoRunStart::New => HeadlessCommand::Begin(self.goal.clone()),
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
        format!(
            "The repository is kept: {root}\n\
             Look around:\n  \
             git -C '{root}' log --oneline --stat\n  \
             cat '{root}/.agent-collab/plan.md'\n  \
             sh '{root}/tests/run.sh'\n\
             Open it again:\n  \
             agent-collab demo --dir '{}'\n\
             No model was called.\n",
            self.folder.display()
        )
    }
}

#[cfg(test)]
mod tests;
