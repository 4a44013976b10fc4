//! Tasks given from a command line: through the instance that runs here, else by an engine of their own.
//!
//! Refuses to word results for people; its caller does.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::domain::event::{Event, News};
use crate::domain::ids::SessionId;
use crate::domain::task::{TaskResult, Waits};
use crate::engine::{Caller, Engine, EngineError, TaskAsk};
use crate::store::{WorkdirLayout, session_files};

use super::alone::alone;
use super::given::{self, Place, Words, answer_begun, open_run, refused, understood};
use super::headless::Signals;
use super::socket::{Asked, Request};
use super::start::{self, Found, Refusal, Wishes};

/// How an instance knows tasks.
const WORDS: Words = Words {
    give: "task",
    stop: "task-stop",
    name: "task",
    id: "task_id",
    did: "did the task",
    alone: "is done",
    more: " …",
};
/// The command by which a child session of an instance is deleted.
pub(super) const DELETE: &str = "session-delete";

/// A task as it is given on a command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// The agent.
    pub agent: String,
    /// All that it is told.
    pub prompt: String,
    /// What it is about, in a few words; made of the prompt where it is empty.
    #[serde(default)]
    pub description: String,
    /// The child session to go on with.
    #[serde(default)]
    pub task_id: Option<SessionId>,
}

impl Given {
    /// The child is gone on with by its id, by whatever it is called; one that is not there is refused later.
    fn by_id(mut self, layout: &WorkdirLayout) -> Self {
        let found = self.task_id.as_ref();
        let found = found.and_then(|wanted| super::sessions::find(layout, wanted.as_str()).ok());
        let found = found.map(|session| SessionId::new(super::sessions::id_of(&session)));
        self.task_id = found.or(self.task_id);
        self
    }

    fn ask(self) -> TaskAsk {
        TaskAsk {
            caller: Caller::User,
            agent: self.agent,
            prompt: self.prompt,
            description: self.description,
            task_id: self.task_id,
            waits: Waits::Background,
        }
    }
}

/// Has a task done and gives its result, and the signal that came meanwhile; `tell` hears in lines what its agent
/// does, where this process does it.
///
/// # Errors
/// It was not begun, or nobody will ever know how it ended; the text says why and what to do.
pub async fn run(
    wishes: &Wishes,
    given: Given,
    tell: &mut dyn FnMut(&str),
) -> Result<(TaskResult, Option<&'static str>), Refusal> {
    let Place {
        found,
        layout,
        held,
        mut signals,
    } = Place::find(wishes).await?;
    let given = given.by_id(&layout);
    let look = |id: &str| result_of(&layout, &SessionId::new(id));
    let result = match &held {
        Some(held) => {
            given::by_instance((&layout, held), &WORDS, &given, &mut signals, look).await?
        }
        None => by_itself((wishes, found), given, &mut signals, tell).await?,
    };
    Ok((result, signals.last()))
}

async fn by_itself(
    (wishes, found): (&Wishes, Found),
    given: Given,
    signals: &mut Signals,
    tell: &mut dyn FnMut(&str),
) -> Result<TaskResult, Refusal> {
    let players = BTreeSet::from([start::player_of(&found, &given.agent)?]);
    let opening = start::ad_hoc_played_by(&players, found, wishes);
    alone(opening, signals, tell, async |engine, signals, tell| {
        let begun = engine.start_task(given.ask());
        let begun = begun.map_err(|error| Refusal::error(&error, "nothing was begun"))?;
        let (session, result) = begun.map_err(refused)?;
        let result = drive(engine, (&session, result), signals, tell).await;
        result.map_err(|error| Refusal::error(&error, "what was recorded so far is kept"))
    })
    .await
}

async fn drive(
    engine: &mut Engine,
    (session, mut result): (&SessionId, oneshot::Receiver<TaskResult>),
    signals: &mut Signals,
    tell: &mut dyn FnMut(&str),
) -> Result<TaskResult, EngineError> {
    loop {
        for record in engine.take_recorded() {
            if let Some(line) = in_a_line(&record.event) {
                tell(&line);
            }
        }
        engine.take_deltas();
        engine.dismiss_questions()?;
        if let Ok(result) = result.try_recv() {
            return Ok(result);
        }
        tokio::select! {
            biased;
            name = signals.next() => {
                engine.stop_child(session, &format!("interrupted by {name}"));
            }
            inward = engine.next() => engine.take(inward)?,
        }
    }
}

fn in_a_line(event: &Event) -> Option<String> {
    let news = match event {
        Event::TaskNews { news, .. } => news,
        Event::ApprovalAnswered {
            allowed: false,
            reason,
            ..
        } => return Some(format!("  refused: {reason}")),
        _ => return None,
    };
    match news {
        News::ToolStarted { tool, title, .. } => Some(format!("  {tool}: {title}")),
        News::CallDenied { tool, reason } => Some(format!("  {tool} was refused: {reason}")),
        News::Retrying { reason } => Some(format!("  the CLI tries again: {reason}")),
        News::Notice { text } => Some(format!("  {text}")),
        News::Text { .. }
        | News::Thinking { .. }
        | News::ToolEnded { .. }
        | News::FilesChanged { .. }
        | News::Silent { .. }
        | News::Unknown { .. }
        | News::Malformed { .. } => None,
    }
}

/// What became of the last task of a child, once it is over.
fn result_of(layout: &WorkdirLayout, session: &SessionId) -> Result<Option<TaskResult>, Refusal> {
    let stored = session_files::load_session(layout, session)?;
    let result = stored
        .as_ref()
        .and_then(|stored| stored.pointer("/task/result"));
    let result = result.filter(|result| !result.is_null()).cloned();
    result
        .map(serde_json::from_value)
        .transpose()
        .map_err(|error| Refusal::error(format!("the result cannot be read: {error}"), ""))
}

/// Tells whether a request from outside is about tasks.
pub fn is_about_tasks(request: &Request) -> bool {
    [WORDS.give, WORDS.stop, DELETE].contains(&request.command.as_str())
}

/// Carries a request about tasks out on the run that is open, and answers it.
///
/// # Errors
/// The record of the run cannot be kept.
pub fn carry_out(asked: Asked, engine: Option<&mut Engine>) -> Result<(), EngineError> {
    let Some((asked, engine)) = open_run(asked, engine, &WORDS) else {
        return Ok(());
    };
    let session = || SessionId::new(&asked.request.text);
    if asked.request.command == WORDS.stop {
        let session = session();
        let stopped = engine.stop_child(&session, "stopped by the user");
        let why = || format!("no task {session} is being done");
        asked.answer(stopped.then_some(()).ok_or_else(why));
    } else if asked.request.command == DELETE {
        let deleted = engine.delete_child(&session())?;
        asked.answer(deleted.map_err(|why| why.to_string()));
    } else if let Some((asked, given)) = understood::<Given>(asked, &WORDS) {
        let begun = engine.start_task(given.ask())?;
        answer_begun(asked, &WORDS, begun.map(|(session, _)| session));
    }
    Ok(())
}
