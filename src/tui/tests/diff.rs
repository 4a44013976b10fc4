//! Tests of the diff view: its pictures and its keys.

use super::pictures::{check, not_writing};
use super::world::{asking, drawn, press, running, state};
use crate::domain::diff_scope::DiffScope;
use crate::domain::phase::Phase;
use crate::domain::question::QuestionKind;
use crate::domain::reversal_plan::UndoRequest;
use crate::domain::turn::TurnPurpose;
use crate::text::unified_diff::UnifiedDiff;
use crate::tui::diff_view::DiffView;
use crate::tui::tab_kind::TabKind;
use crate::tui::{Action, DiffLookup, Screen};

const PATCH: &str = "diff --git a/calc.py b/calc.py
index 1..2 100644
--- a/calc.py
+++ b/calc.py
@@ -1,6 +1,9 @@ class Calculator:
 def add(a, b):
-\treturn a
+\treturn a + b  # 求和,这样每一个调用者都不必再去猜测空列表应该返回什么,因为它总是返回零
+
+def total(numbers):
+    \"\"\"A line that goes on and on, longer than a window of eighty columns, so that it has to be broken somewhere.\"\"\"
 \treturn 0
\\ No newline at end of file
diff --git a/tests/旧.py b/tests/test_total.py
similarity index 90%
rename from tests/旧.py
rename to tests/test_total.py
--- a/tests/旧.py
+++ b/tests/test_total.py
@@ -10 +10 @@
-old\r
+--- not a header \u{1b}[31m
diff --git a/logo.png b/logo.png
new file mode 100644
Binary files /dev/null and b/logo.png differ
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
";

fn scopes() -> Vec<DiffScope> {
    vec![
        DiffScope::All,
        DiffScope::Step(1),
        DiffScope::Step(2),
        DiffScope::Plan,
    ]
}

fn opened(patch: &str) -> Screen {
    let executing = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let mut screen = not_writing();
    let actions = press(&mut screen, Some(&executing), &["/diff 2", "<enter>"]);
    assert_eq!(actions, [Action::ShowDiff(DiffScope::Step(2))]);
    let found = DiffLookup::Changes(UnifiedDiff::parse(patch));
    screen.on_diff(DiffScope::Step(2), scopes(), found);
    screen
}

#[test]
fn a_diff_has_the_whole_height_and_says_what_it_is_of() {
    let executing = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    check("diff", &mut opened(PATCH), Some(&executing));
}

#[test]
fn a_long_diff_is_moved_by_lines_pages_and_files() {
    let executing = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let mut text = PATCH.to_owned();
    text.push_str("diff --git a/long b/long\n@@ -0,0 +1,500 @@\n");
    text.extend((0..500).map(|n| format!("+line {n}\n")));
    let mut screen = opened(&text);
    press(
        &mut screen,
        Some(&executing),
        &["]", "]", "]", "]", "n", "<down>"],
    );
    let picture = drawn(&mut screen, (80, 24), Some(&executing));
    insta::assert_snapshot!("diff_moved", picture);
}

#[test]
fn what_there_is_not_is_said() {
    let executing = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let mut looking = not_writing();
    press(&mut looking, Some(&executing), &["d"]);
    let mut pictures = vec![drawn(&mut looking, (40, 20), Some(&executing))];
    let nothing = DiffLookup::NoChanges("no step has changed anything yet".to_owned());
    looking.on_diff(DiffScope::All, scopes(), nothing);
    pictures.push(drawn(&mut looking, (40, 20), Some(&executing)));
    let many: Vec<DiffScope> = (1..=40).map(DiffScope::Step).collect();
    let failed = DiffLookup::Failed("`git diff-tree` failed: bad object t1".to_owned());
    looking.on_diff(DiffScope::All, many, failed);
    pictures.push(drawn(&mut looking, (40, 20), Some(&executing)));
    insta::assert_snapshot!("diff_nothing", pictures.join("\n\n"));
}

#[test]
fn a_question_behind_the_diff_is_named_and_no_key_answers_it() {
    let asked = QuestionKind::StepRecovery {
        step: 2,
        stage: crate::domain::plan_execution::StepStage::Test,
    };
    let state = asking(Phase::Execute, asked);
    let mut screen = not_writing();
    let actions = press(&mut screen, Some(&state), &["d"]);
    assert_eq!(actions, [Action::ShowDiff(DiffScope::Step(2))]);
    let found = DiffLookup::Changes(UnifiedDiff::parse(PATCH));
    screen.on_diff(DiffScope::Step(2), scopes(), found);
    insta::assert_snapshot!(
        "diff_over_question",
        drawn(&mut screen, (80, 24), Some(&state))
    );
    let pressed = press(&mut screen, Some(&state), &["<enter>", "y", "c", "a", "s"]);
    assert_eq!(pressed, []);
    let closed = press(&mut screen, Some(&state), &["q", "y"]);
    assert_eq!(closed.len(), 1, "{closed:?}");
}

#[test]
fn each_diff_is_looked_for_once_and_again_when_asked() {
    let executing = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let mut screen = opened(PATCH);
    let moved = press(&mut screen, Some(&executing), &["<tab>", "<tab>"]);
    let wanted = [DiffScope::Plan, DiffScope::All].map(Action::ShowDiff);
    assert_eq!(moved, wanted);
    screen.on_diff(
        DiffScope::All,
        scopes(),
        DiffLookup::NoChanges(String::new()),
    );
    assert_eq!(press(&mut screen, Some(&executing), &["h", "l"]), []);
    let again = press(&mut screen, Some(&executing), &["r"]);
    assert_eq!(again, [Action::ShowDiff(DiffScope::All)]);
    press(&mut screen, Some(&executing), &["<esc>"]);
    screen.on_diff(
        DiffScope::All,
        scopes(),
        DiffLookup::NoChanges(String::new()),
    );
    assert!(
        !screen.overlays.has::<DiffView>(),
        "what comes late opens nothing"
    );
}

#[test]
fn a_question_stays_to_be_read_beside_the_diff() {
    let asked = QuestionKind::StepRecovery {
        step: 2,
        stage: crate::domain::plan_execution::StepStage::Test,
    };
    let state = asking(Phase::Execute, asked);
    let mut screen = not_writing();
    let alone = drawn(&mut screen, (120, 40), Some(&state));
    let said: Vec<&str> = alone
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("▌  "))
        .skip(1)
        .take_while(|line| !line.contains("▸"))
        .collect();
    assert!(!said.is_empty(), "{alone}");
    press(&mut screen, Some(&state), &["d"]);
    screen.on_diff(
        DiffScope::Step(2),
        scopes(),
        DiffLookup::Changes(UnifiedDiff::parse(PATCH)),
    );
    let over = drawn(&mut screen, (120, 40), Some(&state));
    assert!(over.contains("Changes  All"), "{over}");
    for line in said {
        assert!(over.contains(line), "{line} is not in\n{over}");
    }
    insta::assert_snapshot!("diff_over_question_wide", over);
}

#[test]
fn the_keys_of_the_tabs_that_the_header_shows_work_in_the_diff() {
    let executing = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    for (key, tab) in ["1", "2", "3", "4", "5"].iter().zip(TabKind::ALL) {
        let mut screen = opened(PATCH);
        screen.tabs.view.shown = *tab;
        press(&mut screen, Some(&executing), &[key]);
        assert!(!screen.overlays.has::<DiffView>(), "{key}");
        assert_eq!(screen.tabs.view.shown, *tab);
    }
}

#[test]
fn the_steps_from_the_shown_one_on_are_undone_from_the_diff() {
    let done = state(Phase::Done);
    for (keys, wish) in [
        (&["<right>"][..], Some(UndoRequest::BackTo(1))),
        (&[], Some(UndoRequest::Last)),
        // A version of the plan is no step.
        (&["<left>"], None),
    ] {
        let mut screen = not_writing();
        press(&mut screen, Some(&done), &["d"]);
        let found = DiffLookup::Changes(UnifiedDiff::parse(PATCH));
        screen.on_diff(DiffScope::All, scopes(), found);
        press(&mut screen, Some(&done), keys);
        let actions = press(&mut screen, Some(&done), &["u"]);
        let is_open = wish.is_none();
        assert_eq!(actions, Vec::from_iter(wish.map(Action::Undo)));
        assert_eq!(
            screen.overlays.has::<DiffView>(),
            is_open,
            "it would cover the question"
        );
    }
}

#[test]
fn the_footer_has_the_position_once_the_run_is_over() {
    let (executing, done) = (
        running(Phase::Execute, TurnPurpose::Step { n: 2 }),
        state(Phase::Done),
    );
    let last_row = |state| {
        let seen = drawn(&mut opened(PATCH), (120, 40), Some(state));
        seen.lines().last().unwrap_or_default().to_owned()
    };
    let over = last_row(&done);
    assert!(
        over.trim_start().starts_with("calc.py · 1 of 4 · "),
        "{over}"
    );
    let runs = last_row(&executing);
    assert!(
        !runs.contains("1 of 4") && runs.ends_with("Esc close"),
        "{runs}"
    );
    assert!(over.contains("U undo step  Esc close"), "{over}");
    assert!(!runs.contains("undo"), "{runs}");
}
