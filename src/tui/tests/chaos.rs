//! Property tests with random events, keys and sizes: nothing panics, no control characters are drawn, and
//! typing text triggers no action.

use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use super::world::{
    COMMENTS, NOW, PLAN, approving, asking, created, order, questions, running, settings, state,
    story,
};
use crate::domain::effect::Effect;
use crate::domain::event::{AgentActivity, Event, EventRecord, ToolKind, ToolStatus};
use crate::domain::ids::TurnId;
use crate::domain::phase::{Gate, Phase};
use crate::domain::plan;
use crate::domain::run::{Run, RunState};
use crate::domain::text_delta::{DeltaChange, TextAuthor, TextDelta};
use crate::domain::turn::{Role, TurnFailureKind, TurnOutcome, TurnPurpose};
use crate::tui::keymap::ComposerFocus;
use crate::tui::{
    Action, DocumentRevision, RunDocumentFiles, Screen, ScrollbackChunk, ScrollbackDemand,
};

/// Generates the worst texts that agents and users write.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z `*#\n\t-]{0,80}",
        "[中文字🎉é\u{200d}\u{301}\u{202e} \n]{0,60}",
        "[\u{0}-\u{1f}\u{7f}-\u{9f}a-c;\\[]{0,40}",
        Just("1. [ ] a\n2. [x] b\n```\n3. [ ] c\n".to_owned()),
        Just("```goal.md\n# g\n```".to_owned()),
        Just("x".repeat(3_000)),
    ]
}

/// Turns a number into an event that contains a text.
fn event(n: u8, text: &str) -> Event {
    let role = if n.is_multiple_of(2) {
        Role::Planner
    } else {
        Role::Reviewer
    };
    let text = text.to_owned();
    let item = (n % 3).to_string();
    let news = match n % 8 {
        0 => AgentActivity::Text { text },
        1 => AgentActivity::Thinking { text },
        2 => AgentActivity::ToolStarted {
            item,
            tool: ToolKind::from(text.clone()),
            title: text,
            detail: None,
        },
        3 => AgentActivity::ToolEnded {
            item,
            status: ToolStatus::Other(text.clone()),
            exit_code: Some(i32::from(n) - 9),
            output: text,
        },
        4 => AgentActivity::Notice { text },
        5 => AgentActivity::Malformed { problem: text },
        6 => return Event::GoalGiven { text },
        _ => {
            return Event::TurnEnded {
                turn: TurnId::new("trn_1"),
                result: TurnOutcome::Failed {
                    kind: TurnFailureKind::Other(text.clone()),
                    message: text,
                    transient: false,
                    limit: None,
                    other: None,
                },
            };
        }
    };
    Event::Agent {
        turn: TurnId::new("trn_1"),
        role,
        news,
    }
}

/// Builds a state from a number: over all numbers, every phase and every question, with nasty texts.
fn state_of(n: u8, text: &str) -> Option<RunState> {
    let all = questions();
    let n_questions = all.len();
    let mut state = match usize::from(n) % (n_questions + 6) {
        at if at < n_questions => {
            let (phase, kind) = all.into_iter().nth(at).unwrap();
            asking(phase, kind)
        }
        at if at == n_questions => return None,
        at if at == n_questions + 1 => approving(&[text, text]),
        at if at == n_questions + 2 => state(Phase::RefineGoal),
        at if at == n_questions + 3 => state(Phase::Done),
        at if at == n_questions + 4 => running(Phase::Execute, TurnPurpose::Step { n: 2 }),
        _ => running(Phase::Review, TurnPurpose::Review),
    };
    if let Some(goal) = &mut state.goal {
        goal.title = text.to_owned();
        goal.text = text.to_owned();
    }
    state.planner.adapter = text.to_owned();
    state.planner.version = Some(text.to_owned());
    if let Some(file) = &mut state.plan {
        file.plan.title = text.to_owned();
        for step in &mut file.plan.steps {
            step.text = text.to_owned();
        }
    }
    Some(state)
}

fn key() -> impl Strategy<Value = KeyEvent> {
    let code = prop_oneof![
        3 => proptest::char::range(' ', '~').prop_map(KeyCode::Char),
        1 => Just(KeyCode::Char('中')),
        1 => Just(KeyCode::Char('\u{1b}')),
        2 => Just(KeyCode::Enter),
        1 => Just(KeyCode::Esc),
        1 => proptest::sample::select(vec![
            KeyCode::Up, KeyCode::Down, KeyCode::PageUp, KeyCode::PageDown, KeyCode::Home,
            KeyCode::End, KeyCode::Tab, KeyCode::BackTab, KeyCode::Backspace, KeyCode::Delete,
            KeyCode::Left, KeyCode::Right, KeyCode::F(1), KeyCode::F(2), KeyCode::F(12), KeyCode::Null,
        ]),
    ];
    let modifiers = prop_oneof![
        6 => Just(KeyModifiers::NONE),
        1 => Just(KeyModifiers::SHIFT),
        1 => Just(KeyModifiers::CONTROL),
        1 => Just(KeyModifiers::ALT),
    ];
    (code, modifiers).prop_map(|(code, modifiers)| KeyEvent::new(code, modifiers))
}

/// Draws at a size and checks what must never be on the screen.
fn draw(
    screen: &mut Screen,
    size: (u16, u16),
    state: Option<&RunState>,
) -> Result<(), TestCaseError> {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal
        .draw(|frame| screen.draw(frame, state, NOW))
        .unwrap();
    for cell in terminal.backend().buffer().content() {
        let has_control = cell.symbol().chars().any(char::is_control);
        prop_assert!(!has_control, "{:?}", cell.symbol());
    }
    prop_assert!(!screen.is_dirty());
    Ok(())
}

#[derive(Debug, Clone)]
enum Input {
    Event(u8, String),
    Delta(u8, String),
    Key(KeyEvent),
    Paste(String),
    Click(u16, u16),
    Texts(String),
    State(u8, String),
    Size(u16, u16),
}

fn input() -> impl Strategy<Value = Input> {
    prop_oneof![
        (any::<u8>(), text()).prop_map(|(n, text)| Input::Event(n, text)),
        (any::<u8>(), text()).prop_map(|(n, text)| Input::Delta(n, text)),
        key().prop_map(Input::Key),
        key().prop_map(Input::Key),
        text().prop_map(Input::Paste),
        (0u16..130, 0u16..45).prop_map(|(x, y)| Input::Click(x, y)),
        text().prop_map(Input::Texts),
        (any::<u8>(), text()).prop_map(|(n, text)| Input::State(n, text)),
        (1u16..130, 1u16..45).prop_map(|(x, y)| Input::Size(x, y)),
        (1u16..12, 1u16..12).prop_map(|(x, y)| Input::Size(x, y)),
    ]
}

fn delta(n: u8, text: String) -> TextDelta {
    let item = (n % 2).to_string();
    TextDelta {
        author: TextAuthor::Role(Role::Planner),
        item,
        change: if n.is_multiple_of(5) {
            DeltaChange::Withdraw
        } else {
            DeltaChange::Append(text)
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_state_at_any_size_is_drawn_clean(inputs in proptest::collection::vec(input(), 1..24)) {
        let mut screen = Screen::new(settings());
        let mut state = None;
        let mut size = (80, 24);
        for input in inputs {
            match input {
                Input::Event(n, text) => screen.on_event(NOW, &event(n, &text)),
                Input::Delta(n, text) => screen.on_delta(delta(n, text)),
                Input::Key(key) => {
                    screen.on_key(key, state.as_ref());
                }
                Input::Paste(text) => screen.on_paste(&text),
                Input::Click(column, row) => {
                    let kind = MouseEventKind::Down(MouseButton::Left);
                    let modifiers = KeyModifiers::NONE;
                    screen.on_mouse(MouseEvent { kind, column, row, modifiers }, state.as_ref());
                }
                Input::Texts(text) => {
                    screen.on_prompt_preview(&text);
                    screen.on_notice(&text);
                    screen.on_documents(RunDocumentFiles {
                        plan: Some(format!("{PLAN}{text}")),
                        comments: Some(format!("{COMMENTS}{text}")),
                        log: Some(text.clone()),
                        plan_versions: vec![DocumentRevision { iteration: 1, version: 1, text: text.clone() }],
 review_versions: vec![DocumentRevision { iteration: 1, version: 1, text }],
                    });
                }
                Input::State(n, text) => state = state_of(n, &text),
                Input::Size(x, y) => size = (x, y),
            }
            draw(&mut screen, size, state.as_ref())?;
        }
    }

    #[test]
    fn writing_triggers_nothing_but_by_enter(
        keys in proptest::collection::vec(key(), 1..40),
        n in any::<u8>(),
    ) {
        let mut screen = Screen::new(settings());
        let state = state_of(n, "text");
        for key in keys {
            let KeyCode::Char(c) = key.code else { continue };
            if !(key.modifiers - KeyModifiers::SHIFT).is_empty() {
                continue;
            }
            let before = screen.composer.editor.text().chars().count();
            let actions = screen.on_key(key, state.as_ref());
            prop_assert!(actions.iter().all(|action| *action == Action::ListFiles));
            prop_assert_eq!(screen.composer.focus, ComposerFocus::Focused);
            let more = usize::from(!c.is_control());
            prop_assert_eq!(screen.composer.editor.text().chars().count(), before + more);
        }
        draw(&mut screen, (80, 24), state.as_ref())?;
    }

    #[test]
    fn a_played_run_is_drawn_at_every_step(
        dice in proptest::collection::vec(any::<u8>(), 1..60),
        size in (1u16..100, 1u16..40),
    ) {
        let first = created();
        let mut run = Run::new(NOW, &first);
        let mut screen = Screen::new(settings());
        screen.composer.leave_to_view();
        let mut pending: Vec<Event> = vec![
            Event::GoalGiven { text: "g".to_owned() },
            Event::GoalConfirmed { title: "g".to_owned(), text: "g".to_owned() },
            Event::GateChanged { gate: Gate::Auto },
        ];
        pending.reverse();
        for die in dice {
            let event = pending.pop().unwrap_or_else(|| stray(die));
            let effects = run.step(NOW, &event);
            screen.on_event(NOW, &event);
            pending.extend(effects.iter().filter_map(|effect| reaction(effect, die)));
            draw(&mut screen, size, Some(run.state()))?;
            let enter = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
            for action in screen.on_key(enter, Some(run.state())) {
                if let Action::Event(event) = action {
                    pending.push(event);
                }
            }
        }
    }
}

fn stray(die: u8) -> Event {
    let list = story();
    list[usize::from(die) % list.len()].clone()
}

fn reaction(effect: &Effect, die: u8) -> Option<Event> {
    let parsed = || plan::parse(PLAN).unwrap();
    let hash = || plan::file_hash(b"p");
    Some(match effect {
        Effect::StartTurn(order) => Event::TurnEnded {
            turn: order.turn.clone(),
            result: TurnOutcome::Completed {
                question: die.is_multiple_of(4).then(|| "which?".to_owned()),
                summary: "did it".to_owned(),
                result: None,
            },
        },
        Effect::CollectDocument(collected)
            if collected.purpose == order(TurnPurpose::WritePlan).purpose =>
        {
            Event::PlanCommitted {
                turn: collected.turn.clone(),
                plan: parsed(),
                file_sha256: hash(),
            }
        }
        Effect::CollectDocument(collected) if die.is_multiple_of(3) => Event::DocumentMissing {
            turn: collected.turn.clone(),
            reason: "nothing".to_owned().into(),
        },
        Effect::CollectDocument(collected) => Event::ReviewCommitted {
            turn: collected.turn.clone(),
            review: crate::domain::review::parse(
                COMMENTS,
                &crate::domain::findings::FindingLedger::default(),
            ),
            file_sha256: hash(),
            plan_now: parsed().approval_sha256,
        },
        _ => return None,
    })
}

#[test]
fn a_long_stream_lays_out_only_what_is_seen() {
    let mut screen = Screen::new(settings());
    for n in 0..5_000u32 {
        let text = format!("block {n} {}", "word ".repeat(200));
        screen.on_event(NOW, &event(0, &text));
    }
    draw(&mut screen, (80, 24), None).unwrap();
    let laid = screen.tabs.chat.transcript.n_laid_out();
    assert!(laid < 24, "{laid} blocks are laid out");
}

#[test]
fn what_was_said_before_stands_in_front_as_if_it_had_been_seen() {
    // Each chunk names its first author again, so the authors change with the chunks.
    let said = |n: u32| {
        let role = match n / 10 % 2 {
            0 => Role::Planner,
            _ => Role::Reviewer,
        };
        let text = format!("block {n}\nmore\nlines");
        let news = AgentActivity::Text { text };
        Event::Agent {
            turn: TurnId::new("trn_1"),
            role,
            news,
        }
    };
    let mut saw_all = Screen::new(settings());
    let mut came_later = Screen::new(settings());
    for n in 0..50 {
        saw_all.on_event(NOW, &said(n));
    }
    for n in 30..50 {
        came_later.on_event(NOW, &said(n));
    }
    for piece in [20..30, 0..20] {
        let before = u64::from(piece.start);
        let recorded: Vec<EventRecord> = piece
            .map(|n| EventRecord {
                at: NOW,
                event: said(n),
            })
            .collect();
        came_later.on_scrollback(ScrollbackChunk::from_events(before, &recorded));
    }
    for _ in 0..12 {
        let pictures = [&mut saw_all, &mut came_later]
            .map(|screen| super::world::drawn(screen, (60, 20), None));
        assert_eq!(pictures[0], pictures[1]);
        for screen in [&mut saw_all, &mut came_later] {
            screen.composer.leave_to_view();
            screen.scroll_view(crate::tui::view_moves::ScrollMove::PageUp, None);
        }
    }
}

#[test]
fn a_piece_of_the_past_moves_nothing_that_is_being_read() {
    let mut screen = Screen::new(settings());
    screen.composer.leave_to_view();
    for n in 0..50u32 {
        screen.on_event(NOW, &event(0, &format!("block {n}\nmore\nlines")));
    }
    screen.scroll_view(crate::tui::view_moves::ScrollMove::Top, None);
    let before = super::world::drawn(&mut screen, (60, 20), None);
    let earlier = EventRecord {
        at: NOW,
        event: event(0, "earlier"),
    };
    screen.on_scrollback(ScrollbackChunk::from_events(0, [&earlier]));
    assert_eq!(super::world::drawn(&mut screen, (60, 20), None), before);
    screen.scroll_view(crate::tui::view_moves::ScrollMove::Up, None);
    screen.scroll_view(crate::tui::view_moves::ScrollMove::Up, None);
    assert!(super::world::drawn(&mut screen, (60, 20), None).contains("earlier"));
}

/// Returns the events of a log that the screen requests, as many as a chunk has.
fn page(log: &[EventRecord], wish: ScrollbackDemand) -> ScrollbackChunk {
    let last = usize::try_from(wish.last_event()).unwrap();
    let first = last.saturating_sub(700);
    let past = ScrollbackChunk::from_events(first as u64, &log[first..last]);
    match wish {
        ScrollbackDemand::Search { letters, .. } => past.search(&letters),
        _ => past,
    }
}

#[test]
fn what_was_forgotten_is_told_again_to_whoever_scrolls_up() {
    let log: Vec<EventRecord> = (0..5_000)
        .map(|n| EventRecord {
            at: NOW,
            event: event(0, &format!("block {n}\nmore")),
        })
        .collect();
    let mut screen = Screen::new(settings());
    screen.composer.leave_to_view();
    for recorded in &log {
        screen.on_event(recorded.at, &recorded.event);
    }
    let draw = |screen: &mut Screen| super::world::drawn(screen, (60, 20), None);
    assert!(draw(&mut screen).contains("block 4999"));
    assert_eq!(screen.wanted_scrollback(), None, "nobody scrolled");
    for _ in 0..2 {
        screen.scroll_view(crate::tui::view_moves::ScrollMove::Top, None);
        assert!(draw(&mut screen).contains("loading earlier messages"));
        let mut n_pages = 0;
        while let Some(wish) = screen.wanted_scrollback() {
            screen.on_scrollback(page(&log, wish));
            draw(&mut screen);
            n_pages += 1;
        }
        assert_eq!(n_pages, 5, "3,000 events in pages of 700");
        let picture = draw(&mut screen);
        assert!(picture.contains("block 0\n") || picture.contains("block 0 "));
        assert_eq!(
            screen.tabs.chat.transcript.n_blocks(),
            log.len(),
            "each is there once"
        );
        screen.scroll_view(crate::tui::view_moves::ScrollMove::End, None);
        assert!(draw(&mut screen).contains("block 4999"));
        assert_eq!(screen.tabs.chat.transcript.n_blocks(), 2_000);
    }
}

#[test]
fn scrolling_up_asks_for_one_piece_and_a_tool_whose_end_was_told_has_ended() {
    let tool = |n: u8| EventRecord {
        at: NOW,
        event: event(n, "0"),
    };
    let started = tool(2);
    let mut ended = tool(3);
    if let Event::Agent {
        news: AgentActivity::ToolEnded { item, .. },
        ..
    } = &mut ended.event
        && let Event::Agent {
            news: AgentActivity::ToolStarted { item: begun, .. },
            ..
        } = &started.event
    {
        item.clone_from(begun);
    }
    let mut screen = Screen::new(settings());
    screen.composer.leave_to_view();
    screen.on_event(NOW, &ended.event);
    for n in 0..40 {
        screen.on_event(NOW, &event(0, &format!("block {n}")));
    }
    screen.on_scrollback(ScrollbackChunk::from_events(6, [&tool(0)]));
    screen.scroll_view(crate::tui::view_moves::ScrollMove::PageUp, None);
    let draw = |screen: &mut Screen| super::world::drawn(screen, (60, 20), None);
    draw(&mut screen);
    while screen.wanted_scrollback().is_none() {
        screen.scroll_view(crate::tui::view_moves::ScrollMove::PageUp, None);
        draw(&mut screen);
    }
    assert_eq!(
        screen.wanted_scrollback(),
        Some(ScrollbackDemand::Chunk { last: 6 })
    );
    screen.on_scrollback(ScrollbackChunk::from_events(
        0,
        std::iter::repeat_n(&tool(0), 5).chain([&started]),
    ));
    screen.scroll_view(crate::tui::view_moves::ScrollMove::Top, None);
    let picture = draw(&mut screen);
    assert!(!picture.contains('◐'), "{picture}");
    assert_eq!(screen.wanted_scrollback(), None);
}

#[test]
fn scrolling_up_and_down_by_the_same_comes_back() {
    let mut screen = Screen::new(settings());
    screen.composer.leave_to_view();
    for n in 0..50u32 {
        screen.on_event(NOW, &event(0, &format!("block {n}\nmore\nlines")));
    }
    let size = (60, 20);
    let picture = |screen: &mut Screen| super::world::drawn(screen, size, None);
    let end = picture(&mut screen);
    let mut seen = vec![end.clone()];
    for _ in 0..5 {
        screen.scroll_view(crate::tui::view_moves::ScrollMove::PageUp, None);
        seen.push(picture(&mut screen));
    }
    seen.dedup();
    assert_eq!(seen.len(), 6, "every page differs");
    // New events do not move the text that the user is reading.
    let before = picture(&mut screen);
    screen.on_event(NOW, &event(0, "new"));
    let after = picture(&mut screen);
    assert!(after.contains(" · ↓ 1 new · "), "{after}");
    assert_eq!(after.replace(" · ↓ 1 new", ""), before);
    screen.scroll_view(crate::tui::view_moves::ScrollMove::End, None);
    assert!(picture(&mut screen).contains("new"));
    assert!(screen.tabs.chat.transcript.follows_end());
}
