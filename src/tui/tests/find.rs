//! What is looked for is found in what is open, and nowhere else.

use super::pictures::{check, not_writing};
use super::world::{PLAN, drawn, press, running};
use crate::domain::changes::Scope;
use crate::domain::phase::Phase;
use crate::domain::run::State;
use crate::domain::turn::Purpose;
use crate::text::patch::Patch;
use crate::tui::keymap::IsWriting;
use crate::tui::tabs::Tab;
use crate::tui::{Diff, Documents, Screen};

fn reviewing() -> State {
    running(Phase::Review, Purpose::Review)
}

/// The line in which something is looked for; empty where it is closed.
fn line(screen: &mut Screen, state: &State) -> String {
    let seen = drawn(screen, (80, 24), Some(state));
    let line = seen.lines().find(|line| line.starts_with("find:"));
    line.unwrap_or_default().to_owned()
}

fn with_plan(plan: String) -> Screen {
    let mut screen = not_writing();
    screen.on_documents(Documents {
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
    press(&mut screen, Some(&state), &["<c-f>", "SUM"]);
    check("find_plan", &mut screen, Some(&state));
    let first = line(&mut screen, &state);
    assert!(first.ends_with("of 6 in Plan"), "{first}");
    press(&mut screen, Some(&state), &[" at last"]);
    assert!(line(&mut screen, &state).contains("1 of 1"));
    assert!(drawn(&mut screen, (80, 24), Some(&state)).contains("the sum at last"));
    press(&mut screen, Some(&state), &["zz"]);
    assert!(line(&mut screen, &state).contains("nothing like it in Plan"));
    press(&mut screen, Some(&state), &["<esc>"]);
    let after = drawn(&mut screen, (80, 24), Some(&state));
    // Below the tab bar, which has a mark less: the second pane was seen.
    assert!(before.lines().skip(3).eq(after.lines().skip(3)), "{after}");
    assert_eq!((screen.tab, screen.plan.picked()), (Tab::Plan, None));
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
    let (_, pointed) = screen.pointed_line().unwrap();
    assert!(pointed.starts_with("2. [ ] test sum"), "{pointed}");
}

#[test]
fn what_a_finding_holds_opens_for_what_is_looked_for() {
    let state = reviewing();
    let mut screen = not_writing();
    screen.on_documents(Documents {
        comments: Some("# Review\n\n1. [blocking] an empty list is not said to give 0\n   Seen in calc.py, line 7: **total**\n".to_owned()),
        ..super::world::documents()
    });
    press(&mut screen, Some(&state), &["3"]);
    assert!(!drawn(&mut screen, (80, 24), Some(&state)).contains("line 7"));
    press(&mut screen, Some(&state), &["<c-f>", "line 7"]);
    assert!(line(&mut screen, &state).contains("1 of 1 in Comments"));
    press(&mut screen, Some(&state), &["<esc>"]);
    assert!(!drawn(&mut screen, (80, 24), Some(&state)).contains("line 7"));
    press(&mut screen, Some(&state), &["<c-f>", "line 7", "<c-f>"]);
    assert!(drawn(&mut screen, (80, 24), Some(&state)).contains("line 7"));
    assert_eq!(screen.findings.picked(), Some(1));
}

#[test]
fn the_help_and_any_long_text_are_searched_where_they_stand() {
    let state = reviewing();
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["3", "?", "/", "interrupt"]);
    assert!(screen.pager.is_some() && screen.writing == IsWriting::No);
    let found = line(&mut screen, &state);
    assert!(
        found.contains("1 of ") && found.ends_with("in this text"),
        "{found}"
    );
    check("find_help", &mut screen, Some(&state));
    press(&mut screen, Some(&state), &["<esc>"]);
    assert!(screen.pager.is_some() && screen.find.is_none());
    press(&mut screen, Some(&state), &["<esc>"]);
    assert!(screen.pager.is_none());
    assert_eq!(screen.tab, Tab::Comments);
}

#[test]
fn a_diff_is_searched_and_stays_open() {
    let state = running(Phase::Execute, Purpose::Step { n: 2 });
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["/diff 2", "<enter>"]);
    let lines: String = (1..=60).map(|n| format!("+line {n}\n")).collect();
    let patch = format!("diff --git a/calc.py b/calc.py\n@@ -0,0 +1,60 @@\n{lines}");
    screen.on_diff(
        Scope::Step(2),
        vec![Scope::Step(2)],
        Diff::Found(Patch::read(&patch)),
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
    assert!(screen.diff.is_none());
}

#[test]
fn of_the_log_what_has_the_letters_is_listed_and_gone_through() {
    let state = reviewing();
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["4", "<c-f>", "phase"]);
    assert!(
        line(&mut screen, &state).contains("3 in Log"),
        "{}",
        line(&mut screen, &state)
    );
    press(&mut screen, Some(&state), &["<enter>", "<enter>"]);
    assert!(line(&mut screen, &state).contains("2 of 3 in Log"));
    press(&mut screen, Some(&state), &["<esc>"]);
    assert_eq!(screen.record.picked(), None);
    press(
        &mut screen,
        Some(&state),
        &["<c-f>", "phase", "<enter>", "<c-f>"],
    );
    assert!(screen.record.picked().is_some());
}

#[test]
fn the_chat_follows_its_end_again_after_a_search() {
    let state = reviewing();
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["<c-f>", "calculator shall"]);
    assert!(!screen.transcript.follows());
    press(&mut screen, Some(&state), &["<esc>"]);
    assert!(screen.transcript.follows());
    press(&mut screen, Some(&state), &["<c-f>"]);
    screen.on_paste("calculator\n shall");
    assert!(line(&mut screen, &state).starts_with("find: calculator shall  1 of 1"));
    // What is opened over it closes the line.
    screen.on_text("t", "a text");
    assert_eq!(line(&mut screen, &state), "");
}

#[test]
fn the_filter_leaves_alone_what_an_open_text_covers() {
    let state = reviewing();
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["4", ".", " ", "="]);
    assert!(screen.pager.is_some());
    assert_eq!(screen.tab, Tab::Log);
}
