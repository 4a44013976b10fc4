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

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::pin::Pin;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::app::startup::{StartError, find_project_root};
use crate::app::terminal::{self, ScreenBlocker};
use crate::app::write_watchdog::WatchedWriter;
use crate::config::{ConfigFlags, UserDirs};
use crate::engine::git::GitSettings;
use crate::engine::runtime_dir;
use crate::text::clean_text;
use crate::text::redactor::{self, EnvSecrets};

pub use config_flags::ConfigFlagArguments;

/// Makes codex and claude work on one goal together: one plans and executes, the other reviews, you decide.
#[derive(Debug, Default, Parser)]
#[command(
    name = "agent-collab",
    version,
    after_help = "In a terminal, without a command, it opens its screen: type a goal, release each turn, decide every question.\n\n\
                  See it work without a model or a key:\n  agent-collab demo\n\n\
                  Let your own codex and claude work in this repository:\n  \
                  agent-collab doctor\n  \
                  agent-collab run --goal \"Make the parser accept empty input\" --auto --yes-execute\n\n\
                  Exit codes: 0 done, 1 error, 2 usage, 3 needs you, 4 another instance runs here, 5 cancelled, 6 done but not all of it proven, 130 interrupted."
)]
struct CommandLine {
    #[command(flatten)]
    screen: screen::ScreenArguments,
    #[command(subcommand)]
    command: Option<CliCommand>,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Takes a goal to committed steps, without a screen
    Run(run::RunArguments),
    /// Takes up the run that the program ended in, without a screen
    Resume(resume::ResumeArguments),
    /// Plays a whole run with scripted agents in a scratch repository; calls no model
    Demo(demo::DemoArguments),
    /// Shows where the run in this repository stands
    Status(status::StatusArguments),
    /// Prints what the run in this repository changed, or one step of it
    Diff(diff::DiffArguments),
    /// Lists the finished runs, or opens one to be read
    History(history::HistoryArguments),
    /// Writes a run as one page, HTML or Markdown, to be shown to others
    Export(export::ExportArguments),
    /// Takes steps of the run in this repository back, or brings them back
    Undo(undo::UndoArguments),
    /// Lists the conversations that lie here, shows one, deletes those of tasks
    Sessions(sessions::SessionsArguments),
    /// Gives one task to an agent in a session of its own and prints what it says
    Task(task::TaskArguments),
    /// Has several agents discuss one question in rounds and prints what they decide
    Discuss(discuss::DiscussArguments),
    /// Tells the instance that runs here to pause, go on, stop, cancel and more
    Send(send::SendArguments),
    /// Looks whether everything a run needs is there: CLIs, git, configuration, environment
    Doctor(doctor::DoctorArguments),
    /// Shows, checks or finds the configuration
    Config {
        #[command(flatten)]
        choices: ConfigFlagArguments,
        #[command(subcommand)]
        command: ConfigSubcommand,
    },
    /// Prints every action of the screen with its keys, as the configuration takes them
    Keys(ConfigFlagArguments),
    /// Lists the agents, or shows one with its rules
    Agents(agents::AgentsArguments),
    /// Lists the tools of this program that an agent has, and what becomes of a call
    Tools(tools::ToolsArguments),
    /// Asks the permission decision, explains it, and takes approvals back
    Permissions {
        #[command(subcommand)]
        command: permissions::PermissionsSubcommand,
    },
    /// Lets this repository's own configuration, prompts and agent instructions count
    Trust(TrustArguments),
    /// Makes a text safe to show to others: takes secrets and terminal sequences out
    Scrub(scrub::ScrubArguments),
    /// Prints the completions of a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or write all pages and completions to a folder
    Man(man::ManArguments),
    /// Asks the instance that runs a turn whether a call may go ahead; for codex, not for people
    #[command(hide = true)]
    Hook(hook::HookArguments),
    /// Serves the program's tools to the agent of the CLI that starts it, not to people
    #[command(hide = true)]
    Mcp(mcp::McpArguments),
    /// Plays a script in the guise of codex or claude, for tests and the demo
    ScriptedAgent(scripted_agent::ScriptedAgentArguments),
}

#[derive(Debug, Subcommand)]
enum ConfigSubcommand {
    /// Prints every key with its value and where it comes from
    Show {
        /// Prints JSON instead of TOML
        #[arg(long)]
        json: bool,
    },
    /// Lists everything that is wrong, all at once
    Check,
    /// Prints which files are read
    Path,
}

/// Arguments of `agent-collab trust`.
#[derive(Debug, Args)]
struct TrustArguments {
    /// Takes the trust back
    #[arg(long, conflicts_with = "list")]
    revoke: bool,
    /// Lists all trusted repositories
    #[arg(long)]
    list: bool,
    /// Agrees without being asked
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
        None => match terminal::screen_blocker() {
            None => block_on(screen::run(cli.screen)),
            Some(why) => Err(no_screen_error(&why)),
        },
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

/// Returns the error if there is neither a command nor a usable terminal.
fn no_screen_error(why: &ScreenBlocker) -> StartError {
    let without = "`agent-collab run --goal …` works without a screen, `agent-collab --help` lists every command";
    let (problem, hint) = match why {
        ScreenBlocker::NoTerminal => (
            "there is no terminal to open the screen in".to_owned(),
            without.to_owned(),
        ),
        ScreenBlocker::PrintOnly(term) => (
            if term.is_empty() {
                "no screen can be shown: TERM does not say which terminal this is".to_owned()
            } else {
                format!("no screen can be shown in a terminal of the kind `{term}` (TERM)")
            },
            format!(
                "{without}; where the terminal can do more, say so: TERM=xterm-256color agent-collab"
            ),
        ),
    };
    StartError {
        problem,
        hint,
        code: 2,
    }
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
        CliCommand::History(args) => block_on(history::run(args)),
        CliCommand::Export(args) => block_on(export::run(args)),
        CliCommand::Hook(args) => Ok(hook::run(&args)),
        CliCommand::Mcp(args) => block_on(mcp::run(args)),
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
            clap_complete::generate(
                shell,
                &mut config_flags::command_definition(),
                "agent-collab",
                &mut text,
            );
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
            "make place for it, or send it elsewhere; nothing else is lost",
        )),
    }
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
            "start in one that exists",
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
    Ok(trust::run(
        command,
        &here,
        &mut io::stdin().lock(),
        &mut io::stdout(),
    ))
}
