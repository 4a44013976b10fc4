//! Tests of the user's own keys and themes.

use crate::tui::command_palette::CommandPalette;
use crate::tui::diff_view::DiffView;
use crate::tui::pager::TextPager;
use crate::tui::search_bar::SearchBar;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use super::pictures::not_writing;
use super::world::{NOW, drawn, press, running, settings, state};
use crate::domain::diff_scope::DiffScope;
use crate::domain::event::Event;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::run::RunState;
use crate::domain::turn::TurnPurpose;
use crate::tui::SPINNER_STEP;
use crate::tui::command_table::all_rows;
use crate::tui::keymap::ComposerFocus;
use crate::tui::tab_kind::TabKind;
use crate::tui::theme::Surface;
use crate::tui::{
    Action, ActiveKeymap, ColorSupport, ColorTheme, DiffLookup, MissingRequirement, MouseCapture,
    RequirementSeverity, Screen, ScreenAppearance, TerminalBackground, WelcomeInfo, WishedKeys,
};

fn wished(action: &str, key: &str) -> WishedKeys {
    WishedKeys {
        action: action.to_owned(),
        keys: vec![key.to_owned()],
    }
}

fn with(wishes: &[WishedKeys]) -> Screen {
    let mut screen = Screen::new(settings());
    let keymap = ActiveKeymap::with_overrides(wishes).unwrap();
    screen.on_appearance(ScreenAppearance::new(
        keymap,
        Vec::new(),
        ColorSupport::TrueColor,
    ));
    screen.composer.leave_to_view();
    screen
}

#[test]
fn another_key_does_it_and_footer_help_and_palette_show_that_one() {
    let state = running(Phase::Review, TurnPurpose::Review);
    let mut screen = with(&[
        wished("auto", "w"),
        wished("help", "f9"),
        wished("write", "f7"),
    ]);
    assert_eq!(press(&mut screen, Some(&state), &["a"]), []);
    // While an agent works, it asks for the key once more.
    assert_eq!(press(&mut screen, Some(&state), &["w"]), []);
    assert_eq!(press(&mut screen, Some(&state), &["w"]).len(), 1);
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(
        seen.contains("F7 write  Ctrl+P commands  F9 help"),
        "{seen}"
    );
    assert!(seen.contains("F7 to write"), "{seen}");
    let key = KeyEvent::new(KeyCode::F(9), KeyModifiers::NONE);
    screen.on_key(key, Some(&state));
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(seen.contains(" W         /auto"), "{seen}");
    press(&mut screen, Some(&state), &["<esc>", "<c-p>", "auto"]);
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    let row = seen.lines().find(|line| line.contains("Switch to Auto"));
    assert!(row.is_some_and(|row| row.contains("  W   │")), "{seen}");
}

#[test]
fn the_palettes_own_key_closes_it_whichever_it_is() {
    let mut screen = with(&[wished("palette", "f8")]);
    let key = KeyEvent::new(KeyCode::F(8), KeyModifiers::NONE);
    screen.on_key(key, None);
    assert!(screen.overlays.has::<CommandPalette>());
    screen.on_key(key, None);
    assert!(!screen.overlays.has::<CommandPalette>());
}

#[test]
fn what_has_no_key_at_first_can_have_one() {
    let state = state(Phase::Review);
    let mut screen = with(&[wished("theme", "ctrl+t")]);
    press(&mut screen, Some(&state), &["<c-t>"]);
    assert_eq!(
        screen.dialogs.own.as_ref().map(|own| own.id.as_str()),
        Some("themes")
    );
}

#[test]
fn every_action_with_a_key_has_a_name() {
    for binding in all_rows() {
        let slash = binding.slash;
        assert!(
            !binding.name.is_empty() || binding.keys.is_empty(),
            "{slash}"
        );
        // Exceptions: two actions share one slash command, or the binding's name differs from the command; users'
        // configurations have the older name of `/talk`.
        let own = ["show-", "next-tab", "tab-", "page-", "line-", "refiner"];
        let is_own = own.iter().any(|part| binding.name.starts_with(part));
        let typed = slash.name.trim_start_matches('/');
        assert!(
            binding.name.is_empty() || is_own || binding.name == typed,
            "{slash}"
        );
    }
}

#[test]
fn a_theme_of_the_users_own_is_offered_and_shown_and_an_unknown_one_is_refused() {
    let own = ColorTheme::from_fields("mine", [("base", "nord"), ("bad", "#ff8000")].into_iter())
        .unwrap();
    let mut screen = with(&[]);
    screen.on_appearance(ScreenAppearance::new(
        ActiveKeymap::default(),
        vec![own],
        ColorSupport::TrueColor,
    ));
    let actions = press(&mut screen, None, &["/theme mine", "<enter>"]);
    assert_eq!(actions, [Action::KeepTheme("mine".to_owned())]);
    assert_eq!(screen.theme().name(), "mine");
    press(&mut screen, None, &["/theme", "<enter>"]);
    assert!(drawn(&mut screen, (120, 40), None).contains("M  mine"));
    press(&mut screen, None, &["<esc>", "/theme their", "<enter>"]);
    assert_eq!(screen.theme().name(), "mine");
    assert!(
        screen
            .toast
            .text
            .as_ref()
            .is_some_and(|toast| toast.contains("mine"))
    );
}

#[test]
fn a_theme_is_shown_while_the_palette_points_at_it_and_stays_once_it_is_taken() {
    let mut screen = with(&[]);
    let before = screen.theme().name().to_owned();
    press(&mut screen, None, &["<c-p>", "theme nord"]);
    assert_eq!(screen.theme().name(), "nord");
    press(&mut screen, None, &["<esc>"]);
    assert_eq!(screen.theme().name(), before);
    press(
        &mut screen,
        None,
        &["<c-p>", "theme gruv", "<back>", "<enter>"],
    );
    assert_eq!(screen.theme().name(), "gruvbox");
    assert!(!screen.overlays.has::<CommandPalette>());
    assert_eq!(screen.toast.text.as_deref(), Some("Theme gruvbox"));
    press(
        &mut screen,
        None,
        &[
            "<c-p>",
            "theme nord",
            "<back>",
            "<back>",
            "<back>",
            "<back>",
            "<back>",
            "<back>",
            "<back>",
            "<back>",
            "<back>",
            "help",
        ],
    );
    assert_eq!(screen.theme().name(), "gruvbox");
}

#[test]
fn what_was_chosen_on_one_screen_is_shown_on_another() {
    let mut view = with(&[]);
    press(&mut view, None, &["/theme nord", "<enter>"]);
    view.on_key(KeyEvent::new(KeyCode::F(3), KeyModifiers::NONE), None);
    // A theme that is only previewed is not saved.
    press(&mut view, None, &["/theme", "<enter>", "<down>", "<down>"]);
    assert_ne!(view.theme().name(), "nord");
    let mut own = with(&[]);
    let (theme, look) = view.chosen_appearance();
    own.apply_appearance(theme, look);
    assert_eq!(own.theme().name(), "nord");
    assert_eq!(own.mouse_capture(), MouseCapture::Left);
    // An answer of the terminal does not replace it either.
    own.on_background(TerminalBackground([255; 3]));
    assert_eq!(own.theme().name(), "nord");
    // One that is chosen after the answer gets the surfaces that it derives from the answer.
    let mut late = with(&[]);
    late.on_background(TerminalBackground([30; 3]));
    late.on_theme(ColorTheme::from_name("terminal").unwrap());
    assert!(late.theme().has_surface(Surface::Panel));
    let mut fresh = with(&[]);
    fresh.on_background(TerminalBackground([255; 3]));
    assert_eq!(fresh.chosen_appearance().0.name(), "light");
}

#[test]
fn a_theme_that_was_only_pointed_at_goes_with_its_list_whatever_takes_its_place() {
    let works = super::world::running(Phase::Review, crate::domain::turn::TurnPurpose::Review);
    let mut screen = with(&[]);
    let before = screen.theme().name().to_owned();
    let list = ["/theme", "<enter>", "<down>", "<down>"];
    press(&mut screen, Some(&works), &list);
    assert_ne!(screen.theme().name(), before);
    press(&mut screen, Some(&works), &["<c-c>"]);
    assert_eq!(screen.theme().name(), before);
    press(&mut screen, Some(&works), &["n"]);
    screen.on_theme(screen.chosen_appearance().1.theme("nord").unwrap());
    // Closing another dialog restores no theme.
    press(&mut screen, Some(&works), &["<c-c>", "<esc>"]);
    assert_eq!(screen.theme().name(), "nord");
}

#[test]
fn the_mouse_is_left_and_taken_by_a_key() {
    let mut screen = with(&[]);
    assert_eq!(screen.mouse_capture(), MouseCapture::Taken);
    let key = KeyEvent::new(KeyCode::F(3), KeyModifiers::NONE);
    screen.on_key(key, None);
    assert_eq!(screen.mouse_capture(), MouseCapture::Left);
    assert!(drawn(&mut screen, (120, 40), None).contains("F3 switches back"));
    screen.on_key(key, None);
    assert_eq!(screen.mouse_capture(), MouseCapture::Taken);
}

pub(super) fn click(
    screen: &mut Screen,
    state: &crate::domain::run::RunState,
    at: (u16, u16),
) -> Vec<crate::tui::Action> {
    let event = MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column: at.0,
        row: at.1,
        modifiers: KeyModifiers::NONE,
    };
    screen.on_mouse(event, Some(state))
}

/// Returns the position of a text on the screen.
fn find(screen: &mut Screen, state: &crate::domain::run::RunState, text: &str) -> (u16, u16) {
    let seen = drawn(screen, (120, 40), Some(state));
    let mut lines = (0u16..).zip(seen.lines());
    let found = lines.find_map(|(row, line)| Some((line.find(text)?, row)));
    let (bytes, row) = found.unwrap_or_else(|| panic!("{text} is not in\n{seen}"));
    let line = seen.lines().nth(usize::from(row)).unwrap();
    (u16::try_from(line[..bytes].chars().count()).unwrap(), row)
}

#[test]
fn a_click_chooses_and_a_click_on_what_is_chosen_carries_it_out() {
    let state = super::world::approving(&["npm install left-pad"]);
    let mut screen = with(&[]);
    let sheet = screen.pending_dialog(Some(&state)).unwrap();
    let other = (0..sheet.choices.len())
        .find(|at| *at != sheet.first_choice)
        .unwrap();
    let now = |ms: i64| crate::domain::ids::UnixMillis(super::world::NOW.0 + ms);
    screen.on_time(now(0));
    let at = find(&mut screen, &state, &sheet.choices[other].label);
    // It accepts no clicks before the user could have read it.
    assert_eq!(click(&mut screen, &state, at), []);
    assert_eq!(screen.dialogs.chosen_choice(&sheet), sheet.first_choice);
    screen.on_time(now(10_000));
    drawn(&mut screen, (120, 40), Some(&state));
    assert_eq!(click(&mut screen, &state, at), []);
    assert_eq!(screen.dialogs.chosen_choice(&sheet), other);
    let before = format!("{:?}", screen.dialogs.own);
    let actions = click(&mut screen, &state, at);
    let is_done = !actions.is_empty()
        || format!("{:?}", screen.dialogs.own) != before
        || screen.composer.focus == ComposerFocus::Focused;
    assert!(is_done, "{:?}", sheet.choices[other]);
}

#[test]
fn the_palette_is_clicked_and_the_wheel_moves_in_it_and_nothing_below_is_clicked() {
    let state = running(Phase::Review, TurnPurpose::Review);
    let mut screen = with(&[]);
    press(&mut screen, Some(&state), &["<c-p>"]);
    drawn(&mut screen, (120, 40), Some(&state));
    // The composer and the tabs are outside the palette: a click there only closes it.
    assert_eq!(click(&mut screen, &state, (1, 38)), []);
    assert!(
        !screen.overlays.has::<CommandPalette>()
            && screen.composer.focus == ComposerFocus::Unfocused
    );
    press(&mut screen, Some(&state), &["<c-p>", "interrupt"]);
    let at = find(&mut screen, &state, "Interrupt the turn");
    assert_eq!(
        click(&mut screen, &state, at),
        [Action::Event(Event::InterruptRequested)]
    );
    press(&mut screen, Some(&state), &["<c-p>"]);
    let before = drawn(&mut screen, (120, 40), Some(&state));
    let wheel = MouseEvent {
        kind: MouseEventKind::ScrollDown,
        column: 20,
        row: 20,
        modifiers: KeyModifiers::NONE,
    };
    screen.on_mouse(wheel, Some(&state));
    assert_ne!(drawn(&mut screen, (120, 40), Some(&state)), before);
}

/// Returns the rows of the open palette, without frame and keys.
fn palette_rows(screen: &mut Screen, state: &crate::domain::run::RunState) -> Vec<String> {
    let seen = drawn(screen, (120, 80), Some(state));
    let rows = seen.lines().filter_map(|line| {
        let (_, row) = line.split_once('│')?;
        Some(row.split_once('│')?.0.trim_end().to_owned())
    });
    rows.collect()
}

#[test]
fn the_palette_lists_by_what_it_is_about_and_by_nothing_else_once_something_is_typed() {
    let state = running(Phase::Review, TurnPurpose::Review);
    let mut screen = with(&[]);
    screen.show_tab(TabKind::Plan);
    press(&mut screen, Some(&state), &["<c-p>"]);
    let rows = palette_rows(&mut screen, &state);
    let headings = |rows: &[String]| -> Vec<String> {
        let is_one = |row: &&String| row.starts_with("   ") && !row.trim().contains("  ");
        let found = rows.iter().skip(4).filter(is_one);
        let found = found.map(|row| row.trim().to_owned());
        found.filter(|row| !row.contains(" more: ")).collect()
    };
    let groups = ["Now", "View", "Run", "Agents", "Screen"];
    assert_eq!(headings(&rows), groups, "{rows:#?}");
    let n_entries = rows.iter().filter(|row| row.trim().contains("   ")).count();
    assert!((10..=18).contains(&n_entries), "{n_entries} {rows:#?}");
    let is_more = |row: &&String| row.trim().ends_with(" more: type to search");
    assert_eq!(rows.iter().filter(is_more).count(), 1, "{rows:#?}");
    assert!(rows[5].starts_with(" ▸ Interrupt the turn"), "{rows:#?}");
    let at = |rows: &[String], text: &str| rows.iter().position(|row| row.contains(text));
    // What a hand already knows is there only once it is typed.
    assert!(at(&rows, "Find text…").is_some() && at(&rows, "Show Chat").is_none());
    // A command that the user completes is listed as any other, by whether it has an effect now.
    assert!(at(&rows, "/steer").is_some() && at(&rows, "Changes").is_none());
    press(&mut screen, Some(&state), &["show chat"]);
    assert!(at(&palette_rows(&mut screen, &state), "Show Chat").is_some());
    press(&mut screen, Some(&state), &["<c-u>", "interrupt"]);
    let rows = palette_rows(&mut screen, &state);
    assert!(at(&rows, "Now").is_none(), "{rows:#?}");
    press(&mut screen, Some(&state), &["<enter>", "<c-p>"]);
    let rows = palette_rows(&mut screen, &state);
    assert_eq!(rows[4].trim(), "Recently used");
    assert!(rows[5].contains("Interrupt the turn"), "{rows:#?}");
    assert_eq!(rows[7].trim(), "Now");
    // It is listed only once.
    let is_it = |row: &&String| row.contains("Interrupt the turn");
    let n = rows.iter().filter(is_it).count();
    assert_eq!(n, 1, "{rows:#?}");
}

#[test]
fn after_a_run_the_palette_first_offers_what_comes_next() {
    let mut state = state(Phase::Done);
    let mut screen = with(&[]);
    let offers = |screen: &mut Screen, state: &RunState| -> Vec<String> {
        press(screen, Some(state), &["<c-p>"]);
        let rows = palette_rows(screen, state);
        press(screen, Some(state), &["<esc>"]);
        let after = rows.iter().skip_while(|row| row.trim() != "Next").skip(1);
        let offers = after.take_while(|row| !row.trim().is_empty());
        let title = |row: &String| {
            row.trim_start_matches([' ', '▸'])
                .split("   ")
                .next()
                .map(str::to_owned)
        };
        offers.filter_map(title).collect()
    };
    assert_eq!(
        offers(&mut screen, &state),
        ["See the diff", "Undo a step", "Export a report", "New goal"]
    );
    state.phase = Phase::Execute;
    assert!(offers(&mut screen, &state).is_empty());
}

#[test]
fn what_cannot_be_done_now_is_listed_last_and_only_once_letters_are_typed_and_says_why() {
    let state = running(Phase::Review, TurnPurpose::Review);
    let mut screen = with(&[]);
    press(&mut screen, Some(&state), &["<c-p>"]);
    let rows = palette_rows(&mut screen, &state);
    let sends = |row: &String| row.contains("Send the turn");
    assert!(!rows.iter().any(sends), "{rows:#?}");
    press(&mut screen, Some(&state), &["all"]);
    let rows = palette_rows(&mut screen, &state);
    let at = rows.iter().position(|row| row.contains("/allow")).unwrap();
    assert!(rows[at].contains("Allow the waiting request once"));
    assert_eq!(rows[at + 1].trim(), "no request is waiting for you");
    let is_useful = |row: &String| row.contains("Show all keys and commands");
    assert!(rows.iter().position(is_useful).unwrap() < at, "{rows:#?}");
}

#[test]
fn the_help_begins_with_what_is_about_the_tab_and_names_every_command_once() {
    let state = running(Phase::Review, TurnPurpose::Review);
    let mut screen = with(&[]);
    screen.show_tab(TabKind::Comments);
    press(&mut screen, Some(&state), &["?"]);
    let seen = drawn(&mut screen, (140, 240), Some(&state));
    let headings: Vec<&str> = seen
        .lines()
        .filter_map(|line| line.trim().strip_prefix("── "))
        .collect();
    let wanted = [
        "In Comments",
        "The screen",
        "The run",
        "What waits for you",
        "Plan, review and changes",
        "Tasks and discussions",
        "Moving",
        "The view",
        "Writing and copying",
        "The program",
        "Where other keys work",
    ];
    assert_eq!(headings, wanted, "{seen}");
    for binding in all_rows() {
        let names: Vec<String> = binding
            .slash_commands()
            .map(|slash| slash.to_string())
            .collect();
        let names = names.join(", ");
        let n = seen.matches(&format!("  {names}  ")).count();
        assert!(n == 1 || names.len() > 27, "{names} is there {n} times");
    }
}

#[test]
fn the_footer_the_strip_and_what_is_offered_are_clicked() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let mut screen = with(&[]);
    let at = find(&mut screen, &state, "? help");
    assert_eq!(click(&mut screen, &state, at), []);
    assert!(screen.overlays.has::<TextPager>());
    press(&mut screen, Some(&state), &["<esc>", "d"]);
    let scopes = vec![DiffScope::All, DiffScope::Step(1)];
    let nothing = DiffLookup::NoChanges("nothing".to_owned());
    screen.on_diff(DiffScope::All, scopes, nothing);
    let at = find(&mut screen, &state, "All  Step 1");
    assert_eq!(
        click(&mut screen, &state, (at.0 + 6, at.1)),
        [Action::ShowDiff(DiffScope::Step(1))]
    );
    let at = find(&mut screen, &state, "Esc close");
    click(&mut screen, &state, at);
    assert!(!screen.overlays.has::<DiffView>());
    press(&mut screen, Some(&state), &["i", "/theme"]);
    let at = find(&mut screen, &state, "/theme [NAME]");
    click(&mut screen, &state, at);
    assert_eq!(screen.composer.editor.text(), "/theme ");
}

#[test]
fn a_click_points_at_a_line_a_finding_and_an_event() {
    let state = super::world::state(Phase::Review);
    let mut screen = super::world::screen();
    screen.composer.leave_to_view();
    screen.show_tab(TabKind::Plan);
    let at = find(&mut screen, &state, "test sum with an empty list");
    click(&mut screen, &state, at);
    assert!(screen.tabs.plan.view.selected_line().is_some());
    screen.show_tab(TabKind::Comments);
    let at = find(&mut screen, &state, "名称");
    click(&mut screen, &state, at);
    assert_eq!(
        screen
            .tabs
            .comments
            .selection
            .selected_finding(Some(&state)),
        Some(2)
    );
    screen.show_tab(TabKind::Log);
    let at = find(&mut screen, &state, "── events");
    click(&mut screen, &state, (at.0, at.1 + 1));
    assert!(screen.tabs.log.events.selected_event().is_some());
    assert!(!screen.overlays.has::<TextPager>());
    // The details of the selected event take rows of the list.
    let at = find(&mut screen, &state, "── events");
    click(&mut screen, &state, (at.0, at.1 + 1));
    assert!(screen.overlays.has::<TextPager>());
}

#[test]
fn keys_of_views_are_the_users_own_too() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let wishes = [
        wished("close", "f4"),
        wished("close-diff", "z"),
        wished("close-find", "f4"),
    ];
    let mut screen = with(&wishes);
    press(&mut screen, Some(&state), &["?", "q"]);
    assert!(screen.overlays.has::<TextPager>());
    let picture = drawn(&mut screen, (120, 40), Some(&state));
    assert!(picture.contains(" F4 close"));
    let key = KeyEvent::new(KeyCode::F(4), KeyModifiers::NONE);
    screen.on_key(key, Some(&state));
    assert!(!screen.overlays.has::<TextPager>());
    press(&mut screen, Some(&state), &["d", "q"]);
    assert!(drawn(&mut screen, (120, 40), Some(&state)).contains(" Z close"));
    press(&mut screen, Some(&state), &["z"]);
    assert!(!screen.overlays.has::<DiffView>());
    press(&mut screen, Some(&state), &["<c-f>", "a"]);
    assert!(drawn(&mut screen, (120, 40), Some(&state)).contains(" F4 back"));
    screen.on_key(key, Some(&state));
    assert!(!screen.overlays.has::<SearchBar>());
}

#[test]
fn what_was_sent_before_the_program_began_is_called_back() {
    let mut screen = with(&[]);
    screen.set_input_history(vec!["first".to_owned(), "second".to_owned()]);
    press(&mut screen, None, &["i", "third", "<enter>"]);
    assert_eq!(screen.drain_new_inputs(), ["third"]);
    assert_eq!(screen.drain_new_inputs(), [""; 0]);
    for wanted in ["third", "second", "first", "first"] {
        press(&mut screen, None, &["<up>"]);
        assert_eq!(screen.composer.editor.text(), wanted);
    }
}

#[test]
fn whoever_drags_is_told_once_how_text_is_selected() {
    let mut screen = with(&[]);
    let drag = MouseEvent {
        kind: MouseEventKind::Drag(MouseButton::Left),
        column: 9,
        row: 9,
        modifiers: KeyModifiers::NONE,
    };
    screen.on_mouse(drag, None);
    assert!(drawn(&mut screen, (120, 40), None).contains("Hold Shift and drag"));
    press(&mut screen, None, &["<esc>"]);
    screen.on_mouse(drag, None);
    assert!(!drawn(&mut screen, (120, 40), None).contains("hold Shift"));
}

#[test]
fn what_the_first_page_names_already_is_not_said_twice() {
    let mut screen = with(&[]);
    screen.on_welcome(WelcomeInfo {
        missing: vec![MissingRequirement {
            problem: "codex is not on PATH".to_owned(),
            remedy: "install it".to_owned(),
            severity: RequirementSeverity::Blocking,
        }],
        ..WelcomeInfo::default()
    });
    screen.on_start_error("codex is not on PATH\nhint: install it");
    let seen = drawn(&mut screen, (120, 40), None);
    assert_eq!(seen.matches("install it").count(), 1, "{seen}");
    assert!(seen.contains("First fix this (see above): codex is not on PATH"));
    screen.on_start_error("no space left on the disk\nhint: make room");
    assert!(drawn(&mut screen, (120, 40), None).contains("hint: make room"));
}

#[test]
fn each_agent_that_is_ready_has_a_row_where_both_do_not_fit_into_one() {
    let part = |role: &str, text: &str| crate::tui::ReadyPart {
        owner: crate::tui::ReadyOwner::Agents(role.to_owned()),
        text: text.to_owned(),
    };
    let mut screen = with(&[]);
    screen.on_welcome(WelcomeInfo {
        ready: vec![
            part("Planner", "codex 0.169.0"),
            part("Reviewer", "claude 2.1.330"),
        ],
        ..WelcomeInfo::default()
    });
    let narrow = drawn(&mut screen, (40, 20), None);
    for row in ["✓ Planner codex 0.169.0\n", "✓ Reviewer claude 2.1.330\n"] {
        assert!(narrow.contains(row), "{row}\n{narrow}");
    }
    let wide = drawn(&mut screen, (70, 20), None);
    let row = "✓ Planner codex 0.169.0 · Reviewer claude 2.1.330";
    assert!(wide.contains(row), "{wide}");
}

#[test]
fn what_stops_a_run_is_seen_however_few_rows_there_are() {
    let missing = |what: &str, remedy: &str, weight| MissingRequirement {
        problem: what.to_owned(),
        remedy: remedy.to_owned(),
        severity: weight,
    };
    let mut screen = with(&[]);
    screen.on_welcome(WelcomeInfo {
        ready: vec![crate::tui::ReadyPart {
            owner: crate::tui::ReadyOwner::Git,
            text: "nothing else".to_owned(),
        }],
        missing: vec![
            missing("this is in no git repository: no branch, no undo", "`git init` makes one", RequirementSeverity::Degrading),
            missing("codex is not on PATH", "install it: `npm install -g @openai/codex`, then `codex login`; or name it in the configuration", RequirementSeverity::Blocking),
            missing("claude is not on PATH", "install it: `npm install -g @anthropic-ai/claude-code`, then `claude login`; or plan without a reviewer", RequirementSeverity::Blocking),
            missing("git knows no name for commits", "`git config user.name` sets it", RequirementSeverity::Blocking),
        ],
        ..WelcomeInfo::default()
    });
    let names = ["✗ codex is not", "✗ claude is not", "✗ git knows no name"];
    let low = drawn(&mut screen, (40, 12), None);
    assert!(names.iter().all(|name| low.contains(name)), "{low}");
    screen.on_notice("Checking the agents …");
    screen.on_start_error(
        "codex is not on PATH, claude is not on PATH, git knows no name for commits",
    );
    let low = drawn(&mut screen, (40, 12), None);
    assert!(names.iter().all(|name| low.contains(name)), "{low}");
    // Where there is room, the remedies are shown as well.
    let seen = drawn(&mut screen, (80, 24), None);
    let remedies = ["@openai/codex", "claude-code", "user.name", "git init"];
    assert!(remedies.iter().all(|one| seen.contains(one)), "{seen}");
}

#[test]
fn a_word_takes_the_rows_that_it_needs() {
    let mut screen = with(&[]);
    let word = "Paste of 2.0 MB dropped: it does not fit. The limit is 256 KB. Put it in a file and name that with @.";
    let keys = drawn(&mut screen, (80, 24), None);
    screen.show_toast(word);
    for (size, n_rows) in [((120, 40), 1), ((80, 24), 2), ((40, 20), 3), ((40, 12), 3)] {
        let seen = drawn(&mut screen, size, None);
        let rows: Vec<&str> = seen.lines().rev().take(n_rows).collect();
        let told: Vec<&str> = rows
            .iter()
            .rev()
            .flat_map(|row| row.split_whitespace())
            .collect();
        // In one row, hints that have room come after it.
        assert!(told.join(" ").starts_with(word), "{seen}");
    }
    // A toast never takes more than a few rows, and a mark shows that its end was cut.
    screen.show_toast(&"word ".repeat(200));
    let seen = drawn(&mut screen, (80, 24), None);
    let rows = seen.lines().filter(|row| row.contains("word word"));
    assert!(
        rows.count() == 3 && seen.trim_end().ends_with('…'),
        "{seen}"
    );
    screen.toast.text = None;
    assert_eq!(drawn(&mut screen, (80, 24), None), keys);
}

#[test]
fn the_sign_for_work_turns_only_while_it_is_asked_to() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 1 });
    let mut screen = not_writing();
    let sign = |screen: &mut Screen, at: i64| {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        let now = UnixMillis(NOW.0 + at);
        terminal
            .draw(|frame| screen.draw(frame, Some(&state), now))
            .unwrap();
        let buffer = terminal.backend().buffer();
        buffer.cell((1, 23)).unwrap().symbol().to_owned()
    };
    let step = i64::try_from(SPINNER_STEP.as_millis()).unwrap();
    let still: Vec<String> = (0..3).map(|n| sign(&mut screen, n * step)).collect();
    assert_eq!(still, ["◐"; 3]);
    screen.set_spinning(true);
    let turning: Vec<String> = (0..9).map(|n| sign(&mut screen, n * step)).collect();
    assert_eq!(turning[0], turning[8], "{turning:?}");
    let mut known = turning[..8].to_vec();
    known.sort_unstable();
    known.dedup();
    assert_eq!(known.len(), 8, "{turning:?}");
}
