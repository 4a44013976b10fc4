//! Draws every place of the monkey test and every tab in each of its states at four sizes, with normal and
//! with nasty texts, and checks that each has a picture.
//!
//! `gallery.txt` says which snapshot and which picture shows a place; `here` is a snapshot of this file.

use crate::tui::command_palette::CommandPalette;
use crate::tui::search_bar::SearchBar;
use std::path::PathBuf;

use super::monkey::{Place, places};
use super::nasty;
use super::pictures::{SIZES, at_each_size};
use super::world::{NOW, PLAN, drawn, running, state};
use crate::domain::event::{AgentActivity, Event};
use crate::domain::ids::{SessionId, TurnId, UnixMillis};
use crate::domain::phase::Phase;
use crate::domain::plan;
use crate::domain::run::{PlanFileState, RunState};
use crate::domain::turn::{Role, TurnFailureKind, TurnOutcome, TurnPurpose};
use crate::tui::tab_kind::TabKind;
use crate::tui::{AdapterSandboxView, RunDocumentFiles, Screen};

/// With which kind of texts a place is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Plain,
    Nasty,
}

impl Kind {
    /// Returns a screen with a place open.
    pub fn open(self, place: &Place) -> (Screen, Option<RunState>) {
        let state = match self {
            Self::Plain => place.state().cloned(),
            Self::Nasty => place.state().map(nasty::state),
        };
        let mut screen = match self {
            Self::Plain => super::world::screen(),
            Self::Nasty => nasty::screen(),
        };
        screen.composer.leave_to_view();
        let mut open = || place.open_with(&mut screen, state.as_ref());
        match self {
            Self::Plain => open(),
            Self::Nasty => nasty::nastily(open),
        }
        (screen, state)
    }
}

struct Shown<'a> {
    what: &'a str,
    /// The snapshot, or `here`.
    snapshot: &'a str,
    /// The picture, or `none` with the reason.
    picture: &'a str,
}

fn table() -> Vec<Shown<'static>> {
    let lines = include_str!("gallery.txt").lines();
    let read = |line: &'static str| {
        let mut parts = line.split(" | ");
        let mut next = || parts.next().unwrap_or_else(|| panic!("{line}"));
        Shown {
            what: next(),
            snapshot: next(),
            picture: next(),
        }
    };
    lines.filter(|line| !line.is_empty()).map(read).collect()
}

/// Returns whether something covers the dialog.
fn is_covered(screen: &Screen) -> bool {
    let is_text = screen.overlays.covers_tab();
    is_text || screen.overlays.has::<CommandPalette>() || screen.overlays.has::<SearchBar>()
}

fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("_")
}

/// A tab in one of its states.
struct OfTab {
    name: String,
    screen: Screen,
    state: Option<RunState>,
}

/// Returns each tab without content, and each tab with problems; other tests have the pictures of full
/// tabs.
fn tabs() -> Vec<OfTab> {
    let all = [
        TabKind::Chat,
        TabKind::Plan,
        TabKind::Comments,
        TabKind::Log,
        TabKind::Status,
    ];
    let of = |tab: TabKind, what: &str, screen: Screen, state| {
        let mut of = OfTab {
            name: format!("tab {}, {what}", tab.slash_name()),
            screen,
            state,
        };
        of.screen.composer.leave_to_view();
        of.screen.show_tab(tab);
        of
    };
    let empty = all.map(|tab| {
        let screen = Screen::new(super::world::settings());
        of(tab, "empty", screen, Some(state(Phase::Init)))
    });
    let wrong = all.map(|tab| {
        let (screen, state) = gone_wrong();
        of(tab, "error", screen, Some(state))
    });
    empty.into_iter().chain(wrong).collect()
}

/// A run in which everything failed that can: a CLI that crashed, a plan that does not parse, a review that
/// cannot be read.
#[expect(
    clippy::too_many_lines,
    reason = "one entry a thing that goes wrong: a list to read"
)]
fn gone_wrong() -> (Screen, RunState) {
    let turn = TurnId::new("trn_1");
    let agent = |news| Event::Agent {
        turn: turn.clone(),
        role: Role::Planner,
        news,
    };
    let text = |text: &str| text.to_owned();
    let mut screen = super::world::screen();
    let events = [
        agent(AgentActivity::Malformed {
            problem: text("expected `,` or `}` at column 17"),
        }),
        agent(AgentActivity::CallDenied {
            tool: text("edit"),
            reason: text("a rule or a hook in claude's own settings"),
        }),
        agent(AgentActivity::Retrying {
            reason: text("stream disconnected before completion: 502 Bad Gateway"),
            attempt: None,
            max: None,
        }),
        Event::TurnEnded {
            turn: turn.clone(),
            result: TurnOutcome::Failed {
                kind: TurnFailureKind::Other(text("crash")),
                message: text(
                    "codex ended during the turn (signal 9): thread 'main' panicked at src/main.rs:7:5",
                ),
                transient: true,
                limit: None,
                other: None,
            },
        },
        Event::SessionLost {
            role: Role::Planner,
            reason: text("no conversation found with session ID 0199a-77"),
        },
        Event::EffectFailed {
            what: text("read .agent-collab/comments.md"),
            message: text(
                "cannot read .agent-collab/comments.md: stream did not contain valid UTF-8\nhint: make .agent-collab/comments.md usable, and start again",
            ),
        },
        agent(AgentActivity::Silent {
            seconds: 130,
            verdict: Some(text(
                "waiting: the model has not answered, no command is running, no CPU is used",
            )),
        }),
    ];
    for (n, event) in events.iter().enumerate() {
        screen.on_event(
            UnixMillis(NOW.0 - 7_000 + i64::try_from(n).unwrap() * 1_000),
            event,
        );
    }
    let broken = PLAN.replace("2. [ ] test sum", "1. [x] test sum");
    screen.on_documents(RunDocumentFiles {
        plan: Some(broken),
        comments: Some(text(
            "<<<<<<< yours\n1. [blocking an empty\n=======\nverdict: APPROVED\n",
        )),
        log: None,
        ..RunDocumentFiles::default()
    });
    screen.on_sandbox_status(vec![AdapterSandboxView {
        adapter: text("codex"),
        summary: text("writes this repository only during Execute, without .git; no network"),
    }]);
    let mut state = running(Phase::Execute, TurnPurpose::Fix { n: 2, attempt: 2 });
    let file = state.plan.as_mut().unwrap();
    file.reading = PlanFileState::Broken;
    file.file_sha256 = plan::file_hash(b"broken");
    state.failures = 2;
    state.planner.degraded = true;
    state.verdict.as_mut().unwrap().consistent = false;
    let reviewer = state.reviewer.as_mut().unwrap();
    reviewer.moved_from = Some(SessionId::new("ses_b").to_string());
    state.execution.as_mut().unwrap().test = None;
    (screen, state)
}

#[test]
fn every_tab_is_seen_with_nothing_in_it_and_where_things_went_wrong() {
    for mut of in tabs() {
        let shown = table().into_iter().find(|shown| shown.what == of.name);
        let shown = shown.unwrap_or_else(|| panic!("{} is missing in gallery.txt", of.name));
        if shown.snapshot == "here" {
            let seen = at_each_size(&mut of.screen, of.state.as_ref());
            insta::assert_snapshot!(slug(&of.name), seen);
        }
    }
}

#[test]
fn every_place_is_seen_at_four_sizes() {
    for place in places() {
        let shown = table().into_iter().find(|shown| shown.what == place.name());
        let shown = shown.unwrap_or_else(|| panic!("{} is missing in gallery.txt", place.name()));
        if shown.snapshot == "here" {
            let (mut screen, state) = Kind::Plain.open(&place);
            let seen = at_each_size(&mut screen, state.as_ref());
            insta::assert_snapshot!(slug(place.name()), seen);
        }
    }
}

#[test]
fn every_place_is_seen_in_texts_on_which_screens_break() {
    for place in places() {
        let (mut screen, state) = Kind::Nasty.open(&place);
        let seen = at_each_size(&mut screen, state.as_ref());
        insta::assert_snapshot!(format!("nasty_{}", slug(place.name())), seen);
    }
}

#[test]
fn no_choice_is_lost_in_such_texts() {
    for place in places() {
        let (mut screen, state) = Kind::Nasty.open(&place);
        let Some(sheet) = screen
            .pending_dialog(state.as_ref())
            .filter(|_| !is_covered(&screen))
        else {
            continue;
        };
        for size in SIZES {
            let seen = drawn(&mut screen, size, state.as_ref());
            let is_said = super::sizes::says_what_enter_does(&seen);
            assert!(is_said, "{} at {size:?}\n{seen}", place.name());
            let is_shown = |key: char| {
                let key = key.to_uppercase();
                let (row, button) = (format!("{key}  "), format!("  {key}"));
                seen.lines()
                    .any(|line| line.contains(&row) || line.ends_with(&button))
            };
            let room = usize::from(size.1 - 7);
            let n_shown = sheet
                .choices
                .iter()
                .filter(|choice| is_shown(choice.key))
                .count();
            assert!(
                n_shown >= sheet.choices.len().min(room),
                "{} at {size:?}\n{seen}",
                place.name()
            );
        }
    }
}

#[test]
fn what_one_decides_by_is_seen_beside_a_long_text() {
    for (name, words) in [
        ("settle", ["The finding is dropped", "Leave it open"]),
        ("question arbitration", ["#1 blocking: ", "#2 minor: "]),
        ("quit", ["explore#1: ", "explore#2: "]),
        ("discuss", ["Who    ", "How    "]),
    ] {
        let place = places()
            .into_iter()
            .find(|place| place.name() == name)
            .unwrap();
        let (mut screen, state) = Kind::Nasty.open(&place);
        for size in SIZES {
            let seen = drawn(&mut screen, size, state.as_ref());
            for word in words {
                assert!(seen.contains(word), "{name}, {word} at {size:?}\n{seen}");
            }
        }
    }
}

#[test]
fn a_plan_that_is_none_says_why_before_what_changed() {
    let mut all = places().into_iter();
    let place = all
        .find(|place| place.name() == "question stale_plan")
        .unwrap();
    let (mut screen, state) = Kind::Plain.open(&place);
    let mut state = state.unwrap();
    state.plan.as_mut().unwrap().reading = PlanFileState::Broken;
    screen.on_documents(RunDocumentFiles {
        plan: Some(PLAN.replace("2. [ ] test sum", "1. [ ] test sum")),
        ..super::world::documents()
    });
    let seen = drawn(&mut screen, (40, 20), Some(&state));
    assert!(seen.contains("Two steps have number 1"), "{seen}");
    assert!(!seen.contains("Accept it as it is"), "{seen}");
}

#[expect(
    clippy::disallowed_methods,
    reason = "the files of the repository are what this test is about"
)]
fn read(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

#[test]
fn the_table_names_each_place_once_and_what_it_names_is_there() {
    let names = places().into_iter().map(|place| place.name().to_owned());
    let names: Vec<String> = names.chain(tabs().into_iter().map(|of| of.name)).collect();
    let table = table();
    let told: Vec<&str> = table.iter().map(|shown| shown.what).collect();
    for name in &names {
        let n = told.iter().filter(|told| *told == name).count();
        assert_eq!(n, 1, "{name} in gallery.txt");
    }
    let script = read("assets/screens/make");
    for shown in &table {
        // Full tabs have their own names.
        let is_full = shown.what.ends_with(", full");
        assert!(
            is_full || names.iter().any(|name| name == shown.what),
            "{} is no place",
            shown.what
        );
        if shown.snapshot != "here" {
            let file = format!(
                "src/tui/tests/snapshots/agent_collab__tui__tests__{}.snap",
                shown.snapshot
            );
            let seen = read(&file);
            for (columns, rows) in SIZES {
                assert!(
                    seen.contains(&format!("{columns}x{rows}\n")),
                    "{file}: {columns}x{rows}"
                );
            }
        }
        let is_taken = ["\"", " "]
            .iter()
            .any(|end| script.contains(&format!("shot:{}{end}", shown.picture)));
        let is_excused = shown
            .picture
            .strip_prefix("none: ")
            .is_some_and(|why| !why.is_empty());
        assert!(is_taken || is_excused, "{}: {}", shown.what, shown.picture);
    }
}
