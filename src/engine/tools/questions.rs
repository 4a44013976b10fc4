//! `ask_user`, `plan_enter` and `plan_exit`: what waits for the user's word.
//!
//! Each puts its question into the one queue. Where nobody is there, a question's default counts at once. A word that
//! takes longer than the CLI waits comes with the session's next turn.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::{Reply, ToolCall};
use crate::domain::deferred_answer::DeferredDecision;
use crate::domain::event::Event;
use crate::domain::ids::RequestId;
use crate::domain::phase::Gate;
use crate::engine::setup::OnAsk;
use crate::engine::{Engine, EngineError, news, staging};
use crate::mcp::parse_arguments;
use crate::mcp::socket_protocol::ToolAnswer;
use crate::mcp::tools::{ask_user, plan_enter, plan_exit};

/// How many answers may be offered.
const OPTIONS: usize = 8;
const YES: &str = "yes";

/// What a call waits for.
#[derive(Debug, Clone)]
pub(in crate::engine) struct Waits {
    about: DeferredDecision,
    /// When nobody has answered, where its agent says so.
    deadline: Option<Instant>,
    /// When its agent is to end its turn; the question stays.
    patience: Instant,
}

impl Waits {
    pub(super) fn due(&self) -> Instant {
        self.deadline
            .map_or(self.patience, |deadline| deadline.min(self.patience))
    }
}

pub(super) fn ask(engine: &mut Engine, call: &ToolCall) -> Result<Reply, EngineError> {
    let given: ask_user::AskUserToolArguments = match parse_arguments(&call.arguments) {
        Ok(given) => given,
        Err(why) => return Ok(Reply::Now(ToolAnswer::failed(why))),
    };
    let wrong = match (given.question.trim(), given.options.len()) {
        ("", _) => Some("the question is empty".to_owned()),
        (_, n) if n > OPTIONS => Some(format!("{n} options are offered, at most {OPTIONS} may be")),
        _ => None,
    };
    if let Some(why) = wrong {
        return Ok(Reply::Now(ToolAnswer::failed(why)));
    }
    if let (true, Some(default)) = (nobody_is_there(engine), &given.default) {
        let text = format!("Nobody is there to ask; your default counts: {default}");
        return Ok(Reply::Now(ToolAnswer::done(text)));
    }
    let waits = Waits {
        about: DeferredDecision::Answer {
            default: given.default,
        },
        deadline: given
            .deadline_seconds
            .and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds))),
        patience: Instant::now() + engine.tool_patience(),
    };
    put(engine, call, (given.question, given.options), waits)
}

pub(super) fn exit_plan(engine: &mut Engine, call: &ToolCall) -> Result<Reply, EngineError> {
    if let Err(why) = parse_arguments::<plan_exit::PlanExitToolArguments>(&call.arguments) {
        return Ok(Reply::Now(ToolAnswer::failed(why)));
    }
    let is_there = match &engine.at_work {
        Some(at_work) => staging::read(&at_work.staging).plan.is_some(),
        None => false,
    };
    if !is_there && engine.state().plan.is_none() {
        let why = "there is no plan yet: hand it in by plan_submit, or write it to the file that the prompt names";
        return Ok(Reply::Now(ToolAnswer::failed(why)));
    }
    if engine.state().gate == Gate::Auto || nobody_is_there(engine) {
        return Ok(Reply::Now(exited()));
    }
    let next = match engine.state().reviewer {
        Some(_) => "its review",
        None => "your approval",
    };
    let question = format!("The planner says that the plan is complete. Shall it go on to {next}?");
    put(
        engine,
        call,
        (question, yes_or_no()),
        switch(engine, DeferredDecision::PlanExit),
    )
}

pub(super) fn enter_plan(engine: &mut Engine, call: &ToolCall) -> Result<Reply, EngineError> {
    let given: plan_enter::PlanEnterToolArguments = match parse_arguments(&call.arguments) {
        Ok(given) => given,
        Err(why) => return Ok(Reply::Now(ToolAnswer::failed(why))),
    };
    if nobody_is_there(engine) {
        let why = "nobody is there to agree: go on with the step, or change nothing and say what stands in the way";
        return Ok(Reply::Now(ToolAnswer::failed(why)));
    }
    let reason = news::line(&given.reason);
    let question = format!(
        "The executor wants to go back to planning: {reason}\nShall the step end here and the plan be written anew?"
    );
    put(
        engine,
        call,
        (question, yes_or_no()),
        switch(engine, DeferredDecision::PlanEnter { reason }),
    )
}

fn nobody_is_there(engine: &Engine) -> bool {
    engine.setup.on_ask != OnAsk::Wait
}

fn yes_or_no() -> Vec<String> {
    vec![YES.to_owned(), "no".to_owned()]
}

/// What a change between planning and executing waits for.
fn switch(engine: &Engine, about: DeferredDecision) -> Waits {
    Waits {
        about,
        deadline: None,
        patience: Instant::now() + engine.tool_patience(),
    }
}

/// Puts a question into the queue; a second one beside an open one is dismissed there.
fn put(
    engine: &mut Engine,
    call: &ToolCall,
    (question, options): (String, Vec<String>),
    waits: Waits,
) -> Result<Reply, EngineError> {
    engine.tools.wait(&call.request, waits);
    let asked = crate::domain::question::AgentQuestion::from_labels(question, options);
    engine.on_questioned(call.request.clone(), &[asked])?;
    Ok(Reply::Asked)
}

fn exited() -> ToolAnswer {
    ToolAnswer::done("The plan is handed on. End your turn now; change nothing more.")
}

fn stays(who: &str, word: &str) -> ToolAnswer {
    let word = match word.trim() {
        "" | "no" => String::new(),
        word => format!(" The user said: {word}"),
    };
    ToolAnswer::done(format!("The user said no: you stay the {who}.{word}"))
}

/// What the planner is told with its next turn after a no.
fn kept(word: &str) -> String {
    let word = match word.trim() {
        "" => "no",
        word => word,
    };
    format!(
        "You wanted to hand the plan on, and the user said: {}. Your plan is kept; it went to nobody.",
        news::line(word)
    )
}

impl Engine {
    /// Acts on the user's word; `None` where there is none.
    pub(in crate::engine) fn on_tool_answered(
        &mut self,
        request: &RequestId,
        answers: Option<BTreeMap<String, String>>,
    ) -> Result<(), EngineError> {
        let word = answers.map(|answers| answers.into_values().collect::<Vec<_>>().join("\n"));
        let Some(waits) = self.tools.waits(request).cloned() else {
            return Ok(());
        };
        let is_yes = word
            .as_deref()
            .is_some_and(|word| word.trim().eq_ignore_ascii_case(YES));
        let answer = match (waits.about, word) {
            (DeferredDecision::Answer { .. }, Some(word)) => {
                ToolAnswer::done(format!("The user answered: {word}"))
            }
            (DeferredDecision::Answer { default }, None) => unanswered(default),
            (DeferredDecision::PlanExit, _) if is_yes => {
                self.feed(Event::PlanExitAnswered { told: None })?;
                exited()
            }
            (DeferredDecision::PlanExit | DeferredDecision::Stay { .. }, word) => {
                let word = word.unwrap_or_default();
                self.feed(Event::PlanExitAnswered {
                    told: Some(kept(&word)),
                })?;
                stays("planner", &word)
            }
            (DeferredDecision::PlanEnter { reason }, _) if is_yes => {
                let plan = self.journal.layout().plan();
                let text = format!(
                    "The user agrees: you are the planner again, the plan lies at {}. End your turn now; change nothing more.",
                    plan.display()
                );
                self.settle_tool(request, ToolAnswer::done(text));
                return self.feed(Event::PlanEntered { reason });
            }
            (DeferredDecision::PlanEnter { .. }, word) => {
                stays("executor", &word.unwrap_or_default())
            }
        };
        self.settle_tool(request, answer);
        Ok(())
    }

    /// Its time is up: nobody answered, or its agent is told to end its turn.
    pub(in crate::engine) fn on_tool_due(
        &mut self,
        request: &RequestId,
    ) -> Result<(), EngineError> {
        if self.tools.take_late(request) {
            let request = request.clone();
            return self.feed(Event::AnswerMissed { request });
        }
        let Some(waits) = self.tools.waits(request).cloned() else {
            return Ok(());
        };
        match (waits.deadline, waits.about) {
            (Some(deadline), DeferredDecision::Answer { default })
                if deadline <= waits.patience =>
            {
                self.settle_tool(request, unanswered(default));
                self.on_withdrawn(request.clone())
            }
            (deadline, about) => {
                if let Some(deadline) = deadline {
                    self.tools.make_late(request, deadline);
                }
                // Whatever it was called by its agent, the run knows it by what was shown.
                self.awaited.forget(request);
                self.feed(Event::AnswerPending {
                    request: request.clone(),
                    about,
                })?;
                let text = "pending: the user has not answered yet. End your turn now; the answer comes with your next one.";
                let data = serde_json::json!({ "status": "pending", "message": text });
                self.settle_tool(request, ToolAnswer::done(text).with_data(data));
                Ok(())
            }
        }
    }
}

fn unanswered(default: Option<String>) -> ToolAnswer {
    ToolAnswer::done(match default {
        Some(default) => format!("The user did not answer; your default counts: {default}"),
        None => "The user did not answer. Go on with what you know, and say what you assumed."
            .to_owned(),
    })
}
