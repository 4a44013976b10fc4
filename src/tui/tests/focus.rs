//! Tests of the keyboard focus: one of two panes, a list, the composer; and the effect of a click, a
//! capital letter or a redraw there.

use crate::tui::diff_view::DiffView;
use crate::tui::mouse::MouseHandler;
use crate::tui::pager::TextPager;
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::layout::Position;

use super::hands::question;
use super::monkey::several;
use super::outcome::awake;
use super::pictures::not_writing;
use super::world::{
    NOW, act_on_delayed_letter, approving, asking, documents, drawn, press, press_at, questions,
    running, screen, settings, state,
};
use crate::domain::event::{AgentActivity, Event};
use crate::domain::ids::{TurnId, UnixMillis};
use crate::domain::phase::Phase;
use crate::domain::question::{AgentQuestion, AnswerSelectMode, QuestionAsker, QuestionKind};
use crate::domain::run::RunState;
use crate::domain::turn::{Role, TurnPurpose};
use crate::text::unified_diff::UnifiedDiff;
use crate::tui::keymap::{ComposerFocus, plain_key};
use crate::tui::tab_kind::TabKind;
use crate::tui::theme::TerminalEnvironment;
use crate::tui::{
    Action, ColorTheme, DiffLookup, RunCompletion, RunListEntry, Screen, ScreenAppearance,
    WelcomeInfo,
};

const WIDE: (u16, u16) = (200, 30);

/// A chat and a plan with more lines than the window.
fn long(state: &RunState) -> Screen {
    let mut screen = awake(Some(state), |screen| {
        let plan: String = (1..90).map(|n| format!("{n}. [ ] step {n}\n")).collect();
        let mut documents = documents();
        documents.plan = Some(format!("# Task: t\n\n## Steps\n{plan}"));
        screen.on_documents(documents);
        for n in 0..90 {
            say(screen, &format!("line {n}"));
        }
    });
    drawn(&mut screen, WIDE, Some(state));
    screen
}

fn say(screen: &mut Screen, text: &str) {
    let (turn, role) = (TurnId::new("trn_1"), Role::Planner);
    let text = text.to_owned();
    let news = AgentActivity::Text { text };
    screen.on_event(NOW, &Event::Agent { turn, role, news });
}

fn click(screen: &mut Screen, state: Option<&RunState>, column: u16, row: u16) -> Vec<Action> {
    let event = MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column,
        row,
        modifiers: KeyModifiers::NONE,
    };
    screen.on_mouse(event, state)
}

/// Returns the text of the window left and right of the border between two panes.
fn halves(screen: &mut Screen, state: &RunState) -> (String, String) {
    let seen = drawn(screen, WIDE, Some(state));
    let (side, _) = screen.tabs.view.side_area.unwrap();
    let rows = seen.lines().skip(usize::from(side.y));
    let rows: Vec<&str> = rows.take(usize::from(side.height)).collect();
    let part = |from: usize, n: usize| -> String {
        let cut = |row: &&str| row.chars().skip(from).take(n).collect::<String>() + "\n";
        rows.iter().map(cut).collect()
    };
    let x = usize::from(side.x);
    (part(0, x), part(x, usize::MAX))
}

#[test]
fn of_two_panes_one_has_the_keys_and_names_them() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let mut screen = long(&state);
    let press = |screen: &mut Screen, keys: &[&str]| press_at(screen, WIDE, Some(&state), keys);
    let (chat, plan) = halves(&mut screen, &state);
    assert!(
        plan.contains("F6 goes there") && !plan.contains("PgUp"),
        "{plan}"
    );
    press(&mut screen, &["<f6>", "<pgdn>"]);
    let (chat_now, plan_now) = halves(&mut screen, &state);
    assert_eq!(chat_now, chat);
    let mut hints = screen.hit_areas.hints.iter();
    assert!(hints.any(|(_, key)| key.label() == "PgDn"), "{plan_now}");
    assert_ne!(plan_now, plan);
    assert!(plan_now.contains("· PgUp PgDn"), "{plan_now}");
    // Lines can be selected there as well, found and copied.
    press(&mut screen, &["j", "j"]);
    assert!(screen.tabs.plan.view.selected_line().is_some());
    let copied = press(&mut screen, &["<c-y>"]);
    assert!(
        matches!(&copied[..], [Action::Copy(text)] if text.contains("[ ] step")),
        "{copied:?}"
    );
    press(&mut screen, &["<c-f>", "step 88"]);
    assert!(
        halves(&mut screen, &state).1.contains("88. step 88")
            || halves(&mut screen, &state).1.contains("step 88")
    );
    press(&mut screen, &["<esc>", "<f6>", "<pgup>"]);
    let (chat_now, _) = halves(&mut screen, &state);
    assert_ne!(chat_now, chat);
    // While the user writes, a function key switches the pane; Ctrl-W still deletes a word.
    press(&mut screen, &["i", "two words", "<c-w>", "<f6>"]);
    assert_eq!(screen.tabs.view.focused(), TabKind::Plan);
    assert_eq!(screen.composer.editor.text(), "two ");
}

#[test]
fn a_click_gives_a_pane_the_keys_and_one_pane_alone_offers_no_other() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let mut screen = long(&state);
    let (side, _) = screen.tabs.view.side_area.unwrap();
    let wide = drawn(&mut screen, WIDE, Some(&state));
    assert!(wide.contains("F6 goes there"), "{wide}");
    click(&mut screen, Some(&state), side.x + 20, side.y + 5);
    assert_eq!(screen.tabs.view.focused(), TabKind::Plan);
    click(&mut screen, Some(&state), 20, side.y + 5);
    assert_eq!(screen.tabs.view.focused(), TabKind::Chat);
    press_at(&mut screen, WIDE, Some(&state), &["<f6>"]);
    let narrow = drawn(&mut screen, (100, 30), Some(&state));
    assert!(!narrow.contains("other pane"), "{narrow}");
    assert_eq!(screen.tabs.view.focused(), TabKind::Chat);
    press(&mut screen, Some(&state), &["<f6>"]);
    let word = screen.toast.text.clone().unwrap_or_default();
    assert!(word.contains("too narrow for a second pane"), "{word}");
    press(&mut screen, Some(&state), &["<c-p>", "other pane"]);
    let palette = drawn(&mut screen, (100, 30), Some(&state));
    assert!(!palette.contains("Go to the other pane"), "{palette}");
}

#[test]
fn a_list_is_gone_through_by_lines_and_enter_opens_what_is_pointed_at() {
    let state = running(Phase::Review, TurnPurpose::Review);
    for (tab, keys) in [
        ("3", ["j", "<up>"]),
        ("2", ["<down>", "j"]),
        ("4", ["k", "<up>"]),
    ] {
        let mut screen = not_writing();
        press(&mut screen, Some(&state), &[tab, keys[0]]);
        let before = drawn(&mut screen, (80, 40), Some(&state));
        assert!(before.contains('▌'), "{tab}\n{before}");
        press(&mut screen, Some(&state), &[keys[1]]);
        assert_ne!(drawn(&mut screen, (80, 40), Some(&state)), before, "{tab}");
        press(&mut screen, Some(&state), &["<enter>"]);
        assert_eq!(screen.composer.focus, ComposerFocus::Unfocused, "{tab}");
    }
    // Enter opens the finding that is offered, and typed letters go nowhere.
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["3", "<enter>", "jj"]);
    assert_eq!(screen.composer.editor.text(), "");
    assert!(
        screen
            .tabs
            .comments
            .selection
            .selected_finding(Some(&state))
            .is_some()
    );
    // A finding that is longer than the window is scrolled to its end before the next one is selected.
    let mut screen = long(&running(Phase::Execute, TurnPurpose::Step { n: 2 }));
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    press(&mut screen, Some(&state), &["2", "<home>", "<down>"]);
    let first = screen.tabs.plan.view.selected_line();
    for _ in 0..60 {
        press(&mut screen, Some(&state), &["<down>"]);
        let seen = drawn(&mut screen, (80, 24), Some(&state));
        assert!(seen.contains('▌'), "{seen}");
    }
    assert!(screen.tabs.plan.view.selected_line() > first);
}

#[test]
fn a_capital_g_goes_to_the_end_where_something_is_read_and_releases_nothing() {
    let (_, kind) = questions()
        .into_iter()
        .find(|(_, kind)| kind.name() == "gate")
        .unwrap();
    let state = super::world::asking(Phase::WritePlan, kind);
    let mut screen = not_writing();
    assert_eq!(press(&mut screen, Some(&state), &["2", "G"]), []);
    let word = screen.toast.text.clone().unwrap_or_default();
    assert!(word.contains("Capital G goes to the end here"), "{word}");
    assert_eq!(
        press(&mut screen, Some(&state), &["g"]),
        [Action::Event(Event::TurnSendConfirmed)]
    );
}

#[test]
fn the_chat_says_how_much_came_below_while_it_is_scrolled_back() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let mut screen = long(&state);
    press(&mut screen, Some(&state), &["<pgup>"]);
    let seen = drawn(&mut screen, (100, 30), Some(&state));
    assert!(seen.contains("── earlier · End follows again"), "{seen}");
    for n in 0..3 {
        say(&mut screen, &format!("later {n}"));
    }
    let seen = drawn(&mut screen, (100, 30), Some(&state));
    assert!(
        seen.contains("── earlier · ↓ 3 new · End follows again"),
        "{seen}"
    );
    press(&mut screen, Some(&state), &["<end>", "<pgup>"]);
    let seen = drawn(&mut screen, (100, 30), Some(&state));
    assert!(!seen.contains("new ·"), "{seen}");
}

#[test]
fn a_theme_that_fits_the_terminal_stays_on_its_ground_and_one_of_a_name_paints() {
    let of = TerminalEnvironment {
        term: Some("xterm-256color"),
        color_fg_bg: Some("15;0"),
        ..TerminalEnvironment::default()
    };
    let mut screen = Screen::new(settings());
    screen.on_theme(ColorTheme::for_terminal(of));
    screen.on_appearance(ScreenAppearance::default());
    assert_eq!(screen.theme().name(), "dark");
    assert!(screen.theme().uses_terminal_background());
    // Previewing other themes and going back restores the theme as it was.
    press(&mut screen, None, &["/theme", "<enter>", "<down>", "<esc>"]);
    assert!(screen.theme().uses_terminal_background());
    press(&mut screen, None, &["/theme dark", "<enter>"]);
    assert!(!screen.theme().uses_terminal_background());
    screen.on_appearance(ScreenAppearance::default());
    assert!(!screen.theme().uses_terminal_background());
}

#[test]
fn the_end_of_a_run_calls_whoever_looks_elsewhere() {
    let done = state(Phase::Done);
    let mut screen = Screen::new(settings());
    drawn(&mut screen, (80, 24), Some(&state(Phase::Execute)));
    assert_eq!(screen.terminal_status().alert, None);
    drawn(&mut screen, (80, 24), Some(&done));
    let called = screen
        .terminal_status()
        .alert
        .as_ref()
        .map(|(_, text)| text.as_str());
    assert_eq!(called, Some("Run finished: Done"));
}

#[test]
fn a_click_in_the_composer_places_the_cursor() {
    let mut screen = Screen::new(settings());
    press(&mut screen, None, &["一二三 end"]);
    let place = screen.hit_areas.composer;
    // A click on the second half of a wide character counts as that character.
    click(&mut screen, None, place.x + 6, place.y + 1);
    press(&mut screen, None, &["x"]);
    assert_eq!(screen.composer.editor.text(), "一x二三 end");
    click(&mut screen, None, place.x + 60, place.y + 1);
    press(&mut screen, None, &["y"]);
    assert_eq!(screen.composer.editor.text(), "一x二三 endy");
    // In a continuation row, positions are counted from the start of that row.
    let mut screen = Screen::new(settings());
    let text = "word ".repeat(30);
    press(&mut screen, None, &[text.as_str()]);
    let place = screen.hit_areas.composer;
    assert!(place.contains(Position::new(place.x + 3, place.y + 2)));
    click(&mut screen, None, place.x + 3, place.y + 2);
    press(&mut screen, None, &["|"]);
    let (first, second) = ("word ".repeat(14), "word ".repeat(16));
    assert_eq!(screen.composer.editor.text(), format!("{first}|{second}"));
}

#[test]
fn a_click_opens_a_run_of_before_on_the_first_page() {
    let run = |name: &str| RunListEntry {
        name: name.to_owned(),
        date: "2026-11-21".to_owned(),
        ended: "DONE".to_owned(),
        about: format!("about {name}"),
        progress: String::new(),
        short_result: String::new(),
        completion: RunCompletion::Complete,
    };
    let mut screen = Screen::new(settings());
    screen.on_welcome(WelcomeInfo {
        runs: vec![run("one"), run("two")],
        ..WelcomeInfo::default()
    });
    let seen = drawn(&mut screen, (100, 40), None);
    let row = seen
        .lines()
        .position(|line| line.contains("about two"))
        .unwrap();
    let actions = click(&mut screen, None, 10, u16::try_from(row).unwrap());
    assert_eq!(actions, [Action::OpenRun("two".to_owned())]);
    // The list of all stands in the composer's place, and no run is there twice.
    let title = |seen: &str| {
        seen.lines()
            .position(|row| row.contains("What should we build?"))
    };
    let n_before = title(&seen);
    screen.show_run_history(&[run("one"), run("two")]);
    for (size, is_centered) in [((100, 40), true), ((60, 20), false)] {
        let seen = drawn(&mut screen, size, None);
        assert_eq!(seen.matches("about two").count(), 1, "{seen}");
        assert!(!seen.contains("Recent runs"), "{seen}");
        assert!(!is_centered || title(&seen) == n_before, "{seen}");
    }
}

#[test]
fn a_diff_is_copied_and_everything_is_drawn_anew() {
    use crate::domain::diff_scope::DiffScope;
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["d"]);
    assert_eq!(press(&mut screen, Some(&state), &["<c-y>"]), []);
    let word = screen.toast.text.clone().unwrap_or_default();
    assert!(word.contains("No diff here"), "{word}");
    let text = "diff --git a/x b/x\n@@ -1,1 +1,1 @@\n-a\n+b";
    let patch = UnifiedDiff::parse(text);
    screen.on_diff(
        DiffScope::All,
        vec![DiffScope::All],
        DiffLookup::Changes(patch),
    );
    let copied = press(&mut screen, Some(&state), &["<c-y>"]);
    assert_eq!(copied, [Action::Copy(text.to_owned())]);
    for keys in [
        &["<c-l>"][..],
        &["<esc>", "?", "<c-l>"],
        &["<esc>", "<c-p>", "<c-l>"],
    ] {
        assert_eq!(press(&mut screen, Some(&state), keys), [Action::Redraw]);
    }
}

/// A chat in which an agent works; nothing has taken the keys.
fn working() -> (Screen, RunState) {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let mut screen = screen();
    screen.on_time(NOW);
    drawn(&mut screen, WIDE, Some(&state));
    (screen, state)
}

/// The same run, in which an agent asks for a call.
fn asking_for_a_call() -> RunState {
    approving(&["cargo test"])
}

fn text(screen: &Screen) -> String {
    screen.composer.editor.text()
}

#[test]
fn while_an_agent_works_letters_are_a_text_until_the_user_leaves_the_composer() {
    let (mut screen, state) = working();
    press_at(&mut screen, WIDE, Some(&state), &["a", "e", "d"]);
    assert_eq!(text(&screen), "aed");
    assert!(!screen.overlays.has::<DiffView>());
    press_at(&mut screen, WIDE, Some(&state), &["<c-u>", "<esc>", "d"]);
    assert!(screen.overlays.has::<DiffView>() && text(&screen).is_empty());
    // It stays left when the diff is closed, and until the user comes back.
    press_at(&mut screen, WIDE, Some(&state), &["<esc>", "j", "k"]);
    assert!(!screen.overlays.has::<DiffView>() && text(&screen).is_empty());
    press_at(&mut screen, WIDE, Some(&state), &["i", "j"]);
    assert_eq!(text(&screen), "j");
}

#[test]
fn a_question_takes_the_keys_from_an_empty_composer_and_gives_them_back() {
    let (mut screen, state) = working();
    let asks = asking_for_a_call();
    drawn(&mut screen, WIDE, Some(&asks));
    assert_eq!(screen.composer.focus, ComposerFocus::Unfocused);
    // A letter that was meant for the composer answers nothing.
    screen.on_time(UnixMillis(NOW.0 + 300));
    let early = press_at(&mut screen, WIDE, Some(&asks), &["y"]);
    assert!(early.is_empty() && text(&screen).is_empty(), "{early:?}");
    screen.on_time(UnixMillis(NOW.0 + 60_000));
    let answer = press_at(&mut screen, WIDE, Some(&asks), &["y"]);
    assert!(!answer.is_empty());
    // Pressed twice, the answer is no text.
    press_at(&mut screen, WIDE, Some(&state), &["y", "y"]);
    assert!(text(&screen).is_empty());
    press_at(&mut screen, WIDE, Some(&state), &["m", "y"]);
    assert_eq!(text(&screen), "my");
}

#[test]
fn a_question_takes_nothing_from_who_writes_or_wants_to() {
    let (mut screen, state) = working();
    press_at(&mut screen, WIDE, Some(&state), &["not that"]);
    let asks = asking_for_a_call();
    press_at(&mut screen, WIDE, Some(&asks), &[" file"]);
    assert_eq!(text(&screen), "not that file");
    // The text is gone: the question is there already, so the composer keeps the keys.
    let answer = press_at(&mut screen, WIDE, Some(&asks), &["<c-u>", "n"]);
    assert!(answer.is_empty());
    assert_eq!(text(&screen), "n");
}

#[test]
fn a_letter_that_a_question_does_not_name_begins_a_text() {
    let (mut screen, _) = working();
    let asks = asking_for_a_call();
    drawn(&mut screen, WIDE, Some(&asks));
    screen.on_time(UnixMillis(NOW.0 + 60_000));
    // E, S, U, D and P are commands elsewhere; Y and N are buttons here, and X stops the turn that runs.
    let typed = press_at(&mut screen, WIDE, Some(&asks), &["Use the pad"]);
    assert!(typed.is_empty(), "{typed:?}");
    assert_eq!(text(&screen), "Use the pad");
    // Left empty again, the question has the keys.
    press_at(&mut screen, WIDE, Some(&asks), &["<c-u>", "<esc>"]);
    let stopped = press_at(&mut screen, WIDE, Some(&asks), &["x"]);
    assert!(!stopped.is_empty() && text(&screen).is_empty());
    let answer = press_at(&mut screen, WIDE, Some(&asks), &["y"]);
    assert!(!answer.is_empty() && text(&screen).is_empty());
    press_at(&mut screen, WIDE, Some(&asks), &["(1"]);
    assert_eq!(text(&screen), "(1");
    press_at(&mut screen, WIDE, Some(&asks), &["<c-u>", "<esc>"]);
    // What the lines of a text begin with, the number of a tab, too.
    for typed in ["- no ls", "# No", "> ls", "\"ls\"", "1. no ls", "2"] {
        press_at(&mut screen, WIDE, Some(&asks), &[typed]);
        let is_text = typed != "2";
        assert_eq!(text(&screen), typed.repeat(usize::from(is_text)));
        let tab = screen.tabs.view.focused();
        assert_eq!(tab == TabKind::Chat, is_text, "{typed}");
        press_at(&mut screen, WIDE, Some(&asks), &["<c-u>", "<esc>"]);
    }
    assert_eq!(screen.tabs.view.focused(), TabKind::Plan);
    // In another tab letters are its keys.
    press_at(&mut screen, WIDE, Some(&asks), &["d"]);
    assert!(screen.overlays.has::<DiffView>() && text(&screen).is_empty());
}

#[test]
fn escape_at_a_question_makes_letters_commands() {
    let (mut screen, _) = working();
    let asks = asking_for_a_call();
    drawn(&mut screen, WIDE, Some(&asks));
    screen.on_time(UnixMillis(NOW.0 + 60_000));
    press_at(&mut screen, WIDE, Some(&asks), &["<esc>"]);
    let note = "Letters are keys · I to write";
    assert_eq!(screen.toast.text.as_deref(), Some(note));
    press_at(&mut screen, WIDE, Some(&asks), &["d"]);
    assert!(screen.overlays.has::<DiffView>() && text(&screen).is_empty());
    press_at(&mut screen, WIDE, Some(&asks), &["<esc>", "i", "dear"]);
    assert_eq!(text(&screen), "dear");
}

#[test]
fn several_letters_before_a_question_can_have_been_read_are_a_text() {
    let (mut screen, _) = working();
    let asks = asking_for_a_call();
    drawn(&mut screen, WIDE, Some(&asks));
    screen.on_time(UnixMillis(NOW.0 + 200));
    // Y and N are buttons, and a held key is no text.
    let held = press_at(&mut screen, WIDE, Some(&asks), &["y", "y"]);
    assert!(held.is_empty() && text(&screen).is_empty(), "{held:?}");
    let typed = press_at(&mut screen, WIDE, Some(&asks), &["n"]);
    assert!(typed.is_empty(), "{typed:?}");
    assert_eq!(text(&screen), "yyn");
    // I is the key that writes, but here it is a letter.
    let (mut screen, _) = working();
    drawn(&mut screen, WIDE, Some(&asks));
    screen.on_time(UnixMillis(NOW.0 + 200));
    press_at(&mut screen, WIDE, Some(&asks), &["w", "i", "t", "h"]);
    assert_eq!(text(&screen), "with");
}

/// A question about a call that can have been read long ago.
fn asked() -> (Screen, RunState) {
    let (mut screen, _) = working();
    let asks = asking_for_a_call();
    drawn(&mut screen, WIDE, Some(&asks));
    screen.on_time(at(0));
    (screen, asks)
}

/// A time after the question can have been read.
fn at(ms: i64) -> UnixMillis {
    UnixMillis(NOW.0 + 60_000 + ms)
}

fn letter(c: char) -> KeyEvent {
    KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)
}

#[test]
fn a_letter_of_a_button_with_another_after_it_begins_a_text() {
    let (mut screen, asks) = asked();
    // The key that writes is followed by a text; as a capital it begins one.
    for (typed, wanted) in [
        ("no use ls", "no use ls"),
        ("nnot this", "nnot this"),
        ("I think", "I think"),
        ("iuse ls", "use ls"),
    ] {
        let actions = press_at(&mut screen, WIDE, Some(&asks), &[typed]);
        assert!(actions.is_empty(), "{actions:?}");
        assert_eq!(text(&screen), wanted);
        press_at(&mut screen, WIDE, Some(&asks), &["<c-u>", "<esc>"]);
    }
    // At the goal the same key is a button.
    let talk = state(Phase::RefineGoal);
    let mut talking = super::world::screen();
    talking.on_time(NOW);
    talking.composer.focus = ComposerFocus::Unfocused;
    drawn(&mut talking, WIDE, Some(&talk));
    talking.on_time(at(0));
    press_at(&mut talking, WIDE, Some(&talk), &["iuse it"]);
    assert_eq!(text(&talking), "use it");
    assert_eq!(screen.on_key(letter('n'), Some(&asks)), []);
    screen.on_paste("ot this");
    assert_eq!(text(&screen), "not this");
}

#[test]
fn a_letter_alone_acts_after_a_moment() {
    let (mut screen, asks) = asked();
    assert_eq!(screen.on_key(letter('n'), Some(&asks)), []);
    let wait = |ms| Some(std::time::Duration::from_millis(ms));
    assert_eq!(screen.letter_wait(at(0)), wait(250));
    // The clock was set back.
    assert_eq!(screen.letter_wait(at(-90_000)), wait(250));
    let seen = drawn(&mut screen, WIDE, Some(&asks));
    assert!(seen.contains("▸Deny"), "{seen}");
    // A key that is pressed twice or kept down acts once.
    screen.on_time(at(100));
    for _ in 0..3 {
        assert_eq!(screen.on_key(letter('n'), Some(&asks)), []);
    }
    screen.on_time(at(349));
    assert_eq!(screen.act_on_due_letter(Some(&asks)), []);
    screen.on_time(at(350));
    assert_eq!(screen.act_on_due_letter(Some(&asks)).len(), 1);
    assert_eq!(screen.letter_wait(at(350)), None);
    // What comes next was not there when it was pressed.
    let next = question("execute");
    drawn(&mut screen, WIDE, Some(&next));
    screen.on_time(at(700));
    assert_eq!(press_at(&mut screen, WIDE, Some(&next), &["y"]), []);
    screen.on_time(at(10_000));
    assert_ne!(press_at(&mut screen, WIDE, Some(&next), &["y"]), []);
}

#[test]
fn numbers_of_answers_select_tick_and_send_however_fast_they_are_pressed() {
    let (one, several) = (
        asking_with(AnswerSelectMode::One),
        asking_with(AnswerSelectMode::Several),
    );
    let open = |state: &RunState| {
        let mut screen = working().0;
        drawn(&mut screen, WIDE, Some(state));
        screen.on_time(at(0));
        screen
    };
    let type_keys = |screen: &mut Screen, state: &RunState, keys: &[KeyCode]| -> Vec<Action> {
        let keys = keys
            .iter()
            .map(|code| KeyEvent::new(*code, KeyModifiers::NONE));
        keys.flat_map(|key| screen.on_key(key, Some(state)))
            .collect()
    };
    // Enter sends the answer of which the number has just been pressed, the last of two.
    let (first, second) = (KeyCode::Char('1'), KeyCode::Char('2'));
    for (keys, wanted) in [
        (&[second, KeyCode::Enter][..], "macOS"),
        (&[second, first, KeyCode::Enter][..], "Linux"),
    ] {
        let mut screen = open(&one);
        let sent = type_keys(&mut screen, &one, keys);
        assert!(format!("{sent:?}").contains(wanted), "{sent:?}");
    }
    let mut screen = open(&several);
    type_keys(&mut screen, &several, &[first, second]);
    let seen = drawn(&mut screen, WIDE, Some(&several));
    assert!(
        seen.contains("[x] Linux") && seen.contains("[x] macOS"),
        "{seen}"
    );
    assert_eq!(text(&screen), "");
    // What is no answer's number makes both a text.
    let mut screen = open(&one);
    type_keys(&mut screen, &one, &[first, KeyCode::Char('0')]);
    assert_eq!(text(&screen), "10");
}

fn asking_with(picks: AnswerSelectMode) -> RunState {
    let asked = AgentQuestion { picks, ..several() };
    asking(
        Phase::WritePlan,
        QuestionKind::Agent {
            request: None,
            questions: vec![asked],
            asker: QuestionAsker::Role {
                purpose: TurnPurpose::WritePlan,
            },
        },
    )
}

#[test]
fn a_text_that_was_asked_for_and_not_begun_is_not_asked_for_at_the_next_question() {
    let (mut screen, asks) = asked();
    press_at(&mut screen, WIDE, Some(&asks), &["w"]);
    assert!(screen.composer.is_writing_for_dialog());
    let next = question("execute");
    drawn(&mut screen, WIDE, Some(&next));
    assert_eq!(screen.composer.draft, None);
    screen.on_time(at(10_000));
    assert_ne!(press_at(&mut screen, WIDE, Some(&next), &["y"]), []);
    // A draft with a text in it stays.
    let (mut screen, asks) = asked();
    press_at(&mut screen, WIDE, Some(&asks), &["w", "because"]);
    drawn(&mut screen, WIDE, Some(&next));
    assert!(screen.composer.is_writing_for_dialog());
    assert_eq!(text(&screen), "because");
}

#[test]
fn a_letter_that_does_not_act_changes_nothing() {
    let allows = |actions: &[Action]| format!("{actions:?}").contains("AllowOnce");
    for keys in [
        &["y", "<esc>"][..],
        &["y", "<back>"],
        &["y", "<right>", "<left>"],
        &["y", "ou must not", "<c-u>", "<esc>"],
        &["y", "<a-y>"],
    ] {
        let (mut screen, asks) = asked();
        let key = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
        assert_eq!(screen.on_key(letter('y'), Some(&asks)), []);
        let after = press_at(&mut screen, WIDE, Some(&asks), &keys[1..]);
        assert_eq!(after, [], "{keys:?}");
        assert_eq!(screen.letter_wait(at(0)), None);
        screen.on_time(at(60_000));
        let enter = screen.on_key(key, Some(&asks));
        assert!(!enter.is_empty() && !allows(&enter), "{keys:?}: {enter:?}");
    }
    // Ctrl with the same letter is another key.
    let (mut screen, asks) = asked();
    screen.on_key(letter('y'), Some(&asks));
    press_at(&mut screen, WIDE, Some(&asks), &["<c-y>"]);
    assert_eq!(screen.letter_wait(at(0)), None);
    assert_eq!(act_on_delayed_letter(&mut screen, Some(&asks)), []);
    // Enter behind it does not wait.
    let (mut screen, asks) = asked();
    screen.on_key(letter('y'), Some(&asks));
    let now = press_at(&mut screen, WIDE, Some(&asks), &["<enter>"]);
    assert!(allows(&now), "{now:?}");
    // Something came in front of the question, or it is gone.
    screen.on_key(letter('y'), Some(&asks));
    screen.show_text("Doctor", "all is well");
    assert_eq!(act_on_delayed_letter(&mut screen, Some(&asks)), []);
    assert!(screen.overlays.has::<TextPager>());
    let (mut screen, asks) = asked();
    screen.on_key(letter('y'), Some(&asks));
    assert_eq!(
        act_on_delayed_letter(&mut screen, Some(&question("gate"))),
        []
    );
    assert!(text(&screen).is_empty());
}

#[test]
fn a_click_takes_a_letter_that_waits_back_and_does_not_wait_itself() {
    let (mut screen, asks) = asked();
    drawn(&mut screen, WIDE, Some(&asks));
    let (place, _) = screen.hit_areas.choices[0];
    let click = MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column: place.x + 1,
        row: place.y,
        modifiers: KeyModifiers::NONE,
    };
    // The letter selected this choice, but the user did not.
    assert_eq!(screen.on_key(letter('y'), Some(&asks)), []);
    drawn(&mut screen, WIDE, Some(&asks));
    assert_eq!(screen.on_mouse(click, Some(&asks)), []);
    assert_eq!(screen.letter_wait(at(0)), None);
    let chord = plain_key(KeyCode::Char('n'));
    assert_eq!(
        MouseHandler::new(&mut screen, Some(&asks))
            .press_hint_key(chord)
            .len(),
        1
    );
    assert!(text(&screen).is_empty());
}

#[test]
fn a_text_that_was_begun_during_a_turn_answers_no_question_about_its_failure() {
    let (mut screen, state) = working();
    press_at(&mut screen, WIDE, Some(&state), &["use the pad"]);
    let failed = question("tests_failed");
    let first = press_at(&mut screen, WIDE, Some(&failed), &["<enter>"]);
    assert_eq!(first, []);
    let said = screen.toast.text.clone().unwrap_or_default();
    assert!(
        said.starts_with("Not sent. The turn has changed."),
        "{said}"
    );
    let second = press_at(&mut screen, WIDE, Some(&failed), &["<enter>"]);
    assert_eq!(second.len(), 2, "{second:?}");
}

#[test]
fn a_question_that_a_letter_opens_takes_no_letter_at_once() {
    let asks = question("execute");
    let mut screen = screen();
    screen.on_time(NOW);
    drawn(&mut screen, WIDE, Some(&asks));
    screen.on_time(at(0));
    press_at(&mut screen, WIDE, Some(&asks), &["b"]);
    let own = |screen: &Screen| screen.dialogs.own.as_ref().map(|own| own.title.clone());
    assert!(own(&screen).is_some());
    screen.on_time(at(300));
    let seen = drawn(&mut screen, WIDE, Some(&asks));
    assert!(!seen.contains("Wait a moment"), "{seen}");
    assert_eq!(press_at(&mut screen, WIDE, Some(&asks), &["y"]), []);
    let seen = drawn(&mut screen, WIDE, Some(&asks));
    assert!(seen.contains("Wait a moment"), "{seen}");
    assert!(own(&screen).is_some());
    // Nor does the question below it when it is closed.
    screen.on_time(at(10_000));
    press_at(&mut screen, WIDE, Some(&asks), &["<esc>"]);
    assert!(own(&screen).is_none());
    screen.on_time(at(10_300));
    assert_eq!(press_at(&mut screen, WIDE, Some(&asks), &["y"]), []);
    screen.on_time(at(20_000));
    press_at(&mut screen, WIDE, Some(&asks), &["b"]);
    screen.on_time(at(30_000));
    assert_ne!(press_at(&mut screen, WIDE, Some(&asks), &["y"]), []);
}

#[test]
fn another_tab_has_the_keys_until_the_chat_is_shown_again() {
    let (mut screen, state) = working();
    press_at(&mut screen, WIDE, Some(&state), &["<tab>", "j", "j"]);
    assert!(text(&screen).is_empty());
    assert_eq!(screen.tabs.view.focused(), TabKind::Plan);
    press_at(&mut screen, WIDE, Some(&state), &["1", "2"]);
    assert_eq!(screen.tabs.view.focused(), TabKind::Chat);
    assert_eq!(text(&screen), "2");
}

#[test]
fn tabs_are_gone_round_by_one_key_without_a_pause() {
    let (mut slow, state) = working();
    let (mut fast, _) = working();
    for n in 1..=7 {
        slow.on_time(UnixMillis(NOW.0 + n * 10_000));
        press_at(&mut slow, WIDE, Some(&state), &["<tab>"]);
        press_at(&mut fast, WIDE, Some(&state), &["<tab>"]);
        assert_eq!(slow.tabs.view.focused(), fast.tabs.view.focused(), "{n}");
    }
}

#[test]
fn what_the_user_reads_in_a_talk_gives_the_keys_back() {
    let talk = state(Phase::RefineGoal);
    let mut screen = screen();
    screen.dialogs.proposed_goal = Some("# Sums\n".to_owned());
    drawn(&mut screen, WIDE, Some(&talk));
    screen.on_key(
        KeyEvent::new(KeyCode::F(1), KeyModifiers::NONE),
        Some(&talk),
    );
    assert!(screen.overlays.has::<TextPager>());
    press_at(&mut screen, WIDE, Some(&talk), &["<esc>", "lists too"]);
    assert_eq!(text(&screen), "lists too");
}

#[test]
fn the_result_of_a_run_has_the_keys_that_its_card_names() {
    let (mut screen, _) = working();
    let over = state(Phase::Done);
    let seen = drawn(&mut screen, WIDE, Some(&over));
    assert!(seen.contains("See the diff  D"), "{seen}");
    press_at(&mut screen, WIDE, Some(&over), &["d"]);
    assert!(screen.overlays.has::<DiffView>());
    press_at(&mut screen, WIDE, Some(&over), &["<esc>", "i", "next"]);
    assert_eq!(text(&screen), "next");
}

#[test]
fn escape_leaves_the_composer_and_a_second_one_interrupts_the_turn() {
    let (mut screen, state) = working();
    let first = press_at(&mut screen, WIDE, Some(&state), &["<esc>"]);
    assert!(first.is_empty(), "{first:?}");
    let note = "Press Esc again to interrupt, I to write a text";
    assert_eq!(screen.toast.text.as_deref(), Some(note));
    // Another key takes the offer back.
    press_at(&mut screen, WIDE, Some(&state), &["j"]);
    let second = press_at(&mut screen, WIDE, Some(&state), &["<esc>", "<esc>"]);
    assert!(
        second.is_empty(),
        "a held key interrupts nothing: {second:?}"
    );
    screen.on_time(UnixMillis(NOW.0 + 1_000));
    let third = press_at(&mut screen, WIDE, Some(&state), &["<esc>"]);
    assert!(
        matches!(&third[..], [Action::Event(Event::InterruptRequested)]),
        "{third:?}"
    );
}
