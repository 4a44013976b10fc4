//! Tests of reads and searches that follow each other: one row, which opens to them.

use super::pictures::not_writing;
use super::world::{NOW, drawn, press, settings, state};
use crate::domain::event::{AgentActivity, Event, EventRecord, ToolKind};
use crate::domain::ids::{TurnId, UnixMillis};
use crate::domain::phase::Phase;
use crate::domain::turn::{Role, TurnOutcome};
use crate::tui::{Screen, ScrollbackChunk};

fn agent(news: AgentActivity) -> Event {
    Event::Agent {
        turn: TurnId::new("trn_1"),
        role: Role::Planner,
        news,
    }
}

fn started(item: &str, tool: ToolKind, title: &str) -> Event {
    agent(AgentActivity::ToolStarted {
        item: item.to_owned(),
        tool,
        title: title.to_owned(),
        detail: None,
    })
}

fn ended(item: &str, status: &str) -> Event {
    agent(AgentActivity::ToolEnded {
        item: item.to_owned(),
        status: status.parse().unwrap(),
        exit_code: None,
        output: format!("what {item} said\n"),
    })
}

fn said(text: &str) -> Event {
    agent(AgentActivity::Text {
        text: text.to_owned(),
    })
}

/// A call that ended, with its subject as its id.
fn call(tool: &ToolKind, title: &str, status: &str) -> [Event; 2] {
    [started(title, tool.clone(), title), ended(title, status)]
}

fn read(title: &str) -> [Event; 2] {
    call(&ToolKind::Read, title, "completed")
}

fn told(screen: &mut Screen, events: &[Event], columns: u16) -> String {
    for event in events {
        screen.on_event(NOW, event);
    }
    drawn(screen, (columns, 40), Some(&state(Phase::Execute)))
}

#[test]
fn reads_that_follow_each_other_are_one_row_with_as_many_names_as_fit() {
    let mut events: Vec<Event> = ["a.rs", "src/b.rs", "c.rs", "a.rs", "d.rs"]
        .iter()
        .flat_map(|path| read(path))
        .collect();
    events.extend(call(&ToolKind::Search, "fn main", "completed"));
    let mut screen = not_writing();
    let row = "→ Read 4 files, 1 search  a.rs, src/b.rs, c.rs, d.rs, fn main";
    let seen = told(&mut screen, &events, 120);
    assert!(seen.contains(row) && !seen.contains("Read a.rs"), "{seen}");
    for (columns, row) in [
        (
            60,
            "→ Read 4 files, 1 search  a.rs, src/b.rs, c.rs, d.rs +1",
        ),
        (44, "→ Read 4 files, 1 search  a.rs +4"),
    ] {
        let seen = told(&mut screen, &[], columns);
        assert!(seen.contains(row), "{columns}\n{seen}");
    }
    let mut screen = not_writing();
    let events = ["one", "two"].map(|text| call(&ToolKind::Search, text, "completed"));
    let seen = told(&mut screen, &events.concat(), 120);
    assert!(seen.contains("⌕ 2 searches  one, two"), "{seen}");
}

#[test]
fn what_failed_was_denied_runs_or_has_a_text_between_is_in_no_fold() {
    let command = ToolKind::Command;
    for (between, row) in [
        (
            call(&ToolKind::Read, "b.rs", "failed").to_vec(),
            "✗ → Read b.rs",
        ),
        (call(&ToolKind::Read, "b.rs", "declined").to_vec(), "denied"),
        (
            vec![started("b.rs", ToolKind::Read, "b.rs")],
            "◐ → Read b.rs",
        ),
        (call(&command, "ls", "completed").to_vec(), "$ ls"),
        (vec![said("So that is it.")], "So that is it."),
    ] {
        let mut events = read("a.rs").to_vec();
        events.extend(between);
        events.extend(read("c.rs"));
        let seen = told(&mut not_writing(), &events, 120);
        for row in ["→ Read a.rs", row, "→ Read c.rs"] {
            assert!(seen.contains(row), "{row}\n{seen}");
        }
        assert!(!seen.contains(" files"), "{seen}");
    }
    // Calls at the same time fold as they end.
    let names = ["a.rs", "b.rs", "c.rs"];
    let mut events: Vec<Event> = names.map(|name| started(name, ToolKind::Read, name)).into();
    events.push(ended("c.rs", "completed"));
    events.push(ended("a.rs", "completed"));
    let mut screen = not_writing();
    let seen = told(&mut screen, &events, 120);
    assert!(!seen.contains(" files"), "{seen}");
    let seen = told(&mut screen, &[ended("b.rs", "completed")], 120);
    assert!(seen.contains("→ Read 3 files  a.rs, b.rs, c.rs"), "{seen}");
}

#[test]
fn a_fold_opens_to_its_calls_which_open_to_what_they_said() {
    let events = ["a.rs", "b.rs"].map(read).concat();
    let (mut screen, run) = (not_writing(), state(Phase::Execute));
    told(&mut screen, &events, 120);
    press(&mut screen, Some(&run), &[",", " "]);
    let seen = told(&mut screen, &[], 120);
    for row in [
        "▾ Read 2 files  a.rs, b.rs",
        "  → Read a.rs",
        "  → Read b.rs",
    ] {
        assert!(seen.contains(row), "{row}\n{seen}");
    }
    assert!(!seen.contains("said"), "{seen}");
    // The next one of the fold opens by itself.
    press(&mut screen, Some(&run), &[".", " "]);
    let seen = told(&mut screen, &[], 120);
    assert!(
        seen.contains("   what b.rs said") && !seen.contains("a.rs said"),
        "{seen}"
    );
    // The row opens its first call, and then folds everything.
    press(&mut screen, Some(&run), &[",", " "]);
    let seen = told(&mut screen, &[], 120);
    assert!(seen.contains("   what a.rs said"), "{seen}");
    press(&mut screen, Some(&run), &[" "]);
    let seen = told(&mut screen, &[], 120);
    assert!(
        seen.contains("→ Read 2 files") && !seen.contains("said"),
        "{seen}"
    );
    // One more is added to the fold, and the selection stays on a row.
    let seen = told(&mut screen, &read("c.rs"), 120);
    assert!(seen.contains("→ Read 3 files  a.rs, b.rs, c.rs"), "{seen}");
}

#[test]
fn a_search_opens_the_fold_that_its_match_is_in() {
    let mut events = ["a.rs", "b.rs"].map(read).concat();
    events.push(said("Done."));
    let (mut screen, run) = (not_writing(), state(Phase::Execute));
    told(&mut screen, &events, 120);
    press(&mut screen, Some(&run), &["<c-f>", "b.rs said"]);
    let seen = told(&mut screen, &[], 120);
    assert!(seen.contains("   what b.rs said"), "{seen}");
    press(&mut screen, Some(&run), &["<esc>"]);
    let seen = told(&mut screen, &[], 120);
    assert!(seen.contains("→ Read 2 files  a.rs, b.rs"), "{seen}");
}

#[test]
fn wherever_the_log_is_cut_into_pages_the_folds_are_the_same() {
    let turn = TurnId::new("trn_1");
    let mut events = vec![Event::TurnStarted {
        turn: turn.clone(),
        prompt_sha256: crate::domain::plan::file_hash(b"x"),
        process: None,
    }];
    events.extend(["a.rs", "b.rs"].map(read).concat());
    events.extend(call(&ToolKind::Read, "bad.rs", "failed"));
    events.extend(["c.rs", "d.rs", "e.rs"].map(read).concat());
    events.extend([
        said("Done."),
        Event::TurnEnded {
            turn,
            result: TurnOutcome::completed("Done."),
        },
    ]);
    let times = (0i64..).map(|n| UnixMillis(NOW.0 + n * 1_000));
    let events: Vec<EventRecord> = events
        .into_iter()
        .zip(times)
        .map(|(event, at)| EventRecord { at, event })
        .collect();
    let run = state(Phase::Execute);
    let shown = |cuts: &[usize]| {
        let mut screen = Screen::new(settings());
        let mut end = events.len();
        for from in cuts.iter().rev().copied().chain([0]) {
            let piece = &events[from..end];
            screen.on_scrollback(ScrollbackChunk::from_events(from as u64, piece));
            end = from;
        }
        drawn(&mut screen, (100, 40), Some(&run))
    };
    let whole = shown(&[]);
    for row in ["→ Read 2 files", "✗ → Read bad.rs", "→ Read 3 files"] {
        assert!(whole.contains(row), "{row}\n{whole}");
    }
    for first in 1..events.len() {
        for second in first..events.len() {
            assert_eq!(shown(&[first, second]), whole, "{first} {second}");
        }
    }
}

#[test]
fn paths_in_a_row_of_reads_are_shortened_once_the_repository_is_known() {
    let mut screen = not_writing();
    let events: Vec<Event> = ["/src/calculator/a.rs", "/src/calculator/b.rs"]
        .into_iter()
        .flat_map(read)
        .collect();
    let seen = told(&mut screen, &events, 120);
    assert!(seen.contains("→ Read 2 files  /src/"), "{seen}");
    screen.on_settings(crate::tui::ScreenSettings {
        repository: "/src/calculator".to_owned(),
        ..settings()
    });
    let seen = told(&mut screen, &[], 120);
    assert!(seen.contains("→ Read 2 files  a.rs, b.rs"), "{seen}");
}
