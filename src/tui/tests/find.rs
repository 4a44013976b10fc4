//! Tests of the search: it finds matches in the open view and nowhere else.

use super::pictures::{check, not_writing};
use super::world::{NOW, PLAN, drawn, press, press_at, running, settings};
use crate::domain::diff_scope::DiffScope;
use crate::domain::event::{AgentActivity, Event, EventRecord};
use crate::domain::ids::TurnId;
use crate::domain::phase::Phase;
use crate::domain::run::RunState;
use crate::domain::turn::{Role, TurnPurpose};
use crate::text::unified_diff::UnifiedDiff;
use crate::tui::diff_view::DiffView;
use crate::tui::discussion_board::DiscussionBoard;
use crate::tui::keymap::ComposerFocus;
use crate::tui::pager::TextPager;
use crate::tui::search_bar::SearchBar;
use crate::tui::tab_kind::TabKind;
use crate::tui::{DiffLookup, RunDocumentFiles, Screen, ScrollbackChunk, ScrollbackDemand};

fn reviewing() -> RunState {
    running(Phase::Review, TurnPurpose::Review)
}

/// Returns the search line; empty if it is closed.
fn line(screen: &mut Screen, state: &RunState) -> String {
    let seen = drawn(screen, (80, 24), Some(state));
    let line = seen
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("find:"));
    line.unwrap_or_default().to_owned()
}

fn with_plan(plan: String) -> Screen {
    let mut screen = not_writing();
    screen.on_documents(RunDocumentFiles {
        plan: Some(plan),
        ..super::world::documents()
    });
    screen
}

#[test]
fn the_tab_that_is_open_is_searched_and_esc_goes_back() {
    let state = reviewing();
    let mut screen = with_plan(format!(
        "{PLAN}\n{}\nthe sum at last\n",
        "filler\n\n".repeat(60)
    ));
    press(&mut screen, Some(&state), &["2", "<down>"]);
    let before = drawn(&mut screen, (80, 24), Some(&state));
    let pointed = screen.tabs.plan.view.selected_line();
    press(&mut screen, Some(&state), &["<c-f>", "SUM"]);
    check("find_plan", &mut screen, Some(&state));
    let first = line(&mut screen, &state);
    assert!(first.ends_with("of 6 in Plan"), "{first}");
    press(&mut screen, Some(&state), &[" at last"]);
    assert!(line(&mut screen, &state).contains("1 of 1"));
    assert!(drawn(&mut screen, (80, 24), Some(&state)).contains("the sum at last"));
    press(&mut screen, Some(&state), &["zz"]);
    assert!(line(&mut screen, &state).contains("no match in Plan"));
    press(&mut screen, Some(&state), &["<esc>"]);
    let after = drawn(&mut screen, (80, 24), Some(&state));
    // The tab bar has one mark less, because the second pane was seen; below it nothing differs.
    assert!(before.lines().skip(3).eq(after.lines().skip(3)), "{after}");
    assert_eq!(
        (
            screen.tabs.view.shown,
            screen.tabs.plan.view.selected_line()
        ),
        (TabKind::Plan, pointed)
    );
}

#[test]
fn one_goes_along_what_was_found_and_may_stay_there() {
    let state = reviewing();
    let mut screen = with_plan(PLAN.to_owned());
    press(&mut screen, Some(&state), &["2", "<c-f>", "test"]);
    let at = |screen: &mut Screen| line(screen, &state).replace("find: test  ", "");
    assert_eq!(at(&mut screen), "1 of 3 in Plan");
    press(&mut screen, Some(&state), &["<enter>", "<down>"]);
    assert_eq!(at(&mut screen), "3 of 3 in Plan");
    press(
        &mut screen,
        Some(&state),
        &["<enter>", "<up>", "<up>", "<up>"],
    );
    assert_eq!(at(&mut screen), "1 of 3 in Plan");
    press(&mut screen, Some(&state), &["<c-f>"]);
    assert_eq!(line(&mut screen, &state), "");
    let (_, pointed) = screen.pointed_plan_line().unwrap();
    assert!(pointed.starts_with("2. [ ] test sum"), "{pointed}");
}

#[test]
fn what_a_finding_holds_opens_for_what_is_looked_for() {
    let state = reviewing();
    let mut screen = not_writing();
    screen.on_documents(RunDocumentFiles {
        comments: Some("# Review\n\n1. [blocking] an empty list is not said to give 0\n   Seen in calc.py, line 7: **total**\n".to_owned()),
        ..super::world::documents()
    });
    // The first open finding shows what it holds until it is folded.
    press(&mut screen, Some(&state), &["3"]);
    assert!(drawn(&mut screen, (80, 24), Some(&state)).contains("line 7"));
    press(&mut screen, Some(&state), &[" "]);
    assert!(!drawn(&mut screen, (80, 24), Some(&state)).contains("line 7"));
    press(&mut screen, Some(&state), &["<c-f>", "line 7"]);
    assert!(line(&mut screen, &state).contains("1 of 1 in Comments"));
    press(&mut screen, Some(&state), &["<esc>"]);
    assert!(!drawn(&mut screen, (80, 24), Some(&state)).contains("line 7"));
    press(&mut screen, Some(&state), &["<c-f>", "line 7", "<c-f>"]);
    assert!(drawn(&mut screen, (80, 24), Some(&state)).contains("line 7"));
    assert_eq!(
        screen
            .tabs
            .comments
            .selection
            .selected_finding(Some(&state)),
        Some(1)
    );
}

#[test]
fn the_help_and_any_long_text_are_searched_where_they_stand() {
    let state = reviewing();
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["3", "?", "/", "interrupt"]);
    assert!(
        screen.overlays.has::<TextPager>() && screen.composer.focus == ComposerFocus::Unfocused
    );
    let found = line(&mut screen, &state);
    assert!(
        found.contains("1 of ") && found.ends_with("in this text"),
        "{found}"
    );
    check("find_help", &mut screen, Some(&state));
    press(&mut screen, Some(&state), &["<esc>"]);
    assert!(screen.overlays.has::<TextPager>() && !screen.overlays.has::<SearchBar>());
    press(&mut screen, Some(&state), &["<esc>"]);
    assert!(!screen.overlays.has::<TextPager>());
    assert_eq!(screen.tabs.view.shown, TabKind::Comments);
}

#[test]
fn a_diff_is_searched_and_stays_open() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["/diff 2", "<enter>"]);
    let lines: String = (1..=60).map(|n| format!("+line {n}\n")).collect();
    let patch = format!("diff --git a/calc.py b/calc.py\n@@ -0,0 +1,60 @@\n{lines}");
    screen.on_diff(
        DiffScope::Step(2),
        vec![DiffScope::Step(2)],
        DiffLookup::Changes(UnifiedDiff::parse(&patch)),
    );
    let before = drawn(&mut screen, (80, 24), Some(&state));
    press(&mut screen, Some(&state), &["/", "LINE 5"]);
    let found = line(&mut screen, &state);
    assert!(found.ends_with("1 of 11 in this diff"), "{found}");
    press(&mut screen, Some(&state), &["<up>"]);
    assert!(line(&mut screen, &state).contains("11 of 11"));
    check("find_diff", &mut screen, Some(&state));
    press(&mut screen, Some(&state), &["<esc>"]);
    assert_eq!(drawn(&mut screen, (80, 24), Some(&state)), before);
    press(&mut screen, Some(&state), &["q"]);
    assert!(!screen.overlays.has::<DiffView>());
}

#[test]
fn what_a_board_covers_is_not_looked_through() {
    let state = super::discussion::by_vote();
    let mut screen = not_writing();
    screen.perform_command(super::discussion::BOARD, Some(&state));
    press(&mut screen, Some(&state), &["<c-p>", "find", "<enter>"]);
    assert!(!screen.overlays.has::<SearchBar>() && screen.overlays.has::<DiscussionBoard>());
    let word = screen.toast.text.unwrap_or_default();
    assert!(word.contains("Find does not work on a board"), "{word}");
}

#[test]
fn of_the_log_what_has_the_letters_is_listed_and_gone_through() {
    let state = reviewing();
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["4", "<c-f>", "phase"]);
    assert!(
        line(&mut screen, &state).contains("3 in the events"),
        "{}",
        line(&mut screen, &state)
    );
    press(&mut screen, Some(&state), &["<enter>", "<enter>"]);
    assert!(line(&mut screen, &state).contains("2 of 3 in the events"));
    press(&mut screen, Some(&state), &["<esc>"]);
    assert_eq!(screen.tabs.log.events.selected_event(), None);
    press(
        &mut screen,
        Some(&state),
        &["<c-f>", "phase", "<enter>", "<c-f>"],
    );
    assert!(screen.tabs.log.events.selected_event().is_some());
}

#[test]
fn the_chat_follows_its_end_again_after_a_search() {
    let state = reviewing();
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["<c-f>", "calculator shall"]);
    assert!(!screen.tabs.chat.transcript.follows_end());
    press(&mut screen, Some(&state), &["<esc>"]);
    assert!(screen.tabs.chat.transcript.follows_end());
    press(&mut screen, Some(&state), &["<c-f>"]);
    screen.on_paste("calculator\n shall");
    assert!(line(&mut screen, &state).starts_with("find: calculator shall  1 of 1"));
    // Opening a text over it closes the search line.
    screen.show_text("t", "a text");
    assert_eq!(line(&mut screen, &state), "");
}

#[test]
fn the_filter_leaves_alone_what_an_open_text_covers() {
    let state = reviewing();
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["4", ".", " ", "="]);
    assert!(screen.overlays.has::<TextPager>());
    assert_eq!(screen.tabs.view.shown, TabKind::Log);
}

fn said(text: &str) -> EventRecord {
    let news = AgentActivity::Text {
        text: text.to_owned(),
    };
    EventRecord {
        at: NOW,
        event: Event::Agent {
            turn: TurnId::new("trn_1"),
            role: Role::Planner,
            news,
        },
    }
}

/// A screen that received the events of this log.
fn told(log: &[EventRecord]) -> Screen {
    let mut screen = Screen::new(settings());
    screen.composer.leave_to_view();
    for recorded in log {
        screen.on_event(recorded.at, &recorded.event);
    }
    screen
}

/// Loads what the screen requests of its log, 700 events at a time, until it requests no more; returns the
/// number of chunks.
fn read(screen: &mut Screen, log: &[EventRecord]) -> usize {
    let mut n_pieces = 0;
    drawn(screen, (80, 24), None);
    while let Some(wish) = screen.wanted_scrollback() {
        let last = usize::try_from(wish.last_event()).unwrap();
        let first = last.saturating_sub(700);
        let past = ScrollbackChunk::from_events(first as u64, &log[first..last]);
        screen.on_scrollback(match wish {
            ScrollbackDemand::Search { letters, .. } => past.search(&letters),
            _ => past,
        });
        drawn(screen, (80, 24), None);
        n_pieces += 1;
        assert!(n_pieces < 100, "it comes to an end");
    }
    n_pieces
}

fn found(screen: &mut Screen) -> String {
    let seen = drawn(screen, (80, 24), None);
    let mut lines = seen.lines().map(str::trim);
    let line = lines.find(|line| line.starts_with("find:"));
    line.unwrap_or_default().to_owned()
}

#[test]
fn what_is_not_kept_any_more_is_found_a_piece_at_a_time() {
    let text = |n: usize| match n {
        100 | 1_500 => format!("zebra {n}"),
        _ => format!("block {n}\nmore"),
    };
    let log: Vec<EventRecord> = (0..5_000).map(|n| said(&text(n))).collect();
    let mut screen = told(&log);
    press(&mut screen, None, &["<c-f>", "zebra"]);
    assert_eq!(
        found(&mut screen),
        "find: zebra  searching further back … 40 %"
    );
    assert_eq!(
        read(&mut screen, &log),
        6,
        "three to look through, three to tell"
    );
    assert_eq!(found(&mut screen), "find: zebra  1 of 1 so far in Chat");
    assert!(drawn(&mut screen, (80, 24), None).contains("zebra 1500"));
    assert!(screen.tabs.chat.transcript.n_blocks() < 4_500);
    // There is another match further up; above that there is none, and the search wraps around.
    press(&mut screen, None, &["<up>"]);
    read(&mut screen, &log);
    assert!(drawn(&mut screen, (80, 24), None).contains("zebra 100"));
    assert_eq!(found(&mut screen), "find: zebra  1 of 2 in Chat");
    press(&mut screen, None, &["<up>"]);
    assert_eq!(found(&mut screen), "find: zebra  2 of 2 in Chat");
    press(&mut screen, None, &["<esc>"]);
    drawn(&mut screen, (80, 24), None);
    assert!(screen.tabs.chat.transcript.follows_end());
    assert_eq!(
        (
            screen.tabs.chat.transcript.n_blocks(),
            screen.wanted_scrollback()
        ),
        (2_000, None)
    );
}

#[test]
fn what_has_nothing_is_not_kept_and_esc_ends_the_search() {
    let log: Vec<EventRecord> = (0..5_000).map(|n| said(&format!("block {n}"))).collect();
    let mut screen = told(&log);
    press(&mut screen, None, &["<c-f>", "zebra"]);
    assert!(screen.wanted_scrollback().is_some());
    press(&mut screen, None, &["<esc>"]);
    assert_eq!(screen.wanted_scrollback(), None);
    press(&mut screen, None, &["<c-f>", "zebra"]);
    read(&mut screen, &log);
    assert_eq!(found(&mut screen), "find: zebra  no match in Chat");
    assert_eq!(screen.tabs.chat.transcript.n_blocks(), 2_000);
    // Chunks without a shorter text cannot match a longer one; other letters start a new search.
    press(&mut screen, None, &["s"]);
    assert_eq!(screen.wanted_scrollback(), None);
    press(&mut screen, None, &["<back>", "<back>", "<back>", "q"]);
    assert!(screen.wanted_scrollback().is_some());
    screen.on_scrollback_error();
    assert_eq!(screen.wanted_scrollback(), None);
    assert_eq!(
        found(&mut screen),
        "find: zebq  no match in the readable part of Chat"
    );
}

#[test]
fn the_log_says_how_much_of_it_is_listed_and_reads_the_rest() {
    let text = |n: usize| match n {
        100 => "a zebra".to_owned(),
        _ => format!("block {n}"),
    };
    let log: Vec<EventRecord> = (0..3_214).map(|n| said(&text(n))).collect();
    let mut screen = told(&log);
    press(&mut screen, None, &["4", "<home>"]);
    let seen = drawn(&mut screen, (80, 24), None);
    assert!(
        seen.contains("the last 1000 of 3214 events, PgUp here loads earlier ones"),
        "{seen}"
    );
    press(&mut screen, None, &["<pgup>"]);
    assert_eq!(read(&mut screen, &log), 1);
    let seen = drawn(&mut screen, (80, 24), None);
    assert!(
        seen.contains("block 2214"),
        "what was read stays in view: {seen}"
    );
    press(&mut screen, None, &["<home>"]);
    let seen = drawn(&mut screen, (80, 24), None);
    assert!(
        seen.contains("the last 1700 of 3214 events") && seen.contains("block 1514"),
        "{seen}"
    );
    press(&mut screen, None, &["<end>", "<c-f>", "zebra"]);
    assert!(found(&mut screen).contains("searching further back …"));
    read(&mut screen, &log);
    assert_eq!(found(&mut screen), "find: zebra  1 in the events");
    assert!(drawn(&mut screen, (80, 24), None).contains("a zebra"));
    press(&mut screen, None, &["<esc>", "="]);
    let seen = drawn(&mut screen, (80, 24), None);
    assert!(
        !seen.contains("None. Press") && seen.contains("searching further back"),
        "{seen}"
    );
    read(&mut screen, &log);
    assert!(drawn(&mut screen, (80, 24), None).contains("None. Press"));
}

#[test]
fn a_place_is_brought_into_view_however_fast_its_letters_come() {
    let text = |n: usize| match n {
        50 => "zebra".to_owned(),
        199 => "z end".to_owned(),
        _ => format!("block {n}\nmore"),
    };
    let log: Vec<EventRecord> = (0..200).map(|n| said(&text(n))).collect();
    let mut screen = told(&log);
    press(&mut screen, None, &["<c-f>", "zeb", "<c-f>", "<c-f>", "ze"]);
    assert!(drawn(&mut screen, (80, 24), None).contains("zebra"));
}

#[test]
fn a_place_in_what_is_folded_or_long_is_shown() {
    let thinks = EventRecord {
        at: NOW,
        event: Event::Agent {
            turn: TurnId::new("trn_1"),
            role: Role::Planner,
            news: AgentActivity::Thinking {
                text: format!("first\n\n{}a **zebra** here", "more\n".repeat(5)),
            },
        },
    };
    let long = format!(
        "{}the okapi\n{}",
        "line\n\n".repeat(40),
        "line\n\n".repeat(40)
    );
    let mut screen = told(&[said("one"), thinks, said(&long)]);
    press(&mut screen, None, &["<c-f>", "zebra"]);
    let seen = drawn(&mut screen, (80, 24), None);
    assert!(
        seen.contains("a zebra here") && seen.contains("more"),
        "{seen}"
    );
    press(&mut screen, None, &["<esc>", "<home>"]);
    assert!(!drawn(&mut screen, (80, 24), None).contains("zebra"));
    press(&mut screen, None, &["<c-f>", "okapi"]);
    assert!(drawn(&mut screen, (80, 24), None).contains("the okapi"));
}

#[test]
fn a_place_in_what_the_program_says_of_a_role_is_shown_with_both_beside_each_other() {
    let lost = EventRecord {
        at: NOW,
        event: Event::SessionLost {
            role: Role::Reviewer,
            reason: format!("{}zebra {}", "a word ".repeat(600), "of it ".repeat(600)),
        },
    };
    let state = reviewing();
    let mut screen = told(&[said("one"), lost, said("two")]);
    screen.tabs.chat.arrangement.toggle();
    let size = (150, 30);
    press_at(&mut screen, size, Some(&state), &["<c-f>", "zebra"]);
    let seen = drawn(&mut screen, size, Some(&state));
    assert_eq!(
        seen.matches("zebra").count(),
        2,
        "the line and the place:\n{seen}"
    );
}

#[test]
fn the_letters_are_mended_where_they_stand() {
    let state = reviewing();
    let mut screen = not_writing();
    press(
        &mut screen,
        Some(&state),
        &[
            "<c-f>",
            "alculator shal",
            "<home>",
            "c",
            "<end>",
            "l",
            "<left>",
            "<left>",
        ],
    );
    assert!(line(&mut screen, &state).starts_with("find: calculator shall  1 of 1"));
    assert_eq!(screen.tabs.view.shown, TabKind::Chat);
}

#[test]
fn what_is_in_front_is_copied_and_opened() {
    let state = reviewing();
    let mut screen = not_writing();
    let copied =
        |screen: &mut Screen, keys: &[&str]| format!("{:?}", press(screen, Some(&state), keys));
    let log = copied(&mut screen, &["4", "<c-y>"]);
    assert_eq!(log, "[]", "nothing is pointed at");
    let event = copied(&mut screen, &[",", "<c-y>"]);
    assert!(event.starts_with("[Copy("), "{event}");
    let opened = copied(&mut screen, &["<a-l>"]);
    assert_eq!(
        opened
            .replace("OpenText { text: ", "Copy(")
            .replace(", with: Pager }", ")"),
        event
    );
    screen.show_text("t", "a long text");
    assert_eq!(copied(&mut screen, &["<c-y>"]), "[Copy(\"a long text\")]");
    let status = copied(&mut screen, &["<esc>", "5", "<c-y>"]);
    assert!(status.contains("Planner"), "{status}");
    let plan = copied(&mut screen, &["2", "<c-y>"]);
    assert!(plan.contains("test sum"), "{plan}");
}

#[test]
fn log_says_what_it_lists_below_and_what_find_looks_through() {
    let state = super::world::state(Phase::WritePlan);
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["4", "=", "="]);
    let seen = drawn(&mut screen, (80, 12), Some(&state));
    assert!(seen.contains(" · listed: what agents did · "), "{seen}");
    press(&mut screen, Some(&state), &["<c-f>", "q", "q", "q"]);
    let seen = drawn(&mut screen, (80, 12), Some(&state));
    assert!(seen.contains("no match in the listed events"), "{seen}");
}

#[test]
fn in_a_low_window_the_first_finding_opens_when_it_is_asked_for() {
    let state = reviewing();
    let mut screen = not_writing();
    let evidence: String = (1..=20).map(|n| format!("   evidence {n}\n")).collect();
    screen.on_documents(RunDocumentFiles {
        comments: Some(format!(
            "# Review\n\n1. [blocking] an empty list is not said to give 0\n{evidence}"
        )),
        ..super::world::documents()
    });
    let low = (80, 14);
    press_at(&mut screen, low, Some(&state), &["3"]);
    assert!(!drawn(&mut screen, low, Some(&state)).contains("evidence 1"));
    press_at(&mut screen, low, Some(&state), &[" "]);
    assert!(drawn(&mut screen, low, Some(&state)).contains("evidence 1"));
    press_at(&mut screen, low, Some(&state), &[" "]);
    assert!(!drawn(&mut screen, low, Some(&state)).contains("evidence 1"));
}
