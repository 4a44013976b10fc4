//! Builds the variables of `07_discuss.md` from a discussion and its next speaker.
//!
//! The caller decides how much of the discussion is included and passes that text in.

use serde::Serialize;

use crate::domain::discussion::{
    AttachmentText, DebateSide, DiscussionMode, GroupDiscussion, SpeechPart, SpeechRequest,
};

/// Variables of `07_discuss.md`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct DiscussVars {
    pub root: String,
    /// The name of the speaker.
    pub name: String,
    /// The names of all participants.
    pub participants: Vec<String>,
    /// Additional instructions for the speaker's part.
    pub role_text: Option<String>,
    /// `advocate`, `critic`, `moderator` or `open`.
    pub side: String,
    /// `debate`, `collaborative` or `jury`.
    pub mode: String,
    /// `round` or `closing`.
    pub part: String,
    /// The round, from 1.
    pub round: u32,
    /// The maximum number of rounds.
    pub rounds: u32,
    /// Whether the speaker must attack the leading proposal.
    pub attacks: bool,
    /// The leading proposal, if the speaker must attack it and there is one.
    pub leading: Option<String>,
    /// Whether the speaker's verdict ends the rounds.
    pub concludes: bool,
    /// The short names of the proposals that the speaker knows.
    pub names: Vec<String>,
    /// The maximum length of the speech, in characters.
    pub message_chars: u64,
    /// Topic, speeches and files, fenced as data, within the budget.
    pub context: String,
}

impl DiscussVars {
    /// Builds the variables for the next speaker, with the texts of the files that the discussion received.
    pub fn for_speech(
        discussion: &GroupDiscussion,
        speak: &SpeechRequest,
        files: &[AttachmentText],
        root: String,
    ) -> Self {
        let who = &speak.participant;
        let order = &discussion.order;
        let attacks = speak.attacker.as_ref() == Some(&who.name);
        let heard_until = match speak.part {
            SpeechPart::Round => speak.round.saturating_sub(1),
            SpeechPart::Closing => speak.round,
        };
        let tallies = discussion.stance_table(heard_until).tallies();
        let mut names: Vec<String> = tallies
            .iter()
            .map(|tally| tally.proposal.to_string())
            .collect();
        names.sort_unstable();
        Self {
            root,
            name: who.name.clone(),
            participants: order
                .participants
                .iter()
                .map(|each| each.name.clone())
                .collect(),
            role_text: who.role.clone(),
            side: who.side.as_str().to_owned(),
            mode: order.terms.mode.as_str().to_owned(),
            part: match speak.part {
                SpeechPart::Round => "round",
                SpeechPart::Closing => "closing",
            }
            .to_owned(),
            round: speak.round,
            rounds: discussion.max_rounds(),
            attacks,
            leading: discussion.leading_proposal(speak.round).filter(|_| attacks),
            concludes: order.terms.mode == DiscussionMode::Collaborative
                && who.side == DebateSide::Moderator
                && speak.round > 1,
            names,
            message_chars: order.terms.budget_for_adapter(&who.adapter).message_chars,
            context: discussion.participant_context(speak, files),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::discussion::{
        DiscussionEffect, DiscussionEvent, DiscussionOrder, DiscussionParticipant,
        DiscussionSettings, DiscussionSpeech, ParticipantStance, SpeechSlot,
    };
    use crate::domain::ids::{DiscussionId, SessionId, UnixMillis};
    use crate::prompts::PromptLibrary;
    use crate::text::fenced_block;

    fn order(mode: DiscussionMode, agents: &[&str]) -> DiscussionOrder {
        let participant = |agent: &&str| DiscussionParticipant {
            name: (*agent).to_owned(),
            agent: (*agent).to_owned(),
            adapter: "codex".to_owned(),
            model: None,
            role: (*agent == "critic").then(|| "You keep the servers running.".to_owned()),
            side: DebateSide::from_agent_name(agent),
        };
        DiscussionOrder {
            id: DiscussionId::new("dsc_1"),
            parent: None,
            topic: "SQLite or Postgres?".to_owned(),
            context: String::new(),
            files: Vec::new(),
            participants: agents.iter().map(participant).collect(),
            terms: DiscussionSettings {
                mode,
                rounds: 2,
                ..DiscussionSettings::default()
            },
            preset: None,
            finding: None,
        }
    }

    /// Renders every prompt of a discussion in which each speaker says this, with the speaker's name.
    fn prompts(mode: DiscussionMode, agents: &[&str], said: &str) -> Vec<(String, String)> {
        let shipped = PromptLibrary::load(&[]).expect("the shipped prompts are sound");
        let mut discussion = GroupDiscussion::begin(UnixMillis(0), &order(mode, agents));
        let mut all = Vec::new();
        loop {
            let DiscussionEffect::Speak(speakers) = discussion.next_effect(UnixMillis(1)) else {
                return all;
            };
            for speak in speakers {
                let vars =
                    DiscussVars::for_speech(&discussion, &speak, &[], "/home/me/tool".to_owned());
                let prompt = shipped.render_discuss(&vars).expect("rendered");
                let whose = format!(
                    "{} {} {:?}",
                    speak.participant.name, speak.round, speak.part
                );
                all.push((whose, prompt));
                let session = SessionId::new(format!("ses_{}", speak.participant.name));
                let began = DiscussionEvent::SpeechBegan {
                    round: speak.round,
                    part: speak.part,
                    participant: speak.participant.name.clone(),
                    session: session.clone(),
                    attacker: speak.attacker,
                };
                discussion.apply(UnixMillis(1), &began);
                let seat = SpeechSlot {
                    round: speak.round,
                    part: speak.part,
                    participant: speak.participant.name.clone(),
                };
                let on = format!(
                    "{said}\n```stance\n{{\"stance\": \"agree\", \"proposal\": \"of-{}\"}}\n```",
                    speak.participant.name
                );
                let speech = Box::new(DiscussionSpeech::from_reply(seat, session, &on, 1));
                discussion.apply(UnixMillis(1), &DiscussionEvent::Spoke { speech });
            }
        }
    }

    fn prompt_of<'a>(prompts: &'a [(String, String)], whose: &str) -> &'a str {
        let mut all = prompts.iter();
        &all.find(|(of, _)| of == whose).expect(whose).1
    }

    #[test]
    fn each_is_told_its_part_and_nothing_of_the_others_before_it_spoke() {
        let told = prompts(
            DiscussionMode::Debate,
            &["advocate", "critic", "moderator"],
            "My words.",
        );
        let advocate = prompt_of(&told, "advocate 1 Round");
        assert!(advocate.contains("make the case for it"), "{advocate}");
        assert!(advocate.contains("SQLite or Postgres?") && advocate.contains("/home/me/tool"));
        let critic = prompt_of(&told, "critic 1 Round");
        assert!(
            critic.contains("no objection because")
                && critic.contains("You keep the servers running."),
            "{critic}"
        );
        assert!(
            told.iter()
                .all(|(whose, prompt)| !whose.contains(" 1 ") || !prompt.contains("My words."))
        );
    }

    #[test]
    fn one_attacks_and_the_moderator_rules_on_what_it_reads() {
        let told = prompts(
            DiscussionMode::Debate,
            &["advocate", "critic", "moderator"],
            "My words.",
        );
        let attacks = |name: &str| prompt_of(&told, name).contains("In this round you must attack");
        assert!(attacks("advocate 2 Round") && !attacks("critic 2 Round"));
        let ruling = prompt_of(&told, "moderator 2 Closing");
        assert!(
            ruling.contains("and you conclude it") && ruling.contains("## critic in round 2"),
            "{ruling}"
        );
        assert!(
            ruling.contains("names used so far: of-advocate, of-critic"),
            "{ruling}"
        );
        assert!(!ruling.contains("`checks`"));
    }

    #[test]
    fn jurors_vote_on_proposals_and_hear_no_words() {
        let told = prompts(DiscussionMode::Jury, &["general", "critic"], "My words.");
        let vote = prompt_of(&told, "general 2 Round");
        assert!(
            vote.contains("Vote for the best one") && vote.contains("- of-critic: of-critic"),
            "{vote}"
        );
        assert!(told.iter().all(|(_, prompt)| !prompt.contains("My words.")));
    }

    #[test]
    fn only_a_moderator_among_equals_may_end_it() {
        let told = prompts(
            DiscussionMode::Collaborative,
            &["general", "moderator"],
            "My words.",
        );
        assert!(prompt_of(&told, "moderator 2 Round").contains("\"conclude\": true"));
        assert!(!prompt_of(&told, "general 2 Round").contains("\"conclude\": true"));
    }

    #[test]
    fn the_example_is_a_stance_and_a_prompt_that_is_quoted_is_none() {
        let told = prompts(DiscussionMode::Debate, &["advocate", "critic"], "My words.");
        let prompt = prompt_of(&told, "advocate 1 Round");
        let blocks = fenced_block::find_blocks(prompt);
        let example = blocks
            .iter()
            .find(|block| block.info == "markdown")
            .expect("an example");
        let inner = fenced_block::find_blocks(&example.content);
        let data = serde_json::from_str(&inner[0].content).expect("JSON");
        ParticipantStance::from_json(&data).expect("a stance");
        let seat = SpeechSlot {
            round: 1,
            part: SpeechPart::Round,
            participant: "a".to_owned(),
        };
        let speech = DiscussionSpeech::from_reply(seat, SessionId::new("ses_a"), prompt, 1);
        assert_eq!(speech.stance, None);
    }
}
