//! Performs `ask_user`, `plan_enter` and `plan_exit`: the calls that wait for the user's answer.
//!
//! Each adds its question to the one queue. If no user is present, the question's default counts at once. An answer
//! that takes longer than the CLI waits is sent with the session's next turn.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::AgentTools;
use super::tool_performer::{ToolCallContext, ToolReply};
use crate::domain::deferred_answer::DeferredDecision;
use crate::domain::event::Event;
use crate::domain::ids::RequestId;
use crate::domain::phase::Gate;
use crate::domain::question::AgentQuestion;
use crate::engine::engine_error::EngineError;
use crate::engine::owner_request::OwnerRequest;
use crate::engine::run_context::RunContext;
use crate::engine::run_setup::AskPolicy;
use crate::engine::{agent_activity, staging_folder};
use crate::mcp::parse_arguments;
use crate::mcp::socket_protocol::ToolAnswer;
use crate::mcp::tools::{ask_user, plan_enter, plan_exit};

/// How many answers a question may offer.
const MAX_ANSWER_OPTIONS: usize = 8;
const YES_OPTION: &str = "yes";

/// The wait of a call for the user's answer.
#[derive(Debug, Clone)]
pub(in crate::engine) struct QuestionWait {
    about: DeferredDecision,
    /// When the question expires without an answer, if the agent set a time limit.
    deadline: Option<Instant>,
    /// When the agent is told to end its turn; the question stays open.
    response_timeout: Instant,
}

impl QuestionWait {
    /// Creates the wait of a call without a time limit of the agent.
    fn new(run: &RunContext, about: DeferredDecision) -> Self {
        Self {
            about,
            deadline: None,
            response_timeout: Instant::now() + run.setup.config.limits.tool_patience,
        }
    }

    pub(super) fn due_at(&self) -> Instant {
        self.deadline.map_or(self.response_timeout, |deadline| {
            deadline.min(self.response_timeout)
        })
    }
}

pub(super) fn ask_user_question(context: &ToolCallContext<'_>) -> Result<ToolReply, String> {
    let given: ask_user::AskUserToolArguments = parse_arguments(&context.call.arguments)?;
    match (given.question.trim(), given.options.len()) {
        ("", _) => return Err("the question is empty".to_owned()),
        (_, n) if n > MAX_ANSWER_OPTIONS => {
            return Err(format!(
                "{n} options are offered, at most {MAX_ANSWER_OPTIONS} may be"
            ));
        }
        _ => {}
    }
    if let (true, Some(default)) = (is_unattended(context.run), &given.default) {
        let text = format!("Nobody is there to ask; your default counts: {default}");
        return Ok(ToolReply::Now(ToolAnswer::done(text)));
    }
    let about = DeferredDecision::Answer {
        default: given.default,
    };
    let deadline = given
        .deadline_seconds
        .and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds)));
    let wait = QuestionWait {
        deadline,
        ..QuestionWait::new(context.run, about)
    };
    let question = AgentQuestion::from_labels(given.question, given.options);
    Ok(ToolReply::Ask(question, wait))
}

pub(super) fn exit_plan(context: &ToolCallContext<'_>) -> Result<ToolReply, String> {
    parse_arguments::<plan_exit::PlanExitToolArguments>(&context.call.arguments)?;
    let is_staged = context
        .turn
        .is_some_and(|turn| staging_folder::read_staging(&turn.staging).plan.is_some());
    let state = context.run.state();
    if !is_staged && state.plan.is_none() {
        let why = "there is no plan yet: hand it in by plan_submit, or write it to the file that the prompt names";
        return Err(why.to_owned());
    }
    if state.gate == Gate::Auto || is_unattended(context.run) {
        return Ok(ToolReply::Now(plan_exit_answer()));
    }
    let next = match state.reviewer {
        Some(_) => "its review",
        None => "your approval",
    };
    let question = format!("The planner says that the plan is complete. Continue with {next}?");
    Ok(ask_yes_or_no(
        context.run,
        question,
        DeferredDecision::PlanExit,
    ))
}

pub(super) fn enter_plan(context: &ToolCallContext<'_>) -> Result<ToolReply, String> {
    let given: plan_enter::PlanEnterToolArguments = parse_arguments(&context.call.arguments)?;
    if is_unattended(context.run) {
        let why = "nobody is there to agree: go on with the step, or change nothing and state that it is blocked";
        return Err(why.to_owned());
    }
    let reason = agent_activity::clean_line(&given.reason);
    let question = format!(
        "The planner wants to go back to planning: {reason}\nStop this step and write a new plan?"
    );
    let about = DeferredDecision::PlanEnter { reason };
    Ok(ask_yes_or_no(context.run, question, about))
}

fn is_unattended(run: &RunContext) -> bool {
    run.setup.ask_policy != AskPolicy::Wait
}

/// Asks the user whether to switch between planning and executing.
fn ask_yes_or_no(run: &RunContext, question: String, about: DeferredDecision) -> ToolReply {
    let options = vec![YES_OPTION.to_owned(), "no".to_owned()];
    let question = AgentQuestion::from_labels(question, options);
    ToolReply::Ask(question, QuestionWait::new(run, about))
}

fn plan_exit_answer() -> ToolAnswer {
    ToolAnswer::done("The plan is handed on. End your turn now; change nothing more.")
}

fn mode_unchanged_answer(who: &str, word: &str) -> ToolAnswer {
    let word = match word.trim() {
        "" | "no" => String::new(),
        word => format!(" The user said: {word}"),
    };
    ToolAnswer::done(format!("The user said no: you stay the {who}.{word}"))
}

/// Returns the message for the planner's next turn after the user refused its plan.
fn plan_refusal_message(word: &str) -> String {
    let word = match word.trim() {
        "" => "no",
        word => word,
    };
    format!(
        "You wanted to hand the plan on, and the user said: {}. Your plan is kept; it went to nobody.",
        agent_activity::clean_line(word)
    )
}

impl AgentTools {
    /// Acts on the user's answer; `None` means that there is none.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(in crate::engine) fn on_answered(
        &mut self,
        run: &mut RunContext,
        request: &RequestId,
        answers: Option<BTreeMap<String, String>>,
    ) -> Result<(), EngineError> {
        let text = answers.map(|answers| answers.into_values().collect::<Vec<_>>().join("\n"));
        let Some(wait) = self.question_wait(request).cloned() else {
            return Ok(());
        };
        let is_yes = text
            .as_deref()
            .is_some_and(|text| text.trim().eq_ignore_ascii_case(YES_OPTION));
        let answer = match (wait.about, text) {
            (DeferredDecision::Answer { .. }, Some(text)) => {
                ToolAnswer::done(format!("The user answered: {text}"))
            }
            (DeferredDecision::Answer { default }, None) => unanswered_question_answer(default),
            (DeferredDecision::PlanExit, _) if is_yes => {
                run.record(Event::PlanExitAnswered { told: None })?;
                plan_exit_answer()
            }
            (DeferredDecision::PlanExit | DeferredDecision::Stay { .. }, text) => {
                let text = text.unwrap_or_default();
                run.record(Event::PlanExitAnswered {
                    told: Some(plan_refusal_message(&text)),
                })?;
                mode_unchanged_answer("planner", &text)
            }
            (DeferredDecision::PlanEnter { reason }, _) if is_yes => {
                let plan = run.journal.layout().plan();
                let text = format!(
                    "The user agrees: you are the planner again, the plan lies at {}. End your turn now; change nothing more.",
                    plan.display()
                );
                self.answer_call(run, request, ToolAnswer::done(text));
                return run.record(Event::PlanEntered { reason, step: None });
            }
            (DeferredDecision::PlanEnter { .. }, text) => {
                mode_unchanged_answer("executor", &text.unwrap_or_default())
            }
        };
        self.answer_call(run, request, answer);
        Ok(())
    }

    /// Handles a deadline: the question expires, or the agent is told to end its turn.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(in crate::engine) fn on_deadline(
        &mut self,
        run: &mut RunContext,
        request: &RequestId,
    ) -> Result<(), EngineError> {
        if self.take_deferred_question(request) {
            let request = request.clone();
            return run.record(Event::AnswerMissed { request });
        }
        let Some(wait) = self.question_wait(request).cloned() else {
            return Ok(());
        };
        match (wait.deadline, wait.about) {
            (Some(deadline), DeferredDecision::Answer { default })
                if deadline <= wait.response_timeout =>
            {
                self.answer_call(run, request, unanswered_question_answer(default));
                run.request(OwnerRequest::WithdrawRequest(request.clone()));
                Ok(())
            }
            (deadline, about) => {
                if let Some(deadline) = deadline {
                    self.defer_question(request, deadline);
                }
                // The agent's own words for the options are no longer needed: the run uses the displayed texts.
                run.request(OwnerRequest::ForgetRequest(request.clone()));
                run.record(Event::AnswerPending {
                    request: request.clone(),
                    about,
                })?;
                let text = "pending: the user has not answered yet. End your turn now; the answer comes with your next one.";
                let data = serde_json::json!({ "status": "pending", "message": text });
                self.answer_call(run, request, ToolAnswer::done(text).with_data(data));
                Ok(())
            }
        }
    }
}

fn unanswered_question_answer(default: Option<String>) -> ToolAnswer {
    ToolAnswer::done(match default {
        Some(default) => format!("The user did not answer; your default counts: {default}"),
        None => "The user did not answer. Go on with what you know, and say what you assumed."
            .to_owned(),
    })
}
