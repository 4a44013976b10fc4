//! Tests of text input and its aids: completions, pastes, the queue, the palette.

use super::pictures::{check, not_writing};
use crate::tui::command_palette::CommandPalette;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::world::{NOW, drawn, press, press_at, running, screen, settings, state};
use crate::domain::phase::Phase;
use crate::domain::question::{AgentQuestion, QuestionKind};
use crate::domain::run::RunState;
use crate::domain::turn::TurnPurpose;
use crate::tui::command_table::all_rows;
use crate::tui::keymap::ComposerFocus;
use crate::tui::{Action, Screen};

fn talking() -> RunState {
    running(
        Phase::RefineGoal,
        TurnPurpose::RefineGoal {
            said: String::new(),
            by: crate::domain::turn::Role::Planner,
        },
    )
}

/// Presses keys in the focused composer and checks its text.
fn check_text(screen: &mut Screen, keys: &[&str], wanted: &str) {
    screen.composer.focus = ComposerFocus::Focused;
    press(screen, None, keys);
    assert_eq!(screen.composer.editor.text(), wanted, "{keys:?}");
}

fn files() -> Vec<String> {
    let names = [
        "src/main.rs",
        "src/tui/composer.rs",
        "文档/设计 说明.md",
        "README.md",
        "tests/🎉.rs",
    ];
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn commands_are_offered_by_a_few_letters_and_filled_in_by_a_key() {
    check_text(&mut screen(), &["/appr", "<tab>"], "/approve");
    check_text(&mut screen(), &["/goa", "<enter>"], "/goal ");
    check_text(&mut screen(), &["/tabpl", "<tab>"], "/tab plan");
    check_text(&mut screen(), &["/go", "<down>", "<tab>"], "/goal ");
    // The first Esc closes the completions and keeps the text; the next one leaves the composer.
    let mut screen = screen();
    check_text(&mut screen, &["/go", "<esc>"], "/go");
    assert_eq!(screen.composer.focus, ComposerFocus::Focused);
    check_text(
        &mut Screen::new(settings()),
        &["/usr/bin is a path"],
        "/usr/bin is a path",
    );
}

#[test]
fn the_arrow_stands_at_the_command_that_enter_carries_out() {
    let done = state(Phase::Done);
    let mut screen = screen();
    press(&mut screen, Some(&done), &["/next"]);
    let seen = drawn(&mut screen, (100, 30), Some(&done));
    let row = seen.lines().find(|row| row.contains("▸ /")).unwrap();
    assert_eq!(row.split_whitespace().nth(1), Some("/next"), "{seen}");
    check_text(&mut screen, &["<tab>"], "/next");
}

#[test]
fn a_whole_command_is_carried_out_by_one_enter() {
    let mut screen = screen();
    let actions = press(&mut screen, None, &["/quit", "<enter>"]);
    assert!(
        matches!(actions.as_slice(), [Action::Quit(_)]),
        "{actions:?}"
    );
}

#[test]
fn files_are_asked_for_once_and_offered_by_a_few_letters() {
    let mut screen = Screen::new(settings());
    let actions = press(&mut screen, None, &["look at @", "c"]);
    assert_eq!(actions, [Action::ListFiles]);
    screen.on_repository_files(files());
    check("offer_files", &mut screen, None);
    check_text(
        &mut screen,
        &["omp", "<enter>"],
        "look at @src/tui/composer.rs ",
    );
    check_text(
        &mut screen,
        &["@设", "<tab>"],
        "look at @src/tui/composer.rs @文档/设计 说明.md ",
    );
    check_text(
        &mut screen,
        &["me@ex", "<left>"],
        "look at @src/tui/composer.rs @文档/设计 说明.md me@ex",
    );
}

#[test]
fn what_was_offered_for_another_word_takes_nothing_where_the_cursor_goes() {
    let state = talking();
    let offering = || {
        let mut screen = Screen::new(settings());
        screen.composer.focus = ComposerFocus::Focused;
        press(&mut screen, Some(&state), &["please look at @sr"]);
        screen.on_repository_files(files());
        press(&mut screen, Some(&state), &["c"]);
        assert!(screen.composer.assist.has_completion());
        screen
    };
    let mut screen = offering();
    let place = screen.hit_areas.composer;
    let behind_please = (place.x + 1 + 6, place.y + 1);
    super::look::click(&mut screen, &state, behind_please);
    press(&mut screen, Some(&state), &["<tab>"]);
    let text = screen.composer.editor.text();
    assert!(
        text.starts_with("please") && text.ends_with("@src"),
        "{text}"
    );
    let mut screen = offering();
    screen.return_messages(vec!["it came back".to_owned()]);
    assert!(!screen.composer.assist.has_completion());
}

#[test]
fn a_large_paste_is_one_mark_that_is_whole_or_gone() {
    let mut screen = Screen::new(settings());
    let long: String = (1..=30).map(|n| format!("第{n}行 of it\n")).collect();
    press(&mut screen, None, &["see "]);
    screen.on_paste(&long);
    check("paste", &mut screen, None);
    check_text(&mut screen, &["!"], &format!("see {long}!"));
    check_text(
        &mut screen,
        &["<left>", "<left>", "?"],
        &format!("see ?{long}!"),
    );
    check_text(&mut screen, &["<end>", "<back>", "<back>"], "see ?");
    // Undo and redo treat the paste as a whole, too.
    check_text(&mut screen, &["<c-/>", "<c-/>"], &format!("see ?{long}!"));
    check_text(&mut screen, &["<c-/>", "<c-/>"], &format!("see {long}"));
    check_text(&mut screen, &["<c-/>"], "see ");
    check_text(&mut screen, &["<c-r>"], &format!("see {long}"));
}

#[test]
fn what_is_typed_comes_back_by_words() {
    let mut screen = Screen::new(settings());
    check_text(&mut screen, &["tell me  why not"], "tell me  why not");
    for wanted in ["tell me  why ", "tell me  ", "tell ", "", ""] {
        check_text(&mut screen, &["<c-/>"], wanted);
    }
    check_text(&mut screen, &["<c-r>", "<c-r>"], "tell me  ");
    // New text replaces what could be redone.
    check_text(&mut screen, &["so", "<c-r>"], "tell me  so");
    check_text(&mut screen, &["<c-/>", "<c-/>"], "tell ");
    // Moving the cursor and deleting are undo steps of their own.
    check_text(&mut screen, &["on", "<left>", "x"], "tell oxn");
    check_text(&mut screen, &["<c-/>"], "tell on");
    check_text(
        &mut screen,
        &["<end>", "<back>", "<back>", "<back>", "<back>"],
        "tel",
    );
    check_text(&mut screen, &["<c-/>"], "tell");
    check_text(&mut screen, &["<c-/>"], "tell on");
    // Twenty characters are one undo step where there are no blanks between words.
    let long: String = "中".repeat(25);
    let mut screen = Screen::new(settings());
    check_text(&mut screen, &[&long, "<c-/>"], &"中".repeat(20));
    // Undo does not restore a text that was sent.
    screen.composer.editor.submit_text();
    check_text(&mut screen, &["<c-/>"], "");
}

#[test]
fn a_sign_of_several_characters_is_typed_passed_and_removed_as_one() {
    let mut screen = Screen::new(settings());
    check_text(&mut screen, &["a👩‍👩‍👧e\u{301}b"], "a👩‍👩‍👧e\u{301}b");
    check_text(
        &mut screen,
        &["<left>", "<left>", "<left>", "x"],
        "ax👩‍👩‍👧e\u{301}b",
    );
    check_text(&mut screen, &["<right>", "y"], "ax👩‍👩‍👧ye\u{301}b");
    check_text(&mut screen, &["<del>", "<back>", "<back>"], "axb");
    check_text(&mut screen, &["<c-/>"], "ax👩‍👩‍👧yb");
    check_text(&mut screen, &["<c-/>"], "ax👩‍👩‍👧ye\u{301}b");
    check_text(&mut screen, &["<c-/>"], "ax👩‍👩‍👧e\u{301}b");
    // A key that deletes words deletes whole characters, too.
    let mut screen = Screen::new(settings());
    check_text(&mut screen, &["ab #\u{fe0f}\u{20e3}", "<c-w>"], "ab ");
    let mut screen = Screen::new(settings());
    check_text(
        &mut screen,
        &["ab #\u{fe0f}\u{20e3}x", "<c-a>", "<a-d>", "<a-d>"],
        "x",
    );
    // Up and down stop between characters.
    let mut screen = Screen::new(settings());
    check_text(
        &mut screen,
        &["👩‍👩‍👧👩‍👩‍👧", "<s-enter>", "abc", "<up>", "x"],
        "x👩‍👩‍👧👩‍👩‍👧\nabc",
    );
}

#[test]
fn a_paste_is_taken_whole_or_not_at_all() {
    let mut screen = Screen::new(settings());
    press(&mut screen, None, &["keep this"]);
    screen.on_paste(&"1234567890\n".repeat(200_000));
    assert_eq!(screen.composer.editor.text(), "keep this");
    let told = "Paste of 2.0 MB dropped: it does not fit. The limit is 256 KB. Put it in a file and name that with @.";
    assert_eq!(screen.toast.text.as_deref(), Some(told));
    // A paste that fits the remaining room is accepted, once the earlier paste is gone.
    let most = "x".repeat(200 << 10);
    screen.on_paste(&most);
    check_text(&mut screen, &["<back>", "!"], "keep this!");
    screen.on_paste(&most);
    assert_eq!(screen.composer.editor.text(), format!("keep this!{most}"));
    screen.on_paste(&most);
    assert_eq!(screen.composer.editor.text(), format!("keep this!{most}"));
    assert!(
        screen
            .toast
            .text
            .as_deref()
            .is_some_and(|told| told.starts_with("Paste of 200 KB"))
    );
}

#[test]
fn behind_a_full_row_the_cursor_stands_at_the_beginning_of_the_next_one() {
    for sign in ["中", "x"] {
        let mut screen = Screen::new(settings());
        let cursor = |screen: &mut Screen| {
            let mut terminal = Terminal::new(TestBackend::new(40, 20)).unwrap();
            terminal
                .draw(|frame| screen.draw(frame, None, NOW))
                .unwrap();
            let at = terminal.get_cursor_position().unwrap();
            (at.x, at.y)
        };
        let n = 38 / crate::tui::text_wrap::text_width(sign);
        let (left, bottom) = cursor(&mut screen);
        press_at(&mut screen, (40, 20), None, &[&sign.repeat(n)]);
        // The composer has grown by a row, and the cursor is at the start of that row.
        assert_eq!(cursor(&mut screen), (left, bottom), "{sign}");
        let seen = drawn(&mut screen, (40, 20), None);
        assert!(seen.contains(&sign.repeat(n)), "{seen}");
        press_at(&mut screen, (40, 20), None, &[sign]);
        let one = u16::try_from(crate::tui::text_wrap::text_width(sign)).unwrap();
        assert_eq!(cursor(&mut screen), (left + one, bottom), "{sign}");
        assert_eq!(screen.composer.editor.text(), sign.repeat(n + 1));
        // The same holds in the middle of the text, and drawing changes nothing.
        press_at(&mut screen, (40, 20), None, &["<back>", "<home>", "<end>"]);
        assert_eq!(screen.composer.editor.text(), sign.repeat(n));
    }
}

#[test]
fn the_frame_says_what_enter_does_to_a_command() {
    let mut screen = Screen::new(settings());
    let seen = |screen: &mut Screen| drawn(screen, (100, 24), None);
    press(&mut screen, None, &["/them"]);
    assert!(seen(&mut screen).contains("Enter: insert /theme"));
    press(&mut screen, None, &["e nord"]);
    assert!(seen(&mut screen).contains("Enter: run /theme"));
    for (text, told) in [
        ("/xyz it", "/xyz is not a command"),
        ("/usr/bin is a path", "Planner  codex"),
    ] {
        let mut screen = Screen::new(settings());
        press(&mut screen, None, &[text]);
        let seen = seen(&mut screen);
        assert!(seen.contains(told), "{seen}");
    }
}

#[test]
fn the_cursor_stands_behind_what_is_drawn() {
    let signs = [
        ("👩‍👩‍👧x", 3),
        ("👍🏽x", 3),
        ("❤️x", 3),
        ("1️⃣x", 3),
        ("中e\u{301}🇩🇪한", 7),
    ];
    for (text, columns) in signs {
        let mut screen = Screen::new(settings());
        let x_of = |screen: &mut Screen| {
            let mut terminal = Terminal::new(TestBackend::new(60, 20)).unwrap();
            terminal
                .draw(|frame| screen.draw(frame, None, NOW))
                .unwrap();
            terminal.get_cursor_position().unwrap().x
        };
        press(&mut screen, None, &["a"]);
        let before = x_of(&mut screen);
        screen.on_paste(text);
        assert_eq!(x_of(&mut screen) - before, columns, "{text}");
    }
}

#[test]
fn lines_are_broken_and_edits_are_undone() {
    let mut screen = Screen::new(settings());
    check_text(&mut screen, &["one", "<s-enter>", "二"], "one\n二");
    check_text(&mut screen, &["<back>", "<c-/>"], "one\n二");
}

#[test]
fn what_is_sent_while_an_agent_talks_is_queued_and_said_once_it_is_done() {
    let mut screen = Screen::new(settings());
    let (talking, idle) = (talking(), state(Phase::RefineGoal));
    assert_eq!(
        press(
            &mut screen,
            Some(&talking),
            &["也要 sum", "<enter>", "and more", "<enter>"]
        ),
        []
    );
    check("queued", &mut screen, Some(&talking));
    assert_eq!(screen.drain_due_messages(Some(&talking)), []);
    let said = format!("{:?}", screen.drain_due_messages(Some(&idle)));
    assert_eq!(
        said,
        "[Event(GoalMessageAdded { text: \"也要 sum\\n\\nand more\" })]"
    );
    assert_eq!(screen.drain_due_messages(Some(&idle)), []);
}

#[test]
fn what_was_queued_is_taken_back_or_comes_back() {
    let mut screen = Screen::new(settings());
    press(&mut screen, Some(&talking()), &["one", "<enter>", "<up>"]);
    assert_eq!(screen.composer.editor.text(), "one");
    press(&mut screen, Some(&talking()), &["<enter>", "two"]);
    assert_eq!(
        screen.drain_due_messages(Some(&state(Phase::WritePlan))),
        []
    );
    assert_eq!(screen.composer.editor.text(), "one\n\ntwo");
    assert!(screen.toast.text.is_some());
}

#[test]
fn the_palette_finds_every_action_and_carries_it_out() {
    let mut screen = not_writing();
    let state = state(Phase::Review);
    press(&mut screen, Some(&state), &["<c-p>"]);
    check("palette", &mut screen, Some(&state));
    press(&mut screen, Some(&state), &["thme"]);
    check("palette_found", &mut screen, Some(&state));
    press(&mut screen, Some(&state), &["<enter>"]);
    assert_eq!(
        screen.dialogs.own.as_ref().map(|own| own.id.as_str()),
        Some("themes")
    );
    press(&mut screen, Some(&state), &["<esc>", ":", "中", "<esc>"]);
    assert!(!screen.overlays.has::<CommandPalette>());
    // A command that needs a text goes into the composer, with the cursor behind it.
    press(&mut screen, Some(&state), &["<c-p>", "changes", "<enter>"]);
    assert_eq!(screen.composer.editor.text(), "/changes ");
    assert_eq!(screen.composer.focus, ComposerFocus::Focused);
}

#[test]
fn every_binding_is_in_the_palette() {
    let state = state(Phase::Review);
    for binding in all_rows() {
        let name = binding.slash.to_string();
        let mut screen = not_writing();
        press(&mut screen, Some(&state), &["<c-p>", &name]);
        let seen = drawn(&mut screen, (120, 40), Some(&state));
        let shown = binding.slash.fixed_part();
        assert!(seen.contains(&shown), "{name}\n{seen}");
    }
}

#[test]
fn a_dialog_below_the_palette_is_not_read() {
    let state = super::world::approving(&["ls"]);
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["<c-p>"]);
    assert_eq!(screen.dialogs.drawn, None);
    assert_eq!(press(&mut screen, Some(&state), &["y"]), []);
}

#[test]
fn a_window_is_called_after_what_waits_or_works() {
    let check = |state: Option<&RunState>, title: &str, waits: Option<&str>| {
        let mut screen = Screen::new(settings());
        drawn(&mut screen, (80, 24), state);
        let outside = screen.terminal_status();
        assert_eq!(outside.title, title);
        let asked = outside.alert.as_ref().map(|(_, text)| text.as_str());
        assert_eq!(asked, waits);
    };
    check(None, "calculator: agent-collab", None);
    let talks = "calculator: Planner is reading the goal";
    check(Some(&talking()), talks, None);
    let asks = "Is this the goal?";
    let idle = state(Phase::RefineGoal);
    check(Some(&idle), &format!("? calculator: {asks}"), Some(asks));
}

#[test]
fn a_text_that_has_room_again_in_a_wider_window_is_shown_from_its_beginning() {
    let mut screen = Screen::new(settings());
    let text = "abcdefg".repeat(57);
    press(&mut screen, None, &[text.as_str()]);
    let narrow = drawn(&mut screen, (40, 20), None);
    assert!(narrow.matches("abcdefg").count() < 50, "{narrow}");
    let wide = drawn(&mut screen, (200, 50), None);
    assert!(wide.matches("abcdefg").count() > 50, "{wide}");
}

#[test]
fn what_was_sent_is_gone_through_and_nothing_that_was_written_is_lost() {
    let mut screen = Screen::new(settings());
    screen.set_input_history(vec!["first".to_owned(), "a\nb\nc".to_owned()]);
    check_text(&mut screen, &["draft", "<up>"], "a\nb\nc");
    check_text(&mut screen, &["<up>", "x", "<down>", "y"], "a\nbx\ncy");
    check_text(&mut screen, &["<down>"], "draft");
    check_text(&mut screen, &["<up>"], "a\nbx\ncy");
    check_text(&mut screen, &["<up>", "<up>", "<up>"], "first");
    check_text(&mut screen, &["<down>"], "a\nbx\ncy");
    check_text(&mut screen, &["<down>", "<down>"], "draft");
    check_text(&mut screen, &["<c-/>"], "a\nbx\ncy");
    check_text(&mut screen, &["<c-/>"], "first");
    check_text(&mut screen, &["<down>", "<down>"], "draft");
}

#[test]
fn a_paste_takes_a_word_to_the_user_away_as_a_key_does() {
    let mut screen = Screen::new(settings());
    screen.on_notice("a word");
    screen.on_paste("x");
    assert_eq!(screen.toast.text, None);
}

#[test]
fn what_a_command_takes_is_offered() {
    let mut screen = Screen::new(settings());
    let state = state(Phase::Review);
    press(&mut screen, Some(&state), &["/mode yo", "<tab>"]);
    assert_eq!(screen.composer.editor.text(), "/mode yolo ");
    screen.composer.editor.set_text("");
    press(&mut screen, Some(&state), &["/tab pl", "<enter>"]);
    assert_eq!(screen.composer.editor.text(), "/tab plan ");
    screen.composer.editor.set_text("");
    press(&mut screen, Some(&state), &["/theme da", "<tab>"]);
    assert_eq!(screen.composer.editor.text(), "/theme dark ");
    screen.composer.editor.set_text("");
    press(&mut screen, Some(&state), &["/edit ", "<down>", "<tab>"]);
    assert_eq!(screen.composer.editor.text(), "/edit comments ");
    screen.composer.editor.set_text("");
    // A complete command runs at once.
    press(&mut screen, Some(&state), &["/tab comments", "<enter>"]);
    assert_eq!(
        screen.tabs.view.shown,
        crate::tui::tab_kind::TabKind::Comments
    );
}

#[test]
fn that_not_all_files_were_looked_through_is_said() {
    let mut screen = Screen::new(settings());
    press(&mut screen, None, &["@zebra"]);
    let mut files: Vec<String> = (0..60_000).map(|n| format!("src/{n}.rs")).collect();
    files.push("zebra.rs".to_owned());
    screen.on_repository_files(files.clone());
    assert!(drawn(&mut screen, (80, 24), None).contains("zebra.rs"));
    files.splice(0..0, vec!["x".repeat(64); 600_000]);
    screen.composer.editor.set_text("");
    press(&mut screen, None, &["@"]);
    screen.on_repository_files(files);
    let seen = drawn(&mut screen, (120, 24), None);
    assert!(
        seen.contains("searched the first 400000 of 660001"),
        "{seen}"
    );
}

#[test]
fn what_answers_the_open_question_is_offered_with_what_it_does() {
    use super::world::{asking, questions};
    let offered = |state: Option<&RunState>, typed: &str| {
        let mut screen = screen();
        screen.composer.focus = ComposerFocus::Focused;
        press_at(&mut screen, (120, 40), state, &[typed]);
        let seen = drawn(&mut screen, (120, 40), state);
        let rows = seen.lines().skip_while(|line| !line.contains("answers "));
        let rows = rows.skip(1).take_while(|line| !line.contains('╰'));
        let rows = rows.filter_map(|row| row.split('│').nth(1));
        let rows = rows.map(|row| row.trim_matches([' ', '▸']).to_owned());
        rows.collect::<Vec<String>>()
    };
    let nothing = ["No question is open."];
    assert_eq!(offered(None, "/answer "), nothing);
    assert_eq!(offered(Some(&talking()), "/answer y"), nothing);
    let mut told = String::new();
    for (phase, kind) in questions() {
        let state = asking(phase, kind.clone());
        let rows = offered(Some(&state), "/answer ");
        told.push_str(&format!("{}\n  {}\n", kind.name(), rows.join("\n  ")));
    }
    insta::assert_snapshot!("answers", told);
    // The answers of a single question are offered as well; several questions are answered in the dialog.
    let agents = questions().into_iter();
    let mut agents = agents.filter(|(_, kind)| kind.name() == "question");
    let (phase, mut kind) = agents.next().unwrap();
    if let QuestionKind::Agent { questions, .. } = &mut kind {
        *questions = vec![AgentQuestion::from_labels(
            "Which?",
            vec!["the old one".to_owned(), "a new".to_owned()],
        )];
    }
    let state = asking(phase, kind);
    let rows = offered(Some(&state), "/answer ");
    assert_eq!(
        rows,
        ["the old one", "a new", "dismiss      Let the agent decide"]
    );
    assert_eq!(offered(Some(&state), "/answer the o"), ["the old one"]);
}

#[test]
fn an_answer_is_completed_and_sent_by_two_keys() {
    use super::world::{asking, questions};
    let of = |name: &str| {
        let mut all = questions().into_iter();
        let (phase, kind) = all.find(|(_, kind)| kind.name() == name).unwrap();
        asking(phase, kind)
    };
    let conflict = of("conflict");
    let mut screen = screen();
    screen.composer.focus = ComposerFocus::Focused;
    press(&mut screen, Some(&conflict), &["/answer ", "<enter>"]);
    assert_eq!(screen.composer.editor.text(), "/answer overwrite ");
    let actions = press(&mut screen, Some(&conflict), &["<enter>"]);
    assert!(
        matches!(actions.as_slice(), [Action::Event(_)]),
        "{actions:?}"
    );
    // A complete answer is sent at once; after a colon, more text is expected.
    let actions = press(&mut screen, Some(&conflict), &["/answer merge", "<enter>"]);
    assert!(
        matches!(actions.as_slice(), [Action::Event(_)]),
        "{actions:?}"
    );
    let execute = of("execute");
    press(&mut screen, Some(&execute), &["/answer ch", "<tab>"]);
    assert_eq!(screen.composer.editor.text(), "/answer changes:");
}

#[test]
fn lists_go_round_and_page_by_page() {
    let mut screen = not_writing();
    let chosen = |screen: &mut Screen| {
        let seen = drawn(screen, (80, 24), None);
        let row = seen.lines().find(|line| line.contains("│ ▸ ")).unwrap();
        let name = row.split("│ ▸ ").nth(1).unwrap();
        name.split("  ").next().unwrap().to_owned()
    };
    press(&mut screen, None, &["<c-p>", "e"]);
    let first = chosen(&mut screen);
    press(&mut screen, None, &["<up>"]);
    let last = chosen(&mut screen);
    assert_ne!(last, first);
    press(&mut screen, None, &["<home>"]);
    assert_eq!(chosen(&mut screen), first);
    press(&mut screen, None, &["<end>"]);
    assert_eq!(chosen(&mut screen), last);
    press(&mut screen, None, &["<down>"]);
    assert_eq!(chosen(&mut screen), first);
    press(&mut screen, None, &["<pgdn>"]);
    let paged = chosen(&mut screen);
    assert!(paged != first && paged != last);
    press(&mut screen, None, &["<pgup>"]);
    assert_eq!(chosen(&mut screen), first);
    press(&mut screen, None, &["<esc>", "/theme", "<enter>", "<end>"]);
    let own = drawn(&mut screen, (80, 40), None);
    assert_eq!(screen.theme().name(), "none", "{own}");
    press(&mut screen, None, &["<home>", "<up>"]);
    assert_eq!(screen.theme().name(), "none");
    press(&mut screen, None, &["<down>"]);
    assert_eq!(screen.theme().name(), "terminal");
    // `Home` belongs to the text while the user writes.
    press(&mut screen, None, &["<esc>"]);
    screen.composer.focus = ComposerFocus::Focused;
    check_text(&mut screen, &["/go", "<up>", "<home>", "x"], "x/go");
}

#[test]
fn the_frame_of_what_is_offered_names_what_enter_does() {
    let state = state(Phase::Review);
    for (typed, says, left) in [
        ("/goa", "commands · Tab completes ·", "/goal "),
        ("/permissions", "commands · Tab completes ·", ""),
        ("/find", "commands · Tab completes ·", ""),
        (
            "/theme dar",
            "arguments · Tab or Enter inserts one ·",
            "/theme dark ",
        ),
        (
            "/theme dark",
            "arguments · Enter sends the line · Tab inserts one ·",
            "",
        ),
    ] {
        let mut screen = Screen::new(settings());
        press(&mut screen, Some(&state), &[typed]);
        let seen = drawn(&mut screen, (80, 24), Some(&state));
        assert!(seen.contains(says), "{typed}: {seen}");
        press(&mut screen, Some(&state), &["<enter>"]);
        assert_eq!(screen.composer.editor.text(), left, "{typed}");
    }
    let mut screen = Screen::new(settings());
    press(&mut screen, Some(&state), &["/go", "<down>"]);
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(seen.contains("Enter: insert /goal"), "{seen}");
}
