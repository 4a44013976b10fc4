//! Tests that text typed while a dialog is open stays text: no single letter abandons anything, and no text
//! is mistaken for a choice.

use super::world::{NOW, asking, drawn, press, questions, screen, state};
use crate::domain::event::{AgentActivity, Event};
use crate::domain::ids::TurnId;
use crate::domain::phase::Phase;
use crate::domain::question::QuestionAnswer;
use crate::domain::turn::Role;
use crate::tui::Action;
use crate::tui::dialog::{ChoiceAction, DialogFocus};
use crate::tui::keymap::ComposerFocus;

fn answers_stop(action: &Action) -> bool {
    matches!(
        action,
        Action::Event(Event::QuestionAnswered {
            answer: QuestionAnswer::Stop,
            ..
        })
    )
}

#[test]
fn no_question_gives_up_what_was_planned_without_asking_once_more() {
    let mut n_asked = 0;
    for (phase, kind) in questions() {
        let state = asking(phase, kind);
        let mut screen = screen();
        let Some(sheet) = screen.pending_dialog(Some(&state)) else {
            continue;
        };
        let gives_up = |then: &ChoiceAction| matches!(then, ChoiceAction::Act(all) if all.iter().any(answers_stop));
        assert!(
            !sheet.choices.iter().any(|choice| gives_up(&choice.action)),
            "{}",
            sheet.title
        );
        let goes_back = |then: &ChoiceAction| matches!(then, ChoiceAction::Confirm(asked) if asked.id == "confirm back-to-goal");
        let Some(back) = sheet
            .choices
            .iter()
            .find(|choice| goes_back(&choice.action))
        else {
            continue;
        };
        n_asked += 1;
        let key = back.key.to_string();
        assert_eq!(press(&mut screen, Some(&state), &[&key, "<enter>"]), []);
        assert_eq!(press(&mut screen, Some(&state), &[&key, "<esc>"]), []);
        let actions = press(&mut screen, Some(&state), &[&key, "y"]);
        assert!(
            actions.iter().any(answers_stop),
            "{}: {actions:?}",
            sheet.title
        );
    }
    assert_eq!(n_asked, 21);
}

#[test]
fn the_letter_of_a_choice_is_not_sent_to_the_agent() {
    let talking = state(Phase::RefineGoal);
    let mut screen = screen();
    assert_eq!(screen.composer.focus, ComposerFocus::Focused);
    assert_eq!(press(&mut screen, Some(&talking), &["g", "<enter>"]), []);
    assert_eq!(screen.composer.editor.text(), "g");
    let actions = press(&mut screen, Some(&talking), &["o on", "<enter>"]);
    let text = "go on".to_owned();
    assert_eq!(actions, [Action::Event(Event::GoalMessageAdded { text })]);
}

#[test]
fn while_a_text_is_written_no_choice_shows_its_letter() {
    let talking = state(Phase::RefineGoal);
    let mut screen = screen();
    let check =
        |screen: &mut crate::tui::Screen, keys: &[&str], expected: fn(usize) -> DialogFocus| {
            press(screen, Some(&talking), keys);
            let sheet = screen.pending_dialog(Some(&talking)).unwrap();
            let chosen = screen.dialogs.chosen_choice(&sheet);
            assert_eq!(
                screen.composer.dialog_focus(&sheet, chosen),
                expected(chosen)
            );
        };
    check(&mut screen, &[], DialogFocus::EnterOnly);
    check(&mut screen, &["a word"], DialogFocus::Composer);
    check(&mut screen, &["<esc>"], DialogFocus::Dialog);
}

#[test]
fn enter_in_the_empty_composer_confirms_the_goal_and_arrows_choose_something_else() {
    let talking = state(Phase::RefineGoal);
    let mut screen = screen();
    let seen = drawn(&mut screen, (120, 40), Some(&talking));
    assert!(
        seen.contains("▸Confirm and write the plan  Enter"),
        "{seen}"
    );
    let chosen = |screen: &crate::tui::Screen| {
        let sheet = screen.pending_dialog(Some(&talking)).unwrap();
        screen.dialogs.chosen_choice(&sheet)
    };
    let before = chosen(&screen);
    assert_eq!(press(&mut screen, Some(&talking), &["<right>"]), []);
    assert_eq!(chosen(&screen), before + 1);
    assert_eq!(press(&mut screen, Some(&talking), &["<left>"]), []);
    // In a text the arrows move the cursor.
    press(
        &mut screen,
        Some(&talking),
        &["ab", "<left>", "<back>", "<del>"],
    );
    assert_eq!(chosen(&screen), before);
    assert_eq!(screen.composer.focus, ComposerFocus::Focused);
    let actions = press(&mut screen, Some(&talking), &["<enter>"]);
    assert!(
        matches!(
            actions.as_slice(),
            [Action::Event(Event::GoalConfirmed { .. })]
        ),
        "{actions:?}"
    );
    // Then letters answer what comes next.
    assert_eq!(screen.composer.focus, ComposerFocus::Unfocused);
}

#[test]
fn a_goal_that_changed_is_another_question_and_takes_no_key_of_before() {
    let talking = state(Phase::RefineGoal);
    let mut screen = screen();
    let id = |screen: &crate::tui::Screen| screen.pending_dialog(Some(&talking)).unwrap().id;
    let before = id(&screen);
    let (turn, role) = (TurnId::new("trn_9"), Role::Planner);
    let text = "````goal.md\n# Another goal\n````".to_owned();
    let news = AgentActivity::Text { text };
    screen.on_event(NOW, &Event::Agent { turn, role, news });
    assert_ne!(id(&screen), before);
}

#[test]
fn after_an_unfinished_run_is_put_away_the_next_goal_can_be_written_at_once() {
    let mut screen = screen();
    screen.ask_to_resume("a run");
    press(&mut screen, None, &["i", "<right>", "<enter>", "next"]);
    assert_eq!(screen.composer.focus, ComposerFocus::Focused);
    assert_eq!(screen.composer.editor.text(), "next");
}

#[test]
fn in_a_narrow_window_the_mode_is_worth_more_than_the_model() {
    let mut talking = state(Phase::RefineGoal);
    talking.planner.model = Some("gpt-5.5-with-a-name-that-is-long".to_owned());
    let mut screen = screen();
    let wide = drawn(&mut screen, (120, 40), Some(&talking));
    let row = "Planner  codex · gpt-5.5-with-a-name-that-is-long   Ask";
    assert!(wide.contains(row), "{wide}");
    let narrow = drawn(&mut screen, (40, 20), Some(&talking));
    assert!(narrow.contains("Planner  codex   Ask"), "{narrow}");
    assert!(narrow.contains("Manual"), "{narrow}");
}

#[test]
fn a_goal_that_takes_no_key_yet_names_no_letter_while_the_composer_has_them() {
    let talking = state(Phase::RefineGoal);
    let mut screen = screen();
    screen.on_time(NOW);
    // A key just before it comes.
    screen.on_key(
        ratatui::crossterm::event::KeyEvent::new(
            ratatui::crossterm::event::KeyCode::Backspace,
            ratatui::crossterm::event::KeyModifiers::NONE,
        ),
        None,
    );
    let deaf = drawn(&mut screen, (120, 40), Some(&talking));
    assert!(
        deaf.contains("▸Confirm and write the plan  Enter"),
        "{deaf}"
    );
}
