//! Tests of discussions on the screen: the board at every stage and size, its keys, and what can be done
//! with a result.

use super::pictures::check;
use super::world::{drawn, press, screen, state};
use crate::domain::discussion::{
    CheckOrder, CheckOutcome, CheckRun, DebateSide, DecisionBasis, DiscussionEvent, DiscussionMode,
    DiscussionOrder, DiscussionOutcome, DiscussionParticipant, DiscussionSettings,
    DiscussionSpeech, DiscussionStopReason, GroupDiscussion, MinorityPosition, MissingVote,
    ParticipantStance, ParticipantVote, ProposalAttitude, ProposalName, SpeechError,
    SpeechErrorCode, SpeechFailure, SpeechPart, StanceConfidence, UnresolvedPoint, VoteTally,
    VoteTieBreak,
};
use crate::domain::event::Event;
use crate::domain::ids::{DiscussionId, SessionId, TurnId, UnixMillis};
use crate::domain::phase::Phase;
use crate::domain::plan::file_hash;
use crate::domain::run::RunState;
use crate::domain::text_delta::{DeltaChange, TextAuthor, TextDelta};
use crate::tui::command::ScreenCommand;
use crate::tui::discussion_board::DiscussionBoard;
use crate::tui::discussion_commands::DiscussionScreenCommand;
use crate::tui::keymap::ComposerFocus;
use crate::tui::tab_kind::TabKind;
use crate::tui::{Action, DiscussionPlanView, DiscussionTopic, Screen};

pub const BOARD: ScreenCommand = ScreenCommand::Discuss(DiscussionScreenCommand::ShowBoard);
pub const SETTLE: ScreenCommand = ScreenCommand::Discuss(DiscussionScreenCommand::Settle);
const BEGUN: UnixMillis = UnixMillis(1_700_000_000_000 - 150_000);
const TOPIC: &str = "SQLite or Postgres for this project's store? 存储用哪一个 🎉";

fn participant(name: &str, adapter: &str, side: DebateSide) -> DiscussionParticipant {
    DiscussionParticipant {
        name: name.to_owned(),
        agent: name.to_owned(),
        adapter: adapter.to_owned(),
        model: None,
        role: None,
        side,
    }
}

fn order(mode: DiscussionMode, participants: Vec<DiscussionParticipant>) -> DiscussionOrder {
    DiscussionOrder {
        id: DiscussionId::new("dsc_1"),
        parent: None,
        topic: TOPIC.to_owned(),
        context: String::new(),
        files: Vec::new(),
        participants,
        terms: DiscussionSettings {
            mode,
            ..DiscussionSettings::default()
        },
        preset: None,
        finding: None,
    }
}

fn debate() -> DiscussionOrder {
    let participants = vec![
        participant("advocate", "codex", DebateSide::Advocate),
        participant("critic", "claude", DebateSide::Critic),
        participant("moderator", "claude", DebateSide::Moderator),
    ];
    order(DiscussionMode::Debate, participants)
}

fn jurors(n: usize) -> DiscussionOrder {
    let name = |n: usize| ["ada", "老王", "grace", "linus", "barbara", "🦀"][n];
    let of = |n: usize| participant(name(n), ["codex", "claude"][n % 2], DebateSide::Open);
    order(DiscussionMode::Collaborative, (0..n).map(of).collect())
}

fn stance(attitude: ProposalAttitude, proposal: &str, sure: u16) -> ParticipantStance {
    ParticipantStance {
        stance: attitude,
        proposal: proposal.to_owned(),
        instead: None,
        confidence: Some(StanceConfidence::from_thousandths(sure)),
        blocking: Vec::new(),
        why_changed: None,
        evidence: Vec::new(),
        checks: Vec::new(),
        conclude: false,
    }
}

fn said(round: u32, name: &str, text: &str, stance: Option<ParticipantStance>) -> DiscussionSpeech {
    DiscussionSpeech {
        round,
        part: SpeechPart::Round,
        participant: name.to_owned(),
        session: Some(SessionId::new(format!("ses_{name}"))),
        text: text.to_owned(),
        no_stance: stance
            .is_none()
            .then(|| "there is no block of that kind".to_owned()),
        stance,
        error: None,
        took_ms: 31_000,
    }
}

fn failed(round: u32, name: &str, code: SpeechErrorCode, message: &str) -> DiscussionSpeech {
    DiscussionSpeech {
        text: String::new(),
        no_stance: None,
        error: Some(SpeechError {
            code,
            message: message.to_owned(),
        }),
        ..said(round, name, "", None)
    }
}

/// Builds a discussion from events.
struct Told(GroupDiscussion);

impl Told {
    fn of(order: &DiscussionOrder) -> Self {
        Self(GroupDiscussion::begin(BEGUN, order))
    }

    fn take(mut self, news: DiscussionEvent) -> Self {
        self.0.apply(UnixMillis(BEGUN.0 + 140_000), &news);
        self
    }

    fn speaks(self, round: u32, name: &str) -> Self {
        self.speaks_as(round, name, SpeechPart::Round)
    }

    fn speaks_as(self, round: u32, name: &str, part: SpeechPart) -> Self {
        let attacker = self.0.order.participants[1].name.clone();
        self.take(DiscussionEvent::SpeechBegan {
            round,
            part,
            participant: name.to_owned(),
            session: SessionId::new(format!("ses_{name}")),
            attacker: (round > 1).then_some(attacker),
        })
    }

    fn says(self, speech: DiscussionSpeech) -> Self {
        let began = self.speaks_as(speech.round, &speech.participant.clone(), speech.part);
        began.take(DiscussionEvent::Spoke {
            speech: Box::new(speech),
        })
    }

    fn ends(self, outcome: DiscussionOutcome) -> Self {
        self.take(DiscussionEvent::Ended {
            outcome: Box::new(outcome),
        })
    }

    fn state(self) -> RunState {
        let mut state = state(Phase::Respond);
        state.discussions = vec![self.0];
        state
    }
}

const FOR: &str = "One file beside the repository is all that a single user needs.\n\n- no server to install\n- `WAL` lets readers go on while one writes\n- the backup is `cp`\n\n对于单用户程序,一个文件就足够了,不需要任何服务器,也不需要任何配置。";
const AGAINST: &str = "A second writer is planned for spring, and then everything waits on one lock. \
     A_word_without_an_end_that_has_to_be_broken_somewhere_because_it_is_longer_than_any_column_of_a_board.\n\nمرحبا، هذا نص من اليمين إلى اليسار";

fn first_round(told: Told) -> Told {
    let mut against = stance(ProposalAttitude::Disagree, "SQLite: one file", 600);
    against.instead = Some("Postgres in a container".to_owned());
    against.blocking = vec!["two writers at a time are planned for spring".to_owned()];
    told.says(said(
        1,
        "advocate",
        FOR,
        Some(stance(ProposalAttitude::Agree, "SQLite: one file", 900)),
    ))
    .says(said(1, "critic", AGAINST, Some(against)))
}

fn checked(told: Told, exit_code: i32) -> Told {
    let order = CheckOrder {
        command: "cargo test --test store two_writers -- --nocapture".to_owned(),
        why: "whether two writers wait for each other".to_owned(),
    };
    told.take(DiscussionEvent::Checked {
        run: CheckRun {
            n: 1,
            round: 1,
            asked_by: vec!["critic".to_owned()],
            order,
            end: CheckOutcome::Ran {
                exit_code: Some(exit_code),
                output: "running 1 test\ntest two_writers ... ok".to_owned(),
            },
            took_ms: 2_100,
        },
    })
}

/// A debate in its second round: the critic has spoken, the advocate is speaking.
pub fn running() -> RunState {
    let mut moved = stance(
        ProposalAttitude::AgreeWithChanges,
        "SQLite, behind a trait",
        700,
    );
    moved.why_changed = Some("the check showed that two writers take turns within 5 ms".to_owned());
    let told = checked(first_round(Told::of(&debate())), 0);
    told.speaks(2, "advocate")
        .says(said(
            2,
            "critic",
            "The check settles it for now.",
            Some(moved),
        ))
        .state()
}

fn tally(proposal: &str, votes_for: &[(&str, u16)], against: &[(&str, u16)]) -> VoteTally {
    let votes = |all: &[(&str, u16)], attitude| {
        let vote = |(name, sure): &(&str, u16)| ParticipantVote {
            participant: (*name).to_owned(),
            attitude,
            confidence: Some(StanceConfidence::from_thousandths(*sure)),
            round: 2,
        };
        all.iter().map(vote).collect()
    };
    VoteTally {
        proposal: ProposalName::from_wording(proposal).unwrap(),
        wording: proposal.to_owned(),
        votes_for: votes(votes_for, ProposalAttitude::Agree),
        against: votes(against, ProposalAttitude::Disagree),
    }
}

fn outcome(
    basis: DecisionBasis,
    stop: DiscussionStopReason,
    votes: Vec<VoteTally>,
) -> DiscussionOutcome {
    let decision = votes.first().map(|tally| tally.proposal.clone());
    DiscussionOutcome {
        decision: decision.filter(|_| basis != DecisionBasis::None),
        basis,
        conclusion: "SQLite, in one file, behind a repository trait, so that a second store can come without a \
                     rewrite; the backup is made before every migration."
            .to_owned(),
        stop,
        votes,
        independent: vec![tally("SQLite", &[("ada", 500)], &[]), tally("Postgres", &[("老王", 600)], &[])],
        tie: Vec::new(),
        tie_break: VoteTieBreak::None,
        abstained: Vec::new(),
        no_vote: Vec::new(),
        minority: Vec::new(),
        unresolved: Vec::new(),
        shifts: Vec::new(),
        errors: Vec::new(),
        rounds: 2,
        duration_ms: 192_000,
        children: Vec::new(),
    }
}

fn by_consensus() -> RunState {
    let agrees = |name: &str, sure| {
        let text = "I agree: with the trait a second store costs a week, not a rewrite.";
        said(
            2,
            name,
            text,
            Some(stance(
                ProposalAttitude::Agree,
                "SQLite, behind a trait",
                sure,
            )),
        )
    };
    let votes = vec![tally(
        "SQLite, behind a trait",
        &[("advocate", 900), ("critic", 700)],
        &[],
    )];
    let closing = DiscussionSpeech {
        part: SpeechPart::Closing,
        ..said(
            2,
            "moderator",
            "Both come to **SQLite behind a trait**. The check settled the only point that blocked.",
            Some(stance(
                ProposalAttitude::Agree,
                "SQLite, behind a trait",
                850,
            )),
        )
    };
    checked(first_round(Told::of(&debate())), 0)
        .says(agrees("advocate", 900))
        .says(agrees("critic", 700))
        .says(closing)
        .ends(outcome(
            DecisionBasis::Consensus,
            DiscussionStopReason::Consensus,
            votes,
        ))
        .state()
}

/// A discussion of five participants, decided by vote, with a minority, an unsettled point and an error.
pub fn by_vote() -> RunState {
    let mut told = Told::of(&jurors(5));
    for round in 1..=3 {
        for (n, name) in ["ada", "老王", "grace", "linus"].into_iter().enumerate() {
            let proposal = if n == 1 { "Postgres" } else { "SQLite" };
            told = told.says(said(
                round,
                name,
                if n == 1 { AGAINST } else { FOR },
                Some(stance(
                    ProposalAttitude::Agree,
                    proposal,
                    500 + 100 * u16::try_from(n).unwrap(),
                )),
            ));
        }
        told = match round {
            1 => told.says(said(1, "barbara", "I think so too.", None)),
            _ => told.says(failed(
                round,
                "barbara",
                SpeechErrorCode::Timeout,
                "it took longer than discuss.timeout, 600 s",
            )),
        };
    }
    let winners = [("ada", 500), ("grace", 700), ("linus", 800)];
    let votes = vec![
        tally("SQLite", &winners, &[]),
        tally("Postgres", &[("老王", 600)], &[]),
    ];
    let mut outcome = outcome(DecisionBasis::Vote, DiscussionStopReason::Stalemate, votes);
    outcome.rounds = 3;
    outcome.minority = vec![MinorityPosition {
        participant: "老王".to_owned(),
        proposal: ProposalName::from_wording("Postgres"),
        attitude: ProposalAttitude::Agree,
        against: None,
        confidence: Some(StanceConfidence::from_thousandths(600)),
        reason: "到了春天会有两个写入者,所有人都要等待同一把锁。".to_owned(),
    }];
    outcome.unresolved = vec![UnresolvedPoint {
        participant: "老王".to_owned(),
        text: "nobody said how a backup is made while somebody writes".to_owned(),
    }];
    outcome.no_vote = vec![MissingVote {
        participant: "barbara".to_owned(),
        why: "no stance could be read".to_owned(),
    }];
    outcome.errors = vec![SpeechFailure {
        participant: "barbara".to_owned(),
        round: 2,
        part: SpeechPart::Round,
        error: SpeechError {
            code: SpeechErrorCode::Timeout,
            message: "no end after 10 minutes".to_owned(),
        },
    }];
    told.ends(outcome).state()
}

fn without_quorum() -> RunState {
    let error = |name: &str| {
        failed(
            1,
            name,
            SpeechErrorCode::Session,
            "claude is not on PATH; install it, or set adapters.claude.program in config.toml",
        )
    };
    let mut told = Told::of(&debate()).says(said(
        1,
        "advocate",
        FOR,
        Some(stance(ProposalAttitude::Agree, "SQLite", 900)),
    ));
    told = told.says(error("critic"));
    let mut outcome = outcome(
        DecisionBasis::None,
        DiscussionStopReason::LostQuorum,
        vec![tally("SQLite", &[("advocate", 900)], &[])],
    );
    outcome.conclusion = "Nothing was decided: of two sides only one could speak.".to_owned();
    outcome.rounds = 1;
    outcome.errors = vec![SpeechFailure {
        participant: "critic".to_owned(),
        round: 1,
        part: SpeechPart::Round,
        error: SpeechError {
            code: SpeechErrorCode::Session,
            message: "claude is not on PATH".to_owned(),
        },
    }];
    told.ends(outcome).state()
}

/// Opens the board of a run on a new screen.
fn board(state: &RunState) -> Screen {
    let mut screen = screen();
    screen.composer.leave_to_view();
    let opened = press(&mut screen, Some(state), &["#"]);
    assert_eq!(opened, []);
    assert!(screen.overlays.has::<DiscussionBoard>());
    screen
}

#[test]
fn a_running_discussion_says_who_is_awaited_and_shows_what_comes() {
    let state = running();
    let mut screen = board(&state);
    let session = SessionId::new("ses_advocate");
    let began = DiscussionEvent::SpeechBegan {
        round: 2,
        part: SpeechPart::Round,
        participant: "advocate".to_owned(),
        session: session.clone(),
        attacker: None,
    };
    screen.on_event(
        BEGUN,
        &Event::Discussion {
            id: DiscussionId::new("dsc_1"),
            news: began,
        },
    );
    let mut says = |session: &SessionId, text: &str| {
        screen.on_delta(TextDelta {
            author: TextAuthor::Child(session.clone()),
            item: "1".to_owned(),
            change: DeltaChange::Append(text.to_owned()),
        });
    };
    says(&SessionId::new("ses_of_a_task"), "not of a participant");
    says(&session, "Then the trait it is, and I ");
    says(
        &session,
        "wr\u{1b}[31mite it down:\n\n1. one file\n2. 一个特征",
    );
    check("board_running", &mut screen, Some(&state));
}

#[test]
fn what_it_came_to_is_seen_first_once_it_is_over() {
    let state = by_consensus();
    check("board_consensus", &mut board(&state), Some(&state));
    let state = by_vote();
    check("board_vote", &mut board(&state), Some(&state));
    let state = without_quorum();
    check("board_quorum", &mut board(&state), Some(&state));
}

#[test]
fn one_that_has_just_begun_shows_who_takes_part() {
    let state = Told::of(&jurors(3)).state();
    check("board_empty", &mut board(&state), Some(&state));
}

/// A run whose second discussion is about a finding.
pub fn about_finding() -> RunState {
    let mut state = by_vote();
    let mut second = by_consensus().discussions.remove(0);
    second.order.id = DiscussionId::new("dsc_2");
    second.order.finding = Some(1);
    second.order.topic = "Finding 1: an empty list is not said to give 0".to_owned();
    state.discussions.push(second);
    state
}

fn at(screen: &mut Screen, state: &RunState) -> String {
    drawn(screen, (80, 24), Some(state))
}

#[test]
fn a_speech_is_jumped_to_and_read_whole() {
    let state = by_vote();
    let mut screen = board(&state);
    // From the outcome to the latest message, then to another participant and an earlier round.
    press(
        &mut screen,
        Some(&state),
        &["<left>", "<s-tab>", "<tab>", "<up>", "<enter>"],
    );
    let read = at(&mut screen, &state);
    assert!(read.contains("▤ 老王 · claude · round 2 of 3"), "{read}");
    check("board_speech", &mut screen, Some(&state));
    press(&mut screen, Some(&state), &["]"]);
    assert!(at(&mut screen, &state).contains("老王 · claude · round 3 of 3"));
    for _ in 0..3 {
        press(&mut screen, Some(&state), &["<tab>"]);
    }
    let error = at(&mut screen, &state);
    assert!(
        error.contains("▤ barbara · codex") && error.contains("E_TIMEOUT"),
        "{error}"
    );
    press(&mut screen, Some(&state), &["<esc>"]);
    assert!(
        screen.overlays.has::<DiscussionBoard>(),
        "the first Esc closes the speech only"
    );
    // Home selects the outcome, which opens like a message.
    press(&mut screen, Some(&state), &["<home>", "<enter>"]);
    let outcome = at(&mut screen, &state);
    assert!(outcome.contains("Decided by vote: SQLite"), "{outcome}");
    press(&mut screen, Some(&state), &["<esc>", "<esc>"]);
    assert!(!screen.overlays.has::<DiscussionBoard>());
}

#[test]
fn a_check_is_read_with_its_output() {
    let state = running();
    let mut screen = board(&state);
    press(&mut screen, Some(&state), &["<up>", "<enter>"]);
    let read = at(&mut screen, &state);
    assert!(
        read.contains("▤ check 1") && read.contains("test two_writers ... ok"),
        "{read}"
    );
}

#[test]
fn a_result_is_quoted_into_the_next_turn_and_copied() {
    let state = by_consensus();
    let mut screen = board(&state);
    let copied = press(&mut screen, Some(&state), &["y"]);
    let [Action::Copy(text)] = copied.as_slice() else {
        panic!("{copied:?}");
    };
    assert!(
        text.contains("**Decided by consensus: SQLite, behind a trait**"),
        "{text}"
    );
    assert_eq!(press(&mut screen, Some(&state), &["\""]), []);
    assert!(!screen.overlays.has::<DiscussionBoard>());
    assert_eq!(screen.composer.focus, ComposerFocus::Focused);
    let quoted = screen.composer.editor.text();
    assert!(quoted.starts_with("> # SQLite or Postgres"), "{quoted}");
    assert!(quoted.ends_with("\n\n"), "{quoted}");
    let all = quoted.trim_end().lines().all(|line| line.starts_with('>'));
    assert!(all, "{quoted}");
    // A running discussion has no result yet.
    let mut screen = board(&running());
    press(&mut screen, Some(&running()), &["\""]);
    assert!(screen.composer.editor.is_empty());
}

#[test]
fn a_finding_shows_what_its_discussion_came_to_and_is_settled_by_it() {
    let state = about_finding();
    let mut screen = screen();
    screen.composer.leave_to_view();
    press(&mut screen, Some(&state), &["3"]);
    check("comments_discussed", &mut screen, Some(&state));
    let asked = screen.perform_command(
        ScreenCommand::Discuss(DiscussionScreenCommand::Settle),
        Some(&state),
    );
    assert_eq!(asked, []);
    check("dialog_settle", &mut screen, Some(&state));
    assert_eq!(press(&mut screen, Some(&state), &["<esc>"]), []);
    // The same works from its board, which shows the last discussion.
    press(&mut screen, Some(&state), &["#", "a"]);
    let settled = press(&mut screen, Some(&state), &["y"]);
    assert_eq!(settled, [Action::Event(Event::FindingSettled { n: 1 })]);
    // A finding that was not discussed cannot be settled by a discussion.
    press(&mut screen, Some(&state), &["3", "."]);
    assert_eq!(
        screen.perform_command(
            ScreenCommand::Discuss(DiscussionScreenCommand::Settle),
            Some(&state)
        ),
        []
    );
    assert!(screen.dialogs.own.is_none());
}

#[test]
fn a_finding_that_holds_is_not_settled_unnoticed() {
    let mut state = about_finding();
    for discussion in &mut state.discussions {
        if let Some(outcome) = &mut discussion.outcome {
            outcome.decision = ProposalName::from_wording(crate::domain::discussion::FINDING_HOLDS);
        }
    }
    let mut screen = screen();
    screen.composer.leave_to_view();
    press(&mut screen, Some(&state), &["3"]);
    screen.perform_command(
        ScreenCommand::Discuss(DiscussionScreenCommand::Settle),
        Some(&state),
    );
    let told = at(&mut screen, &state);
    assert!(told.contains("discussion confirmed the finding"), "{told}");
}

#[test]
fn several_discussions_are_gone_through() {
    let state = about_finding();
    let mut screen = board(&state);
    assert!(at(&mut screen, &state).contains("2 of 2 · finding 1 · debate"));
    press(&mut screen, Some(&state), &["n"]);
    assert!(at(&mut screen, &state).contains("1 of 2 · collaborative"));
}

/// Returns the events of a discussion.
fn events(order: &DiscussionOrder, state: &RunState) -> Vec<Event> {
    let discussion = &state.discussions[0];
    let mut news = vec![DiscussionEvent::Started {
        order: Box::new(order.clone()),
    }];
    for speech in discussion.rounds.iter().flat_map(|round| &round.speeches) {
        news.push(DiscussionEvent::SpeechBegan {
            round: speech.round,
            part: speech.part,
            participant: speech.participant.clone(),
            session: SessionId::new("ses_x"),
            attacker: None,
        });
        news.push(DiscussionEvent::Spoke {
            speech: Box::new(speech.clone()),
        });
    }
    news.extend(
        discussion
            .outcome
            .clone()
            .map(|outcome| DiscussionEvent::Ended {
                outcome: Box::new(outcome),
            }),
    );
    let id = order.id.clone();
    news.into_iter()
        .map(|news| Event::Discussion {
            id: id.clone(),
            news,
        })
        .collect()
}

#[test]
fn the_chat_has_a_card_that_opens_the_board() {
    let state = by_vote();
    let mut screen = screen();
    screen.composer.leave_to_view();
    let all = events(&jurors(5), &state);
    let (end, begin) = all.split_last().unwrap();
    for event in begin.iter().take(4) {
        screen.on_event(BEGUN, event);
    }
    check("chat_discussion_runs", &mut screen, Some(&running()));
    for event in begin.iter().skip(4).chain([end]) {
        screen.on_event(BEGUN, event);
    }
    check("chat_discussion_over", &mut screen, Some(&state));
    press(&mut screen, Some(&state), &[",", " "]);
    assert!(screen.overlays.has::<DiscussionBoard>());
    let copied = press(&mut screen, Some(&state), &["<esc>", "<c-y>"]);
    assert!(
        matches!(copied.as_slice(), [Action::Copy(text)] if text.contains("## Votes")),
        "{copied:?}"
    );
}

#[test]
fn what_it_came_to_is_told_once_where_other_things_stand_below_its_beginning() {
    let state = by_vote();
    let mut screen = screen();
    screen.composer.leave_to_view();
    let all = events(&jurors(5), &state);
    let (end, begin) = all.split_last().unwrap();
    for event in begin {
        screen.on_event(BEGUN, event);
    }
    let said = Event::Steered {
        text: "meanwhile".to_owned(),
    };
    screen.on_event(BEGUN, &said);
    screen.on_event(BEGUN, end);
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    let places = ["result below", "meanwhile", "decided by vote: SQLite"];
    let places = places.map(|words| {
        seen.find(words)
            .unwrap_or_else(|| panic!("{words}: {seen}"))
    });
    assert!(places.is_sorted(), "{seen}");
    assert_eq!(seen.matches("decided by vote").count(), 1, "{seen}");
}

#[test]
fn what_needs_the_user_is_named_on_the_board_and_no_key_answers_it() {
    let mut state = running();
    state.awaiting = super::world::asking(
        Phase::Execute,
        crate::domain::question::QuestionKind::StepRecovery {
            step: 2,
            stage: crate::domain::plan_execution::StepStage::Test,
        },
    )
    .awaiting;
    let mut screen = board(&state);
    assert!(at(&mut screen, &state).contains("(Esc goes there)"));
    assert_eq!(
        press(
            &mut screen,
            Some(&state),
            &["<enter>", "<esc>", "r", "d", "a", "x"]
        ),
        []
    );
    assert!(screen.overlays.has::<DiscussionBoard>());
}

#[test]
fn the_smallest_window_still_says_what_it_came_to() {
    for (state, wanted) in [
        (by_vote(), "decided by vote: SQLite"),
        (running(), "advocate is answering"),
    ] {
        let mut screen = board(&state);
        let seen = drawn(&mut screen, (40, 12), Some(&state));
        assert!(seen.contains(wanted), "{seen}");
        insta::assert_snapshot!(
            format!("board_smallest_{}", state.discussions[0].status.name()),
            seen
        );
    }
}

/// A planned discussion of the first finding.
pub fn planned() -> DiscussionPlanView {
    DiscussionPlanView {
        topic: DiscussionTopic {
            text: super::nasty::said(
                "Is finding 1 of the review right? Options: `finding-holds`, with what must change in the plan, or `finding-does-not-hold`. The finding says: an empty list is not said to give 0",
            ),
            preset: None,
            finding: Some(1),
        },
        participants: vec![
            "advocate (codex)".to_owned(),
            "critic (claude)".to_owned(),
            "moderator (claude)".to_owned(),
        ],
        settings: "debate, up to 3 rounds, 10 min per answer, 30 min in total".to_owned(),
        budget: "at most 21952 characters, 500 per message".to_owned(),
    }
}

#[test]
fn a_finding_is_discussed_after_a_look_at_who_and_how() {
    let state = super::world::running(Phase::Review, crate::domain::turn::TurnPurpose::Review);
    let mut screen = screen();
    screen.composer.leave_to_view();
    // A finding that is only offered in another tab is not meant: the key goes there, and means it then.
    press(&mut screen, Some(&state), &["3", "1"]);
    assert_eq!(press(&mut screen, Some(&state), &["&"]), []);
    assert_eq!(screen.tabs.view.shown, TabKind::Comments);
    let asked = press(&mut screen, Some(&state), &["&"]);
    let wanted = DiscussionTopic {
        finding: Some(1),
        ..DiscussionTopic::default()
    };
    assert_eq!(asked, [Action::PlanDiscussion(wanted)]);
    screen.show_discussion_plan(&planned());
    check("dialog_discuss", &mut screen, Some(&state));
    assert_eq!(press(&mut screen, Some(&state), &["<esc>"]), []);
    screen.show_discussion_plan(&planned());
    // A turn that starts meanwhile does not change the dialog.
    screen.on_event(
        BEGUN,
        &Event::TurnStarted {
            turn: TurnId::new("trn_2"),
            prompt_sha256: file_hash(b"x"),
            process: None,
        },
    );
    screen.on_time(BEGUN);
    let begun = press(&mut screen, Some(&state), &["y"]);
    assert_eq!(begun, [Action::Discuss(planned().topic)]);
    // The board opens once the discussion starts.
    let order = DiscussionOrder {
        finding: Some(1),
        ..debate()
    };
    let mut state = state;
    state
        .discussions
        .push(GroupDiscussion::begin(BEGUN, &order));
    let news = DiscussionEvent::Started {
        order: Box::new(order),
    };
    screen.on_event(
        BEGUN,
        &Event::Discussion {
            id: DiscussionId::new("dsc_1"),
            news,
        },
    );
    assert!(screen.overlays.has::<DiscussionBoard>());
    // A letter that was meant for the composer stops nothing.
    assert_eq!(press(&mut screen, Some(&state), &["s"]), []);
    screen.on_time(UnixMillis(BEGUN.0 + 1_000));
    assert_ne!(press(&mut screen, Some(&state), &["s"]), []);
}

#[test]
fn a_discussion_of_somebody_else_opens_no_board_after_a_refused_one() {
    for is_refused in [false, true] {
        let mut state = super::world::state(Phase::Review);
        let mut screen = screen();
        press(&mut screen, Some(&state), &["/discuss this or that?"]);
        press(&mut screen, Some(&state), &["<enter>"]);
        if is_refused {
            screen.on_discussion_not_started();
        }
        let order = debate();
        state
            .discussions
            .push(GroupDiscussion::begin(BEGUN, &order));
        let order = Box::new(order);
        let event = Event::Discussion {
            id: DiscussionId::new("dsc_1"),
            news: DiscussionEvent::Started { order },
        };
        screen.on_event(BEGUN, &event);
        assert_eq!(!screen.overlays.has::<DiscussionBoard>(), is_refused);
    }
}

#[test]
fn the_question_about_a_finding_is_worded_otherwise_first() {
    let state = super::world::running(Phase::Review, crate::domain::turn::TurnPurpose::Review);
    let mut screen = screen();
    screen.show_discussion_plan(&planned());
    press(&mut screen, Some(&state), &["e"]);
    assert!(
        screen.composer.editor.text().contains("an empty list"),
        "{}",
        screen.composer.editor.text()
    );
    let sent = press(&mut screen, Some(&state), &[" Or not?", "<enter>"]);
    let [Action::Discuss(topic)] = sent.as_slice() else {
        panic!("{sent:?}");
    };
    assert_eq!(topic.finding, Some(1));
    assert!(topic.text.ends_with("Or not?"), "{}", topic.text);
}

#[test]
fn a_question_is_discussed_by_a_preset_that_is_offered() {
    let state = super::world::running(
        Phase::WritePlan,
        crate::domain::turn::TurnPurpose::WritePlan,
    );
    let mut screen = screen();
    screen.on_discussion_presets(vec![
        ("quick".to_owned(), "jury, 1 round".to_owned()),
        ("deep".to_owned(), "debate, 5 rounds".to_owned()),
    ]);
    press(&mut screen, Some(&state), &["/discuss q"]);
    insta::assert_snapshot!("discuss_presets", at(&mut screen, &state));
    let begun = press(
        &mut screen,
        Some(&state),
        &["<tab>", "SQLite or Postgres?", "<enter>"],
    );
    let wanted = DiscussionTopic {
        text: "SQLite or Postgres?".to_owned(),
        preset: Some("quick".to_owned()),
        finding: None,
    };
    assert_eq!(begun, [Action::Discuss(wanted)]);
    // A first word that is not a preset belongs to the topic, and a preset alone is a topic as well.
    for text in ["quicker or slower?", "deep"] {
        let wish = DiscussionScreenCommand::Start(text.to_owned());
        let begun = screen.perform_command(ScreenCommand::Discuss(wish), Some(&state));
        let wanted = DiscussionTopic {
            text: text.to_owned(),
            ..DiscussionTopic::default()
        };
        assert_eq!(begun, [Action::Discuss(wanted)]);
    }
    let shown = screen.perform_command(
        crate::tui::command_table::parse_slash_command("/budget quick").unwrap(),
        Some(&state),
    );
    assert_eq!(shown, [Action::ShowBudget(Some("quick".to_owned()))]);
    // Without a run, a run is created for the discussion; a finished run accepts it as well.
    let done = super::world::state(Phase::Done);
    for state in [None, Some(&done)] {
        let begun = screen.perform_command(
            ScreenCommand::Discuss(DiscussionScreenCommand::Start("x y".to_owned())),
            state,
        );
        let wanted = DiscussionTopic {
            text: "x y".to_owned(),
            ..DiscussionTopic::default()
        };
        assert_eq!(begun, [Action::Discuss(wanted)]);
    }
}

/// A discussion that was interrupted because the program ended.
pub fn cut_off() -> RunState {
    let mut state = running();
    let discussion = &mut state.discussions[0];
    discussion.status = crate::domain::discussion::DiscussionStatus::Cancelled;
    discussion.stopping = Some(DiscussionStopReason::ProgramEnded);
    discussion.speaking.clear();
    discussion.rounds.pop();
    state
}

#[test]
fn a_discussion_is_stopped_gone_on_with_and_written_down() {
    let state = running();
    let id = DiscussionId::new("dsc_1");
    let mut screen = board(&state);
    let stopped = press(&mut screen, Some(&state), &["s"]);
    assert_eq!(stopped, [Action::StopDiscussion(id.clone())]);
    assert_eq!(
        press(&mut screen, Some(&state), &["c"]),
        [],
        "it still runs"
    );
    let exported = press(&mut screen, Some(&state), &["e"]);
    assert_eq!(exported, [Action::ExportDiscussion(id.clone())]);
    let cut_off = cut_off();
    check("board_cut_off", &mut board(&cut_off), Some(&cut_off));
    let goes_on = press(&mut board(&cut_off), Some(&cut_off), &["c"]);
    assert_eq!(goes_on, [Action::GoOnDiscussing(id)]);
}

#[test]
fn a_discussion_is_written_down_with_all_that_was_said() {
    let state = by_vote();
    insta::assert_snapshot!("discussion_markdown", state.discussions[0].to_markdown());
    let state = running();
    insta::assert_snapshot!(
        "discussion_markdown_running",
        state.discussions[0].to_markdown()
    );
}

#[test]
fn status_tells_of_each_discussion_and_who_takes_part() {
    let mut state = about_finding();
    state.discussions.extend(running().discussions);
    let mut screen = screen();
    screen.composer.leave_to_view();
    press(&mut screen, Some(&state), &["5"]);
    check("status_discussions", &mut screen, Some(&state));
}

/// Replaces every text of agents and users in the discussion.
fn with_text(mut state: RunState, text: &str) -> RunState {
    let text = || text.to_owned();
    for discussion in &mut state.discussions {
        discussion.order.topic = text();
        discussion.order.context = text();
        let speeches = discussion
            .rounds
            .iter_mut()
            .flat_map(|round| &mut round.speeches);
        for speech in speeches.chain(&mut discussion.closing) {
            speech.text = text();
            speech.no_stance = speech.no_stance.as_ref().map(|_| text());
            if let Some(stance) = &mut speech.stance {
                (stance.proposal, stance.instead) = (text(), Some(text()));
                (stance.blocking, stance.why_changed) = (vec![text()], Some(text()));
            }
            if let Some(error) = &mut speech.error {
                error.message = text();
            }
        }
        for check in &mut discussion.checks {
            check.order.command = text();
        }
        if let Some(outcome) = &mut discussion.outcome {
            outcome.conclusion = text();
            outcome
                .votes
                .iter_mut()
                .for_each(|tally| tally.wording = text());
            outcome
                .minority
                .iter_mut()
                .for_each(|each| each.reason = text());
            outcome
                .unresolved
                .iter_mut()
                .for_each(|each| each.text = text());
        }
    }
    state
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(12))]

    #[test]
    fn any_text_is_drawn_at_any_size(
        text in proptest::prop_oneof![
            "[a-z `*#\n\t-]{0,200}",
            "[中文字符🎉é\u{200d}\u{301}\u{202e}مرحبا \n]{0,120}",
            "[\u{0}-\u{1f}\u{7f}-\u{9f}a-c;\\[]{0,60}",
            proptest::prelude::Just("x".repeat(9_000)),
        ],
        size in (1u16..210, 1u16..60),
        keys in proptest::collection::vec(0usize..9, 0..12),
    ) {
        let all = ["<up>", "<down>", "<left>", "<tab>", "<enter>", "<esc>", "<home>", "<end>", "]"];
        for state in [running(), by_vote(), by_consensus()] {
            let state = with_text(state, &text);
            let mut screen = board(&state);
            for key in &keys {
                press(&mut screen, Some(&state), &[all[*key]]);
            }
            let seen = drawn(&mut screen, size, Some(&state));
            let is_control = |c: char| c.is_control() && c != '\n';
            proptest::prop_assert!(!seen.contains(is_control), "{seen:?}");
        }
    }
}
