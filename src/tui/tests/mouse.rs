//! Tests every place that takes the mouse, and the effect of a click or the wheel there.

use crate::tui::pager::TextPager;
use crate::tui::search_bar::SearchBar;
use ratatui::crossterm::event::{KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

use super::monkey::{Place, places};
use super::outcome::{SIZE, awake, outcome};
use super::world::{drawn, press_at, running};
use crate::domain::diff_scope::DiffScope;
use crate::domain::event::{AgentActivity, Event};
use crate::domain::ids::TurnId;
use crate::domain::phase::Phase;
use crate::domain::run::RunState;
use crate::domain::turn::{Role, TurnPurpose};
use crate::text::unified_diff::UnifiedDiff;
use crate::tui::command::ScreenCommand;
use crate::tui::dialog::ChoiceDialog;
use crate::tui::dialogs::confirmations;
use crate::tui::hit_areas::ScreenHitAreas;
use crate::tui::keymap::{ComposerFocus, KeyChord};
use crate::tui::tab_kind::TabKind;
use crate::tui::{Action, DiffLookup, RunListEntry, Screen};

const LEFT: MouseEventKind = MouseEventKind::Down(MouseButton::Left);

fn at(
    screen: &mut Screen,
    state: &RunState,
    kind: MouseEventKind,
    (column, row): (u16, u16),
) -> Vec<Action> {
    let event = MouseEvent {
        kind,
        column,
        row,
        modifiers: KeyModifiers::NONE,
    };
    screen.on_mouse(event, Some(state))
}

fn middle(place: Rect) -> (u16, u16) {
    (place.x + place.width / 2, place.y + place.height / 2)
}

/// A chat, a plan and findings with more lines than any window.
fn long(state: &RunState, size: (u16, u16)) -> Screen {
    let mut screen = awake(Some(state), |screen| {
        let plan: String = (1..90).map(|n| format!("{n}. [ ] step {n}\n")).collect();
        let mut documents = super::world::documents();
        documents.plan = Some(format!(
            "---\nversion: 2\n---\n\n# Task: t\n\n## Steps\n{plan}"
        ));
        screen.on_documents(documents);
        for n in 0..90 {
            let text = format!("line {n}");
            let (turn, role) = (TurnId::new("trn_1"), Role::Planner);
            let news = AgentActivity::Text { text };
            screen.on_event(super::world::NOW, &Event::Agent { turn, role, news });
        }
    });
    drawn(&mut screen, size, Some(state));
    screen
}

/// Returns the rows of a place.
fn rows(screen: &mut Screen, state: &RunState, size: (u16, u16), place: Rect) -> Vec<String> {
    let picture = drawn(screen, size, Some(state));
    let rows = picture.lines().skip(usize::from(place.y));
    let (from, n) = (usize::from(place.x), usize::from(place.width));
    rows.take(usize::from(place.height))
        .map(|row| row.chars().skip(from).take(n).collect())
        .collect()
}

#[test]
fn a_click_on_a_tab_shows_it() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let mut screen = long(&state, (170, 30));
    for tab in [
        TabKind::Plan,
        TabKind::Comments,
        TabKind::Log,
        TabKind::Status,
        TabKind::Chat,
    ] {
        drawn(&mut screen, (170, 30), Some(&state));
        let titles = screen.hit_areas.tabs.iter();
        let place = titles
            .filter(|(_, of)| *of == tab)
            .map(|(place, _)| *place)
            .next();
        let place = place.unwrap_or_else(|| panic!("{tab:?} has no title to click"));
        at(&mut screen, &state, LEFT, middle(place));
        assert_eq!(screen.tabs.view.shown, tab);
    }
}

#[test]
fn a_click_on_the_only_name_of_a_view_lists_them_all() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let mut screen = long(&state, (40, 20));
    let [(place, TabKind::Chat)] = screen.hit_areas.tabs[..] else {
        panic!("{:?}", screen.hit_areas.tabs);
    };
    at(&mut screen, &state, LEFT, middle(place));
    let seen = drawn(&mut screen, (40, 20), Some(&state));
    for tab in TabKind::ALL {
        assert!(seen.contains(tab.title()), "{seen}");
    }
    let (place, _) = screen.hit_areas.choices[3];
    // The first click points, the second one shows.
    at(&mut screen, &state, LEFT, middle(place));
    drawn(&mut screen, (40, 20), Some(&state));
    at(&mut screen, &state, LEFT, middle(place));
    assert_eq!(screen.tabs.view.shown, TabKind::Log);
    assert!(screen.dialogs.own.is_none());
    // It takes the place of a text in front, and of no other dialog.
    press_at(&mut screen, (40, 20), Some(&state), &["?"]);
    drawn(&mut screen, (40, 20), Some(&state));
    let name = screen.hit_areas.tabs[0].0;
    at(&mut screen, &state, LEFT, middle(name));
    let own = screen.dialogs.own.take();
    assert!(!screen.overlays.covers_tab() && own.is_some_and(|own| own.id == "views"));
    screen.dialogs.own = Some(confirmations::cancel_run());
    drawn(&mut screen, (40, 20), Some(&state));
    at(&mut screen, &state, LEFT, middle(name));
    let own = screen.dialogs.own.as_ref();
    assert!(own.is_some_and(|own| own.id != "views"));
}

#[test]
fn the_words_of_the_mode_line_are_clicked() {
    let state = running(Phase::WritePlan, TurnPurpose::WritePlan);
    let talk = super::world::state(Phase::RefineGoal);
    for (state, word, wanted) in [
        (&state, "Ask", "Event(ModeChanged { mode: AutoEdit })"),
        // While an agent works, it asks for a second press, as its key.
        (&state, "Manual", "a word"),
        (&talk, "Manual", "Event(GateChanged { gate: Auto })"),
        (&talk, "Planner", "Event(RefinerChosen"),
    ] {
        let mut screen = super::world::screen();
        screen.on_time(super::world::NOW);
        let seen = drawn(&mut screen, SIZE, Some(state));
        let mut rows = seen.lines().enumerate();
        let is_mode_line = |row: &&str| row.contains(" Ask ") && row.contains(" Manual");
        let (y, row) = rows
            .find(|(_, row)| is_mode_line(row))
            .expect("the mode line");
        let x = row[..row.find(word).unwrap()].chars().count() + 1;
        let at = (u16::try_from(x).unwrap(), u16::try_from(y).unwrap());
        let done = clicked(&mut screen, Some(state), at);
        assert!(done.contains(wanted), "{word}: {done}");
    }
    // Behind a text they do nothing, as their keys.
    let mut screen = super::world::screen();
    press_at(&mut screen, SIZE, Some(&talk), &["<esc>", "v"]);
    drawn(&mut screen, SIZE, Some(&talk));
    assert!(screen.overlays.covers_tab());
    let mut buttons = screen.hit_areas.buttons.iter();
    assert!(buttons.all(|(_, does)| *does != ScreenCommand::AutoGate));
}

#[test]
fn the_wheel_moves_what_lies_below_it_by_some_lines_and_back() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let size = (170, 30);
    for tab in [TabKind::Chat, TabKind::Plan] {
        let mut screen = long(&state, size);
        screen.show_tab(tab);
        drawn(&mut screen, size, Some(&state));
        let body = screen.hit_areas.body;
        let before = rows(&mut screen, &state, size, body);
        // The chat starts at its end, a document at its beginning.
        let (on, back) = match tab {
            TabKind::Chat => (MouseEventKind::ScrollUp, MouseEventKind::ScrollDown),
            _ => (MouseEventKind::ScrollDown, MouseEventKind::ScrollUp),
        };
        // The first step away from the end adds a row with the scroll hint.
        at(&mut screen, &state, on, middle(body));
        let once = rows(&mut screen, &state, size, body);
        assert_ne!(once, before, "{tab:?}");
        at(&mut screen, &state, on, middle(body));
        let twice = rows(&mut screen, &state, size, body);
        // Blank rows between blocks are alike, so only rows with text are compared.
        let said = |rows: &[String]| -> Vec<String> {
            let rows = rows[..rows.len() - 1]
                .iter()
                .map(|row| row.trim().to_owned());
            rows.filter(|row| !row.is_empty()).collect()
        };
        let (once, twice) = (said(&once), said(&twice));
        let (upper, lower) = match tab {
            TabKind::Chat => (&twice, &once),
            _ => (&once, &twice),
        };
        let moved = upper.iter().position(|row| Some(row) == lower.first());
        assert!(
            moved.is_some_and(|moved| (1..=3).contains(&moved)),
            "{tab:?}: {upper:#?}, {lower:#?}"
        );
        let mut picture = Vec::new();
        for _ in 0..3 {
            at(&mut screen, &state, back, middle(body));
            picture = rows(&mut screen, &state, size, body);
        }
        // The last row shows the position.
        let n = picture.len() - 1;
        assert_eq!(picture[..n], before[..n], "{tab:?}");
    }
}

#[test]
fn the_wheel_over_the_second_pane_moves_that_one_alone() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let size = (200, 30);
    let mut screen = long(&state, size);
    let body = screen.hit_areas.body;
    let (side, _) = screen.tabs.view.side_area.unwrap();
    let chat = rows(&mut screen, &state, size, body);
    let beside = rows(&mut screen, &state, size, side);
    at(
        &mut screen,
        &state,
        MouseEventKind::ScrollDown,
        middle(side),
    );
    assert_eq!(rows(&mut screen, &state, size, body), chat);
    assert_ne!(rows(&mut screen, &state, size, side), beside);
    at(&mut screen, &state, MouseEventKind::ScrollUp, middle(side));
    let back = rows(&mut screen, &state, size, side);
    // The last row shows the position.
    let n = back.len() - 1;
    assert_eq!(back[..n], beside[..n]);
    at(&mut screen, &state, MouseEventKind::ScrollUp, middle(body));
    assert_ne!(rows(&mut screen, &state, size, body), chat);
    assert_eq!(rows(&mut screen, &state, size, side), back);
}

#[test]
fn the_board_is_clicked_and_the_wheel_moves_in_it() {
    let state = super::discussion::by_vote();
    let size = (80, 18);
    let mut screen = awake(Some(&state), |screen| {
        screen.perform_command(super::discussion::BOARD, Some(&state));
    });
    let before = drawn(&mut screen, size, Some(&state));
    let body = screen.hit_areas.body;
    let wheels = [MouseEventKind::ScrollDown, MouseEventKind::ScrollUp];
    let moves = wheels.map(|wheel| {
        at(&mut screen, &state, wheel, middle(body));
        drawn(&mut screen, size, Some(&state)) != before
    });
    assert!(moves.contains(&true), "the wheel moves nothing:\n{before}");
    let picture = drawn(&mut screen, size, Some(&state));
    // Some row shows another message, which a click selects.
    let is_pointed = (body.y..body.y + body.height).any(|row| {
        at(&mut screen, &state, LEFT, (body.x + 6, row));
        drawn(&mut screen, size, Some(&state)) != picture
    });
    assert!(is_pointed, "no click on the board points at anything");
}

/// Returns the place of the first of these words that is drawn in an area.
fn place_of(picture: &str, words: &str, area: Rect) -> (u16, u16) {
    let rows = picture.lines().zip(0u16..);
    let found = rows.into_iter().find_map(|(line, row)| {
        let at = line.find(words)?;
        let column = u16::try_from(crate::tui::text_wrap::text_width(&line[..at])).unwrap();
        area.contains((column, row).into()).then_some((column, row))
    });
    found.unwrap_or_else(|| panic!("no {words} in\n{picture}"))
}

#[test]
fn a_section_of_the_sidebar_opens_its_tab_and_a_file_the_diff_at_that_file() {
    let mut state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let files = ["calc.py", "run.sh"];
    for record in state.execution.iter_mut().flat_map(|it| &mut it.done) {
        record.changed = files.map(str::to_owned).to_vec();
    }
    let size = (160, 45);
    let sidebar = Rect::new(120, 0, 40, 45);
    for (heading, tab) in [
        ("Goal", TabKind::Chat),
        ("Plan", TabKind::Plan),
        ("Findings", TabKind::Comments),
        ("Agents", TabKind::Status),
    ] {
        let mut screen = awake(Some(&state), |_| ());
        let first = if tab == TabKind::Chat {
            TabKind::Plan
        } else {
            TabKind::Chat
        };
        screen.perform_command(ScreenCommand::Show(first), Some(&state));
        drawn(&mut screen, size, Some(&state));
        let picture = drawn(&mut screen, size, Some(&state));
        at(
            &mut screen,
            &state,
            LEFT,
            place_of(&picture, heading, sidebar),
        );
        assert_eq!(screen.tabs.view.focused(), tab, "{heading}");
    }
    let patch = files.map(|name| {
        format!("diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-a\n+b\n")
    });
    let patch = UnifiedDiff::parse(&patch.concat());
    for file in files {
        let mut screen = awake(Some(&state), |_| ());
        let picture = drawn(&mut screen, size, Some(&state));
        // Above, a step names one of them.
        let place = place_of(&picture, file, Rect::new(120, 15, 40, 30));
        let actions = at(&mut screen, &state, LEFT, place);
        assert_eq!(actions, [Action::ShowDiff(DiffScope::All)]);
        let found = DiffLookup::Changes(patch.clone());
        screen.on_diff(DiffScope::All, vec![DiffScope::All], found);
        let picture = drawn(&mut screen, size, Some(&state));
        assert!(picture.contains(&format!(" {file} · ")), "{picture}");
        // The list of files takes clicks too.
        for (n, listed) in files.iter().enumerate() {
            let picture = drawn(&mut screen, size, Some(&state));
            let place = place_of(&picture, listed, Rect::new(0, 2, 40, 20));
            at(&mut screen, &state, LEFT, place);
            let picture = drawn(&mut screen, size, Some(&state));
            let position = format!("{listed} · {} of 2", n + 1);
            assert!(picture.contains(&position), "{position}:\n{picture}");
        }
    }
}

#[test]
fn the_wheel_goes_through_a_dialog_of_more_choices_than_rows() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let size = (80, 12);
    let run = |n: usize| RunListEntry {
        name: n.to_string(),
        date: "2026-11-21".to_owned(),
        ended: "DONE".to_owned(),
        about: "it".to_owned(),
        progress: String::new(),
        short_result: String::new(),
        completion: crate::tui::RunCompletion::Complete,
    };
    let runs: Vec<RunListEntry> = (0..10).map(run).collect();
    let mut screen = awake(Some(&state), |screen| screen.show_run_history(&runs));
    drawn(&mut screen, size, Some(&state));
    let sheet = screen.pending_dialog(Some(&state)).unwrap();
    let place = screen.hit_areas.dialog;
    let first = screen.dialogs.chosen_choice(&sheet);
    at(
        &mut screen,
        &state,
        MouseEventKind::ScrollDown,
        middle(place),
    );
    assert_eq!(screen.dialogs.chosen_choice(&sheet), first + 1);
    at(&mut screen, &state, MouseEventKind::ScrollUp, middle(place));
    assert_eq!(screen.dialogs.chosen_choice(&sheet), first);
}

#[test]
fn a_click_into_the_composer_lets_the_user_write() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let mut screen = long(&state, (100, 30));
    assert_eq!(screen.composer.focus, ComposerFocus::Unfocused);
    let place = screen.hit_areas.composer;
    at(&mut screen, &state, LEFT, middle(place));
    assert_eq!(screen.composer.focus, ComposerFocus::Focused);
}

/// Returns the places with a dialog, each on a screen where the dialog was visible long enough and has the
/// focus.
fn dialogs() -> impl Iterator<Item = (Place, ChoiceDialog)> {
    places().into_iter().filter_map(|place| {
        let mut screen = opened(&place);
        screen.composer.leave_to_view();
        let lies_over = !screen.overlays.is_empty();
        let sheet = screen
            .pending_dialog(place.state())
            .filter(|_| !lies_over)?;
        Some((place, sheet))
    })
}

fn opened(place: &Place) -> Screen {
    let mut screen = awake(place.state(), |screen| place.open(screen));
    drawn(&mut screen, SIZE, place.state());
    screen
}

/// Returns the result of a click.
fn clicked(screen: &mut Screen, state: Option<&RunState>, (column, row): (u16, u16)) -> String {
    let event = MouseEvent {
        kind: LEFT,
        column,
        row,
        modifiers: KeyModifiers::NONE,
    };
    outcome(screen, state, |screen| screen.on_mouse(event, state))
}

fn pressed(screen: &mut Screen, state: Option<&RunState>, key: KeyChord) -> String {
    let event = KeyEvent::new(key.code, key.modifiers);
    outcome(screen, state, |screen| screen.on_key(event, state))
}

#[test]
fn a_choice_of_any_dialog_is_pointed_at_by_a_click_and_taken_by_one_on_what_is_pointed_at() {
    let enter = KeyChord::parse_label("Enter").unwrap();
    let mut n_choices = 0;
    for (place, sheet) in dialogs() {
        let state = place.state();
        for at in 0..sheet.choices.len() {
            let mut screen = opened(&place);
            screen.composer.leave_to_view();
            drawn(&mut screen, SIZE, state);
            let spot = screen.hit_areas.choices.iter().find(|(_, of)| *of == at);
            let Some(spot) = spot.map(|(spot, _)| middle(*spot)) else {
                continue;
            };
            n_choices += 1;
            let name = format!("{}: {}", place.name(), sheet.choices[at].label);
            if screen.dialogs.chosen_choice(&sheet) != at {
                let told = clicked(&mut screen, state, spot);
                // Themes are previewed as soon as they are selected.
                let told = told.replace(&format!("theme {}; ", screen.theme().name()), "");
                assert_eq!(told, format!("chosen {at}"), "{name}");
            }
            let mut other = opened(&place);
            other.composer.leave_to_view();
            other.point_at_choice(&sheet, at);
            let by_key = pressed(&mut other, state, enter);
            assert_eq!(clicked(&mut screen, state, spot), by_key, "{name}");
        }
    }
    assert!(n_choices > 150, "{n_choices}");
}

#[test]
fn nothing_that_gives_something_up_is_pointed_at_first() {
    let gives_up = [
        "Cancelled",
        "Stopped",
        "answer: Stop ",
        "Archive",
        "Quit(",
        "Discard",
        "Overwrite",
        "Redo",
        "Revoke",
        "StopChild",
        "UndoAsked",
        "PlanEntered",
    ];
    for (place, sheet) in dialogs() {
        let mut screen = opened(&place);
        screen.composer.leave_to_view();
        drawn(&mut screen, SIZE, place.state());
        let Some((spot, _)) = screen
            .hit_areas
            .choices
            .iter()
            .find(|(_, of)| *of == sheet.first_choice)
        else {
            continue;
        };
        let spot = middle(*spot);
        let told = clicked(&mut screen, place.state(), spot);
        let lost = gives_up.iter().find(|word| told.contains(**word));
        assert!(lost.is_none(), "{}: {told}", place.name());
    }
}

#[test]
fn a_hint_does_what_its_key_does_in_every_place() {
    let mut found = std::collections::BTreeSet::new();
    for place in places() {
        let state = place.state();
        let hints = opened(&place).hit_areas.hints;
        for (at, key) in hints {
            found.insert(key.label());
            let mut by_key = opened(&place);
            let mut by_click = opened(&place);
            // A letter named beside a text field is not part of the text.
            if key.is_printable() && by_key.overlays.has::<SearchBar>() {
                continue;
            }
            if key.is_printable() && by_key.composer.focus == ComposerFocus::Focused {
                by_key.composer.leave_to_view();
                by_click.composer.leave_to_view();
            }
            // A line of the help describes what is under the help.
            if by_key
                .overlays
                .find()
                .is_some_and(|it: &TextPager| it.is_help_at(middle(at).into()))
            {
                continue;
            }
            let wanted = pressed(&mut by_key, state, key);
            let told = clicked(&mut by_click, state, middle(at));
            assert_eq!(told, wanted, "{}: {} at {at:?}", place.name(), key.label());
        }
    }
    for name in ["Enter", "Esc", "↑", "↓", "I", "/", "F6", "\\"] {
        assert!(found.contains(name), "no place names {name}: {found:?}");
    }
}

#[test]
fn what_an_agent_says_of_keys_is_no_hint() {
    let mut state = super::world::approving(&["npm install (Y allows it) · Y allows"]);
    state.approvals[0].reason = Some("Y allows it (Y allows it)  Y allows".to_owned());
    let mut screen = awake(Some(&state), |_| {});
    let picture = drawn(&mut screen, SIZE, Some(&state));
    assert!(picture.contains("Y allows it"), "{picture}");
    let mut hints = screen.hit_areas.hints.iter();
    assert!(hints.all(|(_, key)| key.label() != "Y"));
}

#[test]
fn a_click_on_the_word_that_the_user_is_waited_for_goes_there() {
    let state = super::world::approving(&["npm install left-pad"]);
    for size in [(100, 30), (40, 12)] {
        let mut screen = awake(Some(&state), |screen| screen.show_tab(TabKind::Status));
        drawn(&mut screen, size, Some(&state));
        let place = screen.hit_areas.need;
        assert!(place.width >= 13, "{size:?}: {place:?}");
        at(&mut screen, &state, LEFT, middle(place));
        assert_eq!(screen.tabs.view.shown, TabKind::Chat);
    }
}

#[test]
fn whatever_a_frame_says_takes_clicks_has_a_test() {
    // A new hit area does not compile here until it is handled; the tests in `look` cover the palette, the
    // footer, the strip, completions, choices, lines, findings and events.
    let ScreenHitAreas {
        body: _,
        window_columns: _,
        has_sidebar: _,
        composer_spacing: _,
        welcome: _,
        composer: _,
        tabs: _,
        dialog: _,
        is_dialog_folded: _,
        choices: _,
        completion: _,
        runs: _,
        buttons: _,
        footer_commands: _,
        hints: _,
        need: _,
    } = ScreenHitAreas::default();
}

#[test]
fn keys_that_a_word_names_are_clicked_and_those_that_an_agent_names_are_not() {
    let mut screen = awake(None, |_| {});
    screen.show_toast_with_keys("not now · Esc closes it");
    drawn(&mut screen, SIZE, None);
    let names = |screen: &Screen| {
        let at_the_end = |(place, _): &&(Rect, KeyChord)| place.y + 1 == SIZE.1;
        let hints = screen.hit_areas.hints.iter().filter(at_the_end);
        hints.map(|(_, key)| key.label()).collect::<Vec<_>>()
    };
    assert_eq!(names(&screen), ["Esc"]);
    screen.show_toast("Copied: · Y allows it");
    drawn(&mut screen, SIZE, None);
    assert_eq!(names(&screen), [""; 0]);
    // The same word in another toast is plain text, not a clickable key.
    screen.show_toast("F3 switches back");
    drawn(&mut screen, SIZE, None);
    assert_eq!(names(&screen), [""; 0]);
}

#[test]
fn a_key_in_a_line_of_the_help_does_what_it_does_below_the_help() {
    let state = super::world::running(
        crate::domain::phase::Phase::Review,
        crate::domain::turn::TurnPurpose::Review,
    );
    let mut screen = awake(Some(&state), |_| {});
    screen.composer.leave_to_view();
    super::world::press(&mut screen, Some(&state), &["?"]);
    let mut clicked_at = None;
    for _ in 0..20 {
        drawn(&mut screen, SIZE, Some(&state));
        let hints = screen.hit_areas.hints.iter();
        let mut autos = hints.filter(|(_, key)| key.label() == "A");
        if let Some((place, _)) = autos.next() {
            clicked_at = Some(middle(*place));
            break;
        }
        super::world::press_at(&mut screen, SIZE, Some(&state), &["<pgdn>"]);
    }
    let actions = at(&mut screen, &state, LEFT, clicked_at.unwrap());
    assert_eq!(
        format!("{actions:?}"),
        "[Event(GateChanged { gate: Auto })]"
    );
    assert!(!screen.overlays.has::<TextPager>());
}
