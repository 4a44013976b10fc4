//! The command line: one definition for parsing, `--help` and completions; one file per subcommand.

pub mod agents;
mod cli_context;
pub mod config;
pub mod config_flags;
pub mod demo;
pub mod diff;
pub mod discuss;
pub mod doctor;
pub mod export;
pub mod history;
pub mod hook;
pub mod keys;
pub mod man;
pub mod mcp;
pub mod permissions;
pub mod prompt;
pub mod resume;
pub mod run;
pub mod screen;
pub mod scripted_agent;
pub mod scrub;
pub mod send;
pub mod sessions;
pub mod status;
pub mod task;
pub mod tools;
pub mod trust;
mod uncontained_flag;
pub mod undo;
pub mod verify;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::pin::Pin;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::app::startup::{StartError, find_project_root};
use crate::app::write_watchdog::WatchedWriter;
use crate::config::{ConfigFlags, UserDirs};
use crate::engine::git::GitSettings;
use crate::engine::runtime_dir;
use crate::text::clean_text;
use crate::text::redactor::{self, EnvSecrets};

pub use config_flags::ConfigFlagArguments;

/// Have codex and claude work on one goal together: one plans and executes, the other reviews, you decide.
#[derive(Debug, Default, Parser)]
#[command(
    name = "agent-collab",
    version,
    after_help = "Without a command, it opens the full screen: describe a goal, send each turn, answer every question.\n\n\
                  Watch a demo, without a model or an API key:\n  agent-collab demo\n\n\
                  Use your own codex and claude in this repository:\n  \
                  agent-collab doctor\n  \
                  agent-collab run --goal \"Make the parser accept empty input\" --auto --yes-execute\n\n\
                  Exit codes: 0 done, 1 error, 2 usage error, 3 needs your answer, 4 another instance is running here, 5 cancelled, 6 done but not fully verified, 7 receipts broken (verify), 130 interrupted."
)]
struct CommandLine {
    #[command(flatten)]
    screen: screen::ScreenArguments,
    #[command(subcommand)]
    command: Option<CliCommand>,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Run a goal through to committed steps, headless
    Run(run::RunArguments),
    /// Resume an interrupted run, headless
    Resume(resume::ResumeArguments),
    /// Play a complete run with scripted agents in a scratch repository, without calling a model
    Demo(demo::DemoArguments),
    /// Show the state of the run in this repository
    Status(status::StatusArguments),
    /// Show what the run in this repository, or one of its steps, changed
    Diff(diff::DiffArguments),
    /// Print the prompt that a turn of the run would get now, without sending it
    Prompt(prompt::PromptArguments),
    /// List earlier runs, or open one read-only
    History(history::HistoryArguments),
    /// Export a run as one HTML or Markdown page to share
    Export(export::ExportArguments),
    /// Check the receipts of a run, or of a range of commits, offline
    Verify(verify::VerifyArguments),
    /// Undo steps of the run in this repository, or redo them
    Undo(undo::UndoArguments),
    /// List or show the agent sessions of this repository, or delete those of tasks
    Sessions(sessions::SessionsArguments),
    /// Give one task to an agent in its own session and print the answer
    Task(task::TaskArguments),
    /// Have several agents discuss a question in rounds and print their decision
    Discuss(discuss::DiscussArguments),
    /// Send a command to the running instance: pause, continue, stop, cancel and more
    Send(send::SendArguments),
    /// Check that everything a run needs is installed: CLIs, git, configuration, environment
    Doctor(doctor::DoctorArguments),
    /// Show, check or locate the configuration
    Config {
        #[command(flatten)]
        choices: ConfigFlagArguments,
        #[command(subcommand)]
        command: ConfigSubcommand,
    },
    /// Print every action of the screen with its keys, ready to copy into the configuration
    Keys(ConfigFlagArguments),
    /// List the agents, or show one with its rules
    Agents(agents::AgentsArguments),
    /// List the tools this program gives an agent, and how a call to each is decided
    Tools(tools::ToolsArguments),
    /// Check and explain permission decisions, and list or revoke approvals
    Permissions {
        #[command(subcommand)]
        command: permissions::PermissionsSubcommand,
    },
    /// Trust this repository's own configuration, prompts and agent instructions
    Trust(TrustArguments),
    /// Remove secrets and terminal sequences from a text, so that it is safe to share
    Scrub(scrub::ScrubArguments),
    /// Print the completion script of a shell
    Completions {
        /// The shell to complete for
        shell: Shell,
    },
    /// Print the manual page, or write all pages and completions to a folder
    Man(man::ManArguments),
    /// Ask the running instance whether a call may go ahead (for codex, not for people)
    #[command(hide = true)]
    Hook(hook::HookArguments),
    /// Serve the program's tools to the agent of the CLI that starts it (not for people)
    #[command(hide = true)]
    Mcp(mcp::McpArguments),
    /// Play a script as if it were codex or claude, for tests and the demo
    ScriptedAgent(scripted_agent::ScriptedAgentArguments),
}

#[derive(Debug, Subcommand)]
enum ConfigSubcommand {
    /// Print every key with its value and where it comes from
    Show {
        /// Print JSON instead of TOML
        #[arg(long)]
        json: bool,
    },
    /// List all problems at once
    Check,
    /// Print which files are read
    Path,
}

/// Arguments of `agent-collab trust`.
#[derive(Debug, Args)]
struct TrustArguments {
    /// Revoke the trust
    #[arg(long, conflicts_with = "list")]
    revoke: bool,
    /// List all trusted repositories
    #[arg(long)]
    list: bool,
    /// Agree without being asked
    #[arg(long, conflicts_with_all = ["revoke", "list"])]
    yes: bool,
}

/// Runs the command line of this process and returns its exit code.
pub fn main() -> u8 {
    redactor::set_secret_source(environment_secrets);
    let cli = match parse_arguments() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are not errors; clap prints each to the right stream.
            let _closed = error.print();
            return if error.use_stderr() { 2 } else { 0 };
        }
    };
    let code = match cli.command {
        Some(command) => dispatch(command),
        None => block_on(screen::run(cli.screen)),
    };
    runtime_dir::release_user_dirs();
    code.unwrap_or_else(|refusal| print_error(&refusal))
}

/// Parses the arguments. Without any, builds no parser: that would take as long as the first frame.
fn parse_arguments() -> Result<CommandLine, clap::Error> {
    match std::env::args_os().len() {
        0 | 1 => Ok(CommandLine::default()),
        _ => config_flags::parse_command_line(std::env::args_os()),
    }
}

/// Finds the secrets in the environment, which are redacted wherever they would be shown or stored.
fn environment_secrets() -> Option<EnvSecrets> {
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    EnvSecrets::from_variables(variables)
}

/// Separate from `main`: otherwise the stack of `main` would have room for the largest command during the whole time of
/// the screen.
#[inline(never)]
fn dispatch(command: CliCommand) -> Result<u8, StartError> {
    match command {
        CliCommand::Run(args) => block_on(run::run(args)),
        CliCommand::Resume(args) => block_on(resume::run(args)),
        CliCommand::Demo(args) => block_on(demo::run(args)),
        CliCommand::Status(args) => block_on(status::run(args)),
        CliCommand::Diff(args) => block_on(diff::run(args)),
        CliCommand::Prompt(args) => block_on(prompt::run(args)),
        CliCommand::History(args) => block_on(history::run(args)),
        CliCommand::Export(args) => block_on(export::run(args)),
        CliCommand::Hook(args) => Ok(hook::run(&args)),
        CliCommand::Mcp(args) => block_on(mcp::run(args)),
        CliCommand::Verify(args) => block_on(verify::run(args)),
        CliCommand::Undo(args) => block_on(undo::run(args)),
        CliCommand::Sessions(args) => block_on(sessions::run(args)),
        CliCommand::Task(args) => block_on(task::run(args)),
        CliCommand::Discuss(args) => block_on(discuss::run(args)),
        CliCommand::Send(args) => block_on(send::run(args)),
        CliCommand::Doctor(args) => block_on(doctor::run(args)),
        CliCommand::Config { choices, command } => run_config(&choices, command),
        CliCommand::Keys(choices) => keys::run(
            &config_context(choices.to_config_flags()?)?,
            &mut io::stdout(),
        ),
        CliCommand::Agents(args) => block_on(agents::run(args)),
        CliCommand::Tools(args) => block_on(tools::run(args)),
        CliCommand::Permissions { command } => block_on(permissions::run(command)),
        CliCommand::Trust(args) => run_trust(&args),
        CliCommand::Scrub(args) => scrub::run(&args),
        CliCommand::Completions { shell } => {
            // Generate into memory: the generator panics on a closed output.
            let mut text = Vec::new();
            let definition = &mut config_flags::command_definition();
            clap_complete::generate(shell, definition, "agent-collab", &mut text);
            Ok(exit_code_after_print(io::stdout().write_all(&text), 0))
        }
        CliCommand::Man(args) => man::run(&args),
        CliCommand::ScriptedAgent(args) => {
            let code = scripted_agent::run(&args).map_err(|error| StartError::new(error, ""))?;
            Ok(u8::try_from(code).unwrap_or(1))
        }
    }
}

fn block_on(work: impl Future<Output = Result<u8, StartError>>) -> Result<u8, StartError> {
    run_on_runtime(Box::pin(work))
}

/// One function for all commands: a generic one would be compiled once per command, and each future would be moved
/// along the stack.
fn run_on_runtime(
    work: Pin<Box<dyn Future<Output = Result<u8, StartError>> + '_>>,
) -> Result<u8, StartError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| StartError::new(format!("cannot start: {error}"), ""))?;
    let code = runtime.block_on(work);
    // A read that hangs in a dead file system must not keep the program from ending.
    runtime.shutdown_timeout(std::time::Duration::from_millis(500));
    code
}

/// Returns this exit code after a text was printed, else 1. A write error is reported, unless the reader closed the
/// output.
fn exit_code_after_print(written: io::Result<()>, code: u8) -> u8 {
    match written.and_then(|()| WatchedWriter(io::stdout()).flush()) {
        Ok(()) => code,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => 1,
        Err(error) => print_error(&StartError::new(
            format!("cannot write the output: {error}"),
            "free some space, or write it elsewhere; nothing else is lost",
        )),
    }
}

/// Prints a text to standard output; returns the exit code.
fn print_output(text: &str) -> u8 {
    exit_code_after_print(io::stdout().write_all(text.as_bytes()), 0)
}

/// Prints progress to standard error, so that standard output has only the result, for programs.
fn print_progress(line: &str) {
    let _closed = writeln!(WatchedWriter(io::stderr()), "{}", clean_text(line));
}

/// Prints an error with its hint, and returns the exit code.
fn print_error(refusal: &StartError) -> u8 {
    let mut err = WatchedWriter(io::stderr());
    let _closed = writeln!(err, "error: {}", clean_text(&refusal.problem));
    if !refusal.hint.is_empty() {
        let _closed = writeln!(err, "hint: {}", clean_text(&refusal.hint));
    }
    refusal.code
}

fn config_context(choices: ConfigFlags) -> Result<config::CliConfigContext, StartError> {
    let cwd = current_dir()?;
    let settings = GitSettings::new("none", tokio_util::sync::CancellationToken::new());
    let root = find_root_blocking(&cwd, settings)?;
    let places = UserDirs::from_env().map_err(|error| StartError::new(error, ""))?;
    Ok(config::CliConfigContext {
        places,
        root,
        choices,
    })
}

fn find_root_blocking(cwd: &std::path::Path, settings: GitSettings) -> Result<PathBuf, StartError> {
    let mut root = PathBuf::new();
    block_on(async {
        root = find_project_root(cwd, settings).await?.0;
        Ok(0)
    })?;
    Ok(root)
}

/// Returns the current directory.
///
/// # Errors
/// The directory is gone.
pub fn current_dir() -> Result<PathBuf, StartError> {
    std::env::current_dir().map_err(|error| {
        StartError::new(
            format!("cannot find the working directory: {error}"),
            "start in a directory that exists",
        )
    })
}

fn run_config(choices: &ConfigFlagArguments, command: ConfigSubcommand) -> Result<u8, StartError> {
    let here = config_context(choices.to_config_flags()?)?;
    let command = match command {
        ConfigSubcommand::Show { json: false } => {
            config::ConfigCommand::Show(config::ConfigFormat::Toml)
        }
        ConfigSubcommand::Show { json: true } => {
            config::ConfigCommand::Show(config::ConfigFormat::Json)
        }
        ConfigSubcommand::Check => config::ConfigCommand::Check,
        ConfigSubcommand::Path => config::ConfigCommand::Path,
    };
    Ok(config::run(command, &here, &mut io::stdout()))
}

fn run_trust(args: &TrustArguments) -> Result<u8, StartError> {
    let here = config_context(ConfigFlags::default())?;
    let command = match args {
        TrustArguments { revoke: true, .. } => trust::TrustCommand::Revoke,
        TrustArguments { list: true, .. } => trust::TrustCommand::List,
        TrustArguments { yes: true, .. } => trust::TrustCommand::Grant(trust::TrustConsent::Given),
        TrustArguments { .. } if io::stdin().is_terminal() => {
            trust::TrustCommand::Grant(trust::TrustConsent::Ask)
        }
        TrustArguments { .. } => trust::TrustCommand::Grant(trust::TrustConsent::Nobody),
    };
    let input = &mut io::stdin().lock();
    Ok(trust::run(command, &here, input, &mut io::stdout()))
}
