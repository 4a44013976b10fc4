//! What `07_discuss.md` may say, out of a discussion and who is to speak in it.
//!
//! Refuses to decide how much of the discussion is told; that is in the text it is given.

use serde::Serialize;

use crate::domain::discussion::{Discussion, Mode, Part, Side, SourceText, Speak};

/// Variables of `07_discuss.md`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct DiscussVars {
    /// The repository's root.
    pub root: String,
    /// Who is to speak.
    pub name: String,
    /// Everybody who takes part, by name.
    pub participants: Vec<String>,
    /// What it is told of its part besides.
    pub role_text: Option<String>,
    /// `advocate`, `critic`, `moderator` or `open`.
    pub side: String,
    /// `debate`, `collaborative` or `jury`.
    pub mode: String,
    /// `round` or `closing`.
    pub part: String,
    /// The round, from 1.
    pub round: u32,
    /// How many there are at the most.
    pub rounds: u32,
    /// Whether it must attack the leading proposal.
    pub attacks: bool,
    /// The leading proposal, where it must attack it and there is one.
    pub leading: Option<String>,
    /// Whether its word ends the rounds.
    pub concludes: bool,
    /// The short names of the proposals that it has heard of.
    pub names: Vec<String>,
    /// How long its words may be, in characters.
    pub message_chars: u64,
    /// Topic, speeches and files, fenced as data, as long as its budget allows.
    pub context: String,
}

impl DiscussVars {
    /// What is told to who is to speak, with the texts of the files that the discussion was given.
    pub fn of(discussion: &Discussion, speak: &Speak, files: &[SourceText], root: String) -> Self {
        let who = &speak.participant;
        let order = &discussion.order;
        let attacks = speak.attacker.as_ref() == Some(&who.name);
        let heard_until = match speak.part {
            Part::Round => speak.round.saturating_sub(1),
            Part::Closing => speak.round,
        };
        let tallies = discussion.standings(heard_until).tallies();
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
            side: who.side.name().to_owned(),
            mode: order.terms.mode.name().to_owned(),
            part: match speak.part {
                Part::Round => "round",
                Part::Closing => "closing",
            }
            .to_owned(),
            round: speak.round,
            rounds: discussion.n_rounds(),
            attacks,
            leading: discussion.leading(speak.round).filter(|_| attacks),
            concludes: order.terms.mode == Mode::Collaborative && who.side == Side::Moderator,
            names,
            message_chars: order.terms.budget_at(&who.adapter).message_chars,
            context: discussion.context_for(speak, files),
        }
    }
}
