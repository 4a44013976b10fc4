//! Runs discussions that the command line asks for: through the running instance, else in an engine of their own.
//!
//! Does not format results for the user: `cli` does.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::config::effective_permissions::{AllowAuthority, EffectivePermissions};
use crate::domain::discussion::{
    CheckOutcome, CheckRun, DiscussionSpeech, DiscussionStopReason, GroupDiscussion, SpeechPart,
};
use crate::domain::ids::DiscussionId;
use crate::domain::task::TaskWaitMode;
use crate::engine::discussion_runner::{
    DiscussionHandle, DiscussionPlan, DiscussionPlanner, DiscussionPreview,
    build_discussion_preview,
};
use crate::engine::{DiscussionRequest, DiscussionStartError, Engine, EngineError, TaskCaller};
use crate::mcp::tools::group_discuss::GroupDiscussToolArguments;
use crate::store::WorkdirLayout;
use crate::store::discussion_files::load_discussion;
use crate::text::clean_to_one_line;

use super::headless_signals::HeadlessSignals;
use super::ipc_client::{
    self, IpcTarget, IpcVocabulary, parse_command, reply_with_id, require_open_run,
};
use super::ipc_socket::{IpcRequest, PendingIpcRequest};
use super::oneshot_engine::run_oneshot_engine;
use super::startup::{self, ProjectContext, StartError, StartOptions};

/// The commands and words for discussions on the IPC socket.
const VOCABULARY: IpcVocabulary = IpcVocabulary {
    command: "discuss",
    stop_command: "discuss-stop",
    noun: "discussion",
    id_field: "discussion_id",
    past_action: "ran the discussion",
    oneshot_verb: "runs",
    resume_arguments: "",
};

/// A request for a discussion, from the command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiscussCommand {
    /// The arguments of the discussion.
    #[serde(default)]
    pub arguments: GroupDiscussToolArguments,
    /// The discussion to resume; `None` starts a new one.
    #[serde(default)]
    pub id: Option<DiscussionId>,
}

impl DiscussCommand {
    fn begin_discussion(
        self,
        engine: &mut Engine,
        waits: TaskWaitMode,
    ) -> Result<Result<DiscussionHandle, DiscussionStartError>, EngineError> {
        match self.id {
            Some(id) => engine.resume_discussion(&id, waits),
            None => engine.start_discussion(&DiscussionRequest {
                caller: TaskCaller::User,
                arguments: self.arguments,
                finding: None,
                wait_mode: waits,
            }),
        }
    }
}

/// Returns what a discussion would be given, without starting it.
///
/// # Errors
/// The discussion could not start, or the configuration has problems.
pub async fn preview_budget(
    wishes: &StartOptions,
    arguments: GroupDiscussToolArguments,
) -> Result<DiscussionPreview, StartError> {
    let found = startup::inspect_project(wishes).await?;
    let arguments = arguments.with_placeholder_topic();
    plan_discussion(&found, arguments, |means, planned| {
        build_discussion_preview(means, &planned)
    })
}

/// Plans a discussion of the user's and passes the plan to `make`.
fn plan_discussion<T>(
    found: &ProjectContext,
    arguments: GroupDiscussToolArguments,
    make: impl FnOnce(&DiscussionPlanner<'_>, DiscussionPlan) -> T,
) -> Result<T, StartError> {
    let permissions =
        EffectivePermissions::from_config(&found.loaded.config, AllowAuthority::Everybody);
    let layout = startup::run_layout(&found.root, &found.loaded.config)?;
    let means = DiscussionPlanner {
        root: &found.root,
        config: &found.loaded.config,
        permissions: &permissions,
        layout: &layout,
    };
    let ask = DiscussionRequest {
        caller: TaskCaller::User,
        arguments,
        finding: None,
        wait_mode: TaskWaitMode::Background,
    };
    let planned = means
        .plan(&ask)
        .map_err(|refused| to_start_error(&refused))?;
    Ok(make(&means, planned))
}

/// Runs a discussion to its end and returns it, with the last signal that arrived meanwhile; `tell` gets the progress,
/// line by line.
///
/// # Errors
/// The discussion did not start, or its end will never be known; the text says why and what to do.
pub async fn run_discussion(
    wishes: &StartOptions,
    given: DiscussCommand,
    tell: &mut dyn FnMut(&str),
) -> Result<(GroupDiscussion, Option<&'static str>), StartError> {
    let IpcTarget {
        found,
        layout,
        held,
        mut signals,
    } = IpcTarget::locate(wishes).await?;
    let ended = match &held {
        Some(held) => {
            let mut told = DiscussionProgressPrinter::default();
            let look = |id: &str| {
                let found = load_discussion(&layout, &DiscussionId::new(id))?;
                if let Some(discussion) = &found {
                    told.print_news(discussion, tell);
                }
                Ok(found.filter(|discussion| !discussion.is_running()))
            };
            ipc_client::submit_and_wait(&layout, held, &VOCABULARY, &given, &mut signals, look)
                .await?
        }
        None => run_oneshot(wishes, found, &layout, given, &mut signals, tell).await?,
    };
    Ok((ended, signals.last_signal()))
}

fn to_start_error(why: &DiscussionStartError) -> StartError {
    StartError::new(
        why,
        "see `agent-collab discuss --help`; `agent-collab agents --mode subagent` lists the agents",
    )
}

/// Returns the adapters of the planner and reviewer roles that take part; those must start. Any other adapter that does
/// not start is an error of its participant only. Errors in the arguments are found before any CLI is looked up;
/// problems with a discussion to resume are reported by the engine.
fn required_role_adapters(
    found: &ProjectContext,
    layout: &WorkdirLayout,
    given: &DiscussCommand,
    tell: &mut dyn FnMut(&str),
) -> Result<BTreeSet<String>, StartError> {
    let participants = match &given.id {
        Some(id) => load_discussion(layout, id)?.map(|discussion| discussion.order.participants),
        None => {
            let planned = plan_discussion(found, given.arguments.clone(), |_, planned| planned)?;
            if let Some(why) = planned.describe_truncation() {
                tell(&format!("note: {why}"));
            }
            Some(planned.order.participants)
        }
    };
    let roles = &found.loaded.config.roles;
    let is_role = |name: &String| *name == roles.planner || Some(name) == roles.reviewer.as_ref();
    let adapters = participants.into_iter().flatten().map(|each| each.adapter);
    Ok(adapters.filter(is_role).collect())
}

/// Like `required_role_adapters`, for a new discussion.
///
/// # Errors
/// The discussion could not start.
pub fn required_role_adapters_of_new(
    found: &ProjectContext,
    layout: &WorkdirLayout,
    arguments: GroupDiscussToolArguments,
) -> Result<BTreeSet<String>, StartError> {
    let given = DiscussCommand {
        arguments,
        id: None,
    };
    // The discussion reports what is cut when it begins.
    required_role_adapters(found, layout, &given, &mut |_| {})
}

async fn run_oneshot(
    wishes: &StartOptions,
    found: ProjectContext,
    layout: &WorkdirLayout,
    given: DiscussCommand,
    signals: &mut HeadlessSignals,
    tell: &mut dyn FnMut(&str),
) -> Result<GroupDiscussion, StartError> {
    let players = required_role_adapters(&found, layout, &given, tell)?;
    let opening = startup::open_ad_hoc_run(&players, found, wishes);
    run_oneshot_engine(opening, signals, tell, async |engine, signals, tell| {
        let started = given.begin_discussion(engine, TaskWaitMode::Foreground);
        let started = started.map_err(|error| StartError::new(&error, "nothing was started"))?;
        let started = started.map_err(|why| to_start_error(&why))?;
        let ended = drive_discussion(engine, started.0, started.1, signals, tell).await;
        ended.map_err(|error| StartError::new(&error, "everything recorded so far is kept"))
    })
    .await
}

async fn drive_discussion(
    engine: &mut Engine,
    id: DiscussionId,
    mut end: oneshot::Receiver<GroupDiscussion>,
    signals: &mut HeadlessSignals,
    tell: &mut dyn FnMut(&str),
) -> Result<GroupDiscussion, EngineError> {
    let mut told = DiscussionProgressPrinter::default();
    loop {
        if let Some(discussion) = engine.state().discussion(&id) {
            told.print_news(discussion, tell);
        }
        // Progress is read from the discussion itself.
        engine.take_view_updates();
        if let Ok(discussion) = end.try_recv() {
            return Ok(discussion);
        }
        tokio::select! {
            biased;
            _ = signals.next_signal() => drop(engine.stop_discussion(&id, DiscussionStopReason::User)?),
            inward = engine.next_input() => engine.handle_input(inward)?,
        }
    }
}

/// Prints what is new in a discussion and remembers what it has printed.
#[derive(Debug, Default)]
struct DiscussionProgressPrinter {
    id: Option<DiscussionId>,
    announced_speakers: Vec<(u32, String)>,
    n_spoken: usize,
    n_checks: usize,
}

impl DiscussionProgressPrinter {
    /// Prints what is new since the last call.
    fn print_news(&mut self, discussion: &GroupDiscussion, tell: &mut dyn FnMut(&str)) {
        if self.id.is_none() {
            tell(&format!("discussion {}", discussion.id()));
            self.id = Some(discussion.id().clone());
        }
        let rounds = discussion.rounds.iter().flat_map(|round| &round.speeches);
        let all: Vec<_> = rounds.chain(&discussion.closing).collect();
        for speech in all.iter().skip(self.n_spoken) {
            let line = summarize_speech(speech);
            tell(&format!(
                "{}: {line}",
                round_label(speech.round, speech.part)
            ));
        }
        self.n_spoken = all.len();
        for check in discussion.checks.iter().skip(self.n_checks) {
            tell(&format!(
                "round {}: {}",
                check.round,
                summarize_check(check)
            ));
        }
        self.n_checks = discussion.checks.len();
        for each in &discussion.speaking {
            let is = (each.round, each.participant.clone());
            if !self.announced_speakers.contains(&is) {
                let place = round_label(each.round, each.part);
                tell(&format!("{place}: {} is answering", each.participant));
                self.announced_speakers.push(is);
            }
        }
    }
}

fn round_label(round: u32, part: SpeechPart) -> String {
    match part {
        SpeechPart::Round => format!("round {round}"),
        SpeechPart::Closing => "final words".to_owned(),
    }
}

fn summarize_speech(speech: &DiscussionSpeech) -> String {
    let who = &speech.participant;
    let seconds = speech.took_ms / 1000;
    match (&speech.error, &speech.stance) {
        (Some(error), _) => format!("{who} did not answer: {}", error.describe()),
        (None, Some(stance)) => {
            let stands = stance.stance.as_str().replace('_', " ");
            let on = Some(clean_to_one_line(&stance.proposal)).filter(|on| !on.is_empty());
            let sure = stance.confidence.map(|sure| format!("confidence {sure}"));
            let parts: Vec<String> = [Some(stands), on, sure].into_iter().flatten().collect();
            format!("{who}: {} ({seconds} s)", parts.join(", "))
        }
        (None, None) => {
            let why = speech.no_stance.as_deref().unwrap_or("none given");
            format!(
                "{who} answered without a vote: {} ({seconds} s)",
                clean_to_one_line(why)
            )
        }
    }
}

fn summarize_check(check: &CheckRun) -> String {
    let became = match &check.end {
        CheckOutcome::Ran { exit_code, .. } => match exit_code {
            Some(code) => format!("exit {code}"),
            None => "killed by a signal".to_owned(),
        },
        CheckOutcome::Refused { reason } => format!("not allowed: {reason}"),
        CheckOutcome::Failed { reason } => format!("failed: {reason}"),
    };
    format!(
        "check {}: `{}` {became}",
        check.n,
        clean_to_one_line(&check.order.command)
    )
}

/// Returns whether an IPC request is about discussions.
pub fn is_discussion_request(request: &IpcRequest) -> bool {
    [VOCABULARY.command, VOCABULARY.stop_command].contains(&request.command.as_str())
}

/// Carries out a request about discussions on the open run, and answers it.
///
/// # Errors
/// The run's log cannot be written.
pub fn handle_request(
    asked: PendingIpcRequest,
    engine: Option<&mut Engine>,
) -> Result<(), EngineError> {
    let Some((asked, engine)) = require_open_run(asked, engine, &VOCABULARY) else {
        return Ok(());
    };
    if asked.request.command == VOCABULARY.stop_command {
        let id = DiscussionId::new(&asked.request.text);
        let stopped = engine.stop_discussion(&id, DiscussionStopReason::User)?;
        let why = || format!("no discussion {id} is running");
        asked.reply(stopped.then_some(()).ok_or_else(why));
    } else if let Some((asked, given)) = parse_command::<DiscussCommand>(asked, &VOCABULARY) {
        let started = given.begin_discussion(engine, TaskWaitMode::Background)?;
        reply_with_id(asked, &VOCABULARY, started.map(|(id, _)| id));
    }
    Ok(())
}
