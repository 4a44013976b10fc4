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

use super::headless::Signals;
use super::socket::{self, Asked, Request};
use super::start::{self, Found, Refusal, Wishes};

/// How often it is looked whether it is over.
const LOOK: Duration = Duration::from_millis(150);

/// Where something is given.
pub(super) struct Place {
    /// The directory.
    pub found: Found,
    /// Where its files lie.
    pub layout: WorkdirLayout,
    /// The instance that works there, if one does.
    pub held: Option<LockHolder>,
    /// What comes meanwhile.
    pub signals: Signals,
}

impl Place {
    pub async fn find(wishes: &Wishes) -> Result<Self, Refusal> {
        let found = start::find(wishes).await?;
        let layout = start::layout(&found.root, &found.loaded.config)?;
        let signals = Signals::listen()
            .map_err(|error| Refusal::error(format!("cannot listen for signals: {error}"), ""))?;
        Ok(Self {
            held: InstanceLock::read_holder(&layout)?,
            found,
            layout,
            signals,
        })
    }
}

/// The words under which something is given.
pub(super) struct Words {
    /// What it is, in a word: also the command that gives it, here and to the instance.
    pub give: &'static str,
    /// The command by which the instance stops it.
    pub stop: &'static str,
    /// What it is called, for people.
    pub name: &'static str,
    /// Under which name the instance tells its id.
    pub id: &'static str,
    /// What the instance did, after `the instance that `.
    pub did: &'static str,
    /// What becomes of it where no run is open.
    pub alone: &'static str,
    /// What follows `--id` where somebody goes on with it.
    pub more: &'static str,
}

/// Gives something to the instance that runs here and waits until `look`, which is handed its id, sees its end; a signal
/// stops it there.
///
/// # Errors
/// It was not begun, or the instance ended before it.
pub(super) async fn by_instance<T>(
    (layout, held): (&WorkdirLayout, &LockHolder),
    words: &Words,
    given: &impl Serialize,
    signals: &mut Signals,
    mut look: impl FnMut(&str) -> Result<Option<T>, Refusal>,
) -> Result<T, Refusal> {
    let text = serde_json::to_string(given).map_err(|error| Refusal::error(error, ""))?;
    let told = ask(layout, held, words.give, text).await?;
    let id = told.get(words.id).and_then(Value::as_str);
    let id =
        id.ok_or_else(|| Refusal::error("the instance here does not say what it began", ""))?;
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            _ = signals.next() => drop(ask(layout, held, words.stop, id.to_owned()).await?),
            _ = looks.tick() => {}
        }
        // In this order: an instance that has gone may have written the end before it went.
        let is_there = InstanceLock::read_holder(layout)?.is_some_and(|now| now.pid == held.pid);
        if let Some(end) = look(id)? {
            return Ok(end);
        }
        if !is_there {
            let Words {
                give, did, more, ..
            } = words;
            return Err(Refusal::error(
                format!("the instance that {did} has ended"),
                format!("`agent-collab {give} --id {id}{more}` goes on with it"),
            ));
        }
    }
}

/// Asks the instance that runs here for something, and gives what it told.
pub(super) async fn ask(
    layout: &WorkdirLayout,
    held: &LockHolder,
    command: &str,
    text: String,
) -> Result<Value, Refusal> {
    let request = Request {
        command: command.to_owned(),
        text,
    };
    let answer = socket::put(layout, held, &request).await?;
    match answer.accepted {
        true => Ok(answer.told.unwrap_or_default()),
        false => Err(refused(answer.why.unwrap_or_default())),
    }
}

/// What is not begun, and where to look what could be.
pub(super) fn refused(why: impl ToString) -> Refusal {
    Refusal::error(
        why.to_string(),
        "`agent-collab agents --mode subagent` lists the agents, `agent-collab sessions list` the tasks that were given",
    )
}

/// The run that is open here, for who asks; where none is, that is the answer.
pub(super) fn open_run<'a>(
    asked: Asked,
    engine: Option<&'a mut Engine>,
    words: &Words,
) -> Option<(Asked, &'a mut Engine)> {
    match engine {
        Some(engine) => Some((asked, engine)),
        None => {
            asked.answer(Err(format!(
                "no run is open on this screen; give it a goal first, or close it and the {} {} by itself",
                words.name, words.alone
            )));
            None
        }
    }
}

/// What was given; where it is not to be understood, that is the answer.
pub(super) fn understood<G: DeserializeOwned>(asked: Asked, words: &Words) -> Option<(Asked, G)> {
    match serde_json::from_str(&asked.request.text) {
        Ok(given) => Some((asked, given)),
        Err(error) => {
            asked.answer(Err(format!("that is no {}: {error}", words.name)));
            None
        }
    }
}

/// Answers what was begun by its id, or why nothing was.
pub(super) fn answer_begun<I: ToString, E: ToString>(
    asked: Asked,
    words: &Words,
    begun: Result<I, E>,
) {
    match begun {
        Ok(id) => {
            let id = (words.id.to_owned(), id.to_string().into());
            asked.answer_with(Value::Object(Map::from_iter([id])));
        }
        Err(why) => asked.answer(Err(why.to_string())),
    }
}
