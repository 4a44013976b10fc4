//! `plan_submit` and `review_submit`: documents handed in as data.
//!
//! What may be handed in is said by `domain::submission`. What was taken lies beside the turn's staging folder, where
//! the agent cannot write, and counts before whatever lies in it; the last one counts.

use super::{Reply, ToolCall};
use crate::domain::submission;
use crate::domain::turn::TurnPurpose;
use crate::engine::documents::too_large;
use crate::engine::staging::{self, MAX_BYTES, Submitted};
use crate::engine::{Engine, EngineError};
use crate::mcp::parse_arguments;
use crate::mcp::socket_protocol::ToolAnswer;
use crate::mcp::tools::{plan_submit, review_submit};

pub(super) fn plan(engine: &mut Engine, call: &ToolCall) -> Result<Reply, EngineError> {
    let answer = match plan_of(engine, call) {
        Ok(submitted) => keep(engine, &submitted, "the plan"),
        Err(why) => ToolAnswer::failed(why),
    };
    Ok(Reply::Now(answer))
}

pub(super) fn review(engine: &mut Engine, call: &ToolCall) -> Result<Reply, EngineError> {
    let given = parse_arguments::<review_submit::ReviewSubmitToolArguments>(&call.arguments);
    let written = given.and_then(|given| {
        let ledger = &engine.state().findings;
        submission::build_review_document(&given.into_domain(), ledger)
            .map_err(|refused| refused.to_string())
    });
    let answer = match written {
        Ok(comments) => {
            let submitted = Submitted {
                plan: None,
                comments: Some(comments),
            };
            keep(engine, &submitted, "the review")
        }
        Err(why) => ToolAnswer::failed(why),
    };
    Ok(Reply::Now(answer))
}

/// What a call hands in, checked.
fn plan_of(engine: &Engine, call: &ToolCall) -> Result<Submitted, String> {
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
    let at_work = engine.at_work.as_ref();
    let comments = match at_work.map(|at_work| &at_work.order.purpose) {
        Some(TurnPurpose::Respond) => {
            let ledger = &engine.state().findings;
            let written = submission::build_answers_document(&answers, ledger);
            Some(written.map_err(|refused| refused.to_string())?)
        }
        _ if plan.is_none() => return Err("nothing was taken: there is no plan in it".to_owned()),
        _ if !answers.is_empty() => {
            return Err("nothing was taken: there is no review to answer yet".to_owned());
        }
        _ => None,
    };
    Ok(Submitted {
        plan,
        comments: comments.filter(|text| !text.is_empty()),
    })
}

fn keep(engine: &Engine, submitted: &Submitted, what: &str) -> ToolAnswer {
    let texts = [&submitted.plan, &submitted.comments];
    let mut large = texts.into_iter().flatten();
    if let Some(large) = large.find(|text| text.len() as u64 > MAX_BYTES) {
        let why = too_large(what, large.len());
        return ToolAnswer::failed(format!("nothing was taken: {why}"));
    }
    let Some(at_work) = &engine.at_work else {
        return ToolAnswer::failed("no turn of the session is under way");
    };
    match staging::submit(&at_work.staging, submitted) {
        Ok(()) => ToolAnswer::done(format!(
            "{what} is taken. It counts when your turn ends, before any file; hand in again to replace it."
        )),
        Err(error) => ToolAnswer::failed(format!("nothing was taken: {error}")),
    }
}
