//! What is told of an event by what came before it: how a task is called, that the user interrupted, who releases turns.
//!
//! Refuses to tell what participants of discussions say: that is on their board.

use std::collections::BTreeSet;

use super::tool_call_card::ToolCallOutcome;
use super::transcript_block::{BlockAuthor, BlockContent, FactTone, TranscriptBlock};
use super::{ChatTranscript, approval_cards, event_blocks, transcript_columns};
use crate::domain::event::{Approval, Event};
use crate::domain::ids::SessionId;
use crate::domain::phase::Gate;
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::tui::text_wrap::to_one_line;

/// What became of a call that waited when its turn was interrupted.
const NOT_RUN_NOTE: &str = "not run: you interrupted the turn";

/// How the run stands, as far as it was told.
#[derive(Debug, Default)]
pub(super) struct TranscriptRunContext {
    /// That the user interrupted the turn.
    is_interrupted: bool,
    /// That turns follow each other.
    is_gate_auto: bool,
    /// Tasks that were given and have not begun.
    waiting_tasks: TaskWaitList,
}

impl TranscriptRunContext {
    /// Takes an event in; tells whether the gate is manual from here on without the user having said just that.
    fn on_event(&mut self, event: &Event) -> bool {
        match event {
            Event::RunCreated(created) => self.is_gate_auto = created.gate == Gate::Auto,
            Event::GateChanged { gate } | Event::RunResumed { gate } => {
                self.is_gate_auto = *gate == Gate::Auto;
            }
            Event::InterruptRequested => self.is_interrupted = true,
            Event::TurnStarted { .. } => self.is_interrupted = false,
            // A run that is stopped, or asks for the release of a turn, has a manual gate.
            Event::RunStopped
            | Event::QuestionAnswered {
                answer: QuestionAnswer::Stop,
                ..
            } => return std::mem::take(&mut self.is_gate_auto),
            Event::QuestionAsked { question } => {
                let is_gate = matches!(question.kind, QuestionKind::Gate { .. });
                return is_gate && std::mem::take(&mut self.is_gate_auto);
            }
            _ => {}
        }
        false
    }
}

/// Tasks that were given and have not begun; those who speak in a discussion are none.
#[derive(Debug, Default)]
struct TaskWaitList {
    last_dispatched: Option<SessionId>,
    waiting: BTreeSet<SessionId>,
}

impl TaskWaitList {
    /// Takes an event in; tells whether it is the begin of a task that waited.
    fn on_event(&mut self, event: &Event) -> bool {
        let given = self.last_dispatched.take();
        match event {
            Event::TaskStarted(order) if order.speaks.is_none() => {
                self.waiting.insert(order.session.clone());
                self.last_dispatched = Some(order.session.clone());
            }
            Event::TaskDispatched { session } => {
                return self.waiting.remove(session) && given.as_ref() != Some(session);
            }
            _ => {}
        }
        false
    }
}

impl ChatTranscript {
    /// Notes how a task is called.
    pub(super) fn record_task_name(&mut self, event: &Event) {
        if let Event::TaskStarted(order) = event {
            let name = to_one_line(&order.short_name());
            self.tasks.insert(order.session.clone(), name);
        }
    }

    /// That a task begins which waited for a place; of one that had a place at once it is said that it was given.
    fn task_start_notice(&self, session: &SessionId) -> Vec<TranscriptBlock> {
        match self.tasks.get(session) {
            Some(name) => event_blocks::notice(&format!("{name} begins")),
            None => Vec::new(),
        }
    }

    /// Tells an event with what is known from those before it.
    pub(super) fn append_event(&mut self, event: &Event) {
        let is_manual_now = self.run_context.on_event(event);
        let waited = self.run_context.waiting_tasks.on_event(event);
        let told = match event {
            Event::TaskDispatched { session } if waited => self.task_start_notice(session),
            Event::ApprovalExpired { approval, .. } if self.run_context.is_interrupted => {
                self.mark_call_not_run(approval)
            }
            Event::TaskEnded(result) => {
                let known = self.tasks.get(&result.task_id);
                let name = known.map_or(result.display_name(), String::as_str);
                event_blocks::from_task_outcome(result, name)
            }
            _ => event_blocks::from_event(event),
        };
        let again = match event {
            Event::RunResumed { .. } => self.ends_with(&told),
            Event::QuestionAsked { .. } => {
                self.repeats_question(&told) || self.repeats_failure(&told)
            }
            _ => false,
        };
        if !again {
            self.push_blocks(transcript_columns::with_role(
                transcript_columns::role_of(event),
                told,
            ));
        }
        if is_manual_now {
            self.push_blocks(event_blocks::notice("the gate is manual now"));
        }
    }

    /// A call that waited when the user interrupted: its card says so, or a line where it has none.
    fn mark_call_not_run(&mut self, approval: &Approval) -> Vec<TranscriptBlock> {
        let end = ToolCallOutcome::not_run(NOT_RUN_NOTE);
        match self.card_of_request(&approval.request) {
            Some(card) => {
                let n_more = card.end_tool(end);
                self.n_bytes += n_more;
                Vec::new()
            }
            None => event_blocks::notice(&format!(
                "{NOT_RUN_NOTE}: {}",
                approval_cards::describe_approval(approval)
            )),
        }
    }

    /// Tells whether the stream ends with the same.
    fn ends_with(&self, told: &[TranscriptBlock]) -> bool {
        let last = self.blocks.back();
        last.is_some_and(|last| told.iter().any(|block| block.content == last.content))
    }

    /// Tells whether the same was asked and no agent has said or done anything since.
    fn repeats_question(&self, told: &[TranscriptBlock]) -> bool {
        let since = self.blocks.iter().rev();
        let mut since = since.take_while(|block| !matches!(block.author, BlockAuthor::Agent(_)));
        let is_question = |block: &&TranscriptBlock| {
            let tone = match &block.content {
                BlockContent::Fact { tone, .. } => Some(*tone),
                _ => None,
            };
            tone == Some(FactTone::Question)
        };
        let asked = since.find(is_question);
        asked.is_some_and(|asked| told.iter().any(|block| block.content == asked.content))
    }

    /// Tells whether the stream ends with the failure that is asked about, in the same words.
    fn repeats_failure(&self, asked: &[TranscriptBlock]) -> bool {
        let fact = |block: &TranscriptBlock| match &block.content {
            BlockContent::Fact { text, tone, .. } => Some((text.clone(), *tone)),
            _ => None,
        };
        let failed = self.blocks.back().and_then(fact);
        failed.is_some_and(|(failed, tone)| {
            let mut asked = asked.iter().filter_map(fact);
            tone == FactTone::Bad && asked.any(|(text, _)| text == failed)
        })
    }
}
