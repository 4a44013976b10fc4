//! `agent-collab run`: takes a goal to committed steps, without a screen.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::app::answers::{Answers, OnCap, Yes, check};
use crate::app::headless::{self, Headless, Task};
use crate::app::report::Form;
use crate::app::start::{Asks, Refusal, Unfinished, Wishes};
use crate::app::unread::Counted;
use crate::config::Choices;
use crate::domain::execution::DirtyPolicy;
use crate::domain::instructions::InstructionsChoice;
use crate::domain::phase::{Gate, Mode};
use crate::engine::log_sinks::FrontEnd;
use crate::engine::setup::{BranchPolicy, TestChoice};
use crate::process::ChildSpawner;

use super::ChoiceArgs;
use super::holding::HoldingArgs;

/// Arguments of `agent-collab run`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Every question has a flag that answers it beforehand. One that no flag answers keeps the run as it \
                        is, names itself and its flag, and exits with 3; it never hangs.\n\n\
                        Example:\n  agent-collab run --goal \"Add a --json flag to the report command\" --auto --yes-execute --on-cap more:2"
)]
pub struct RunArgs {
    /// The goal; it counts as confirmed
    #[arg(
        long,
        value_name = "TEXT",
        required_unless_present = "goal_file",
        conflicts_with = "goal_file"
    )]
    pub goal: Option<String>,
    /// Reads the goal from a file, `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub goal_file: Option<PathBuf>,
    /// Archives an unfinished run to history/ and begins anew
    #[arg(long)]
    pub new: bool,
    /// How much agents do without asking; floors hold in each of them
    #[arg(long, value_name = "MODE", default_value = "default")]
    pub mode: ModeArg,
    /// How the run is conducted.
    #[command(flatten)]
    pub conduct: ConductArgs,
}

/// `--mode`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeArg {
    /// They only read, in EXECUTE too
    Plan,
    /// What the rules allow
    Default,
    /// Also every edit inside the repository
    AutoEdit,
    /// Also every command that is not held back; ends with this program
    Yolo,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Plan => Self::Plan,
            ModeArg::Default => Self::Default,
            ModeArg::AutoEdit => Self::AutoEdit,
            ModeArg::Yolo => Self::Yolo,
        }
    }
}

/// Flags by which a run is conducted without a screen.
#[derive(Debug, Clone, Args)]
pub struct ConductArgs {
    /// Where commits go (default: the current branch, or `agent-collab/<goal>` when that is the default branch)
    #[arg(long, value_name = "WHERE")]
    pub branch: Option<Branch>,
    /// Lets turns follow each other without a release
    #[arg(long)]
    pub auto: bool,
    /// Executes the approved plan, with the test command and on the branch that it shows
    #[arg(long)]
    pub yes_execute: bool,
    /// Which test command runs where the plan names one of its own (default: the configured or detected one); `plan` also
    /// lets an execution be approved beforehand whose test command an agent chose
    #[arg(long, value_name = "WHOSE")]
    pub test_command: Option<TestCommandArg>,
    /// Lets --yes-execute run a test command that only the plan names: an agent chose it
    #[arg(long, requires = "yes_execute")]
    pub allow_plan_test: bool,
    /// What happens to an agent's call that needs a person
    #[arg(long, value_name = "WHAT", default_value = "deny")]
    pub on_ask: OnAskArg,
    /// What happens when the review reaches its cap or makes no progress: pass, more:N (once) or cancel
    #[arg(long, value_name = "WHAT")]
    pub on_cap: Option<OnCap>,
    /// What happens to changes that are not only a step's: a file with uncommitted changes of yours that it edits, and
    /// files that you saved while it ran or that its tests rewrite each time
    #[arg(long, value_name = "WHAT")]
    pub on_dirty: Option<OnDirtyArg>,
    /// What happens to AGENTS.md and CLAUDE.md of this repository (default: they are sent to the agents where it is
    /// trusted, or where you said so on the screen)
    #[arg(long, value_name = "WHAT")]
    pub instructions: Option<InstructionsArg>,
    /// Answers questions of a kind beforehand, such as `--answer tests_failed=accept`
    #[arg(long = "answer", value_name = "KIND=CHOICE")]
    pub answers: Vec<String>,
    /// Prints the events themselves, one JSON object a line
    #[arg(long)]
    pub json: bool,
    /// What lifts the asking about commands that nothing holds.
    #[command(flatten)]
    pub holding: HoldingArgs,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ChoiceArgs,
}

/// `--branch`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Branch {
    /// The branch that is checked out
    Current,
    /// A new branch `agent-collab/<goal>`
    New,
}

/// `--test-command`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TestCommandArg {
    /// The plan's `Test:` line, where it has one
    Plan,
    /// The configured or detected command, where there is one
    Detected,
}

/// `--instructions`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InstructionsArg {
    /// They are sent to the agents, for this start
    Use,
    /// They are not
    Ignore,
}

impl From<InstructionsArg> for InstructionsChoice {
    fn from(word: InstructionsArg) -> Self {
        match word {
            InstructionsArg::Use => Self::Use,
            InstructionsArg::Ignore => Self::Ignore,
        }
    }
}

/// `--on-ask`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnAskArg {
    /// Declines it; the turn goes on
    Deny,
    /// Accepts what [[permission.rule]] of your own configuration or --config allows
    AllowRules,
}

impl From<OnAskArg> for Asks {
    fn from(word: OnAskArg) -> Self {
        match word {
            OnAskArg::Deny => Self::Deny,
            OnAskArg::AllowRules => Self::AllowRules,
        }
    }
}

/// `--on-dirty`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnDirtyArg {
    /// Commits the whole file with the step
    Include,
    /// Leaves the file uncommitted
    LeaveOut,
}

/// Runs the command.
///
/// # Errors
/// The flags do not fit together, or the run cannot be started.
pub async fn run(args: RunArgs) -> Result<u8, Refusal> {
    let unfinished = if args.new {
        Unfinished::Archive
    } else {
        Unfinished::Refuse
    };
    let goal = goal(&args)?;
    let mode = args.mode.into();
    conduct(&args.conduct, Task::Begin(goal), (unfinished, mode)).await
}

/// Conducts a run as the flags say.
///
/// # Errors
/// The flags do not fit together, or the run cannot be started.
pub async fn conduct(
    args: &ConductArgs,
    task: Task,
    (unfinished, mode): (Unfinished, Mode),
) -> Result<u8, Refusal> {
    let headless = Headless {
        task,
        answers: answers(args)?,
        form: if args.json { Form::Json } else { Form::Lines },
        wishes: Wishes {
            cwd: super::cwd()?,
            choices: Choices {
                instructions: args.instructions.map(InstructionsChoice::from),
                ..args.choices.choices()?
            },
            gate: if args.auto { Gate::Auto } else { Gate::Manual },
            mode,
            branch: match args.branch {
                None => BranchPolicy::Unless,
                Some(Branch::Current) => BranchPolicy::Current,
                Some(Branch::New) => BranchPolicy::New,
            },
            test_choice: match args.test_command {
                Some(TestCommandArg::Plan) => TestChoice::Plan,
                Some(TestCommandArg::Detected) | None => TestChoice::Own,
            },
            asks: args.on_ask.into(),
            unfinished,
            children: ChildSpawner::default(),
            uncontained: args.holding.commands(),
            front_end: FrontEnd::Lines,
        },
    };
    Ok(headless::run(
        headless,
        &mut Counted(io::stdout()),
        &mut Counted(io::stderr()),
    )
    .await)
}

fn goal(args: &RunArgs) -> Result<String, Refusal> {
    let text = match (&args.goal, &args.goal_file) {
        (Some(goal), _) => goal.clone(),
        (None, Some(file)) if file.as_os_str() == "-" => io::read_to_string(io::stdin())
            .map_err(|error| usage(format!("cannot read the goal from standard input: {error}")))?,
        (None, Some(file)) => std::fs::read_to_string(file).map_err(|error| {
            usage(format!(
                "cannot read the goal from {}: {error}",
                file.display()
            ))
        })?,
        (None, None) => String::new(),
    };
    match text.trim().is_empty() {
        true => Err(usage("the goal is empty".to_owned())),
        false => Ok(text.trim().to_owned()),
    }
}

fn usage(problem: String) -> Refusal {
    Refusal {
        problem,
        hint: "`agent-collab run --help` shows all flags".to_owned(),
        code: 2,
    }
}

fn answers(args: &ConductArgs) -> Result<Answers, Refusal> {
    let mut by_kind = BTreeMap::new();
    for given in &args.answers {
        let (kind, choice) = given.split_once('=').ok_or_else(|| {
            usage(format!(
                "`--answer {given}` has no `=`; write it as KIND=CHOICE"
            ))
        })?;
        check(kind.trim(), choice.trim()).map_err(usage)?;
        by_kind.insert(kind.trim().to_owned(), choice.trim().to_owned());
    }
    let plan_test = args.allow_plan_test || args.test_command == Some(TestCommandArg::Plan);
    Ok(Answers {
        execute: args.yes_execute.then_some(Yes),
        plan_test: plan_test.then_some(Yes),
        on_cap: args.on_cap,
        on_dirty: args.on_dirty.map(|policy| match policy {
            OnDirtyArg::Include => DirtyPolicy::Include,
            OnDirtyArg::LeaveOut => DirtyPolicy::LeaveOut,
        }),
        by_kind,
        ..Answers::default()
    })
}
