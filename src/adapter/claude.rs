//! The adapter of `claude`: one long-lived stream-json process, spoken to by its control protocol.
//!
//! Refuses to know how the process runs and what an answer should be. Orders are taken here, what the CLI
//! says in `frames`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::adapter::{
    Access, Adapter, AdapterEvent, Decision, Exit, Launch, Order, Output, SessionSpec, TurnEnd,
    TurnSpec,
};
use crate::domain::ids::{RequestId, TurnId};

mod asks;
mod failure;
mod frames;
mod launch;
mod messages;
pub mod probe;
mod state;
mod steering;
mod tools;
mod translate;
mod turn;
mod wire;

#[cfg(test)]
mod tests;

use asks::{Asks, Kind};
use launch::Conversation;
use messages::{Block, parse_block};
use steering::Steering;
use translate::{Transcript, plain};
use turn::{OpenTurn, Stage, Stop};
use wire::Frame;

/// The id of the handshake's request.
const HANDSHAKE: &str = "initialize";

/// What a tool said, where this line of claude tells its end.
pub fn output_of(call: &str, line: &str) -> Option<String> {
    let Frame::User(user) = wire::parse(line).frame else {
        return None;
    };
    let blocks = user.message.content.as_array()?;
    blocks.iter().find_map(|block| match parse_block(block) {
        Ok(Block::ToolResult {
            tool_use_id,
            content,
            ..
        }) if tool_use_id == call => Some(plain(content)),
        Ok(_) | Err(_) => None,
    })
}

/// One session of `claude`.
#[derive(Debug, Default)]
pub struct Claude {
    process: Process,
    access: Option<Access>,
    /// Permissions whose tools the process was started without.
    hidden: Vec<String>,
    cwd: PathBuf,
    fresh_id: String,
    conversation: Option<Conversation>,
    announced: Option<String>,
    /// A conversation that the CLI said it does not have.
    lost: Option<String>,
    /// The turn for which a new process was asked for; a second time is a failure.
    relaunched: Option<TurnId>,
    model: Option<String>,
    /// What the conversation filled of the model's context with its last answer.
    filled: Option<u64>,
    turn: Option<OpenTurn>,
    asks: Asks,
    transcript: Transcript,
    /// Calls that were asked about or whose denial was told.
    known_denials: BTreeSet<String>,
    n_interrupts: u32,
    n_lines: u64,
    steering: Steering,
}

/// How far the process is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Process {
    /// There is none that could serve a turn.
    #[default]
    Absent,
    /// It was described to the engine; nothing was sent.
    Launched,
    /// It has not answered the handshake.
    Starting,
    /// It takes turns.
    Ready,
    /// It is to be replaced; nothing that it still says counts.
    Replaced,
}

impl Claude {
    /// Builds the adapter of a session without a process.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Adapter for Claude {
    fn launch(&mut self, session: &SessionSpec, turn: &TurnSpec) -> Launch {
        let resumed = session
            .external_id
            .clone()
            .filter(|id| self.lost.as_ref() != Some(id));
        let conversation = match resumed {
            Some(id) => Conversation::Resumed(id),
            None => Conversation::New(session.fresh_id.clone()),
        };
        let launch = launch::launch(session, &conversation, turn);
        *self = Self {
            process: Process::Launched,
            access: Some(turn.access),
            hidden: turn.hidden.clone(),
            cwd: session.cwd.clone(),
            fresh_id: session.fresh_id.clone(),
            conversation: Some(conversation),
            lost: self.lost.take(),
            relaunched: self.relaunched.take(),
            n_lines: self.n_lines,
            ..Self::default()
        };
        launch
    }

    fn serves(&self, turn: &TurnSpec) -> bool {
        let takes_turns = !matches!(self.process, Process::Absent | Process::Replaced);
        let offers = self.access == Some(turn.access) && self.hidden == turn.hidden;
        takes_turns && self.turn.is_none() && offers
    }

    fn removed_tools(&self) -> &'static [&'static str] {
        launch::REMOVED_TOOLS
    }

    fn on_order(&mut self, order: Order) -> Vec<Output> {
        match order {
            Order::Turn(turn) => self.on_turn(turn),
            Order::Answer(request, decision) => self.on_answer(&request, &decision),
            Order::AskFirst(request) => {
                let waits = self.asks.remove(request.as_str()).is_some();
                let answer = || Output::Send(asks::ask_first(request.as_str()));
                waits.then(answer).into_iter().collect()
            }
            Order::AnswerQuestions(request, answers) => {
                let Some(ask) = self.asks.remove(request.as_str()) else {
                    return Vec::new();
                };
                vec![Output::Send(asks::answer_questions(
                    request.as_str(),
                    &ask,
                    answers.as_ref(),
                ))]
            }
            // Its hook is asked over the control channel.
            Order::Hooked(..) => Vec::new(),
            Order::Interrupt => self.on_interrupt(),
            Order::Steer(text) => self.on_steer(text),
            Order::Close => vec![Output::CloseInput],
        }
    }

    fn on_line(&mut self, line: &str) -> Vec<Output> {
        if self.process == Process::Replaced || line.trim().is_empty() {
            return Vec::new();
        }
        let parsed = wire::parse(line);
        let mut out = Vec::new();
        if self.turn.is_some() {
            self.steering.on_taken_in(&parsed.answers);
        }
        if !matches!(parsed.frame, Frame::Result(_)) && self.is_ours(&parsed.answers) {
            out.extend(self.begin());
        }
        out.extend(self.on_frame(parsed.frame, &parsed.answers, line));
        out.extend(self.steer());
        out
    }

    fn on_exit(&mut self, exit: &Exit) -> Vec<Output> {
        let process = std::mem::replace(&mut self.process, Process::Absent);
        if process == Process::Replaced {
            return Vec::new();
        }
        if process == Process::Starting
            && let Some(out) = self.start_over(&exit.stderr_tail)
        {
            return out;
        }
        let mut out = events(self.steering.lost());
        out.extend(match &self.turn {
            Some(turn) => {
                let end = turn.ended_by_exit(exit);
                self.finish(end)
            }
            None => events(self.asks.withdraw_all()),
        });
        out
    }
}

impl Claude {
    fn on_turn(&mut self, turn: TurnSpec) -> Vec<Output> {
        if self.turn.is_some() {
            return vec![notice(
                "a turn is already running; the new one was not sent".to_owned(),
            )];
        }
        self.n_lines = self.n_lines.saturating_add(1);
        let open = OpenTurn::new(turn, &self.fresh_id, self.n_lines);
        match self.process {
            Process::Ready => {
                let out = vec![Output::Send(asks::prompt(&open.uuid, &open.prompt))];
                self.turn = Some(OpenTurn {
                    stage: Stage::Sent,
                    ..open
                });
                out
            }
            Process::Starting => {
                self.turn = Some(open);
                Vec::new()
            }
            Process::Launched => {
                self.process = Process::Starting;
                self.turn = Some(open);
                vec![Output::Send(asks::initialize(HANDSHAKE))]
            }
            Process::Absent | Process::Replaced => {
                self.turn = Some(open);
                self.finish(turn::protocol("claude is not running"))
            }
        }
    }

    fn on_answer(&mut self, request: &RequestId, decision: &Decision) -> Vec<Output> {
        let Some(ask) = self.asks.remove(request.as_str()) else {
            return Vec::new();
        };
        match (decision, &ask.item, &mut self.turn) {
            (Decision::Allow, Some(item), _) => {
                self.transcript.on_allowed(item);
                self.asks.pass(&ask);
            }
            (Decision::DenyAndStop, _, Some(turn)) => turn.stop = turn.stop.or(Stop::Interrupted),
            (Decision::Allow | Decision::Deny { .. } | Decision::DenyAndStop, _, _) => {}
        }
        let mut out = vec![Output::Send(asks::answer(request.as_str(), &ask, decision))];
        if ask.kind == Kind::Hook && *decision == Decision::DenyAndStop {
            // A hook's denial ends no turn.
            out.push(self.interrupt());
        }
        out
    }

    fn on_interrupt(&mut self) -> Vec<Output> {
        match &mut self.turn {
            Some(turn) if turn.stage == Stage::Held => self.finish(TurnEnd::Interrupted),
            Some(turn) => {
                turn.stop = turn.stop.or(Stop::Interrupted);
                vec![self.interrupt()]
            }
            None if self.process == Process::Ready => vec![self.interrupt()],
            None => Vec::new(),
        }
    }

    fn interrupt(&mut self) -> Output {
        self.n_interrupts = self.n_interrupts.saturating_add(1);
        let id = format!("interrupt-{}", self.n_interrupts);
        Output::Send(asks::control(&id, "interrupt"))
    }

    fn finish(&mut self, end: TurnEnd) -> Vec<Output> {
        if self.turn.take().is_none() {
            return Vec::new();
        }
        let mut closed = self.asks.withdraw_all();
        closed.extend(self.steering.untold());
        closed.extend(self.transcript.close());
        closed.push(AdapterEvent::TurnEnded(end));
        events(closed)
    }

    fn is_line(&self, uuid: &str) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.uuid == uuid)
    }

    fn is_ours(&self, answers: &[String]) -> bool {
        answers.iter().any(|uuid| self.is_line(uuid))
    }
}

fn events(events: Vec<AdapterEvent>) -> Vec<Output> {
    events.into_iter().map(Output::Event).collect()
}

fn notice(text: String) -> Output {
    Output::Event(AdapterEvent::Notice { text })
}
