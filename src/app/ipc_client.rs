//! What is given on a command line while an instance runs here: handed to it, followed until it is over, and, on the
//! instance's side, taken in.
//!
//! Refuses to know what it is, and to do it: its caller says under which words the two know it.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::time::{MissedTickBehavior, interval};

use crate::engine::Engine;
use crate::store::{InstanceLock, LockHolder, WorkdirLayout};

use super::headless::HeadlessSignals;
use super::ipc_socket::{self, IpcRequest, PendingIpcRequest};
use super::startup::{self, ProjectContext, StartError, StartOptions};

/// How often it is looked whether it is over.
const POLL_INTERVAL: Duration = Duration::from_millis(150);

/// Where something is given.
pub(super) struct IpcTarget {
    /// The directory.
    pub found: ProjectContext,
    /// Where its files lie.
    pub layout: WorkdirLayout,
    /// The instance that works there, if one does.
    pub held: Option<LockHolder>,
    /// What comes meanwhile.
    pub signals: HeadlessSignals,
}

impl IpcTarget {
    pub async fn locate(wishes: &StartOptions) -> Result<Self, StartError> {
        let found = startup::inspect_project(wishes).await?;
        let layout = startup::run_layout(&found.root, &found.loaded.config)?;
        let signals = HeadlessSignals::listen()
            .map_err(|error| StartError::new(format!("cannot listen for signals: {error}"), ""))?;
        Ok(Self {
            held: InstanceLock::read_holder(&layout)?,
            found,
            layout,
            signals,
        })
    }
}

/// The words under which something is given.
pub(super) struct IpcVocabulary {
    /// What it is, in a word: also the command that gives it, here and to the instance.
    pub command: &'static str,
    /// The command by which the instance stops it.
    pub stop_command: &'static str,
    /// What it is called, for people.
    pub noun: &'static str,
    /// Under which name the instance tells its id.
    pub id_field: &'static str,
    /// What the instance did, after `the instance that `.
    pub past_action: &'static str,
    /// What becomes of it where no run is open.
    pub oneshot_verb: &'static str,
    /// What follows `--id_field` where somebody goes on with it.
    pub resume_arguments: &'static str,
}

/// Gives something to the instance that runs here and waits until `look`, which is handed its id, sees its end; a signal
/// stops it there.
///
/// # Errors
/// It was not begun, or the instance ended before it.
pub(super) async fn submit_and_wait<T>(
    layout: &WorkdirLayout,
    held: &LockHolder,
    words: &IpcVocabulary,
    given: &impl Serialize,
    signals: &mut HeadlessSignals,
    mut look: impl FnMut(&str) -> Result<Option<T>, StartError>,
) -> Result<T, StartError> {
    let text = serde_json::to_string(given).map_err(|error| StartError::new(error, ""))?;
    let told = request_instance(layout, held, words.command, text).await?;
    let id = told.get(words.id_field).and_then(Value::as_str);
    let id =
        id.ok_or_else(|| StartError::new("the instance here does not say what it began", ""))?;
    let mut looks = interval(POLL_INTERVAL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            _ = signals.next_signal() => drop(request_instance(layout, held, words.stop_command, id.to_owned()).await?),
            _ = looks.tick() => {}
        }
        // In this order: an instance that has gone may have written the end before it went.
        let is_there = InstanceLock::read_holder(layout)?.is_some_and(|now| now.pid == held.pid);
        if let Some(end) = look(id)? {
            return Ok(end);
        }
        if !is_there {
            let IpcVocabulary {
                command: give,
                past_action: did,
                resume_arguments: more,
                ..
            } = words;
            return Err(StartError::new(
                format!("the instance that {did} has ended"),
                format!("`agent-collab {give} --id {id}{more}` goes on with it"),
            ));
        }
    }
}

/// Asks the instance that runs here for something, and gives what it told.
pub(super) async fn request_instance(
    layout: &WorkdirLayout,
    held: &LockHolder,
    command: &str,
    text: String,
) -> Result<Value, StartError> {
    let request = IpcRequest {
        command: command.to_owned(),
        text,
    };
    let answer = ipc_socket::send_to_lock_holder(layout, held, &request).await?;
    if answer.accepted {
        Ok(answer.told.unwrap_or_default())
    } else {
        Err(not_started_error(answer.why.unwrap_or_default()))
    }
}

/// What is not begun, and where to look what could be.
pub(super) fn not_started_error(why: impl ToString) -> StartError {
    StartError::new(
        why.to_string(),
        "`agent-collab agents --mode subagent` lists the agents, `agent-collab sessions list` the tasks that were given",
    )
}

/// The run that is open here, for who asks; where none is, that is the answer.
pub(super) fn require_open_run<'a>(
    asked: PendingIpcRequest,
    engine: Option<&'a mut Engine>,
    words: &IpcVocabulary,
) -> Option<(PendingIpcRequest, &'a mut Engine)> {
    match engine {
        Some(engine) => Some((asked, engine)),
        None => {
            asked.reply(Err(format!(
                "no run is open on this screen; give it a goal first, or close it and the {} {} by itself",
                words.noun, words.oneshot_verb
            )));
            None
        }
    }
}

/// What was given; where it is not to be understood, that is the answer.
pub(super) fn parse_command<G: DeserializeOwned>(
    asked: PendingIpcRequest,
    words: &IpcVocabulary,
) -> Option<(PendingIpcRequest, G)> {
    match serde_json::from_str(&asked.request.text) {
        Ok(given) => Some((asked, given)),
        Err(error) => {
            asked.reply(Err(format!("that is no {}: {error}", words.noun)));
            None
        }
    }
}

/// Answers what was begun by its id, or why nothing was.
pub(super) fn reply_with_id<I: ToString, E: ToString>(
    asked: PendingIpcRequest,
    words: &IpcVocabulary,
    begun: Result<I, E>,
) {
    match begun {
        Ok(id) => {
            let id = (words.id_field.to_owned(), id.to_string().into());
            asked.reply_with(Value::Object(Map::from_iter([id])));
        }
        Err(why) => asked.reply(Err(why.to_string())),
    }
}
