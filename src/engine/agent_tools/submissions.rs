//! Performs `plan_submit`, `review_submit` and `step_result`: what agents submit as data.
//!
//! What can be submitted is defined in `domain::submission`. An accepted submission is saved beside the turn's
//! staging folder, where the agent cannot write. It takes precedence over the files in that folder, and the last
//! one counts.

use crate::domain::findings::ReviewBar;
use crate::domain::submission::{self, ThreadSubmission};
use crate::domain::turn::TurnPurpose;
use crate::engine::Engine;
use crate::engine::agent_tools::tool_reply::{AdmittedToolCall, ToolReply};
use crate::engine::documents::too_large_message;
use crate::engine::engine_error::EngineError;
use crate::engine::staging_folder::{self, MAX_DOCUMENT_BYTES, SubmittedDocuments};
use crate::mcp::parse_arguments;
use crate::mcp::socket_protocol::ToolAnswer;
use crate::mcp::tools::{plan_submit, review_submit, step_result};

/// The answer to a call outside of a turn.
const NO_TURN: &str = "no turn of the session is under way";

pub(super) fn submit_plan(
    engine: &mut Engine,
    call: &AdmittedToolCall,
) -> Result<ToolReply, EngineError> {
    let answer = match parse_plan_submission(engine, call) {
        Ok(submitted) => save_and_acknowledge(engine, &submitted, "the plan"),
        Err(why) => ToolAnswer::failed(why),
    };
    Ok(ToolReply::Now(answer))
}

pub(super) fn submit_review(
    engine: &mut Engine,
    call: &AdmittedToolCall,
) -> Result<ToolReply, EngineError> {
    let given = parse_arguments::<review_submit::ReviewSubmitToolArguments>(&call.arguments);
    let written = given.and_then(|given| {
        let state = engine.state();
        let bar = ReviewBar::for_review(state.iteration);
        let answers = thread_submissions(&given.threads);
        let threads = submission::build_threads_section(&answers, &state.threads);
        submission::build_review_document(&given.into_domain(), &state.findings, bar)
            .and_then(|written| Ok(written + &threads?))
            .map_err(|refused| refused.to_string())
    });
    let answer = match written {
        Ok(comments) => {
            let submitted = SubmittedDocuments {
                plan: None,
                comments: Some(comments),
            };
            save_and_acknowledge(engine, &submitted, "the review")
        }
        Err(why) => ToolAnswer::failed(why),
    };
    Ok(ToolReply::Now(answer))
}

pub(super) fn state_step_result(
    engine: &mut Engine,
    call: &AdmittedToolCall,
) -> Result<ToolReply, EngineError> {
    let given = parse_arguments::<step_result::StepResultToolArguments>(&call.arguments);
    let stated = given.and_then(step_result::StepResultToolArguments::into_domain);
    let answer = match stated {
        Ok(result) => {
            if engine.conversations.set_step_result(result) {
                ToolAnswer::done("the result is accepted. End your turn now.".to_owned())
            } else {
                ToolAnswer::failed(NO_TURN)
            }
        }
        Err(why) => ToolAnswer::failed(why),
    };
    Ok(ToolReply::Now(answer))
}

fn thread_submissions(given: &[plan_submit::ThreadMessageArgument]) -> Vec<ThreadSubmission> {
    let given = given.iter().cloned();
    given
        .map(plan_submit::ThreadMessageArgument::into_domain)
        .collect()
}

/// Parses and checks what a call submits.
fn parse_plan_submission(
    engine: &Engine,
    call: &AdmittedToolCall,
) -> Result<SubmittedDocuments, String> {
    let given: plan_submit::PlanSubmitToolArguments = parse_arguments(&call.arguments)?;
    let plan = given.plan.filter(|text| !text.trim().is_empty());
    let answers: Vec<_> = given
        .answers
        .into_iter()
        .map(plan_submit::FindingAnswerArgument::into_domain)
        .collect();
    if let Some(plan) = &plan {
        submission::check_plan(plan).map_err(|refused| refused.to_string())?;
    }
    let turn = engine.conversations.active_turn();
    let comments = match turn.map(|turn| &turn.order.purpose) {
        Some(TurnPurpose::Respond) => {
            let ledger = &engine.state().findings;
            let in_threads = thread_submissions(&given.threads);
            let threads = submission::build_threads_section(&in_threads, &engine.state().threads);
            let written = submission::build_answers_document(&answers, ledger)
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

fn save_and_acknowledge(engine: &Engine, submitted: &SubmittedDocuments, what: &str) -> ToolAnswer {
    let texts = [&submitted.plan, &submitted.comments];
    let mut large = texts.into_iter().flatten();
    if let Some(large) = large.find(|text| text.len() as u64 > MAX_DOCUMENT_BYTES) {
        let why = too_large_message(what, large.len());
        return ToolAnswer::failed(format!("nothing was accepted: {why}"));
    }
    let Some(turn) = engine.conversations.active_turn() else {
        return ToolAnswer::failed(NO_TURN);
    };
    match staging_folder::save_submission(&turn.staging, submitted) {
        Ok(()) => ToolAnswer::done(format!(
            "{what} is accepted. End your turn now. To correct it first, submit it again: the last one counts."
        )),
        Err(error) => ToolAnswer::failed(format!("nothing was accepted: {error}")),
    }
}
