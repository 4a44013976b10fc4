//! `agent-collab demo`: a scratch repository in which scripted agents play a whole run.
//!
//! Only prepares the run: the project with its failing test, the scripts and the configuration.
//! The run itself goes through the ordinary adapters and knows nothing of being a demo.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use std::io::Write;

use clap::Args;

use crate::app::answers::{Answers, Yes};
use crate::app::headless::{self, Headless, Task};
use crate::app::report::Form;
use crate::app::screen::{self, First, Opening};
use crate::app::start::{Asks, Refusal, Unfinished, Wishes};
use crate::app::terminal;
use crate::config::Choices;
use crate::domain::phase::Gate;
use crate::engine::setup::BranchPolicy;

/// The project, as paths and contents.
const PROJECT: [(&str, &str); 4] = [
    (
        "README.md",
        include_str!("../../assets/demo/project/README.md"),
    ),
    (
        "wordstat.sh",
        include_str!("../../assets/demo/project/wordstat.sh"),
    ),
    (
        "tests/run.sh",
        include_str!("../../assets/demo/project/tests/run.sh"),
    ),
    (
        "tests/test_count.sh",
        include_str!("../../assets/demo/project/tests/test_count.sh"),
    ),
];

/// The scripts, as file names and contents.
const SCRIPTS: [(&str, &str); 2] = [
    ("codex.toml", include_str!("../../assets/demo/codex.toml")),
    ("claude.toml", include_str!("../../assets/demo/claude.toml")),
];

const GOAL: &str = include_str!("../../assets/demo/goal.md");

/// Variables by which an outer git would turn ours to another repository.
const GIT_VARIABLES: [&str; 5] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
];

/// Arguments of `agent-collab demo`.
#[derive(Debug, Clone, Args)]
pub struct DemoArgs {
    /// Prints the run as lines, without a screen, and answers every question by itself; taken without a terminal.
    #[arg(long)]
    pub headless: bool,
    /// Leaves the agents' pauses out.
    #[arg(long)]
    pub fast: bool,
    /// Where to put the scratch repository: a folder that is empty or does not exist [default: a
    /// new folder for temporary files].
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// How fast the scripted agents speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speed {
    /// As fast as one can read along, about half a minute a run.
    Readable,
    /// Without pauses.
    Fast,
}

/// A demo that is ready to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demo {
    /// The folder of all that follows; it is kept.
    pub folder: PathBuf,
    /// The scratch repository.
    pub root: PathBuf,
    /// What to give to `--config`.
    pub config_file: PathBuf,
    /// The goal of the run.
    pub goal: String,
}

/// Why there is no demo.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The folder holds something.
    #[error(
        "{path} is not empty\nhint: give --dir a folder that is empty or does not exist, or leave it out"
    )]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// A file or folder could not be made.
    #[error("make {path}: {source}")]
    Make {
        /// What.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// git could not be started.
    #[error(
        "start git: {source}\nhint: the demo makes real commits; install git and put it on PATH"
    )]
    NoGit {
        /// Why.
        source: std::io::Error,
    },
    /// git refused.
    #[error("git {command} failed: {said}")]
    Git {
        /// Its arguments.
        command: String,
        /// What it said.
        said: String,
    },
    /// The configuration could not be written as text.
    #[error("write the demo's configuration: {0}")]
    Config(#[from] toml::ser::Error),
}

/// Makes the scratch repository, plays the run and says where everything is.
///
/// # Errors
/// The demo cannot be prepared.
pub async fn run(args: DemoArgs) -> Result<u8, Refusal> {
    let failed = |error: DemoError| Refusal::error(error, "");
    let speed = if args.fast {
        Speed::Fast
    } else {
        Speed::Readable
    };
    let program = std::env::current_exe()
        .map_err(|error| Refusal::error(format!("cannot find this program: {error}"), ""))?;
    let folder = folder(args.dir.as_deref()).map_err(failed)?;
    let demo = prepare(&folder, &program, speed).map_err(failed)?;
    if !args.headless && terminal::is_there() {
        let code = screen::run(demo.opening()).await?;
        let _closed = writeln!(std::io::stdout(), "{}", demo.farewell());
        return Ok(code);
    }
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    // A reader that is gone is noticed when the run is told.
    let _closed = writeln!(out, "{}", demo.welcome());
    let code = headless::run(demo.headless(), &mut out, &mut err).await;
    let _closed = writeln!(out, "\n{}", demo.farewell());
    Ok(code)
}

impl Demo {
    fn wishes(&self, gate: Gate, asks: Asks) -> Wishes {
        Wishes {
            cwd: self.root.clone(),
            choices: Choices {
                file: Some(self.config_file.clone()),
                overrides: Vec::new(),
            },
            gate,
            branch: BranchPolicy::Unless,
            asks,
            unfinished: Unfinished::Refuse,
        }
    }

    /// The run on the screen, with every question left to the user.
    fn opening(&self) -> Opening {
        Opening {
            wishes: self.wishes(Gate::Manual, Asks::Wait),
            first: First::Demo {
                goal: self.goal.clone(),
            },
        }
    }

    /// The run that is played as lines, with every question answered beforehand.
    fn headless(&self) -> Headless {
        Headless {
            wishes: self.wishes(Gate::Auto, Asks::Deny),
            task: Task::Begin(self.goal.clone()),
            answers: Answers {
                execute: Some(Yes),
                ..Answers::default()
            },
            form: Form::Lines,
        }
    }

    /// Returns what is said before the run.
    pub fn welcome(&self) -> String {
        format!(
            "This is a demo: two scripted agents play codex and claude. No model is called, and nothing leaves this machine.\n\
             The edits, the test runs and the commits are real, in {}\n",
            self.root.display()
        )
    }

    /// Returns what is said after the run.
    pub fn farewell(&self) -> String {
        let root = self.root.display();
        format!(
            "The repository is kept: {root}\n\
             Look around:\n  \
             git -C '{root}' log --oneline --stat\n  \
             cat '{root}/.agent-collab/plan.md'\n  \
             sh '{root}/tests/run.sh'\n\
             No model was called.\n"
        )
    }
}

/// Returns the folder of the demo, made and empty: `dir` if it is given, else a new temporary one.
///
/// # Errors
/// It is not empty, or cannot be made.
pub fn folder(dir: Option<&Path>) -> Result<PathBuf, DemoError> {
    let Some(dir) = dir else {
        let made = tempfile::Builder::new()
            .prefix("agent-collab-demo-")
            .tempdir();
        let made = made.map_err(|source| DemoError::Make {
            path: std::env::temp_dir(),
            source,
        })?;
        return real(&made.keep());
    };
    let failed = |source| DemoError::Make {
        path: dir.to_owned(),
        source,
    };
    std::fs::create_dir_all(dir).map_err(failed)?;
    if std::fs::read_dir(dir).map_err(failed)?.next().is_some() {
        return Err(DemoError::NotEmpty {
            path: dir.to_owned(),
        });
    }
    real(dir)
}

fn real(path: &Path) -> Result<PathBuf, DemoError> {
    path.canonicalize().map_err(|source| DemoError::Make {
        path: path.to_owned(),
        source,
    })
}

/// Writes everything that the demo needs into an empty `folder`: the repository in `wordstat/`, the
/// scripts and the configuration beside it. `program` is what plays the scripts: this program.
///
/// # Errors
/// See [`DemoError`].
pub fn prepare(folder: &Path, program: &Path, speed: Speed) -> Result<Demo, DemoError> {
    let root = folder.join("wordstat");
    for (name, content) in PROJECT {
        write(&root.join(name), content)?;
    }
    let scripts = folder.join("scripts");
    for (name, content) in SCRIPTS {
        write(&scripts.join(name), content)?;
    }
    let config_file = folder.join("config.toml");
    write(&config_file, &config(&scripts, program, speed)?)?;
    make_repository(&root)?;
    Ok(Demo {
        folder: folder.to_owned(),
        root,
        config_file,
        goal: GOAL.trim().to_owned(),
    })
}

fn write(path: &Path, content: &str) -> Result<(), DemoError> {
    let failed = |source| DemoError::Make {
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(path, content).map_err(failed)
}

/// Returns the text of the configuration: what the demo depends on, whatever the user's own says.
fn config(scripts: &Path, program: &Path, speed: Speed) -> Result<String, DemoError> {
    let adapter = |name: &str| {
        let script = scripts
            .join(format!("{name}.toml"))
            .to_string_lossy()
            .into_owned();
        let mut args = ["scripted-agent", "--as", name, "--script"]
            .map(str::to_owned)
            .to_vec();
        args.push(script);
        if speed == Speed::Fast {
            args.push("--fast".to_owned());
        }
        let mut table = toml::Table::new();
        table.insert("kind".to_owned(), name.into());
        table.insert(
            "program".to_owned(),
            program.to_string_lossy().into_owned().into(),
        );
        table.insert("args".to_owned(), args.into());
        toml::Value::Table(table)
    };
    let mut config: toml::Table = toml::toml! {
        [roles]
        planner = "codex"
        reviewer = "claude"

        [workflow]
        max_iterations = 5

        [test]
        default_command = "auto"
        fallback_to_agent = true
        max_fix_turns = 2
    };
    let adapters = ["codex", "claude"].map(|name| (name.to_owned(), adapter(name)));
    config.insert(
        "adapters".to_owned(),
        toml::Table::from_iter(adapters).into(),
    );
    Ok(format!(
        "# Written by `agent-collab demo`.\n\n{}",
        toml::to_string(&config)?
    ))
}

/// Makes a repository with one commit and an identity of its own.
fn make_repository(root: &Path) -> Result<(), DemoError> {
    git(root, &["init", "--quiet"])?;
    git(root, &["symbolic-ref", "HEAD", "refs/heads/main"])?;
    for (key, value) in [
        ("user.name", "agent-collab demo"),
        ("user.email", "demo@agent-collab.invalid"),
        ("commit.gpgsign", "false"),
        ("core.hooksPath", ".git/hooks"),
        ("core.autocrlf", "false"),
    ] {
        git(root, &["config", "--local", key, value])?;
    }
    git(root, &["add", "--all"])?;
    git(
        root,
        &[
            "commit",
            "--quiet",
            "--no-verify",
            "--message",
            "wordstat, with a failing test",
        ],
    )
}

fn git(root: &Path, arguments: &[&str]) -> Result<(), DemoError> {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(root)
        .args(arguments)
        .stdin(Stdio::null())
        .env("GIT_TERMINAL_PROMPT", "0");
    for variable in GIT_VARIABLES {
        command.env_remove(variable);
    }
    let output = command
        .output()
        .map_err(|source| DemoError::NoGit { source })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(DemoError::Git {
        command: arguments.join(" "),
        said,
    })
}

#[cfg(test)]
mod tests;
