//! Performs `plan_submit`, `review_submit` and `step_result`: what agents submit as data.
//!
//! What can be submitted is defined in `domain::submission`. An accepted submission is saved beside the turn's
//! staging folder, where the agent cannot write. It takes precedence over the files in that folder, and the last
//! one counts.

use super::AgentTools;
use super::tool_performer::{ToolCallContext, ToolReply};
use crate::domain::findings::ReviewBar;
use crate::domain::ids::RequestId;
use crate::domain::submission::{self, ThreadSubmission};
use crate::domain::turn::TurnPurpose;
use crate::engine::documents::too_large_message;
use crate::engine::owner_request::OwnerRequest;
use crate::engine::run_context::RunContext;
use crate::engine::staging_folder::{self, MAX_DOCUMENT_BYTES, SubmittedDocuments};
use crate::mcp::parse_arguments;
use crate::mcp::socket_protocol::ToolAnswer;
use crate::mcp::tools::{plan_submit, review_submit, step_result};

/// The answer to a call outside of a turn.
pub(super) const NO_TURN: &str = "no turn of the session is under way";

pub(super) fn submit_plan(context: &ToolCallContext<'_>) -> Result<ToolReply, String> {
    let submitted = parse_plan_submission(context)?;
    save_and_acknowledge(context, &submitted, "the plan")
}

pub(super) fn submit_review(context: &ToolCallContext<'_>) -> Result<ToolReply, String> {
    let given: review_submit::ReviewSubmitToolArguments = parse_arguments(&context.call.arguments)?;
    let state = context.run.state();
    let bar = ReviewBar::for_review(state.iteration);
    let answers = thread_submissions(&given.threads);
    let threads = submission::build_threads_section(&answers, &state.threads);
    let comments = submission::build_review_document(&given.into_domain(), &state.findings, bar)
        .and_then(|written| Ok(written + &threads?))
        .map_err(|refused| refused.to_string())?;
    let submitted = SubmittedDocuments {
        plan: None,
        comments: Some(comments),
    };
    save_and_acknowledge(context, &submitted, "the review")
}

pub(super) fn state_step_result(context: &ToolCallContext<'_>) -> Result<ToolReply, String> {
    let call = context.call;
    let given: step_result::StepResultToolArguments = parse_arguments(&call.arguments)?;
    let request = OwnerRequest::SetStepResult(call.request.clone(), given.into_domain()?);
    Ok(ToolReply::Request(request))
}

impl AgentTools {
    /// Answers the call that stated the result of a step; without a running turn it was not kept.
    pub(in crate::engine) fn on_step_result(
        &mut self,
        run: &mut RunContext,
        call: &RequestId,
        is_kept: bool,
    ) {
        let answer = if is_kept {
            ToolAnswer::done("the result is accepted. End your turn now.")
        } else {
            ToolAnswer::failed(NO_TURN)
        };
        self.answer_call(run, call, answer);
    }
}

fn thread_submissions(given: &[plan_submit::ThreadMessageArgument]) -> Vec<ThreadSubmission> {
    let given = given.iter().cloned();
    given
        .map(plan_submit::ThreadMessageArgument::into_domain)
        .collect()
}

/// Parses and checks what a call submits.
fn parse_plan_submission(context: &ToolCallContext<'_>) -> Result<SubmittedDocuments, String> {
    let given: plan_submit::PlanSubmitToolArguments = parse_arguments(&context.call.arguments)?;
    let state = context.run.state();
    let plan = given.plan.filter(|text| !text.trim().is_empty());
    let answers: Vec<_> = given
        .answers
        .into_iter()
        .map(plan_submit::FindingAnswerArgument::into_domain)
        .collect();
    if let Some(plan) = &plan {
        submission::check_plan(plan).map_err(|refused| refused.to_string())?;
    }
    let comments = match context.turn.map(|turn| &turn.order.purpose) {
        Some(TurnPurpose::Respond) => {
            let in_threads = thread_submissions(&given.threads);
            let threads = submission::build_threads_section(&in_threads, &state.threads);
            let written = submission::build_answers_document(&answers, &state.findings)
                .and_then(|written| Ok(written + &threads?));
            Some(written.map_err(|refused| refused.to_string())?)
        }
        _ if plan.is_none() => {
            return Err("nothing was accepted: there is no plan in it".to_owned());
        }
        _ if !answers.is_empty() => {
            return Err("nothing was accepted: there is no review to answer yet".to_owned());
        }
        _ => None,
    };
    Ok(SubmittedDocuments {
        plan,
        comments: comments.filter(|text| !text.is_empty()),
    })
}

fn save_and_acknowledge(
    context: &ToolCallContext<'_>,
    submitted: &SubmittedDocuments,
    what: &str,
) -> Result<ToolReply, String> {
    let texts = [&submitted.plan, &submitted.comments];
    let mut large = texts.into_iter().flatten();
    if let Some(large) = large.find(|text| text.len() as u64 > MAX_DOCUMENT_BYTES) {
        let why = too_large_message(what, large.len());
        return Err(format!("nothing was accepted: {why}"));
    }
    let turn = context.turn.ok_or(NO_TURN)?;
    staging_folder::save_submission(&turn.staging, submitted)
        .map_err(|error| format!("nothing was accepted: {error}"))?;
    Ok(ToolReply::Now(ToolAnswer::done(format!(
        "{what} is accepted. End your turn now. To correct it first, submit it again: the last one counts."
    ))))
}
