//! Discussions from a command line: by the instance that runs here, else by an engine of their own.
//!
//! Refuses to word results for people; its caller does.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::config::permissions::{Allowing, Permissions};
use crate::domain::discussion::{CheckEnd, CheckRun, Discussion, Speech, StopReason};
use crate::domain::ids::DiscussionId;
use crate::domain::task::Waits;
use crate::engine::discussion::{Begun, Derived, Means, derived};
use crate::engine::{Caller, DiscussionAsk, DiscussionRefused, Engine, EngineError};
use crate::mcp::tools::group_discuss::Arguments;
use crate::process::{become_subreaper, end_everything};
use crate::store::discussions::stored;
use crate::store::{Held, InstanceLock, Layout};
use crate::text::one_line;

use super::headless::Signals;
use super::socket::{Asked, Request};
use super::start::{self, Refusal, Started, Wishes};
use super::tasks::ask;

/// The command by which an instance is told to begin a discussion.
const BEGIN: &str = "discuss";
/// The command by which a discussion of an instance is stopped.
const STOP: &str = "discuss-stop";
/// How often it is looked whether an instance's discussion is over.
const LOOK: Duration = Duration::from_millis(150);
/// How long conversations may take to end before everything is killed.
const SHUT_DOWN: Duration = Duration::from_secs(8);

/// A discussion as it is given on a command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// What was said of it.
    #[serde(default)]
    pub arguments: Arguments,
    /// The discussion to go on with, in place of a new one.
    #[serde(default)]
    pub id: Option<DiscussionId>,
}

impl Given {
    fn begin(
        self,
        engine: &mut Engine,
        waits: Waits,
    ) -> Result<Result<Begun, DiscussionRefused>, EngineError> {
        match self.id {
            Some(id) => engine.continue_discussion(&id, waits),
            None => engine.begin_discussion(&DiscussionAsk {
                caller: Caller::User,
                arguments: self.arguments,
                finding: None,
                waits,
            }),
        }
    }
}

/// Tells what a discussion would be given, and starts nothing.
///
/// # Errors
/// It would not be begun, or the configuration has problems.
pub async fn budget(wishes: &Wishes, arguments: Arguments) -> Result<Derived, Refusal> {
    let found = start::find(wishes).await?;
    let permissions = Permissions::of(&found.loaded.config, Allowing::Everybody);
    let means = Means {
        root: &found.root,
        config: &found.loaded.config,
        permissions: &permissions,
    };
    let ask = DiscussionAsk {
        caller: Caller::User,
        arguments: arguments.with_some_topic(),
        finding: None,
        waits: Waits::Background,
    };
    let planned = means.plan(&ask).map_err(|refused| refuse(&refused))?;
    Ok(derived(&means, &planned))
}

/// Has a discussion take place and gives it as it ended; `tell` hears in lines how it goes.
///
/// # Errors
/// It was not begun, or nobody will ever know how it ended; the text says why and what to do.
pub async fn run(
    wishes: &Wishes,
    given: Given,
    tell: &mut dyn FnMut(&str),
) -> Result<Discussion, Refusal> {
    let found = start::find(wishes).await?;
    let layout = start::layout(&found.root, &found.loaded.config)?;
    let signals = Signals::listen()
        .map_err(|error| Refusal::error(format!("cannot listen for signals: {error}"), ""))?;
    match InstanceLock::holder(&layout)? {
        Some(held) => by_instance(&layout, held, given, signals, tell).await,
        None => by_itself(wishes, given, signals, tell).await,
    }
}

fn refuse(why: &DiscussionRefused) -> Refusal {
    Refusal::error(
        why,
        "`agent-collab discuss --help` tells what can be said; `agent-collab agents --mode subagent` lists the agents",
    )
}

async fn by_itself(
    wishes: &Wishes,
    given: Given,
    mut signals: Signals,
    tell: &mut dyn FnMut(&str),
) -> Result<Discussion, Refusal> {
    become_subreaper().map_err(|error| {
        Refusal::error(format!("cannot look after child processes: {error}"), "")
    })?;
    let Started {
        mut engine,
        notices,
        occupied,
    } = start::ad_hoc_for_all(wishes).await?;
    for notice in notices {
        tell(&format!("note: {notice}"));
    }
    let done = match given.begin(&mut engine, Waits::Foreground) {
        Ok(Ok(begun)) => {
            let ended = drive(&mut engine, begun, &mut signals, tell).await;
            ended.map_err(|error| {
                Refusal::error(&error, "what was recorded so far is in .agent-collab")
            })
        }
        Ok(Err(why)) => Err(refuse(&why)),
        Err(error) => Err(Refusal::error(&error, "nothing was begun")),
    };
    let _late = timeout(SHUT_DOWN, engine.shut_down()).await;
    end_everything(Duration::from_millis(500)).await;
    drop(occupied);
    done
}

async fn drive(
    engine: &mut Engine,
    (id, mut end): (DiscussionId, oneshot::Receiver<Discussion>),
    signals: &mut Signals,
    tell: &mut dyn FnMut(&str),
) -> Result<Discussion, EngineError> {
    let mut told = Told::default();
    loop {
        if let Some(discussion) = engine.discussion(&id) {
            told.tell(discussion, tell);
        }
        engine.take_recorded();
        engine.take_deltas();
        if let Ok(discussion) = end.try_recv() {
            return Ok(discussion);
        }
        tokio::select! {
            biased;
            _ = signals.next() => drop(engine.stop_discussion(&id, StopReason::User)?),
            inward = engine.next() => engine.take(inward)?,
        }
    }
}

async fn by_instance(
    layout: &Layout,
    held: Held,
    given: Given,
    mut signals: Signals,
    tell: &mut dyn FnMut(&str),
) -> Result<Discussion, Refusal> {
    let text = serde_json::to_string(&given).map_err(|error| Refusal::error(error, ""))?;
    let answer = ask(layout, &held, BEGIN, text).await?;
    let id: DiscussionId = answer
        .get("discussion_id")
        .and_then(Value::as_str)
        .map(DiscussionId::new)
        .ok_or_else(|| Refusal::error("the instance here does not say what it began", ""))?;
    let mut told = Told::default();
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            _ = signals.next() => drop(ask(layout, &held, STOP, id.to_string()).await?),
            _ = looks.tick() => {}
        }
        // In this order: an instance that has gone may have written the end before it went.
        let is_there = InstanceLock::holder(layout)?.is_some_and(|now| now.pid == held.pid);
        if let Some(discussion) = stored(layout, &id)? {
            told.tell(&discussion, tell);
            if !discussion.is_running() {
                return Ok(discussion);
            }
        }
        if !is_there {
            return Err(Refusal::error(
                "the instance that held the discussion has ended",
                format!("`agent-collab discuss --id {id}` goes on with it"),
            ));
        }
    }
}

/// What was told of a discussion already.
#[derive(Debug, Default)]
struct Told {
    speaking: Vec<(u32, String)>,
    n_spoken: usize,
    n_checks: usize,
}

impl Told {
    /// Tells what is new since the last time.
    fn tell(&mut self, discussion: &Discussion, tell: &mut dyn FnMut(&str)) {
        let rounds = discussion.rounds.iter().flat_map(|round| &round.speeches);
        let all: Vec<_> = rounds.chain(&discussion.closing).collect();
        for speech in all.iter().skip(self.n_spoken) {
            tell(&format!(
                "round {}: {}",
                speech.round,
                speech_in_a_line(speech)
            ));
        }
        self.n_spoken = all.len();
        for check in discussion.checks.iter().skip(self.n_checks) {
            tell(&format!(
                "round {}: {}",
                check.round,
                check_in_a_line(check)
            ));
        }
        self.n_checks = discussion.checks.len();
        for each in &discussion.speaking {
            let is = (each.round, each.participant.clone());
            if !self.speaking.contains(&is) {
                tell(&format!(
                    "round {}: {} speaks",
                    each.round, each.participant
                ));
                self.speaking.push(is);
            }
        }
    }
}

fn speech_in_a_line(speech: &Speech) -> String {
    let who = &speech.participant;
    let seconds = speech.took_ms / 1000;
    match (&speech.error, &speech.stance) {
        (Some(error), _) => format!(
            "{who} said nothing: {} {}",
            error.code.code(),
            error.message
        ),
        (None, Some(stance)) => {
            let sure = stance
                .confidence
                .map_or(String::new(), |sure| format!(", {sure} sure"));
            let stands = stance.stance.name().replace('_', " ");
            format!(
                "{who}: {stands}, {}{sure} ({seconds} s)",
                one_line(&stance.proposal)
            )
        }
        (None, None) => format!("{who} spoke and has no stance, so no vote ({seconds} s)"),
    }
}

fn check_in_a_line(check: &CheckRun) -> String {
    let became = match &check.end {
        CheckEnd::Ran { exit_code, .. } => match exit_code {
            Some(code) => format!("exit {code}"),
            None => "ended by a signal".to_owned(),
        },
        CheckEnd::Refused { reason } => format!("may not run: {reason}"),
        CheckEnd::Failed { reason } => format!("failed: {reason}"),
    };
    format!(
        "check {}: `{}` {became}",
        check.n,
        one_line(&check.order.command)
    )
}

/// Tells whether a request from outside is about discussions.
pub fn is_about_discussions(request: &Request) -> bool {
    [BEGIN, STOP].contains(&request.command.as_str())
}

/// Carries a request about discussions out on the run that is open, and answers it.
///
/// # Errors
/// The record of the run cannot be kept.
pub fn carry_out(asked: Asked, engine: Option<&mut Engine>) -> Result<(), EngineError> {
    let Some(engine) = engine else {
        asked.answer(Err(
            "no run is open on this screen; give it a goal first, or close it and the discussion \
                          takes place by itself"
                .to_owned(),
        ));
        return Ok(());
    };
    if asked.request.command == STOP {
        let id = DiscussionId::new(&asked.request.text);
        let stopped = engine.stop_discussion(&id, StopReason::User)?;
        let why = || format!("no discussion {id} is going on");
        asked.answer(stopped.then_some(()).ok_or_else(why));
        return Ok(());
    }
    let given: Given = match serde_json::from_str(&asked.request.text) {
        Ok(given) => given,
        Err(error) => {
            asked.answer(Err(format!("that is no discussion: {error}")));
            return Ok(());
        }
    };
    match given.begin(engine, Waits::Background)? {
        Ok((id, _)) => asked.answer_with(json!({ "discussion_id": id })),
        Err(why) => asked.answer(Err(why.to_string())),
    }
    Ok(())
}
