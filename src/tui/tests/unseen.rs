//! Tests that nothing is decided about content that was not visible, and that no key reaches a target that
//! it was not pressed for.

use super::outcome::awake;
use super::undo::offer;
use super::world::{NOW, approving, asking, drawn, press, running, screen};
use crate::domain::event::ApprovalDecision;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::{Gate, Phase};
use crate::domain::question::{Question, QuestionKind};
use crate::domain::reversal_plan::UndoDirection;
use crate::domain::run::RunState;
use crate::domain::turn::TurnPurpose;
use crate::tui::diff_view::DiffView;
use crate::tui::keymap::ComposerFocus;
use crate::tui::read_only::{RunCompletion, RunListEntry};
use crate::tui::{Action, ExactCall, Screen};

/// Makes something appear without a key.
type Bring = fn(&mut Screen);

const WINDOW: (u16, u16) = (80, 24);

/// A call with the same CLI name as the first one, which has its decision by now.
fn next(targets: &[&str]) -> RunState {
    let mut state = approving(targets);
    state.approvals[0].n = 2;
    state
}

#[test]
fn a_call_that_is_named_like_the_one_before_shows_its_own_text_and_begins_at_its_own_choice() {
    let first = approving(&["ls"]);
    let mut screen = awake(Some(&first), |screen| {
        screen.on_pending_call(ExactCall {
            call: 1,
            text: "ls -la".to_owned(),
            diff: String::new(),
        });
    });
    let picture = drawn(&mut screen, WINDOW, Some(&first));
    assert!(picture.contains("ls -la"), "{picture}");
    let allow = Action::AnswerApproval {
        call: 1,
        answer: ApprovalDecision::AllowOnce,
    };
    let up = ["<up>", "<up>", "<up>", "<enter>"];
    assert_eq!(press(&mut screen, Some(&first), &up), [allow]);

    let second = next(&["rm -r build"]);
    let picture = drawn(&mut screen, WINDOW, Some(&second));
    assert!(picture.contains("rm -r build"), "{picture}");
    assert!(!picture.contains("ls -la"), "{picture}");
    // It was not visible long enough to accept a quick key.
    assert_eq!(press(&mut screen, Some(&second), &["y", "<enter>"]), []);
    screen.on_time(UnixMillis(NOW.0 + 120_000));
    let refuse = Action::AnswerApproval {
        call: 2,
        answer: ApprovalDecision::DenyAndStop,
    };
    assert_eq!(press(&mut screen, Some(&second), &["<enter>"]), [refuse]);
}

/// A typed command or a palette entry decides about the call that was visible before it was opened.
#[test]
fn a_command_decides_nothing_about_a_call_that_came_under_it() {
    let (first, second) = (approving(&["ls"]), next(&["rm -r build"]));
    let refused = "Look first, this was not on the screen: ";
    for open in [["<c-p>", "allow"], ["/", "allow"]] {
        let mut screen = awake(Some(&first), |_| {});
        assert_eq!(press(&mut screen, Some(&first), &open), [], "{open:?}");
        // No frame was drawn since the other call arrived.
        let enter = ratatui::crossterm::event::KeyCode::Enter.into();
        assert_eq!(screen.on_key(enter, Some(&second)), [], "{open:?}");
        let toast = screen.toast.text.clone().unwrap_or_default();
        assert!(toast.starts_with(refused), "{open:?}: {toast}");
    }
    let mut screen = awake(Some(&first), |_| {});
    let allow = Action::AnswerApproval {
        call: 1,
        answer: ApprovalDecision::AllowOnce,
    };
    let keys = ["<c-p>", "allow", "<enter>"];
    assert_eq!(
        press(&mut screen, Some(&first), &keys),
        std::slice::from_ref(&allow)
    );
    // The dialog that the palette covered appears again.
    drawn(&mut screen, WINDOW, Some(&first));
    screen.on_time(UnixMillis(NOW.0 + 120_000));
    assert_eq!(
        press(&mut screen, Some(&first), &["/allow", "<enter>"]),
        [allow]
    );
}

#[test]
fn whoever_is_made_to_write_has_the_composer() {
    let state = running(Phase::Review, TurnPurpose::Review);
    let open_diff = |screen: &mut Screen| {
        screen.composer.leave_to_view();
        assert_eq!(press(screen, Some(&state), &["d"]).len(), 1);
        assert!(screen.overlays.has::<DiffView>());
    };
    let mut screen = screen();
    open_diff(&mut screen);
    let keys = ["<c-p>", "steer", "<enter>", "fix it"];
    assert_eq!(press(&mut screen, Some(&state), &keys), []);
    assert_eq!(screen.composer.editor.text(), "/steer fix it");
    screen.composer.editor.set_text("");
    open_diff(&mut screen);
    screen.on_paste("exactly");
    assert_eq!(press(&mut screen, Some(&state), &["xs"]), []);
    assert_eq!(screen.composer.editor.text(), "exactlyxs");
    // Returned messages can be edited once the diff is closed.
    open_diff(&mut screen);
    screen.return_messages(vec!["said before".to_owned()]);
    assert!(screen.overlays.has::<DiffView>());
    assert_eq!(screen.composer.focus, ComposerFocus::Unfocused);
}

#[test]
fn a_dialog_that_comes_by_itself_is_not_answered_by_what_was_being_typed() {
    let brought: [(&str, Bring); 3] = [
        ("y", |screen| {
            screen.on_undo_previews(&[offer(UndoDirection::Redo)], Phase::Execute);
        }),
        ("y", Screen::ask_to_take_over),
        ("<enter>", |screen| {
            screen.show_run_history(&[RunListEntry {
                name: "a".to_owned(),
                date: "yesterday".to_owned(),
                ended: "DONE".to_owned(),
                about: "a goal".to_owned(),
                progress: String::new(),
                short_result: String::new(),
                completion: RunCompletion::Complete,
            }]);
        }),
    ];
    for (key, bring) in brought {
        // A user who is writing continues to write.
        let mut writing = screen();
        press(&mut writing, None, &["why "]);
        bring(&mut writing);
        assert_eq!(press(&mut writing, None, &["y1"]), []);
        assert_eq!(writing.composer.editor.text(), "why y1");
        // A key that was meant for the previous content does nothing.
        let mut screen = screen();
        screen.composer.leave_to_view();
        screen.on_time(NOW);
        press(&mut screen, None, &["<left>"]);
        bring(&mut screen);
        assert_eq!(press(&mut screen, None, &["<enter>", "y", "1"]), []);
        assert!(screen.dialogs.own.is_some());
        screen.on_time(UnixMillis(NOW.0 + 1_000));
        assert_ne!(press(&mut screen, None, &[key]), []);
    }
}

#[test]
fn the_wait_at_a_usage_limit_that_was_chosen_is_a_line_until_it_is_opened() {
    let mut kinds = super::world::questions().into_iter().map(|(_, kind)| kind);
    let mut kind = kinds.find(|kind| kind.name() == "usage_limit").unwrap();
    if let QuestionKind::UsageLimit { then, .. } = &mut kind {
        *then = Gate::Auto;
    }
    let mut state = super::world::asking(Phase::WritePlan, kind);
    for opens in ["!", "<enter>"] {
        let mut screen = super::outcome::awake(Some(&state), |_| {});
        let whole = drawn(&mut screen, (100, 30), Some(&state));
        assert!(whole.contains("Cancel the run"), "{whole}");
        press(&mut screen, Some(&state), &["w"]);
        let folded = drawn(&mut screen, (100, 30), Some(&state));
        assert!(
            folded.contains("codex usage limit reached. Waiting until"),
            "{folded}"
        );
        assert!(!folded.contains("Cancel the run"), "{folded}");
        assert_eq!(press(&mut screen, Some(&state), &["r"]), []);
        press(&mut screen, Some(&state), &[opens]);
        let whole = drawn(&mut screen, (100, 30), Some(&state));
        assert!(whole.contains("Cancel the run"), "{opens}: {whole}");
    }
    let mut screen = super::outcome::awake(Some(&state), |_| {});
    press(&mut screen, Some(&state), &["w"]);
    // An agent's question takes precedence over it.
    let mut asked = state.clone();
    let mut kinds = super::world::questions().into_iter().map(|(_, kind)| kind);
    let kind = kinds.find(|kind| kind.request_id().is_some()).unwrap();
    asked.asked.push(Question { id: 9, kind });
    let question = drawn(&mut screen, (100, 30), Some(&asked));
    assert!(!question.contains("you wait until"), "{question}");
    assert!(question.contains("asks"), "{question}");
    if let Some(QuestionKind::UsageLimit { until, .. }) =
        state.awaiting.as_mut().map(|question| &mut question.kind)
    {
        until.0 += 1;
    }
    let other = drawn(&mut screen, (100, 30), Some(&state));
    assert!(other.contains("Cancel the run"), "{other}");
}

#[test]
fn what_is_decided_about_is_read_sign_by_sign() {
    let call = approving(&["printf"]);
    let literal = "# not a heading\nprintf '**%s** `x`\\n' __a__ [b](c)";
    let mut screen = awake(Some(&call), |screen| {
        screen.on_pending_call(ExactCall {
            call: 1,
            text: literal.to_owned(),
            diff: String::new(),
        });
    });
    press(&mut screen, Some(&call), &["v"]);
    let seen = drawn(&mut screen, WINDOW, Some(&call));
    for line in literal.lines() {
        assert!(seen.contains(line), "{seen}");
    }
}

#[test]
fn whoever_takes_a_run_up_answers_what_it_asks_unless_they_write_already() {
    let state = asking(Phase::Review, QuestionKind::ManualEdit);
    let mut screen = screen();
    screen.focus_open_dialog(None);
    assert_eq!(
        screen.composer.focus,
        ComposerFocus::Focused,
        "no question is open"
    );
    press(&mut screen, None, &["so"]);
    screen.focus_open_dialog(Some(&state));
    assert_eq!(
        screen.composer.focus,
        ComposerFocus::Focused,
        "a text is being written"
    );
    screen.composer.editor.set_text("");
    screen.focus_open_dialog(Some(&state));
    assert_eq!(screen.composer.focus, ComposerFocus::Unfocused);
}
