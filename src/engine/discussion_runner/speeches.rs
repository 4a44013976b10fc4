//! Runs the speeches of a discussion: starts a child session for each one and reports what it said.
//!
//! The discussion parses the stance out of the text.

use std::time::Duration;

use crate::domain::discussion::{
    ActiveSpeech, AttachmentText, DiscussionEvent, DiscussionSpeech, SpeechErrorCode,
    SpeechRequest, SpeechSlot,
};
use crate::domain::ids::{DiscussionId, SessionId};
use crate::domain::task::{NO_SUMMARY_ERROR, SpeakerAssignment, TaskOutcome, TaskResult};
use crate::engine::subagents::SpeechTask;
use crate::engine::{Engine, EngineError, agent_activity};
use crate::prompts::discussion_variables::DiscussVars;
use crate::text::clean_text;

impl Engine {
    /// Starts these speeches, each in a session of its own.
    pub(super) fn start_speeches(
        &mut self,
        id: &DiscussionId,
        speakers: Vec<SpeechRequest>,
    ) -> Result<(), EngineError> {
        for speak in speakers {
            // If the session was deleted in the meantime, a new one starts and gets the whole history again.
            let session = speak.session.clone();
            let session = session.filter(|session| self.run.child_session(session).is_some());
            let speak = SpeechRequest { session, ..speak };
            let Some(discussion) = self.discussion(id) else {
                return Ok(());
            };
            let table = self.discussions.running.get(id);
            let sources = table.map_or(&[][..], |table| &table.attachments);
            let files: Vec<AttachmentText> = sources
                .iter()
                .map(|source| AttachmentText {
                    path: agent_activity::clean_line(&source.name),
                    text: clean_text(&source.text),
                })
                .collect();
            let root = self.run.setup.root.display().to_string();
            let vars = DiscussVars::for_speech(discussion, &speak, &files, root);
            let prompt = match self.run.setup.prompts.render_discuss(&vars) {
                Ok(prompt) => prompt,
                Err(error) => {
                    let why = format!("its prompt cannot be written: {error}");
                    self.apply_discussion_event(id, speech_without_session(speak, &why))?;
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
            let news = match self.start_speech(ask)? {
                Ok(session) => DiscussionEvent::SpeechBegan {
                    round: speak.round,
                    part: speak.part,
                    participant: speak.participant.name,
                    session,
                    attacker: speak.attacker,
                },
                Err(why) => speech_without_session(speak, &why),
            };
            self.apply_discussion_event(id, news)?;
        }
        Ok(())
    }

    /// Records what a participant said, or why it said nothing.
    pub(in crate::engine) fn on_speech_finished(
        &mut self,
        speaks: &SpeakerAssignment,
        result: TaskResult,
    ) -> Result<(), EngineError> {
        let id = &speaks.discussion;
        let Some(speaking) = self.find_active_speech(id, |each| each.participant == speaks.name)
        else {
            return Ok(());
        };
        let table = self.discussions.running.get_mut(id);
        let stopped = table.and_then(|table| table.stop_codes.remove(&speaking.session));
        let (seat, session) = (speaking.slot(), speaking.session);
        let took_ms = result.duration_ms;
        let speech = match speech_text(result.end, stopped) {
            Ok(text) => DiscussionSpeech::from_reply(seat, session, &text, took_ms),
            Err((code, why)) => {
                DiscussionSpeech::from_failure(seat, Some(session), code, why, took_ms)
            }
        };
        self.apply_discussion_event(id, speech_finished_event(speech))?;
        self.advance_discussion(id)
    }

    /// Records that no speech will come from a participant whose session has ended.
    pub(super) fn record_lost_speech(
        &mut self,
        id: &DiscussionId,
        session: &SessionId,
        code: SpeechErrorCode,
    ) -> Result<(), EngineError> {
        let Some(speaking) = self.find_active_speech(id, |each| each.session == *session) else {
            return Ok(());
        };
        let (seat, session) = (speaking.slot(), Some(speaking.session));
        let why = "its session no longer works".to_owned();
        let speech = DiscussionSpeech::from_failure(seat, session, code, why, 0);
        self.apply_discussion_event(id, speech_finished_event(speech))
    }

    fn find_active_speech(
        &self,
        id: &DiscussionId,
        is_it: impl Fn(&ActiveSpeech) -> bool,
    ) -> Option<ActiveSpeech> {
        let all = &self.discussion(id)?.speaking;
        all.iter().find(|each| is_it(each)).cloned()
    }
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
        TaskOutcome::Failed { error } if error == NO_SUMMARY_ERROR => {
            (SpeechErrorCode::Empty, "it ended without a word".to_owned())
        }
        TaskOutcome::Failed { error } => (SpeechErrorCode::Adapter, error),
        TaskOutcome::Declined { error } => (SpeechErrorCode::Declined, error),
        TaskOutcome::Timeout { error } => (SpeechErrorCode::Timeout, error),
        TaskOutcome::Cancelled { error } => (stopped.unwrap_or(SpeechErrorCode::Stopped), error),
    })
}
