//! Simulates a discussion: performs each effect, with a script in place of the participants.

use std::collections::BTreeMap;

use crate::domain::discussion::*;
use crate::domain::ids::{DiscussionId, SessionId, UnixMillis};

/// What a participant does in its turn.
#[derive(Debug, Clone)]
pub enum ScriptedReply {
    Text(String),
    Fails(SpeechErrorCode),
    NoSession,
    /// It speaks until it is stopped.
    Hangs,
}

/// Words with a stance.
pub fn says(words: &str, stance: &str) -> ScriptedReply {
    ScriptedReply::Text(format!("{words}\n\n```stance\n{stance}\n```\n"))
}

/// A reply for a proposal.
pub fn votes_for(proposal: &str) -> ScriptedReply {
    says(
        &format!("I am for {proposal} because of its merits."),
        &format!(r#"{{"stance": "agree", "proposal": "{proposal}", "confidence": 0.6}}"#),
    )
}

/// A reply against a proposal.
pub fn against(proposal: &str) -> ScriptedReply {
    says(
        &format!("I am against {proposal} because of its costs."),
        &format!(r#"{{"stance": "disagree", "proposal": "{proposal}", "confidence": 0.6}}"#),
    )
}

/// The outcome of each check, by command.
pub type ScriptedChecks = BTreeMap<&'static str, CheckOutcome>;

/// One simulated discussion.
pub struct DiscussionSimulator {
    pub discussion: GroupDiscussion,
    pub now: UnixMillis,
    pub checks: ScriptedChecks,
    /// All prompts, with the requests they belong to.
    pub told: Vec<(SpeechRequest, String)>,
    /// The trace of what happened, one line each.
    pub trace: Vec<String>,
    /// The running speeches, each with its scripted end.
    pending: Vec<(SpeechRequest, ScriptedReply)>,
    /// Which of the running speeches ends first, used cyclically.
    pub ends: Vec<usize>,
    n_ended: usize,
}

pub fn participant(name: &str) -> DiscussionParticipant {
    DiscussionParticipant {
        name: name.to_owned(),
        agent: name.to_owned(),
        adapter: "fake".to_owned(),
        model: None,
        role: None,
        side: DebateSide::from_agent_name(name),
    }
}

pub fn order(mode: DiscussionMode, names: &[&str]) -> DiscussionOrder {
    DiscussionOrder {
        id: DiscussionId::new("dsc_1"),
        parent: None,
        topic: "SQLite or Postgres?".to_owned(),
        context: String::new(),
        files: Vec::new(),
        participants: names.iter().map(|name| participant(name)).collect(),
        terms: DiscussionSettings {
            mode,
            concurrency: 8,
            ..DiscussionSettings::default()
        },
        preset: None,
        finding: None,
    }
}

impl DiscussionSimulator {
    pub fn new(mode: DiscussionMode, names: &[&str]) -> Self {
        Self::from_order(&order(mode, names))
    }

    pub fn from_order(order: &DiscussionOrder) -> Self {
        Self {
            discussion: GroupDiscussion::begin(UnixMillis(1_000), order),
            now: UnixMillis(1_000),
            checks: ScriptedChecks::new(),
            told: Vec::new(),
            trace: Vec::new(),
            pending: Vec::new(),
            ends: vec![0],
            n_ended: 0,
        }
    }

    pub fn with_settings(mut self, change: impl FnOnce(&mut DiscussionSettings)) -> Self {
        change(&mut self.discussion.order.terms);
        self
    }

    pub fn apply(&mut self, event: &DiscussionEvent) {
        self.discussion.apply(self.now, event);
    }

    /// Runs the discussion to its end.
    pub fn until_over(
        mut self,
        script: impl Fn(&GroupDiscussion, &SpeechRequest) -> ScriptedReply,
    ) -> Self {
        for _ in 0..500 {
            if !self.step(&script) {
                return self;
            }
        }
        panic!("it does not end: {:#?}", self.trace);
    }

    /// Performs the next effect; returns whether there was one.
    pub fn step(
        &mut self,
        script: &impl Fn(&GroupDiscussion, &SpeechRequest) -> ScriptedReply,
    ) -> bool {
        match self.discussion.next_effect(self.now) {
            DiscussionEffect::Speak(speakers) => {
                assert!(!speakers.is_empty());
                for speak in speakers {
                    self.begin(speak, script);
                }
            }
            DiscussionEffect::RunCheck {
                n,
                round,
                asked_by,
                order,
            } => self.check(n, round, asked_by, order),
            DiscussionEffect::Stop(stop) => self.stop(&stop),
            DiscussionEffect::Wait { until } => self.wait(until),
            DiscussionEffect::Conclude(outcome) => {
                assert!(self.pending.is_empty() && self.discussion.speaking.is_empty());
                self.trace.push(format!("ends: {}", outcome.stop.as_str()));
                self.apply(&DiscussionEvent::Ended { outcome });
            }
            DiscussionEffect::Over => return false,
        }
        true
    }

    fn begin(
        &mut self,
        speak: SpeechRequest,
        script: &impl Fn(&GroupDiscussion, &SpeechRequest) -> ScriptedReply,
    ) {
        let told = self.discussion.participant_context(&speak, &[]);
        self.told.push((speak.clone(), told));
        let said = script(&self.discussion, &speak);
        let name = speak.participant.name.clone();
        let (round, part) = (speak.round, speak.part);
        self.trace.push(match part {
            SpeechPart::Round => format!("{round}: {name}"),
            SpeechPart::Closing => format!("last word: {name}"),
        });
        if matches!(said, ScriptedReply::NoSession) {
            let message = "no session".to_owned();
            let speech = DiscussionSpeech::from_failure(
                speech_slot(&speak),
                None,
                SpeechErrorCode::Session,
                message,
                0,
            );
            return self.spoke(speech);
        }
        let session = speak
            .session
            .clone()
            .unwrap_or_else(|| SessionId::new(format!("ses_{name}")));
        self.apply(&DiscussionEvent::SpeechBegan {
            round,
            part,
            participant: name,
            session,
            attacker: speak.attacker.clone(),
        });
        self.pending.push((speak, said));
    }

    fn spoke(&mut self, speech: DiscussionSpeech) {
        let speech = Box::new(speech);
        self.apply(&DiscussionEvent::Spoke { speech });
    }

    /// Ends a running speech, or lets time pass.
    fn wait(&mut self, until: UnixMillis) {
        let can_end: Vec<usize> = (0..self.pending.len())
            .filter(|at| !matches!(self.pending[*at].1, ScriptedReply::Hangs))
            .collect();
        if can_end.is_empty() {
            assert!(until > self.now, "waits for nothing");
            self.now = until;
            return;
        }
        let which = self.ends[self.n_ended % self.ends.len()] % can_end.len();
        self.n_ended += 1;
        let (speak, said) = self.pending.remove(can_end[which]);
        self.now = UnixMillis(self.now.0 + 1_000);
        let session = SessionId::new(format!("ses_{}", speak.participant.name));
        let speech = match said {
            ScriptedReply::Text(text) => {
                DiscussionSpeech::from_reply(speech_slot(&speak), session, &text, 1_000)
            }
            ScriptedReply::Fails(code) => DiscussionSpeech::from_failure(
                speech_slot(&speak),
                Some(session),
                code,
                "it failed".to_owned(),
                1_000,
            ),
            ScriptedReply::NoSession | ScriptedReply::Hangs => unreachable!(),
        };
        self.spoke(speech);
    }

    fn stop(&mut self, stop: &StopRequest) {
        self.trace.push(format!(
            "stops {}: {}",
            stop.sessions.len(),
            stop.code.as_str()
        ));
        for (speak, _) in std::mem::take(&mut self.pending) {
            let session = Some(SessionId::new(format!("ses_{}", speak.participant.name)));
            let message = "it was stopped".to_owned();
            self.spoke(DiscussionSpeech::from_failure(
                speech_slot(&speak),
                session,
                stop.code,
                message,
                1_000,
            ));
        }
    }

    fn check(&mut self, n: u32, round: u32, asked_by: Vec<String>, order: CheckOrder) {
        self.trace.push(format!(
            "check {n}: {} ({})",
            order.command,
            asked_by.join(", ")
        ));
        self.apply(&DiscussionEvent::CheckBegan {
            order: order.clone(),
        });
        assert!(matches!(
            self.discussion.next_effect(self.now),
            DiscussionEffect::Wait { .. }
        ));
        let refused = CheckOutcome::Refused {
            reason: "no rule allows it".to_owned(),
        };
        let end = self
            .checks
            .get(order.command.as_str())
            .cloned()
            .unwrap_or(refused);
        self.apply(&DiscussionEvent::Checked {
            run: CheckRun {
                n,
                round,
                asked_by,
                order,
                end,
                took_ms: 1,
            },
        });
    }

    pub fn outcome(&self) -> &DiscussionOutcome {
        self.discussion.outcome.as_ref().expect("it is over")
    }

    /// Returns the decision, its basis, and the stop reason.
    pub fn decision_label(&self) -> String {
        let outcome = self.outcome();
        let decision = outcome.decision.as_ref().map_or("none", |of| of.as_str());
        format!(
            "{decision} by {}: {}",
            outcome.basis.as_str(),
            outcome.stop.as_str()
        )
    }

    /// Returns the context of a participant in a round.
    pub fn context(&self, name: &str, round: u32, part: SpeechPart) -> &str {
        let mut told = self.told.iter();
        let found = told.find(|(speak, _)| {
            speak.participant.name == name && speak.round == round && speak.part == part
        });
        &found.expect("it spoke").1
    }
}

pub fn speech_slot(speak: &SpeechRequest) -> SpeechSlot {
    SpeechSlot {
        round: speak.round,
        part: speak.part,
        participant: speak.participant.name.clone(),
    }
}
