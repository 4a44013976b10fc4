//! Tests every row of the command table in a suitable context, by its key and by its word.

use crate::tui::diff_view::DiffView;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::outcome::{assert_table, awake, outcome};
use super::world::{approving, asking, note, questions, running, state};
use super::{agents, children, discussion};
use crate::domain::diff_scope::DiffScope;
use crate::domain::event::{AgentActivity, Event};
use crate::domain::findings::{FindingSeverity, ReviewRemark};
use crate::domain::ids::TurnId;
use crate::domain::phase::{Gate, Mode, Phase};
use crate::domain::run::RunState;
use crate::domain::turn::{Role, TurnPurpose};
use crate::tui::command::ScreenCommand;
use crate::tui::command_table::{all_rows, parse_slash_command};
use crate::tui::keymap::{ComposerFocus, KeyContext};
use crate::tui::scroll_view::ScrollTarget;
use crate::tui::tab_kind::TabKind;
use crate::tui::{DiffLookup, Screen};

/// A context in which a command is available: the run, and the preparation of the screen.
type Ground = (Option<RunState>, fn(&mut Screen, Option<&RunState>));

fn question(name: &str) -> Option<RunState> {
    let mut all = questions().into_iter();
    let (phase, kind) = all.find(|(_, kind)| kind.name() == name).unwrap();
    Some(asking(phase, kind))
}

fn as_it_is(_: &mut Screen, _: Option<&RunState>) {}

fn on_plan(screen: &mut Screen, _: Option<&RunState>) {
    screen.show_tab(TabKind::Plan);
    screen.tabs.plan.view.select_line(12);
}

/// A review with a finding that names a line of the plan.
fn with_a_line() -> Option<RunState> {
    let mut state = state(Phase::Review);
    state.findings.apply_legacy_review(
        &[ReviewRemark::new(
            1,
            FindingSeverity::Blocking,
            "step 1 leaves the empty list out".to_owned(),
        )],
        None,
    );
    Some(state)
}

fn on_finding(screen: &mut Screen, _: Option<&RunState>) {
    screen.show_tab(TabKind::Comments);
    screen
        .tabs
        .comments
        .selection
        .select_listed(ScrollTarget::Finding(1));
}

fn keys(screen: &mut Screen, state: Option<&RunState>, codes: &[KeyCode]) {
    for code in codes {
        super::world::drawn(screen, super::outcome::SIZE, state);
        screen.on_key(KeyEvent::new(*code, KeyModifiers::NONE), state);
    }
}

/// An answer with code, and more answers than a window shows.
fn long(screen: &mut Screen, _: Option<&RunState>) {
    for n in 0..40 {
        let text =
            format!("answer {n}\n\n```python\nprint({n})\n```\n\nand more of it\n\nto the end");
        let news = AgentActivity::Text { text };
        let (turn, role) = (TurnId::new("trn_1"), Role::Planner);
        screen.on_event(super::world::NOW, &Event::Agent { turn, role, news });
    }
}

fn long_from_its_top(screen: &mut Screen, state: Option<&RunState>) {
    long(screen, state);
    keys(screen, state, &[KeyCode::Home]);
}

/// Returns the context of a command, by its first word.
fn ground(word: &str) -> Ground {
    let executing = || Some(running(Phase::Execute, TurnPurpose::Step { n: 2 }));
    let reviewing = || Some(state(Phase::Review));
    match word {
        "/go" | "/view" => (question("gate"), as_it_is),
        "/pause" | "/manual" => {
            let mut state = executing();
            if let Some(state) = &mut state {
                state.gate = Gate::Auto;
            }
            (state, as_it_is)
        }
        "/default" => {
            let mut state = executing();
            if let Some(state) = &mut state {
                state.mode = Mode::AutoEdit;
            }
            (state, as_it_is)
        }
        "/approve" | "/changes" => (question("execute"), as_it_is),
        "/allow" | "/reject" => (Some(approving(&["npm install left-pad"])), as_it_is),
        "/answer" => (question("conflict"), as_it_is),
        "/goal" => (Some(state(Phase::RefineGoal)), as_it_is),
        "/needs-me" => (question("gate"), |screen, _| screen.show_tab(TabKind::Plan)),
        "/agent" => (executing(), |screen, _| screen.on_agents(agents::agents())),
        "/sessions" => (Some(children::with_children()), as_it_is),
        "/discuss-finding" => (reviewing(), on_finding),
        "/settle" => (Some(discussion::about_finding()), on_finding),
        "/discuss-stop" | "/board" => (Some(discussion::running()), as_it_is),
        "/discuss-on" => (Some(discussion::cut_off()), as_it_is),
        "/minutes" | "/quote" => (Some(discussion::by_vote()), as_it_is),
        "/talk" => (None, as_it_is),
        "/resume" => (None, |screen, _| screen.ask_to_resume("a goal\nin Plan")),
        "/copy" | "/copy-code" | "/editor" | "/pager" | "/up" | "/line-up" | "/top" => {
            (executing(), long)
        }
        "/down" | "/line-down" | "/end" => (executing(), long_from_its_top),
        "/next-turn" | "/next-block" => (reviewing(), |screen, state| {
            keys(screen, state, &[KeyCode::Char('['), KeyCode::Char('[')]);
        }),
        "/open" => (reviewing(), |screen, state| {
            keys(screen, state, &[KeyCode::Char(','), KeyCode::Char(',')]);
        }),
        "/filter" => (reviewing(), |screen, _| {
            screen.show_tab(TabKind::Comments);
            let second = ScrollTarget::Finding(2);
            screen.tabs.comments.selection.select_listed(second);
        }),
        "/changed" => (reviewing(), on_finding),
        "/jump" => (with_a_line(), on_finding),
        "/note" | "/rewrite" => (reviewing(), on_plan),
        "/unnote" => {
            let mut state = reviewing();
            if let Some(state) = &mut state {
                note(state, 12, "", "shorter");
            }
            (state, on_plan)
        }
        "/chat" => (executing(), |screen, _| screen.show_tab(TabKind::Plan)),
        "/undo" | "/redo" => (Some(state(Phase::Execute)), as_it_is),
        "/leave" => (executing(), |screen, _| {
            screen.composer.focus = ComposerFocus::Focused
        }),
        _ => (executing(), as_it_is),
    }
}

/// Returns the command with the argument that it needs.
fn typed(slash: &str) -> String {
    let slash = slash.replace("plan|comments|merge", "comments");
    let slash = slash
        .replace(" N ", " 2 ")
        .replace("TEXT", "text")
        .replace("TOPIC", "why?");
    let slash = slash
        .replace("AGENT", "explore")
        .replace("CHOICE", "overwrite");
    let optional = slash.split(" [").next().unwrap();
    match slash.split_once(']') {
        Some((_, rest)) => format!("{optional}{rest}"),
        None => slash,
    }
}

fn word_of(typed: &str) -> &str {
    typed.split(' ').next().unwrap()
}

#[test]
fn every_action_does_by_its_words_and_keys_what_the_table_says() {
    let mut found = Vec::new();
    for binding in all_rows() {
        for slash in binding.slash_commands() {
            let typed = typed(&slash.to_string());
            let (state, prepare) = ground(word_of(&typed));
            let state = state.as_ref();
            let fresh = || awake(state, |screen| prepare(screen, state));
            let command = parse_slash_command(&typed).unwrap();
            let done = outcome(&mut fresh(), state, |screen| {
                screen.perform_command(command, state)
            });
            found.push(format!("{typed}: {done}"));
        }
        let first = typed(&binding.slash.to_string());
        let (state, prepare) = ground(word_of(&first));
        let state = state.as_ref();
        // That key is only for a run of the history that is open.
        let keys = binding.keys.iter().filter(|_| binding.name != "resume");
        for key in keys {
            let mut screen = awake(state, |screen| prepare(screen, state));
            if binding.context == KeyContext::Composer {
                screen.composer.focus = ComposerFocus::Focused;
            }
            let event = KeyEvent::new(key.code, key.modifiers);
            let done = outcome(&mut screen, state, |screen| {
                if binding.name == "auto" {
                    // While an agent works, it asks for the key once more.
                    assert!(screen.on_key(event, state).is_empty());
                }
                screen.on_key(event, state)
            });
            found.push(format!("key {} ({}): {done}", key.label(), binding.name));
        }
    }
    let silent: Vec<&String> = found
        .iter()
        .filter(|line| line.ends_with(": nothing") || line.ends_with(": a word"))
        .collect();
    assert!(silent.is_empty(), "{silent:#?}");
    assert_table(include_str!("commands.txt"), &found);
}

#[test]
fn every_way_to_scroll_moves_by_what_it_says() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let state = Some(&state);
    let seen = |screen: &mut Screen| super::world::drawn(screen, (80, 24), state);
    let mut screen = awake(state, |screen| long(screen, state));
    let rows = |screen: &mut Screen| -> Vec<String> {
        let body = screen.hit_areas.body;
        let picture = seen(screen);
        let rows = picture.lines().skip(usize::from(body.y));
        rows.take(usize::from(body.height))
            .map(str::to_owned)
            .collect()
    };
    seen(&mut screen);
    let at_end = rows(&mut screen);
    let mut go = |command: &str| {
        screen.perform_command(parse_slash_command(command).unwrap(), state);
        rows(&mut screen)
    };
    // The first line up also adds a row with the scroll hint.
    let once = go("/line-up");
    let up = go("/line-up");
    let n = up.len();
    assert_eq!(up[1..n - 1], once[..n - 2], "a line up");
    assert_eq!(go("/line-down"), once, "a line down");
    assert_eq!(go("/end"), at_end, "to the last line");
    let page = go("/up");
    assert_ne!(page[..n / 2], up[..n / 2], "a page up");
    let down = go("/down");
    assert_ne!(down, page, "a page down");
    let top = go("/top");
    assert_ne!(top, at_end);
    assert_eq!(go("/up"), top, "above the first line is nothing");
    assert_eq!(go("/end"), at_end, "to the last line");
}

#[test]
fn every_way_to_another_tab_leads_to_that_one() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let state = Some(&state);
    let mut screen = awake(state, |_| {});
    let mut tabs = |keys: &[KeyCode]| -> Vec<TabKind> {
        let press = |code: &KeyCode| {
            screen.on_key(KeyEvent::new(*code, KeyModifiers::NONE), state);
            screen.tabs.view.shown
        };
        keys.iter().map(press).collect()
    };
    let folded = tabs(&[KeyCode::Tab; 3]);
    assert_eq!(folded, [TabKind::Plan, TabKind::Comments, TabKind::Chat]);
    let back = tabs(&[KeyCode::Left; 3]);
    assert_eq!(back, [TabKind::Comments, TabKind::Plan, TabKind::Chat]);
    // A tab that was opened by its digit stays in the order until it is folded again.
    assert_eq!(tabs(&[KeyCode::Char('4')]), [TabKind::Log]);
    let unfolded = tabs(&[KeyCode::Tab; 4]);
    assert_eq!(
        unfolded,
        [
            TabKind::Chat,
            TabKind::Plan,
            TabKind::Comments,
            TabKind::Log
        ]
    );
    assert_eq!(tabs(&[KeyCode::Char('4')]), [TabKind::Chat]);
    let folded = tabs(&[KeyCode::Right; 3]);
    assert_eq!(folded, [TabKind::Plan, TabKind::Comments, TabKind::Chat]);
}

#[test]
fn a_diff_is_opened_by_each_of_its_names() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    for (word, scope) in [
        ("/diff", DiffScope::All),
        ("/diff 2", DiffScope::Step(2)),
        ("/diff plan", DiffScope::Plan),
    ] {
        let mut screen = awake(Some(&state), |_| {});
        screen.perform_command(parse_slash_command(word).unwrap(), Some(&state));
        screen.on_diff(
            scope,
            vec![scope],
            DiffLookup::NoChanges("nothing".to_owned()),
        );
        assert!(screen.overlays.has::<DiffView>(), "{word}");
    }
    assert_eq!(
        parse_slash_command("/diff plan"),
        Ok(ScreenCommand::Diff(DiffScope::Plan))
    );
}
