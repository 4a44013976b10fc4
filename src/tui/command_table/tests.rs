//! Every reader of the table shows every row, and a new row is all that a new command needs.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::command_conditions::{CommandContext, run_exists};
use super::command_row::{CommandEffect, key_command};
use super::{
    CommandGroup, CommandRow, EXAMPLES, GROUPS, SlashArgument, all_rows, changes_run,
    command_manual, find_row, parse_slash_command,
};
use crate::domain::phase::Phase;
use crate::tui::command_table::slash_parser::CommandParseError;
use crate::tui::keymap::{ActiveKeymap, KeyContext, alt_key};
use crate::tui::read_only::{OwnerActivity, ReadOnlyStatus};
use crate::tui::tests::world::{drawn, press, state};
use crate::tui::{Screen, ScreenSettings};

thread_local! {
    static ADDED: Cell<Option<&'static CommandRow>> = const { Cell::new(None) };
}

/// Returns the row that a test of this thread has added to the table.
pub fn added_row() -> Option<&'static CommandRow> {
    ADDED.get()
}

static PRAISE: CommandRow = key_command(
    "/praise",
    &[alt_key('d')],
    KeyContext::OutsideComposer,
    CommandEffect::Call(|screen, who, _| screen.show_toast(&format!("Well done, {who}!"))),
    "Praise an agent",
)
.named("praise-agent")
.with_argument(SlashArgument::Optional(&["planner", "reviewer"]))
.hint(1, "praise")
.unless(run_exists)
.changes_run();

/// Returns what a fresh screen of this height shows after these keys.
fn shown_after(keys: &[&str], height: u16) -> String {
    let state = state(Phase::Review);
    let mut screen = Screen::new(ScreenSettings::default());
    press(&mut screen, Some(&state), keys);
    drawn(&mut screen, (160, height), Some(&state))
}

#[test]
fn a_new_row_is_all_that_a_new_command_needs() {
    ADDED.set(Some(&PRAISE));
    let name = "/praise [planner|reviewer]";
    for (reader, keys, wanted) in [
        ("help", &["<esc>", "?"][..], name),
        (
            "palette by its letters",
            &["<c-p>", "prais"],
            "Praise an agent",
        ),
        ("palette by its help", &["<c-p>", "raise an ag"], "Alt+D"),
        ("completion", &["/pr"], name),
        ("completion of the name", &["/prais", "<tab>"], "/praise"),
        ("completion of words", &["/praise re"], "reviewer  Praise"),
        ("footer", &["<esc>"], "Alt+D praise"),
        (
            "hint at a name",
            &["/praize", "<enter>"],
            "Did you mean /praise?",
        ),
        ("what Enter does", &["/praise all"], "Enter: run /praise"),
        ("slash", &["/praise all", "<enter>"], "Well done, all!"),
        ("key", &["<esc>", "<a-d>"], "Well done, !"),
    ] {
        let seen = shown_after(keys, 240);
        assert!(seen.contains(wanted), "{reader}:\n{}", seen.trim_end());
    }
    let toml = ActiveKeymap::default().to_toml();
    assert!(toml.contains("praise-agent = \"alt+d\""), "{toml}");
    let manual = command_manual();
    let program = manual.last().unwrap();
    assert_eq!(
        program
            .entries
            .last()
            .map(|entry| (&*entry.names, &*entry.keys, entry.help)),
        Some((name, "Alt+D", "Praise an agent"))
    );
    let command = parse_slash_command("/praise").unwrap();
    let mut read_only = Screen::new(ScreenSettings {
        read_only: Some(ReadOnlyStatus {
            badge: String::new(),
            reason: "finished run".to_owned(),
            owner_activity: OwnerActivity::Idle,
            resumable_run: None,
        }),
        ..ScreenSettings::default()
    });
    assert!(read_only.perform_command(command, None).is_empty());
    assert_eq!(
        read_only.toast.text.as_deref(),
        Some("read-only: finished run")
    );
}

#[test]
fn every_reader_has_every_row() {
    let help = shown_after(&["<esc>", "?"], 240);
    let toml = ActiveKeymap::default().to_toml();
    let manual = command_manual();
    let entries: Vec<_> = manual.iter().flat_map(|each| &each.entries).collect();
    for row in all_rows() {
        let names = row.slash_names();
        // Many names need several rows.
        let is_in_help = names.split(", ").all(|name| help.contains(name));
        assert!(is_in_help, "help: {names}");
        assert!(
            entries.iter().any(|entry| entry.names == names),
            "manual: {names}"
        );
        let line = format!("\n{} ", row.name);
        assert!(
            row.name.is_empty() || format!("\n{toml}").contains(&line),
            "{toml}"
        );
        for slash in row.slash_commands() {
            let typed = match slash.argument {
                SlashArgument::Text(_) => format!("{} 1 x", slash.name),
                _ => slash.fixed_part(),
            };
            let command = parse_slash_command(&typed).unwrap();
            assert!(find_row(&command).is_some(), "{typed}");
            let offered = shown_after(&[slash.name], 40);
            assert!(offered.contains(&slash.to_string()), "completion: {slash}");
        }
    }
}

#[test]
fn the_palette_has_room_for_the_words_and_the_name_of_each_command() {
    for row in all_rows() {
        for slash in row.slash_commands() {
            let (title, name) = (row.title_for(slash), slash.fixed_part());
            // Two columns lie before the name, and before the key, which takes nine at most.
            let n_columns = title.chars().count() + 2 + name.len().max(9);
            assert!(n_columns <= 56, "{title} {name}: {n_columns}");
        }
    }
}

#[test]
fn a_name_is_there_once_and_the_rows_of_a_file_are_one_group() {
    let mut names = BTreeSet::new();
    for row in all_rows() {
        // The keys of one slash command can have a row each.
        let is_second_key = ["tab-right"].contains(&row.name);
        for slash in row.slash_commands() {
            assert!(names.insert(slash.name) || is_second_key, "{slash}");
        }
    }
    for (rows, group) in GROUPS.iter().zip(CommandGroup::ALL) {
        assert!(
            rows.iter().all(|row| row.group == group),
            "{}",
            group.label()
        );
    }
}

#[test]
fn rows_of_one_command_agree_on_what_it_may_do() {
    let rights = |row: &CommandRow| {
        let nothing = CommandContext {
            state: None,
            dialog: None,
        };
        (
            row.run_change,
            row.is_safe_in_overlay,
            row.answers_dialog,
            (row.blocker)(&nothing),
        )
    };
    for (example, row) in EXAMPLES.iter() {
        let first = find_row(example).unwrap();
        assert_eq!(rights(first), rights(row), "{} {}", row.name, row.slash);
    }
}

#[test]
fn only_a_text_makes_the_goal_and_a_discussion_change_the_run() {
    for (typed, is_changed) in [
        ("/goal", false),
        ("/goal x", true),
        ("/discuss", false),
        ("/discuss x", true),
        ("/go", true),
        ("/diff", false),
        ("/budget", true),
    ] {
        let command = parse_slash_command(typed).unwrap();
        assert_eq!(changes_run(&command), is_changed, "{typed}");
    }
}

#[test]
fn what_a_row_calls_checks_its_argument_by_its_form() {
    static TEXT: CommandRow = PRAISE.with_argument(SlashArgument::Text("WHO"));
    static CHOICE: CommandRow = PRAISE.with_argument(SlashArgument::Choice(&["one", "two"]));
    for (row, argument, wanted) in [
        (&TEXT, "", Err("Write a text after /praise.")),
        (&TEXT, "all", Ok("all")),
        (&CHOICE, "three", Err("/praise takes one, two")),
        (&CHOICE, "two", Ok("two")),
    ] {
        ADDED.set(Some(row));
        let parsed = parse_slash_command(&format!("/praise {argument}"));
        let wanted = wanted
            .map(|argument| row.parse(argument).unwrap())
            .map_err(|why| CommandParseError::Wrong(why.to_owned()));
        assert_eq!(parsed, wanted);
    }
}
