//! Blocks that depend on earlier events: task names, calls that an interrupt prevented, changes of the
//! gate. What participants of discussions say is shown on the board, not here.

use std::collections::BTreeSet;

use super::block_content::{BlockContent, FactTone};
use super::tool_call_card::ToolCallOutcome;
use super::transcript_block::TranscriptBlock;
use super::{ChatTranscript, event_blocks, transcript_columns};
use crate::domain::event::{Approval, Event};
use crate::domain::event_wording::word_task_end;
use crate::domain::ids::SessionId;
use crate::domain::phase::Gate;
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::tui::text_wrap::to_one_line;

/// Shown for a call that was pending when its turn was interrupted.
const NOT_RUN_NOTE: &str = "Not run: you interrupted the turn";

/// What earlier events say about the run.
#[derive(Debug, Default)]
pub(super) struct TranscriptRunContext {
    /// Whether the user interrupted the turn.
    is_interrupted: bool,
    /// Whether turns start without confirmation.
    is_gate_auto: bool,
    waiting_tasks: TaskWaitList,
}

impl TranscriptRunContext {
    /// Applies an event; returns whether the gate became manual without the user asking for exactly that.
    fn on_event(&mut self, event: &Event) -> bool {
        match event {
            Event::RunCreated(created) => self.is_gate_auto = created.gate == Gate::Auto,
            Event::GateChanged { gate } | Event::RunResumed { gate } => {
                self.is_gate_auto = *gate == Gate::Auto;
            }
            Event::InterruptRequested => self.is_interrupted = true,
            Event::TurnStarted { .. } => self.is_interrupted = false,
            // A stopped run, or one that asks before it sends a turn, has a manual gate.
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

/// Tasks that were dispatched and have not started; participants of discussions are not included.
#[derive(Debug, Default)]
struct TaskWaitList {
    last_dispatched: Option<SessionId>,
    waiting: BTreeSet<SessionId>,
}

impl TaskWaitList {
    /// Applies an event; returns whether a task started that had to wait.
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
    /// Stores a task's name.
    pub(super) fn record_task_name(&mut self, event: &Event) {
        if let Event::TaskStarted(order) = event {
            let name = to_one_line(&order.short_name());
            self.tasks.insert(order.session.clone(), name);
        }
    }

    /// Returns a notice that a waiting task started. A task that starts at once only gets its dispatch
    /// notice.
    fn task_start_notice(&self, session: &SessionId) -> Vec<TranscriptBlock> {
        match self.tasks.get(session) {
            Some(name) => event_blocks::notice(&format!("{name} starts")),
            None => Vec::new(),
        }
    }

    /// Appends the blocks of an event, using what earlier events said.
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
                event_blocks::from_wording(&word_task_end(result, name))
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
            self.push_blocks(event_blocks::notice("Now in Manual"));
        }
    }

    /// Marks a call that was pending when the user interrupted: on its card, or on a line of its own if it
    /// has none.
    fn mark_call_not_run(&mut self, approval: &Approval) -> Vec<TranscriptBlock> {
        let end = ToolCallOutcome::not_run(NOT_RUN_NOTE);
        match self.card_of_request(&approval.request) {
            Some(card) => {
                let n_more = card.end_tool(end);
                self.n_bytes += n_more;
                Vec::new()
            }
            None => event_blocks::notice(&format!("{NOT_RUN_NOTE}: {}", approval.describe_call())),
        }
    }

    /// Returns whether the stream already ends with one of these blocks.
    fn ends_with(&self, told: &[TranscriptBlock]) -> bool {
        let last = self.blocks.back();
        last.is_some_and(|last| told.iter().any(|block| block.content == last.content))
    }

    /// Returns whether the same question was asked and no agent has said or done anything since.
    fn repeats_question(&self, told: &[TranscriptBlock]) -> bool {
        let since = self.blocks.iter().rev();
        let mut since = since.take_while(|block| !block.author.is_agent());
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

    /// Returns whether the stream ends with the failure that the question is about, in the same words.
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
