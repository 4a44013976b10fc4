//! Measures the board of a discussion: ten participants in ten rounds, compared with two in one.

use agent_collab::domain::discussion::{
    DebateSide, DiscussionEvent, DiscussionOrder, DiscussionParticipant, DiscussionSettings,
    DiscussionSpeech, GroupDiscussion, ParticipantStance, ProposalAttitude, SpeechPart,
    StanceConfidence,
};
use agent_collab::domain::ids::{DiscussionId, SessionId, UnixMillis};
use agent_collab::domain::run::{Run, RunState};
use ratatui::crossterm::event::KeyCode;

use crate::drawn::{A_KEY, Drawn};
use crate::limit::Limit;
use crate::{long_run, side_by_side};

const ROUNDS: usize = 100;

pub fn run() -> anyhow::Result<()> {
    let (mut large, mut small) = (board(10, 10)?, board(2, 1)?);
    side_by_side(
        "a board of 10 x 10 speeches / of 2",
        Limit::Within(A_KEY),
        ROUNDS,
        &mut || again(&mut large),
        &mut || again(&mut small),
    )?;
    side_by_side(
        "the next speech on it",
        Limit::Within(A_KEY),
        ROUNDS,
        &mut || large.key_and_back(KeyCode::Right, KeyCode::Left),
        &mut || small.key_and_back(KeyCode::Right, KeyCode::Left),
    )
}

fn again(board: &mut Drawn) -> anyhow::Result<std::time::Duration> {
    board.screen.mark_dirty();
    board.draw()
}

/// Builds the screen with an open board of a discussion in which every participant has spoken in each round.
fn board(n_participants: usize, n_rounds: u32) -> anyhow::Result<Drawn> {
    let names: Vec<String> = (0..n_participants)
        .map(|n| format!("participant-{n}"))
        .collect();
    let mut discussion = GroupDiscussion::begin(UnixMillis(0), &order(&names));
    for round in 1..=n_rounds {
        for name in &names {
            let session = SessionId::new(format!("ses_{name}"));
            let began = DiscussionEvent::SpeechBegan {
                round,
                part: SpeechPart::Round,
                participant: name.clone(),
                session: session.clone(),
                attacker: None,
            };
            discussion.apply(UnixMillis(1), &began);
            let speech = Box::new(speech(round, name, session));
            discussion.apply(UnixMillis(2), &DiscussionEvent::Spoke { speech });
        }
    }
    let n_told: usize = discussion
        .rounds
        .iter()
        .map(|round| round.speeches.len())
        .sum();
    anyhow::ensure!(
        n_told == n_participants * n_rounds as usize,
        "{n_told} spoke"
    );
    let mut drawn = Drawn::empty()?;
    drawn.state = Some(state(discussion));
    drawn.press(KeyCode::Esc);
    drawn.draw()?;
    drawn.key(KeyCode::Char('#'))?;
    let shown = format!("{:?}", drawn.terminal.backend().buffer());
    anyhow::ensure!(shown.contains(&names[0]), "the board is not open");
    Ok(drawn)
}

fn order(names: &[String]) -> DiscussionOrder {
    let participant = |name: &String| DiscussionParticipant {
        name: name.clone(),
        agent: "explore".to_owned(),
        adapter: "codex".to_owned(),
        model: None,
        role: None,
        side: DebateSide::Open,
    };
    DiscussionOrder {
        id: DiscussionId::new("dsc_1"),
        parent: None,
        topic: "SQLite or Postgres for this project's store?".to_owned(),
        context: String::new(),
        files: Vec::new(),
        participants: names.iter().map(participant).collect(),
        terms: DiscussionSettings {
            rounds: 10,
            ..DiscussionSettings::default()
        },
        preset: None,
        finding: None,
    }
}

fn speech(round: u32, name: &str, session: SessionId) -> DiscussionSpeech {
    let text = "One file beside the repository is all that a single user needs.\n\n- no server\n- `WAL` lets readers go on\n\n";
    DiscussionSpeech {
        round,
        part: SpeechPart::Round,
        participant: name.to_owned(),
        session: Some(session),
        text: text.repeat(20),
        no_stance: None,
        stance: Some(ParticipantStance {
            stance: ProposalAttitude::Agree,
            proposal: "SQLite, behind a trait".to_owned(),
            instead: None,
            confidence: Some(StanceConfidence::from_thousandths(700)),
            blocking: Vec::new(),
            why_changed: None,
            evidence: Vec::new(),
            checks: Vec::new(),
            conclude: false,
        }),
        error: None,
        took_ms: 31_000,
    }
}

fn state(discussion: GroupDiscussion) -> RunState {
    let mut state = Run::new(UnixMillis(0), &long_run::created())
        .state()
        .clone();
    state.discussions = vec![discussion];
    state
}
