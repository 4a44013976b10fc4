//! Speeches: from one that is due to a child session at work, and from its end to what was said.
//!
//! Refuses to read a stance out of a text; the discussion does.

use std::time::Duration;

use crate::domain::discussion::{
    ActiveSpeech, AttachmentText, DiscussionEvent, DiscussionSpeech, SpeechErrorCode,
    SpeechRequest, SpeechSlot,
};
use crate::domain::ids::{DiscussionId, SessionId};
use crate::domain::task::{NO_SUMMARY_ERROR, SpeakerAssignment, TaskOutcome, TaskResult};
use crate::engine::children::SpeechAsk;
use crate::engine::{Engine, EngineError, news};
use crate::prompts::discussion_variables::DiscussVars;
use crate::text::clean_text;

impl Engine {
    /// Has all of these speak, each in a session of its own.
    pub(super) fn have_speak(
        &mut self,
        id: &DiscussionId,
        speakers: Vec<SpeechRequest>,
    ) -> Result<(), EngineError> {
        for speak in speakers {
            // A session that was deleted in between is begun anew, and told everything again.
            let session = speak.session.clone();
            let session = session.filter(|session| self.child(session).is_some());
            let speak = SpeechRequest { session, ..speak };
            let Some(discussion) = self.discussion(id) else {
                return Ok(());
            };
            let table = self.discussions.at_work.get(id);
            let sources = table.map_or(&[][..], |table| &table.sources);
            let files: Vec<AttachmentText> = sources
                .iter()
                .map(|source| AttachmentText {
                    path: news::line(&source.name),
                    text: clean_text(&source.text),
                })
                .collect();
            let root = self.setup.root.display().to_string();
            let vars = DiscussVars::for_speech(discussion, &speak, &files, root);
            let prompt = match self.setup.prompts.render_discuss(&vars) {
                Ok(prompt) => prompt,
                Err(error) => {
                    let why = format!("its prompt cannot be written: {error}");
                    self.feed_discussion(id, no_session(speak, &why))?;
                    continue;
                }
            };
            let order = discussion.order.clone();
            let ask = SpeechAsk {
                participant: &speak.participant,
                speaks: SpeakerAssignment {
                    discussion: id.clone(),
                    name: speak.participant.name.clone(),
                },
                parent: order.parent.clone(),
                topic: &order.topic,
                session: speak.session.clone(),
                prompt,
                limit: Duration::from_millis(order.terms.timeout_ms),
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
                Err(why) => no_session(speak, &why),
            };
            self.feed_discussion(id, news)?;
        }
        Ok(())
    }

    /// Takes in what a participant said, or why it said nothing.
    pub(in crate::engine) fn on_spoken(
        &mut self,
        speaks: &SpeakerAssignment,
        result: TaskResult,
    ) -> Result<(), EngineError> {
        let id = &speaks.discussion;
        let Some(speaking) = self.speaking(id, |each| each.participant == speaks.name) else {
            return Ok(());
        };
        let table = self.discussions.at_work.get_mut(id);
        let stopped = table.and_then(|table| table.stopped.remove(&speaking.session));
        let (seat, session) = (speaking.slot(), speaking.session);
        let took_ms = result.duration_ms;
        let speech = match text_of(result.end, stopped) {
            Ok(text) => DiscussionSpeech::from_reply(seat, session, &text, took_ms),
            Err((code, why)) => {
                DiscussionSpeech::from_failure(seat, Some(session), code, why, took_ms)
            }
        };
        self.feed_discussion(id, spoke(speech))?;
        self.go_on_discussing(id)
    }

    /// Notes of somebody whose session does not work any more that nothing comes.
    pub(super) fn spoke_no_more(
        &mut self,
        id: &DiscussionId,
        session: &SessionId,
        code: SpeechErrorCode,
    ) -> Result<(), EngineError> {
        let Some(speaking) = self.speaking(id, |each| each.session == *session) else {
            return Ok(());
        };
        let (seat, session) = (speaking.slot(), Some(speaking.session));
        let why = "its session does not work any more".to_owned();
        let speech = DiscussionSpeech::from_failure(seat, session, code, why, 0);
        self.feed_discussion(id, spoke(speech))
    }

    fn speaking(
        &self,
        id: &DiscussionId,
        is_it: impl Fn(&ActiveSpeech) -> bool,
    ) -> Option<ActiveSpeech> {
        let all = &self.discussion(id)?.speaking;
        all.iter().find(|each| is_it(each)).cloned()
    }
}

/// Who got no session said nothing, and nobody speaks in its place.
fn no_session(speak: SpeechRequest, why: &str) -> DiscussionEvent {
    let seat = SpeechSlot {
        round: speak.round,
        part: speak.part,
        participant: speak.participant.name,
    };
    let code = SpeechErrorCode::Session;
    spoke(DiscussionSpeech::from_failure(
        seat,
        None,
        code,
        news::line(why),
        0,
    ))
}

fn spoke(speech: DiscussionSpeech) -> DiscussionEvent {
    DiscussionEvent::Spoke {
        speech: Box::new(speech),
    }
}

/// The text of what was said, else why there is none; whoever was stopped has the error that it was stopped with.
fn text_of(
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
