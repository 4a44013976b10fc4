//! Tasks given from a command line: through the instance that runs here, else by an engine of their own.
//!
//! Refuses to word results for people; its caller does.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::{MissedTickBehavior, interval};

use crate::domain::event::{Event, News};
use crate::domain::ids::SessionId;
use crate::domain::task::{TaskResult, Waits};
use crate::engine::{Caller, Engine, EngineError, TaskAsk};
use crate::store::{Held, InstanceLock, Layout, sessions};

use super::alone::alone;
use super::headless::Signals;
use super::socket::{self, Asked, Request};
use super::start::{self, Refusal, Wishes};

/// The command by which a task is given to an instance.
const GIVE: &str = "task";
/// The command by which a task of an instance is stopped.
const STOP: &str = "task-stop";
/// The command by which a child session of an instance is deleted.
pub(super) const DELETE: &str = "session-delete";
/// How often it is looked whether an instance's task is over.
const LOOK: Duration = Duration::from_millis(150);

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
    fn by_id(mut self, layout: &Layout) -> Self {
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
    let found = start::find(wishes).await?;
    let layout = start::layout(&found.root, &found.loaded.config)?;
    let mut signals = Signals::listen()
        .map_err(|error| Refusal::error(format!("cannot listen for signals: {error}"), ""))?;
    let given = given.by_id(&layout);
    let result = match InstanceLock::holder(&layout)? {
        Some(held) => by_instance(&layout, held, given, &mut signals).await?,
        None => by_itself(wishes, given, &mut signals, tell).await?,
    };
    Ok((result, signals.last()))
}

fn refused(why: impl ToString) -> Refusal {
    Refusal::error(
        why.to_string(),
        "`agent-collab agents --mode subagent` lists the agents, `agent-collab sessions list` the tasks that were given",
    )
}

async fn by_itself(
    wishes: &Wishes,
    given: Given,
    signals: &mut Signals,
    tell: &mut dyn FnMut(&str),
) -> Result<TaskResult, Refusal> {
    let agent = given.agent.clone();
    let opening = start::ad_hoc(wishes, &agent);
    alone(opening, signals, tell, async |engine, signals, tell| {
        let begun = engine.start_task(given.ask());
        let begun = begun.map_err(|error| Refusal::error(&error, "nothing was begun"))?;
        let (session, result) = begun.map_err(refused)?;
        let result = drive(engine, (&session, result), signals, tell).await;
        result
            .map_err(|error| Refusal::error(&error, "what was recorded so far is in .agent-collab"))
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

async fn by_instance(
    layout: &Layout,
    held: Held,
    given: Given,
    signals: &mut Signals,
) -> Result<TaskResult, Refusal> {
    let text = serde_json::to_string(&given).map_err(refused)?;
    let told = ask(layout, &held, GIVE, text).await?;
    let session: SessionId = told
        .get("task_id")
        .and_then(Value::as_str)
        .map(SessionId::new)
        .ok_or_else(|| Refusal::error("the instance here does not say what it began", ""))?;
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            _ = signals.next() => drop(ask(layout, &held, STOP, session.to_string()).await?),
            _ = looks.tick() => {}
        }
        // In this order: an instance that has gone may have written the result before it went.
        let is_there = InstanceLock::holder(layout)?.is_some_and(|now| now.pid == held.pid);
        if let Some(result) = result_of(layout, &session)? {
            return Ok(result);
        }
        if !is_there {
            return Err(Refusal::error(
                "the instance that did the task has ended",
                format!("`agent-collab task --id {session} …` goes on with it"),
            ));
        }
    }
}

/// What became of the last task of a child, once it is over.
fn result_of(layout: &Layout, session: &SessionId) -> Result<Option<TaskResult>, Refusal> {
    let stored = sessions::stored(layout, session)?;
    let result = stored
        .as_ref()
        .and_then(|stored| stored.pointer("/task/result"));
    let result = result.filter(|result| !result.is_null()).cloned();
    result
        .map(serde_json::from_value)
        .transpose()
        .map_err(|error| Refusal::error(format!("the result cannot be read: {error}"), ""))
}

/// Asks the instance that runs here for something about its children, and gives what it told.
pub(super) async fn ask(
    layout: &Layout,
    held: &Held,
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

/// Tells whether a request from outside is about tasks.
pub fn is_about_tasks(request: &Request) -> bool {
    [GIVE, STOP, DELETE].contains(&request.command.as_str())
}

/// Carries a request about tasks out on the run that is open, and answers it.
///
/// # Errors
/// The record of the run cannot be kept.
pub fn carry_out(asked: Asked, engine: Option<&mut Engine>) -> Result<(), EngineError> {
    let Some(engine) = engine else {
        asked.answer(Err(
            "no run is open on this screen; give it a goal first, or close it and \
                          the task is done by itself"
                .to_owned(),
        ));
        return Ok(());
    };
    match asked.request.command.as_str() {
        STOP => {
            let session = SessionId::new(&asked.request.text);
            let stopped = engine.stop_child(&session, "stopped by the user");
            let why = || format!("no task {session} is being done");
            asked.answer(stopped.then_some(()).ok_or_else(why));
        }
        DELETE => {
            let deleted = engine.delete_child(&SessionId::new(&asked.request.text))?;
            asked.answer(deleted.map_err(|why| why.to_string()));
        }
        _ => {
            let given: Given = match serde_json::from_str(&asked.request.text) {
                Ok(given) => given,
                Err(error) => {
                    asked.answer(Err(format!("that is no task: {error}")));
                    return Ok(());
                }
            };
            match engine.start_task(given.ask())? {
                Ok((session, _)) => asked.answer_with(json!({ "task_id": session })),
                Err(why) => asked.answer(Err(why.to_string())),
            }
        }
    }
    Ok(())
}
