//! Runs the speeches of a discussion: starts a child session for each one and reports what it said.
//!
//! The discussion parses the stance out of the text.

use std::time::Duration;

use crate::domain::discussion::{
    ActiveSpeech, AttachmentText, DiscussionEvent, DiscussionSpeech, SpeechErrorCode,
    SpeechRequest, SpeechSlot,
};
use crate::domain::ids::{DiscussionId, SessionId};
use crate::domain::task::{SpeakerAssignment, TaskError, TaskOutcome, TaskResult};
use crate::engine::agent_activity;
use crate::engine::discussion_runner::DiscussionRegistry;
use crate::engine::discussion_runner::apply_discussion_event;
use crate::engine::engine_error::EngineError;
use crate::engine::run_context::RunContext;
use crate::engine::subagents::SpeechTask;
use crate::engine::subagents::SubagentTasks;
use crate::prompts::discussion_variables::DiscussVars;
use crate::text::clean_text;

impl DiscussionRegistry {
    /// Starts these speeches, each in a session of its own.
    pub(super) fn start_speeches(
        &mut self,
        run: &mut RunContext,
        subagents: &mut SubagentTasks,
        id: &DiscussionId,
        speakers: Vec<SpeechRequest>,
    ) -> Result<(), EngineError> {
        for speak in speakers {
            // If the session was deleted in the meantime, a new one starts and gets the whole history again.
            let session = speak.session.clone();
            let session = session.filter(|session| run.child_session(session).is_some());
            let speak = SpeechRequest { session, ..speak };
            let Some(discussion) = run.state().discussion(id) else {
                return Ok(());
            };
            let table = self.running.get(id);
            let sources = table.map_or(&[][..], |table| &table.attachments);
            let files: Vec<AttachmentText> = sources
                .iter()
                .map(|source| AttachmentText {
                    path: agent_activity::clean_line(&source.name),
                    text: clean_text(&source.text),
                })
                .collect();
            let root = run.setup.root.display().to_string();
            let vars = DiscussVars::for_speech(discussion, &speak, &files, root);
            let prompt = match run.setup.prompts.render_discuss(&vars) {
                Ok(prompt) => prompt,
                Err(error) => {
                    let why = format!("its prompt cannot be written: {error}");
                    apply_discussion_event(run, id, speech_without_session(speak, &why))?;
                    continue;
                }
            };
            let order = discussion.order.clone();
            let ask = SpeechTask {
                participant: &speak.participant,
                speaker: SpeakerAssignment {
                    discussion: id.clone(),
                    name: speak.participant.name.clone(),
                },
                parent: order.parent.clone(),
                topic: &order.topic,
                session: speak.session.clone(),
                prompt,
                timeout: Duration::from_millis(order.terms.timeout_ms),
                retries: order.terms.max_retries,
            };
            let news = match subagents.start_speech(run, ask)? {
                Ok(session) => DiscussionEvent::SpeechBegan {
                    round: speak.round,
                    part: speak.part,
                    participant: speak.participant.name,
                    session,
                    attacker: speak.attacker,
                },
                Err(why) => speech_without_session(speak, &why),
            };
            apply_discussion_event(run, id, news)?;
        }
        Ok(())
    }

    /// Records what a participant said, or why it said nothing.
    pub(in crate::engine) fn on_speech_finished(
        &mut self,
        run: &mut RunContext,
        subagents: &mut SubagentTasks,
        speaks: &SpeakerAssignment,
        result: TaskResult,
    ) -> Result<(), EngineError> {
        let id = &speaks.discussion;
        let Some(speaking) = find_active_speech(run, id, |each| each.participant == speaks.name)
        else {
            return Ok(());
        };
        let table = self.running.get_mut(id);
        let stopped = table.and_then(|table| table.stop_codes.remove(&speaking.session));
        let (seat, session) = (speaking.slot(), speaking.session);
        let took_ms = result.duration_ms;
        let speech = match speech_text(result.end, stopped) {
            Ok(text) => DiscussionSpeech::from_reply(seat, session, &text, took_ms),
            Err((code, why)) => {
                DiscussionSpeech::from_failure(seat, Some(session), code, why, took_ms)
            }
        };
        apply_discussion_event(run, id, speech_finished_event(speech))?;
        self.advance(run, subagents, id)
    }

    /// Records that no speech will come from participants whose sessions had ended before they were stopped. All are
    /// recorded before the discussion goes on, which may begin a speech in one of these sessions again.
    pub(in crate::engine) fn on_speeches_lost(
        &mut self,
        run: &mut RunContext,
        subagents: &mut SubagentTasks,
        id: &DiscussionId,
        sessions: &[SessionId],
        code: SpeechErrorCode,
    ) -> Result<(), EngineError> {
        for lost in sessions {
            if let Some(speaking) = find_active_speech(run, id, |each| each.session == *lost) {
                let (seat, session) = (speaking.slot(), Some(speaking.session));
                let why = "its session no longer works".to_owned();
                let speech = DiscussionSpeech::from_failure(seat, session, code, why, 0);
                apply_discussion_event(run, id, speech_finished_event(speech))?;
            }
        }
        self.advance(run, subagents, id)
    }
}

fn find_active_speech(
    run: &RunContext,
    id: &DiscussionId,
    is_it: impl Fn(&ActiveSpeech) -> bool,
) -> Option<ActiveSpeech> {
    let all = &run.state().discussion(id)?.speaking;
    all.iter().find(|each| is_it(each)).cloned()
}

/// Records that a participant without a session said nothing; no other participant replaces it.
fn speech_without_session(speak: SpeechRequest, why: &str) -> DiscussionEvent {
    let seat = SpeechSlot {
        round: speak.round,
        part: speak.part,
        participant: speak.participant.name,
    };
    let code = SpeechErrorCode::Session;
    speech_finished_event(DiscussionSpeech::from_failure(
        seat,
        None,
        code,
        agent_activity::clean_line(why),
        0,
    ))
}

fn speech_finished_event(speech: DiscussionSpeech) -> DiscussionEvent {
    DiscussionEvent::Spoke {
        speech: Box::new(speech),
    }
}

/// Returns the text of a speech, else why there is none; a speech that was stopped gets the error it was
/// stopped with.
fn speech_text(
    end: TaskOutcome,
    stopped: Option<SpeechErrorCode>,
) -> Result<String, (SpeechErrorCode, String)> {
    Err(match end {
        TaskOutcome::Completed { summary } => return Ok(summary),
        TaskOutcome::Failed { error } => match error {
            TaskError::NoSummary => (SpeechErrorCode::Empty, "it ended without a word".to_owned()),
            TaskError::Other(text) => (SpeechErrorCode::Adapter, text),
        },
        TaskOutcome::Declined { error } => (SpeechErrorCode::Declined, error),
        TaskOutcome::Timeout { error } => (SpeechErrorCode::Timeout, error),
        TaskOutcome::Cancelled { error } => (stopped.unwrap_or(SpeechErrorCode::Stopped), error),
    })
}
