//! `agent-collab run`: takes a goal to committed steps, without a screen.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::app::auto_answers::{
    AutoAnswers, CapPolicy, DisputePolicy, FlagConsent, check_answer_flag,
};
use crate::app::headless::{self, HeadlessCommand, HeadlessRun};
use crate::app::run_reporter::ReportFormat;
use crate::app::startup::{StartAskPolicy, StartError, StartOptions, UnfinishedRunPolicy};
use crate::app::write_watchdog::WatchedWriter;
use crate::config::ConfigFlags;
use crate::domain::instructions_choice::InstructionsChoice;
use crate::domain::phase::{Gate, Mode};
use crate::domain::plan::MAX_PLAN_BYTES;
use crate::domain::plan_execution::DirtyPolicy;
use crate::domain::user_plan::{UserPlan, UserPlanError};
use crate::engine::log_sinks::FrontEnd;
use crate::engine::run_setup::{BranchPolicy, TestCommandPreference};
use crate::permission::ScopePolicy;
use crate::process::ChildSpawner;

use super::ConfigFlagArguments;
use super::uncontained_flag::UncontainedArguments;

/// Arguments of `agent-collab run`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Every question has a flag that answers it in advance. At a question without an answer, the run is saved, prints \
                        the question and its flag, and exits with 3. It never hangs.\n\n\
                        Example:\n  agent-collab run --goal \"Add a --json flag to the report command\" --auto --yes-execute --on-cap more:2"
)]
pub struct RunArguments {
    /// The goal; counts as confirmed
    #[arg(
        long,
        value_name = "TEXT",
        required_unless_present_any = ["goal_file", "plan", "bare_words"],
        conflicts_with = "goal_file"
    )]
    pub goal: Option<String>,
    /// Words without a flag, which are refused: they may be a goal, or a mistyped command
    #[arg(hide = true)]
    pub bare_words: Vec<String>,
    /// Read the goal from a file, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub goal_file: Option<PathBuf>,
    /// Begin with the review of this plan of yours, or `-` for standard input; its title and its section `Goal` are the
    /// goal unless you give one. The file is copied and not changed
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Move an unfinished run to history/ and start a new one
    #[arg(long)]
    pub new: bool,
    /// How much agents can do without asking; hard limits apply in every mode
    #[arg(long, value_name = "MODE", default_value = "default")]
    pub mode: RunModeFlag,
    /// How the run is conducted.
    #[command(flatten)]
    pub conduct: HeadlessRunArguments,
}

/// `--mode`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RunModeFlag {
    /// Read only, even in Execute
    Plan,
    /// What the rules allow
    Default,
    /// Also every edit inside the repository
    AutoEdit,
    /// Also every command that no safety rule stops; lasts until this program ends
    Yolo,
}

impl From<RunModeFlag> for Mode {
    fn from(mode: RunModeFlag) -> Self {
        match mode {
            RunModeFlag::Plan => Self::Plan,
            RunModeFlag::Default => Self::Default,
            RunModeFlag::AutoEdit => Self::AutoEdit,
            RunModeFlag::Yolo => Self::Yolo,
        }
    }
}

/// Flags by which a run is conducted without a screen.
#[derive(Debug, Clone, Args)]
pub struct HeadlessRunArguments {
    /// Where commits go (default: the current branch, or `agent-collab/<goal>` if that is the default branch)
    #[arg(long, value_name = "WHERE")]
    pub branch: Option<BranchFlag>,
    /// Send all turns automatically
    #[arg(long)]
    pub auto: bool,
    /// Execute the approved plan, with the test command and on the branch it shows
    #[arg(long)]
    pub yes_execute: bool,
    /// Which test command to run if the plan names its own [default: configured]; `plan` also
    /// lets you approve in advance a test command that an agent chose
    #[arg(long, value_name = "WHOSE")]
    pub test_command: Option<TestCommandFlag>,
    /// Let --yes-execute run a test command that only the plan names, so that an agent chose it
    #[arg(long, requires = "yes_execute")]
    pub allow_plan_test: bool,
    /// How to answer an agent's permission request
    #[arg(long, value_name = "WHAT", default_value = "deny")]
    pub on_ask: OnAskFlag,
    /// What to do when the review reaches its limit, goes in a circle or contradicts itself: pass, more:N (once) or
    /// cancel. A blocking finding that came late and is true is never passed so
    #[arg(long, value_name = "WHAT")]
    pub on_cap: Option<CapPolicy>,
    /// Who decides when reviewer and planner do not agree on a finding, after a fresh session judged it [default: ask]
    #[arg(long, value_name = "WHO")]
    pub on_dispute: Option<OnDisputeFlag>,
    /// What to do with a step whose proof is missing [default: ask]
    #[arg(long, value_name = "WHAT")]
    pub on_unproven: Option<OnUnprovenFlag>,
    /// What to do with what a step changes outside of the files that its plan names; `allow` leaves deletions a
    /// question
    #[arg(long, value_name = "WHAT", default_value = "ask")]
    pub on_scope: OnScopeFlag,
    /// How to commit changes that are not only the step's: in files that already had uncommitted changes of yours,
    /// that you saved while the step ran, or that its tests rewrite each time
    #[arg(long, value_name = "WHAT")]
    pub on_dirty: Option<OnDirtyFlag>,
    /// Whether to send AGENTS.md and CLAUDE.md of this repository to the agents [default: only if the repository
    /// is trusted, or if you agreed on the screen]
    #[arg(long, value_name = "WHAT")]
    pub instructions: Option<InstructionsFlag>,
    /// Answer a kind of question in advance, such as `--answer tests_failed=accept`
    #[arg(long = "answer", value_name = "KIND=CHOICE")]
    pub answers: Vec<String>,
    /// Print the events as JSON, one object per line
    #[arg(long)]
    pub json: bool,
    /// What lifts the asking about commands that nothing holds.
    #[command(flatten)]
    pub holding: UncontainedArguments,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// `--branch`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BranchFlag {
    /// The branch that is checked out
    Current,
    /// A new branch `agent-collab/<goal>`
    New,
}

/// `--test-command`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TestCommandFlag {
    /// The plan's `Test:` line, if it has one
    Plan,
    /// The configured or detected command, if there is one
    Detected,
}

/// `--instructions`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InstructionsFlag {
    /// Send them to the agents, for this start
    Use,
    /// Do not send them
    Ignore,
}

impl From<InstructionsFlag> for InstructionsChoice {
    fn from(word: InstructionsFlag) -> Self {
        match word {
            InstructionsFlag::Use => Self::Use,
            InstructionsFlag::Ignore => Self::Ignore,
        }
    }
}

/// `--on-ask`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnAskFlag {
    /// Deny it, the turn continues
    Deny,
    /// Accept what [[permission.rule]] in your own configuration or --config allows
    AllowRules,
}

impl From<OnAskFlag> for StartAskPolicy {
    fn from(word: OnAskFlag) -> Self {
        match word {
            OnAskFlag::Deny => Self::Deny,
            OnAskFlag::AllowRules => Self::AllowRules,
        }
    }
}

/// `--on-dispute`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnDisputeFlag {
    /// The reviewer is right: the planner must follow
    Reviewer,
    /// The planner is right: the finding is closed
    Planner,
    /// Start a discussion about the finding and follow its result; without a result, ask
    Discuss,
    /// Exit with 3 and the question
    Ask,
}

impl From<OnDisputeFlag> for DisputePolicy {
    fn from(word: OnDisputeFlag) -> Self {
        match word {
            OnDisputeFlag::Reviewer => Self::Reviewer,
            OnDisputeFlag::Planner => Self::Planner,
            OnDisputeFlag::Discuss => Self::Discuss,
            OnDisputeFlag::Ask => Self::Ask,
        }
    }
}

/// `--on-unproven`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnUnprovenFlag {
    /// Exit with 3 and the question
    Ask,
    /// Commit the step without its proof; the run then ends with 6
    Waive,
}

/// `--on-scope`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnScopeFlag {
    /// Exit with 3 and the question; an edit that asks first is denied
    Ask,
    /// Allow it in this step
    Allow,
    /// Restore these files to their state before the step
    Deny,
}

impl From<OnScopeFlag> for ScopePolicy {
    fn from(word: OnScopeFlag) -> Self {
        match word {
            OnScopeFlag::Ask => Self::Ask,
            OnScopeFlag::Allow => Self::Allow,
            OnScopeFlag::Deny => Self::Deny,
        }
    }
}

/// `--on-dirty`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnDirtyFlag {
    /// Commit the whole file with the step
    Include,
    /// Leave the file uncommitted
    LeaveOut,
}

/// Runs the command.
///
/// # Errors
/// The flags do not fit together, or the run cannot be started.
pub async fn run(args: RunArguments) -> Result<u8, StartError> {
    let unfinished = if args.new {
        UnfinishedRunPolicy::Archive
    } else {
        UnfinishedRunPolicy::Refuse
    };
    let (command, mode) = (read_task(&args)?, args.mode.into());
    run_headless(&args.conduct, command, unfinished, mode).await
}

/// Runs without a screen as the flags say.
///
/// # Errors
/// The flags do not fit together, or the run cannot be started.
pub async fn run_headless(
    args: &HeadlessRunArguments,
    task: HeadlessCommand,
    unfinished: UnfinishedRunPolicy,
    mode: Mode,
) -> Result<u8, StartError> {
    let headless = HeadlessRun {
        command: task,
        answers: parse_answers(args)?,
        format: if args.json {
            ReportFormat::Json
        } else {
            ReportFormat::Lines
        },
        wishes: StartOptions {
            cwd: super::current_dir()?,
            choices: ConfigFlags {
                instructions: args.instructions.map(InstructionsChoice::from),
                ..args.choices.to_config_flags()?
            },
            gate: if args.auto { Gate::Auto } else { Gate::Manual },
            mode,
            branch: match args.branch {
                None => BranchPolicy::NewIfDefault,
                Some(BranchFlag::Current) => BranchPolicy::Current,
                Some(BranchFlag::New) => BranchPolicy::New,
            },
            test_choice: match args.test_command {
                Some(TestCommandFlag::Plan) => TestCommandPreference::Plan,
                Some(TestCommandFlag::Detected) | None => TestCommandPreference::Configured,
            },
            ask_policy: args.on_ask.into(),
            scope_policy: args.on_scope.into(),
            unfinished,
            children: ChildSpawner::default(),
            uncontained: args.holding.uncontained_commands(),
            front_end: FrontEnd::Lines,
        },
    };
    Ok(headless::run_headless(
        headless,
        &mut WatchedWriter(io::stdout()),
        &mut WatchedWriter(io::stderr()),
    )
    .await)
}

/// Reads goal and plan before anything is created.
fn read_task(args: &RunArguments) -> Result<HeadlessCommand, StartError> {
    let reads_stdin = |file: &Option<PathBuf>| file.as_deref().is_some_and(is_stdin);
    if reads_stdin(&args.plan) && reads_stdin(&args.goal_file) {
        return Err(usage_error(
            "`--plan -` and `--goal-file -` cannot both read standard input".to_owned(),
        ));
    }
    let is_goal_given = args.goal.is_some() || args.goal_file.is_some();
    let plan = match &args.plan {
        Some(file) if args.bare_words.is_empty() => Some(Box::new(read_plan(file)?)),
        Some(_) | None => None,
    };
    let goal = match &plan {
        Some(plan) if !is_goal_given => plan.goal().map_err(plan_error)?,
        Some(_) | None => read_goal(args)?,
    };
    Ok(HeadlessCommand::Begin { goal, plan })
}

fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

fn read_plan(file: &Path) -> Result<UserPlan, StartError> {
    let name = if is_stdin(file) {
        "standard input".to_owned()
    } else {
        file.display().to_string()
    };
    let mut bytes = Vec::new();
    // One byte more than a plan may have shows that it is too long.
    let limit = MAX_PLAN_BYTES as u64 + 1;
    let read = if is_stdin(file) {
        io::stdin().take(limit).read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    read.map_err(|error| usage_error(format!("cannot read the plan from {name}: {error}")))?;
    UserPlan::parse(&name, bytes).map_err(plan_error)
}

fn plan_error(error: UserPlanError) -> StartError {
    StartError {
        problem: error.to_string(),
        hint: error.hint().to_owned(),
        code: 2,
    }
}

fn read_goal(args: &RunArguments) -> Result<String, StartError> {
    if !args.bare_words.is_empty() {
        let words = args.bare_words.join(" ");
        return Err(StartError {
            problem: format!("`{words}` is not a flag of `run`"),
            hint: format!("if it is the goal, write `agent-collab run --goal \"{words}\"`"),
            code: 2,
        });
    }
    let text = match (&args.goal, &args.goal_file) {
        (Some(goal), _) => goal.clone(),
        (None, Some(file)) if is_stdin(file) => {
            io::read_to_string(io::stdin()).map_err(|error| {
                usage_error(format!("cannot read the goal from standard input: {error}"))
            })?
        }
        (None, Some(file)) => std::fs::read_to_string(file).map_err(|error| {
            usage_error(format!(
                "cannot read the goal from {}: {error}",
                file.display()
            ))
        })?,
        (None, None) => String::new(),
    };
    if text.trim().is_empty() {
        Err(usage_error("the goal is empty".to_owned()))
    } else {
        Ok(text.trim().to_owned())
    }
}

fn usage_error(problem: String) -> StartError {
    StartError {
        problem,
        hint: "`agent-collab run --help` shows all flags".to_owned(),
        code: 2,
    }
}

fn parse_answers(args: &HeadlessRunArguments) -> Result<AutoAnswers, StartError> {
    let mut by_kind = BTreeMap::new();
    for given in &args.answers {
        let (kind, choice) = given.split_once('=').ok_or_else(|| {
            usage_error(format!(
                "`--answer {given}` has no `=`; write it as KIND=CHOICE"
            ))
        })?;
        check_answer_flag(kind.trim(), choice.trim()).map_err(usage_error)?;
        by_kind.insert(kind.trim().to_owned(), choice.trim().to_owned());
    }
    let plan_test = args.allow_plan_test || args.test_command == Some(TestCommandFlag::Plan);
    Ok(AutoAnswers {
        execute: args.yes_execute.then_some(FlagConsent),
        plan_test: plan_test.then_some(FlagConsent),
        on_cap: args.on_cap,
        waives_proof: (args.on_unproven == Some(OnUnprovenFlag::Waive)).then_some(FlagConsent),
        on_dispute: args
            .on_dispute
            .map_or_else(DisputePolicy::default, DisputePolicy::from),
        on_scope: args.on_scope.into(),
        on_dirty: args.on_dirty.map(|policy| match policy {
            OnDirtyFlag::Include => DirtyPolicy::Include,
            OnDirtyFlag::LeaveOut => DirtyPolicy::LeaveOut,
        }),
        by_kind,
        ..AutoAnswers::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::CliCommand;
    use crate::cli::config_flags::parse_command_line;

    #[test]
    fn a_goal_without_its_flag_is_refused_with_the_flag_to_use() {
        let parsed = parse_command_line(["agent-collab", "run", "--auto", "add", "a flag"]);
        let Some(CliCommand::Run(args)) = parsed.unwrap().command else {
            panic!("not `run`");
        };
        let refused = read_goal(&args).unwrap_err();
        let remedy = "if it is the goal, write `agent-collab run --goal \"add a flag\"`";
        assert_eq!((refused.hint.as_str(), refused.code), (remedy, 2));
    }
}
