//! Tests of what the user sees of a review: why findings are where they are, disputes, arbitration and the approval.

use serde_json::{Value, json};

use super::pictures::{check, not_writing};
use super::world::{drawn, press, questions, state};
use crate::domain::findings::FindingLedger;
use crate::domain::phase::Phase;
use crate::domain::question::{ArbitrationReason, Question, QuestionKind};
use crate::domain::review::Verdict;
use crate::domain::run::RunState;
use crate::domain::run_timeline::RunTimeline;
use crate::tui::{Action, Screen};

fn finding(n: u32, severity: &str, text: &str, status: &str, record: Value) -> Value {
    json!({
        "remark": { "n": n, "severity": severity, "text": text },
        "raised_in": 1, "last_in": 2, "status": status, "responses": [], "record": record,
    })
}

fn verified(found: &str) -> Value {
    json!({ "evidence": "verified", "found": found })
}

fn refuted(found: &str) -> Value {
    json!({ "evidence": "refuted", "found": found })
}

/// A run whose findings have every status after two reviews.
#[expect(clippy::too_many_lines, reason = "one value a status: a list to read")]
fn settling(phase: Phase) -> RunState {
    let mut state = state(phase);
    let mut disputed = finding(
        1,
        "blocking",
        "an empty list is not said to give 0",
        "open",
        json!({
            "block": { "step": 1 },
            "evidence": verified("calc.py:7"),
            "dispute": { "judgement": {
                "n": 1, "side": "reviewer", "reason": "calc.py:7 has no branch for an empty list",
            } },
            "last_word": "step 1 still does not name the empty list",
            "new_evidence": {
                "text": "calc.py:3 `if not values: sys.exit(1)`", "check": verified("calc.py:3"),
            },
        }),
    );
    disputed["remark"]["place"] = json!("Step 1");
    disputed["remark"]["scenario"] = json!(
        "`sum []` → the program ends with an error; 空列表的行为没有说明,这会让每一个调用者自己去猜测"
    );
    disputed["remark"]["evidence"] = json!("calc.py:7 `total = values[0]`");
    disputed["remark"]["resolution"] = json!("step 1 says what an empty list gives");
    disputed["responses"] = json!([
        [1, { "n": 1, "stand": "rejected", "reason": "the goal does not ask for it",
              "check": { "evidence": "uncheckable" } }],
        [2, { "n": 1, "stand": "rejected", "reason": "calc.py:3 `if not values` returns before",
              "check": refuted("calc.py:3 is: if not values: sys.exit(1)") }],
    ]);
    let accepted_answer = json!([[2, {
        "n": 2, "stand": "accepted", "reason": "step 2 names the test",
        "check": verified("step 2 changed"),
    }]]);
    let mut accepted = finding(
        2,
        "major",
        "名称 `sum` 与内建函数冲突, so that a reader of this long remark has to wrap it at any width",
        "open",
        json!({ "block": { "step": 2 }, "evidence": { "evidence": "uncheckable" } }),
    );
    accepted["responses"] = accepted_answer;
    let blocker = json!({
        "block": { "heading": "Goal" }, "evidence": verified("the plan"),
        "residual": "unchanged_text", "settled_in": 2,
    });
    let mut late = finding(
        3,
        "blocking",
        "a list of texts is added up, too",
        "residual",
        blocker,
    );
    late["raised_in"] = json!(2);
    late["remark"]["scenario"] = json!("`sum [\"a\"]` → a text instead of an error");
    late["remark"]["evidence"] = json!("“The calculator can sum a list”");
    let lowered = json!({
        "evidence": refuted("calc.py has 12 lines"), "lowered_from": "blocking",
        "residual": "minor", "settled_in": 2,
    });
    state.findings = serde_json::from_value::<FindingLedger>(json!({
        "all": [
            disputed,
            accepted,
            late,
            finding(4, "minor", "calc.py:90 would overflow", "residual", lowered),
            finding(5, "major", "no test is named", "fixed", json!({
                "block": { "step": 3 }, "settled_in": 2, "last_word": "“run pytest” is new",
            })),
            finding(6, "major", "README has no usage", "rebutted", json!({ "settled_in": 2 })),
            finding(7, "minor", "style", "withdrawn", json!({ "settled_in": 2 })),
        ],
        "reviews": 2,
    }))
    .unwrap();
    let mut course = serde_json::to_value(&state.course).unwrap();
    let review = |n: u32, unopened: Value| {
        json!({
            "review": n, "iteration": n, "at": 1_700_000_000_000_i64 + i64::from(n) * 60_000,
            "verdict": "CHANGES_REQUIRED", "consistent": true,
            "n_open": 2, "n_new": 3, "n_settled": 1, "unopened": unopened,
        })
    };
    let files = json!({ "files": ["calc.py", "tests/test_calc.py"] });
    course["reviews"] = json!([review(1, json!("unknown")), review(2, files)]);
    state.course = serde_json::from_value::<RunTimeline>(course).unwrap();
    state
}

pub fn asking(phase: Phase, kind: QuestionKind) -> RunState {
    let mut state = settling(phase);
    state.awaiting = Some(Question { id: 7, kind });
    state
}

/// A run that waits for the user for this reason.
pub fn arbitrating(reason: ArbitrationReason) -> RunState {
    let mut state = asking(Phase::Review, QuestionKind::Arbitration { reason, open: 2 });
    let mut ledger = serde_json::to_value(&state.findings).unwrap();
    match reason {
        ArbitrationReason::LeftOut => ledger["all"][0]["last_in"] = json!(1),
        ArbitrationReason::UnprovenFix => {
            ledger["all"][0]["record"]["unproven_fix_in"] = ledger["reviews"].clone();
        }
        ArbitrationReason::Circle => ledger["all"][1]["record"]["fix_depth"] = json!(2),
        _ => {}
    }
    state.findings = serde_json::from_value(ledger).unwrap();
    state
}

fn comments(state: &RunState) -> Screen {
    let mut screen = not_writing();
    press(&mut screen, Some(state), &["3"]);
    screen
}

#[test]
fn comments_say_why_each_finding_is_where_it_is() {
    let state = settling(Phase::Respond);
    let mut screen = comments(&state);
    press(&mut screen, Some(&state), &["<down>", "<enter>"]);
    check("settled_comments", &mut screen, Some(&state));
    press(&mut screen, Some(&state), &["=", "="]);
    check("settled_comments_residual", &mut screen, Some(&state));
}

#[test]
fn a_dispute_shows_both_texts_and_what_was_checked() {
    let state = asking(Phase::Review, QuestionKind::Dispute { n: 1 });
    let mut screen = comments(&state);
    check("settled_dispute", &mut screen, Some(&state));
    let wide = drawn(&mut screen, (120, 40), Some(&state));
    let side_by_side = wide
        .lines()
        .find(|line| line.contains("Scenario:"))
        .unwrap();
    assert!(side_by_side.contains("Rejected after review"), "{wide}");
}

#[test]
fn a_small_dispute_dialog_has_a_line_of_each_side_and_enter_shows_them_in_full() {
    let state = asking(Phase::Review, QuestionKind::Dispute { n: 1 });
    let mut screen = comments(&state);
    let small = drawn(&mut screen, (40, 20), Some(&state));
    assert!(small.contains("Reviewer ✓ step 1 still"), "{small}");
    assert!(small.contains("Planner ✗ calc.py:3"), "{small}");
    let actions = press(&mut screen, Some(&state), &["<enter>"]);
    assert_eq!(actions, [], "Enter decides nothing");
    let whole = drawn(&mut screen, (80, 40), Some(&state));
    for text in [
        "New evidence: calc.py:3 `if not values: sys.exit(1)`",
        "✗ not found: calc.py:3 is: if not values: sys.exit(1)",
    ] {
        assert!(whole.contains(text), "{whole}");
    }
}

#[test]
fn a_disputed_finding_can_be_discussed_while_the_question_waits() {
    let state = asking(Phase::Review, QuestionKind::Dispute { n: 1 });
    let mut screen = comments(&state);
    drawn(&mut screen, (80, 24), Some(&state));
    let actions = press(&mut screen, Some(&state), &["d"]);
    let is_planned = |action: &Action| matches!(action, Action::PlanDiscussion(topic) if topic.finding == Some(1));
    assert!(actions.iter().any(is_planned), "{actions:?}");
}

#[test]
fn arbitration_names_what_led_to_it() {
    let reasons = [
        (ArbitrationReason::LeftOut, "left_out"),
        (ArbitrationReason::UnprovenFix, "unproven_fix"),
        (ArbitrationReason::NothingHolds, "nothing_holds"),
        (ArbitrationReason::Circle, "circle"),
        (ArbitrationReason::ResidualBlocker, "residual_blocker"),
        (ArbitrationReason::ApprovedBeside, "approved_beside"),
    ];
    for (reason, name) in reasons {
        let state = arbitrating(reason);
        check(
            &format!("settled_{name}"),
            &mut comments(&state),
            Some(&state),
        );
    }
}

#[test]
fn the_approval_and_the_status_list_what_the_review_left() {
    let (_, execute) = questions()
        .into_iter()
        .find(|(_, kind)| kind.name() == "execute")
        .unwrap();
    let mut state = asking(Phase::Approved, execute);
    let mut ledger = serde_json::to_value(&state.findings).unwrap();
    ledger["all"][0]["status"] = json!("decided_by_user");
    ledger["all"][1]["status"] = json!("fixed");
    state.findings = serde_json::from_value(ledger).unwrap();
    let verdict = state.verdict.as_mut().unwrap();
    verdict.value = Verdict::Approved;
    state.approved_sha256 = Some(verdict.plan_sha256.clone());
    let end = "finished after 2 reviews: 2 fixed, 1 rejected with reason, 1 withdrawn, 1 decided by you, 2 left open";
    assert_eq!(state.describe_review_end().as_deref(), Some(end));
    check("settled_approval", &mut not_writing(), Some(&state));
    state.awaiting = None;
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["5"]);
    check("settled_status", &mut screen, Some(&state));
}

#[test]
fn a_filter_is_left_although_nothing_is_in_it_any_more_and_is_clicked() {
    let mut state = settling(Phase::Review);
    let mut screen = comments(&state);
    press(&mut screen, Some(&state), &["3", "=", "="]);
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    let row = seen.lines().position(|row| row.contains("  all  open"));
    let row = row.unwrap();
    state.findings = crate::domain::findings::FindingLedger::default();
    press(&mut screen, Some(&state), &["="]);
    state = settling(Phase::Review);
    let names = |screen: &mut Screen| {
        let buffer = super::world::painted(screen, (120, 40), Some(&state));
        let row = u16::try_from(row).unwrap();
        let is_marked = |x: &u16| {
            let cell = &buffer[(*x, row)];
            cell.modifier.contains(ratatui::style::Modifier::UNDERLINED)
        };
        let marked = (0..120).filter(is_marked);
        marked
            .map(|x| buffer[(x, row)].symbol().to_owned())
            .collect::<String>()
    };
    assert_eq!(names(&mut screen), "rejected");
    let click = ratatui::crossterm::event::MouseEvent {
        kind: ratatui::crossterm::event::MouseEventKind::Down(
            ratatui::crossterm::event::MouseButton::Left,
        ),
        column: 110,
        row: u16::try_from(row).unwrap(),
        modifiers: ratatui::crossterm::event::KeyModifiers::NONE,
    };
    screen.on_mouse(click, Some(&state));
    assert_eq!(names(&mut screen), "withdrawn");
}
