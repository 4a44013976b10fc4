//! Speaks `codex app-server`: one process for a session, JSON lines both ways.
//!
//! Refuses to decide a permission, to remember a conversation, and to know files and processes.
//! Before EXECUTE the sandbox is read-only, in it workspace-write; the approval policy is always
//! `on-request`, and a codex that answers with weaker settings gets no prompt.

use std::collections::BTreeMap;

use crate::adapter::{
    Adapter, AdapterEvent, Exit, Failure, FailureKind, Launch, Order, Output, SessionSpec, TurnEnd,
    TurnSpec,
};

mod asks;
mod connection;
mod failure;
mod hook;
mod items;
mod launch;
mod missing_tool;
mod notifications;
pub mod probe;
mod profile;
mod requests;
pub mod rules;
mod settings;
mod shell;
mod translate;
mod wire;

#[cfg(test)]
mod tests;

use asks::Asks;
pub use hook::denial;

use connection::{Connection, Link};
use hook::Hooks;
use launch::Search;
use translate::{OpenItems, Speaker};

/// What a tool said, where this line of codex tells its end.
pub fn output_of(call: &str, line: &str) -> Option<String> {
    let wire::Frame::Notification { method, params } = wire::parse_frame(line).ok()? else {
        return None;
    };
    if method != notifications::ENDED {
        return None;
    }
    let changed: wire::ItemChanged = wire::parse_params(params).ok()?;
    let of_sub_agent = call.strip_prefix(&changed.thread_id);
    let speaker = match of_sub_agent.is_some_and(|rest| rest.starts_with(':')) {
        true => Speaker::SubAgent(&changed.thread_id),
        false => Speaker::Agent,
    };
    let item = items::parse_item(changed.item).ok()?;
    let told = OpenItems::default().on_completed(speaker, item);
    told.into_iter().find_map(|event| match event {
        AdapterEvent::ToolEnded { item, output, .. } if item == call => Some(output),
        _ => None,
    })
}

/// The protocol of `codex app-server` for one session.
#[derive(Debug, Default)]
pub struct Codex {
    session: Option<SessionSpec>,
    connection: Connection,
    /// Our own thread at codex, once it is open in this process.
    thread_id: Option<String>,
    /// The thread that the engine has been told of.
    announced: Option<String>,
    turn: Option<OpenTurn>,
    asks: Asks,
    hooks: Hooks,
    items: OpenItems,
    /// The turns that sub-agents are at, by their threads.
    sub_agents: BTreeMap<String, String>,
    /// Whether the process was started with codex's own search of the web.
    search: Search,
    /// Tools of the program's that its turns did not have when it was started: codex keeps the list that it read then.
    lacking: Vec<String>,
    /// When the plan's used-up windows begin anew, in seconds since 1970.
    resets_at: Option<i64>,
}

/// The turn that the engine waits for.
#[derive(Debug)]
struct OpenTurn {
    spec: TurnSpec,
    stage: Stage,
    interrupt: Interrupt,
    /// A failure that stands whatever codex says of the turn's end.
    verdict: Option<Failure>,
    /// The last final error that codex told, in case the turn's end names none.
    told: Option<Failure>,
    /// The agent's last whole message.
    final_text: String,
}

/// How far a turn has come.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    /// The thread is not open yet.
    Waiting,
    /// `turn/start` is on its way.
    Sent,
    /// Codex has taken the turn and given it this id.
    Accepted(String),
    /// Codex works on the turn of this id.
    Running(String),
}

impl Stage {
    /// Returns codex's id of the turn, once it has one.
    fn turn_id(&self) -> Option<&str> {
        match self {
            Self::Waiting | Self::Sent => None,
            Self::Accepted(id) | Self::Running(id) => Some(id),
        }
    }
}

/// Whether the turn is to be ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interrupt {
    /// Nobody wants it ended.
    Unwanted,
    /// It is to be ended as soon as codex has begun it.
    Wanted,
    /// Codex has been told.
    Sent,
}

impl Codex {
    /// Builds the adapter; nothing is known until [`Adapter::launch`].
    pub fn new() -> Self {
        Self::default()
    }

    fn on_turn(&mut self, spec: TurnSpec, out: &mut Vec<Output>) {
        if self.turn.is_some() {
            return notice(
                out,
                "a turn is already running; the new one was not started",
            );
        }
        let n_chars = spec.prompt.chars().count();
        self.turn = Some(OpenTurn::new(spec));
        if n_chars > launch::PROMPT_LIMIT {
            let limit = launch::PROMPT_LIMIT;
            let text = format!(
                "the prompt has {n_chars} characters, but codex takes {limit} at the most; shorten the goal or the plan"
            );
            return self.fail(FailureKind::Refused, text, out);
        }
        match self.connection.link {
            Link::Fresh => self.send_initialize(out),
            Link::Opening => {}
            Link::Ready => self.send_turn(out),
            Link::Down | Link::Broken | Link::Closing => {
                let text = "codex is not running".to_owned();
                self.fail(FailureKind::Protocol, text, out);
            }
        }
    }

    /// Ends the turn as soon as codex can be told; a turn that codex knows nothing of ends here.
    fn on_interrupt(&mut self, out: &mut Vec<Output>) {
        let Some(turn) = &mut self.turn else {
            return;
        };
        match (&turn.stage, turn.interrupt) {
            (Stage::Waiting, _) => self.end_turn(TurnEnd::Interrupted, out),
            // Codex knows no turn to interrupt before it has begun one.
            (Stage::Sent | Stage::Accepted(_), _) => turn.interrupt = Interrupt::Wanted,
            (Stage::Running(_), Interrupt::Sent) => {}
            (Stage::Running(id), Interrupt::Unwanted | Interrupt::Wanted) => {
                let id = id.clone();
                turn.interrupt = Interrupt::Sent;
                if let Some(thread_id) = self.thread_id.clone() {
                    self.connection.interrupt(&thread_id, &id, out);
                }
            }
        }
    }

    fn on_close(&mut self, out: &mut Vec<Output>) {
        if self.connection.link != Link::Down {
            self.connection.link = Link::Closing;
            out.push(Output::CloseInput);
        }
    }

    fn fail(&mut self, kind: FailureKind, message: String, out: &mut Vec<Output>) {
        self.end_turn(TurnEnd::Failed(Failure::new(kind, message)), out);
    }

    /// Ends the open turn, if there is one: first whatever is open in it, then the turn.
    fn end_turn(&mut self, end: TurnEnd, out: &mut Vec<Output>) {
        let Some(turn) = self.turn.take() else {
            return;
        };
        self.refuse_open_asks(out);
        self.hooks.refuse_all("the turn is over", out);
        // A sub-agent would go on changing files after the turn that answers for it.
        for (thread_id, turn_id) in std::mem::take(&mut self.sub_agents) {
            self.connection.interrupt(&thread_id, &turn_id, out);
        }
        out.extend(self.items.close().into_iter().map(Output::Event));
        let end = match turn.verdict {
            Some(failure) => TurnEnd::Failed(failure),
            None => match end {
                TurnEnd::Failed(failure) => TurnEnd::Failed(failure.until(self.resets_at)),
                TurnEnd::Completed { .. } | TurnEnd::Interrupted => end,
            },
        };
        out.push(Output::Event(AdapterEvent::TurnEnded(end)));
    }
}

impl OpenTurn {
    fn new(spec: TurnSpec) -> Self {
        Self {
            spec,
            stage: Stage::Waiting,
            interrupt: Interrupt::Unwanted,
            verdict: None,
            told: None,
            final_text: String::new(),
        }
    }

    /// Tells whether codex has yet to begin this turn, and may do so under this id.
    fn awaits(&self, turn_id: &str) -> bool {
        match &self.stage {
            Stage::Sent => true,
            Stage::Accepted(id) => id == turn_id,
            Stage::Waiting | Stage::Running(_) => false,
        }
    }
}

impl Adapter for Codex {
    fn launch(&mut self, session: &SessionSpec, turn: &TurnSpec) -> Launch {
        // A turn that is still open goes on in the new process; the engine orders it again.
        *self = Self {
            session: Some(session.clone()),
            connection: Connection::fresh(),
            announced: session.external_id.clone(),
            search: launch::search(turn),
            lacking: launch::lacking(turn),
            ..Self::default()
        };
        launch::launch(session, self.search)
    }

    fn serves(&self, turn: &TurnSpec) -> bool {
        match self.connection.link {
            Link::Fresh | Link::Opening | Link::Ready => {
                self.search == launch::search(turn) && self.lacking == launch::lacking(turn)
            }
            Link::Down | Link::Broken | Link::Closing => false,
        }
    }

    fn wants_hook(&self) -> bool {
        true
    }

    fn on_order(&mut self, order: Order) -> Vec<Output> {
        let mut out = Vec::new();
        match order {
            Order::Turn(spec) => self.on_turn(spec, &mut out),
            Order::Answer(request, decision) => self.on_answer(&request, &decision, &mut out),
            Order::AnswerQuestions(request, answers) => {
                self.on_answers(&request, answers.as_ref(), &mut out);
            }
            // Its hook knows no such answer: what it asks is decided at once, or waits.
            Order::AskFirst(_) => {}
            Order::Hooked(number, input) => self.on_hooked(number, &input, &mut out),
            Order::Interrupt => self.on_interrupt(&mut out),
            Order::Steer(text) => self.on_steer(text, &mut out),
            Order::Close => self.on_close(&mut out),
        }
        out
    }

    fn on_line(&mut self, line: &str) -> Vec<Output> {
        let mut out = Vec::new();
        self.on_frame(line, &mut out);
        out
    }

    fn on_error_line(&mut self, line: &str) -> Vec<Output> {
        let blocked = missing_tool::read(line);
        blocked.map(Output::Event).into_iter().collect()
    }

    fn on_exit(&mut self, exit: &Exit) -> Vec<Output> {
        let mut out = Vec::new();
        let connection = std::mem::take(&mut self.connection);
        let link = connection.link;
        out.extend(connection.untold());
        self.thread_id = None;
        self.hooks.refuse_all("codex has ended", &mut out);
        match (&self.turn, link) {
            (Some(_), _) => self.end_turn(TurnEnd::Failed(failure::ended(exit)), &mut out),
            (None, Link::Closing | Link::Down) => {}
            (None, Link::Fresh | Link::Opening | Link::Ready | Link::Broken) => {
                notice(&mut out, &format!("codex ended ({})", failure::how(exit)));
            }
        }
        out
    }
}

fn notice(out: &mut Vec<Output>, text: &str) {
    let text = text.to_owned();
    out.push(Output::Event(AdapterEvent::Notice { text }));
}

/// The longest piece of a frame that is kept in an event, in bytes.
const KEPT_BYTES: usize = 4096;

fn unknown(out: &mut Vec<Output>, kind: &str, frame: &str) {
    out.push(Output::Event(AdapterEvent::Unknown {
        kind: kind.chars().take(wire::PROBLEM_CHARS).collect(),
        frame: cut(frame).to_owned(),
    }));
}

fn malformed(out: &mut Vec<Output>, problem: String, line: &str) {
    out.push(Output::Event(AdapterEvent::Malformed {
        problem,
        line: cut(line).to_owned(),
    }));
}

fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(KEPT_BYTES))
        .unwrap_or(text)
}
