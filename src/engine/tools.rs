//! Performs the tools that agents call: whose call it is, whether it may go ahead, what it comes to.
//!
//! One file a tool in `tools/`, one line in [`PERFORMERS`]. A call goes the way of every other call: `on_asked` takes
//! it to the one decision, and what that says comes back here. A performer gets the call and says what
//! it came to. Refuses to know sockets (`door`) and CLIs.

pub mod door;
mod tasks;
mod todos;

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::adapter::{Decision as Answered, Order};
use crate::config::types::AdapterKind;
use crate::domain::event::Event;
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::run::Counts;
use crate::domain::tool::{Standing, hidden, own_tool};
use crate::domain::turn::Role;
use crate::mcp::wire::{Answer, Offered};
use crate::mcp::{Seen, TOOLS, Tool};
use crate::permission::{Call, repetition};

use super::answering::Patience;
use super::asking::Asking;
use super::live::TurnAsk;
use super::{Caller, Engine, EngineError, Inward, news};
use door::{Calling, Doors, Knock};

/// How long a CLI must wait for the answer to a call; what takes longer is answered before.
const CLI_WAITS: Duration = Duration::from_secs(60 * 60);

/// What a tool's call came to, for now.
pub(super) enum Reply {
    /// This.
    Now(Answer),
    /// What this gives once it is done; the call waits.
    Later(Pin<Box<dyn Future<Output = Later> + Send>>),
}

/// What a call that waited came to.
#[derive(Debug)]
pub struct Later {
    pub(super) answer: Answer,
    /// The children that it waited for and does not wait for any more.
    pub(super) sent_on: Vec<SessionId>,
}

/// A call that may go ahead.
#[derive(Debug, Clone)]
pub(super) struct ToolCall {
    /// Whose it is.
    pub(super) session: SessionId,
    /// The role that the session belongs to.
    pub(super) role: Role,
    /// What it was called with.
    pub(super) arguments: Value,
}

/// How a tool is performed.
struct Performer {
    name: &'static str,
    /// Which of its arguments rules look at, and the record keeps.
    about: &'static [&'static str],
    perform: fn(&mut Engine, &ToolCall) -> Result<Reply, EngineError>,
}

const PERFORMERS: &[Performer] = &[
    Performer {
        name: "todoread",
        about: &[],
        perform: todos::read,
    },
    Performer {
        name: "todowrite",
        about: &[],
        perform: todos::write,
    },
    Performer {
        name: "task",
        about: &["agent", "subagent_type", "description", "task_id"],
        perform: tasks::give,
    },
    Performer {
        name: "session_manage",
        about: &["action", "task_id"],
        perform: tasks::manage,
    },
];

/// A call that is not answered yet.
struct Open {
    call: ToolCall,
    performer: &'static Performer,
    give: oneshot::Sender<Answer>,
}

/// The tools of a run.
#[derive(Default)]
pub(super) struct Tools {
    pub(super) doors: Doors,
    open: BTreeMap<RequestId, Open>,
    /// What was decided of calls and is not acted on yet.
    decided: VecDeque<(RequestId, Answered)>,
}

impl Tools {
    /// Takes an answer where it is for a tool's call; gives it back where it is a CLI's.
    pub(super) fn take(&mut self, order: Order) -> Option<Order> {
        match order {
            Order::Answer(request, answer) if self.open.contains_key(&request) => {
                self.decided.push_back((request, answer));
                None
            }
            other => Some(other),
        }
    }

    /// Waits for what comes next: a decision that is to be acted on, or a knock. Cancel safe.
    pub(super) async fn next(&mut self) -> Inward {
        match self.decided.pop_front() {
            Some((request, answer)) => Inward::ToolDecided(request, answer),
            None => Inward::Knock(self.doors.next().await),
        }
    }
}

impl Engine {
    /// Opens the door of a role's session for the CLI that serves this turn. Without one the turn goes on all the
    /// same: what its agent returns as text counts as well.
    pub(super) fn offer_tools(&mut self, role: Role, ask: &mut TurnAsk) {
        let kind = self.adapter_of(role).map(|adapter| adapter.settings.kind);
        if kind.is_err() || kind == Ok(AdapterKind::Pipe) || self.setup.children.are_played() {
            return;
        }
        match self.tools.doors.open(&ask.session.session, CLI_WAITS) {
            Ok(server) => {
                ask.holder.tools = Some(server.folder.clone());
                self.tools.doors.changed(&ask.session.session);
                ask.session.tools = Some(server);
            }
            Err(error) => {
                tracing::warn!(%error, "the session's tools cannot be offered");
            }
        }
    }

    /// Takes note of the process from which a session's calls come.
    pub(super) fn expect_tools(&self, role: Role, pid: u32) {
        if let Some(session) = self.state().session(role) {
            self.tools.doors.expect(&session.id, pid);
        }
    }

    pub(super) fn on_knock(&mut self, knock: Knock) -> Result<(), EngineError> {
        match knock {
            Knock::List { session, give } => {
                // Whoever asked may be gone.
                let _gone = give.send(self.offered_to(&session));
                Ok(())
            }
            Knock::Call(calling) => self.on_calling(calling),
            Knock::Forgotten(request) => match self.tools.open.remove(&request) {
                Some(_) => self.on_withdrawn(request),
                None => Ok(()),
            },
        }
    }

    /// The tools that a session has in its turn.
    fn offered_to(&self, session: &SessionId) -> Vec<Offered> {
        let Some(role) = self.role_of(session) else {
            return Vec::new();
        };
        let seen = self.seen_by(session);
        let has = |tool: &&Tool| self.hidden_from(role, tool.name).is_none();
        TOOLS
            .iter()
            .filter(has)
            .map(|tool| tool.offered(&seen))
            .collect()
    }

    /// What a session can see: the agents that it may give tasks to.
    fn seen_by(&self, session: &SessionId) -> Seen {
        let caller = Caller::Session(session.clone());
        let agents = self
            .subagents()
            .filter(|agent| self.may_give(&caller, &agent.name).is_ok());
        Seen {
            agents: agents
                .map(|agent| (agent.name.clone(), agent.description.clone()))
                .collect(),
        }
    }

    fn role_of(&self, session: &SessionId) -> Option<Role> {
        let roles = [Role::Planner, Role::Reviewer];
        let is_its = |role: &Role| {
            let of_role = self.state().session(*role);
            of_role.is_some_and(|of_role| of_role.id == *session)
        };
        roles.into_iter().find(is_its)
    }

    /// Why a role's session does not have a tool; `None` where it has it.
    fn hidden_from(&self, role: Role, tool: &str) -> Option<String> {
        let at_work = self.at_work.as_ref();
        let purpose = at_work
            .map(|at_work| &at_work.order.purpose)
            .filter(|purpose| purpose.role() == role);
        let profile = self.state().session(role)?.current_agent().name();
        let rules = self.setup.permissions.rules(profile);
        let standing = Standing {
            purpose,
            depth: 0,
            rules: &rules,
        };
        hidden(tool, &standing)
    }

    fn on_calling(&mut self, calling: Calling) -> Result<(), EngineError> {
        let performer = PERFORMERS.iter().find(|known| known.name == calling.tool);
        let (role, performer) = match self.admit(&calling) {
            Err(reason) => return self.block(calling, &reason),
            Ok(role) => match performer {
                None => return self.block(calling, "there is no such tool"),
                Some(performer) => (role, performer),
            },
        };
        let Calling {
            request,
            session,
            arguments,
            give,
            ..
        } = calling;
        let asking = Asking {
            request: request.clone(),
            item: None,
            call: Call::Tool {
                name: performer.name.to_owned(),
                input: about(&arguments, performer.about).to_string(),
            },
            changes: Vec::new(),
            reason: None,
            origin: None,
            mark: Some(repetition::mark(performer.name, &arguments)),
        };
        let call = ToolCall {
            session,
            role,
            arguments,
        };
        let open = Open {
            call,
            performer,
            give,
        };
        self.tools.open.insert(request, open);
        self.on_asked((role, Patience::Long), asking)
    }

    /// Whose call it is, once it is known that it is the session's own agent's, in its turn, and that it has the tool.
    fn admit(&self, calling: &Calling) -> Result<Role, String> {
        let role = self
            .role_of(&calling.session)
            .ok_or("its session is over")?;
        let session = self.state().session(role).ok_or("its session is over")?;
        let adapter = self.adapter_of(role)?;
        let is_own = match &calling.thread {
            Some(thread) => session.external_id.as_ref() == Some(thread),
            None => adapter.settings.kind != AdapterKind::Codex,
        };
        if !is_own {
            return Err(
                "only the session's own agent has tools of agent-collab, no agent that it started"
                    .to_owned(),
            );
        }
        let running = self.state().running.as_ref();
        let is_its_turn = running.is_some_and(|running| {
            running.result == Counts::Yes && running.order.purpose.role() == role
        });
        if !is_its_turn || self.turn_is_over {
            return Err("no turn of the session is under way".to_owned());
        }
        match self.hidden_from(role, &calling.tool) {
            Some(reason) => Err(reason),
            None => Ok(role),
        }
    }

    /// Says that the session does not have the tool, and keeps a record of it.
    fn block(&mut self, calling: Calling, reason: &str) -> Result<(), EngineError> {
        let (tool, reason) = (news::line(&calling.tool), news::line(reason));
        // Whoever called may be gone.
        let _gone = calling.give.send(Answer::blocked(&tool, &reason));
        self.feed(Event::ToolBlocked {
            session: calling.session,
            tool,
            reason,
        })
    }

    /// Acts on what was decided of a tool's call.
    pub(super) fn on_tool_decided(
        &mut self,
        request: &RequestId,
        answer: Answered,
    ) -> Result<(), EngineError> {
        let reason = match answer {
            Answered::Allow => return self.perform_tool(request),
            Answered::Deny { reason } => reason,
            Answered::DenyAndStop => {
                self.interrupt();
                "the user declined this and stopped the turn".to_owned()
            }
        };
        self.settle_tool(request, Answer::failed(reason));
        Ok(())
    }

    fn perform_tool(&mut self, request: &RequestId) -> Result<(), EngineError> {
        let Some(open) = self.tools.open.get(request) else {
            return Ok(());
        };
        let (call, perform) = (open.call.clone(), open.performer.perform);
        match perform(self, &call)? {
            Reply::Now(answer) => self.settle_tool(request, answer),
            Reply::Later(waiting) => {
                let (request, done) = (request.clone(), self.done.0.clone());
                self.tasks.spawn(async move {
                    let later = waiting.await;
                    // Nobody listens any more only when the program is about to end.
                    let _nobody = done.send(Inward::ToolDone(request, later)).await;
                });
            }
        }
        Ok(())
    }

    /// Answers a call that waited; what it does not wait for any more goes on without it.
    pub(super) fn on_tool_done(
        &mut self,
        request: &RequestId,
        later: Later,
    ) -> Result<(), EngineError> {
        for session in later.sent_on {
            self.feed(Event::TaskSentOn { session })?;
        }
        self.settle_tool(request, later.answer);
        Ok(())
    }

    /// Gives a call its answer.
    pub(super) fn settle_tool(&mut self, request: &RequestId, answer: Answer) {
        if let Some(open) = self.tools.open.remove(request) {
            // Whoever called may be gone.
            let _gone = open.give.send(answer);
        }
    }
}

/// Tells whether a CLI asks about a tool of the program's, whose call is decided when it comes.
pub(super) fn is_own(asking: &Asking) -> bool {
    match &asking.call {
        Call::Tool { name, .. } => asking.origin.is_none() && own_tool(name).is_some(),
        Call::Command { .. } | Call::Edit { .. } | Call::Read { .. } => false,
    }
}

/// The arguments that say what a call is about.
fn about(arguments: &Value, keys: &[&str]) -> Value {
    let mut about = json!({});
    for key in keys {
        if let Some(value) = arguments.get(key) {
            about[*key] = value.clone();
        }
    }
    about
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_that_is_offered_is_performed_and_no_other() {
        let offered: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        let performed: Vec<&str> = PERFORMERS.iter().map(|performer| performer.name).collect();
        assert_eq!(offered, performed);
    }

    #[test]
    fn of_a_call_only_what_it_is_about_is_kept() {
        let arguments = json!({"plan": "secret", "agent": "explore"});
        assert_eq!(
            about(&arguments, &["agent", "id"]),
            json!({"agent": "explore"})
        );
        assert_eq!(about(&Value::Null, &["agent"]), json!({}));
    }
}
