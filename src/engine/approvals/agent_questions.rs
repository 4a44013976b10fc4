//! Passes the questions of agents to the user, and the answers back in the words of the agent.

use std::collections::BTreeMap;

use super::ApprovalRequests;
use super::caller_context::{AnswerChannel, CallingTurn, RequestAddress};
use crate::domain::event::Event;
use crate::domain::ids::RequestId;
use crate::domain::question::{AgentQuestion, AnswerOption, QuestionAnswer};
use crate::engine::agent_activity;
use crate::engine::engine_error::EngineError;
use crate::engine::owner_request::OwnerRequest;
use crate::engine::run_context::RunContext;

impl ApprovalRequests {
    /// Shows an agent's questions cleaned, and remembers the agent's wording until they are answered.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(in crate::engine) fn on_questions(
        &mut self,
        run: &mut RunContext,
        turn: &CallingTurn,
        own_id: RequestId,
        questions: &[AgentQuestion],
        channel: AnswerChannel,
    ) -> Result<(), EngineError> {
        let caller = &turn.caller;
        let request = caller.qualified_request_id(&own_id);
        let address = RequestAddress {
            request: request.clone(),
            session: caller.session.clone(),
            channel,
        };
        if turn.closed_reason(run).is_some() || !caller.may_ask {
            run.request(OwnerRequest::DeliverAnswers(address, None));
            return Ok(());
        }
        if caller.role.is_none() {
            run.request(OwnerRequest::StartUserTimeout(request.clone()));
        }
        let shown: Vec<AgentQuestion> = questions.iter().map(clean_question).collect();
        let raw: BTreeMap<String, String> = shown
            .iter()
            .zip(questions)
            .map(|(shown, asked)| (shown.text.clone(), asked.text.clone()))
            .collect();
        self.pending.add_questions(address, raw);
        run.record(Event::AgentAsked {
            turn: caller.turn.clone(),
            request,
            questions: shown,
            child: caller.child.as_ref().map(ToString::to_string),
        })
    }

    /// Sends the user's answer, in the agent's wording, back to where the question was asked.
    pub(in crate::engine) fn answer_questions(
        &mut self,
        run: &mut RunContext,
        request: &RequestId,
        answer: &QuestionAnswer,
    ) {
        let Some((address, raw)) = self.pending.remove_questions(request) else {
            tracing::warn!("an answer arrived that nothing was waiting for");
            return;
        };
        let answers = match answer {
            QuestionAnswer::Texts { answers } => Some(
                answers
                    .iter()
                    .map(|(shown, text)| (raw.get(shown).unwrap_or(shown).clone(), text.clone()))
                    .collect(),
            ),
            _ => None,
        };
        run.request(OwnerRequest::DeliverAnswers(address, answers));
    }
}

/// Cleans a question for display.
fn clean_question(asked: &AgentQuestion) -> AgentQuestion {
    let line = |text: &Option<String>| {
        let text = text.as_deref().map(agent_activity::clean_line);
        text.filter(|text| !text.is_empty())
    };
    let options = asked.options.iter().map(|offered| AnswerOption {
        label: agent_activity::clean_line(&offered.label),
        description: line(&offered.description),
    });
    AgentQuestion {
        text: agent_activity::clean_block(&asked.text),
        header: line(&asked.header),
        options: options.collect(),
        picks: asked.picks,
    }
}
