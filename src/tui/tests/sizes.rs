//! Tests that from 40×12 on, everything that the user needs is visible: each choice of each dialog, and
//! what Enter does.

use crate::tui::command_palette::CommandPalette;
use crate::tui::diff_view::DiffView;
use crate::tui::discussion_board::DiscussionBoard;
use crate::tui::search_bar::SearchBar;
use proptest::prelude::*;

use super::monkey::{Place, places};
use super::world::{drawn, screen};
use crate::tui::Screen;
use crate::tui::keymap::ComposerFocus;
use crate::tui::text_wrap::truncate_to_columns;

/// Returns the dialog of a place at a size; `None` if the place has none.
fn dialog(place: &Place, size: (u16, u16), writing: ComposerFocus) -> Option<(Screen, String)> {
    let mut screen = screen();
    place.open(&mut screen);
    if screen.overlays.has::<CommandPalette>()
        || screen.overlays.has::<SearchBar>()
        || screen.overlays.has::<DiffView>()
        || screen.overlays.has::<DiscussionBoard>()
    {
        return None;
    }
    screen.pending_dialog(place.state())?;
    // What has opened takes the keys; then the user comes back to the composer.
    drawn(&mut screen, size, place.state());
    screen.composer.focus = writing;
    let seen = drawn(&mut screen, size, place.state());
    Some((screen, seen))
}

/// Returns whether the chosen button or a line of a panel says what Enter does.
pub(super) fn says_what_enter_does(seen: &str) -> bool {
    let panel = seen
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("▌"));
    let mut panel = panel.map(str::trim_start);
    panel.any(|line| line.contains('▸') || line.contains("Enter"))
}

/// Checks every dialog; `besides` is the number of rows that its choices cannot use.
fn check(size: (u16, u16), writing: ComposerFocus, besides: u16) -> Result<(), TestCaseError> {
    for place in places() {
        let Some((screen, seen)) = dialog(&place, size, writing) else {
            continue;
        };
        let sheet = screen.pending_dialog(place.state()).unwrap();
        let told = format!("{} at {size:?}, {writing:?}:\n{seen}", place.name());
        prop_assert!(
            says_what_enter_does(&seen),
            "what Enter does is not there: {told}"
        );
        let room = usize::from(size.1.saturating_sub(besides));
        let shown = |n: usize| {
            let choice = &sheet.choices[n];
            let key = choice.key.to_uppercase().to_string();
            let label = truncate_to_columns(&choice.label, 12);
            let label = label.trim_end_matches('…').trim_end();
            let button = format!("{}  {key}", choice.label);
            let with_key =
                |line: &str| line.contains(&format!("{key}  {label}")) || line.contains(&button);
            seen.lines().any(|line| match writing {
                ComposerFocus::Unfocused => with_key(line),
                // While the user writes, the choice's letter would go into the text.
                ComposerFocus::Focused => line.contains(label) && !with_key(line),
            })
        };
        let n_shown = (0..sheet.choices.len()).filter(|n| shown(*n)).count();
        // One row of choices makes room for the question, and two for the two texts that it compares.
        let n_kept = match sheet.side_by_side {
            Some(_) => 2,
            None => usize::from(!sheet.body.is_empty()),
        };
        let is_full = sheet.choices.len() + n_kept > room;
        let room = if is_full { room - n_kept } else { room };
        // If there are more choices than rows, those around the selected one are shown.
        prop_assert!(
            n_shown >= sheet.choices.len().min(room),
            "{n_shown} choices: {told}"
        );
        prop_assert!(
            shown(screen.dialogs.chosen_choice(&sheet)),
            "the chosen one is not there: {told}"
        );
        let title = truncate_to_columns(&sheet.title, 20);
        prop_assert!(seen.contains(title.trim_end_matches('…')), "{told}");
    }
    Ok(())
}

#[test]
fn a_call_says_what_it_is_in_the_smallest_window() {
    let call = places()
        .into_iter()
        .find(|place| place.name() == "call")
        .unwrap();
    for writing in [ComposerFocus::Unfocused, ComposerFocus::Focused] {
        let (_, seen) = dialog(&call, (40, 12), writing).unwrap();
        assert!(seen.contains("npm install left-pad"), "{seen}");
    }
}

#[test]
fn the_smallest_window_shows_every_choice_and_what_enter_does() {
    for writing in [ComposerFocus::Unfocused, ComposerFocus::Focused] {
        check((40, 12), writing, 7).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn so_does_any_larger_one(columns in 40u16..200, rows in 12u16..50, is_writing in any::<bool>()) {
        let writing = if is_writing { ComposerFocus::Focused } else { ComposerFocus::Unfocused };
        // A focused composer has a frame where there is room.
        check((columns, rows), writing, if is_writing { 9 } else { 7 })?;
    }
}

#[test]
fn the_time_of_who_works_is_seen_at_every_width() {
    use super::world::running;
    use crate::domain::phase::{Mode, Phase};
    use crate::domain::turn::{Role, TurnPurpose};
    let refining = TurnPurpose::RefineGoal {
        said: String::new(),
        by: Role::Planner,
    };
    let turns = [
        (Phase::RefineGoal, refining),
        (Phase::WritePlan, TurnPurpose::WritePlan),
        (Phase::Review, TurnPurpose::Review),
        (Phase::Respond, TurnPurpose::Respond),
        (Phase::Execute, TurnPurpose::Fix { n: 2, attempt: 1 }),
    ];
    for (phase, purpose) in turns {
        for mode in [Mode::Default, Mode::AutoEdit] {
            let mut state = running(phase, purpose.clone());
            state.mode = mode;
            for columns in 40..=200 {
                let seen = drawn(&mut screen(), (columns, 12), Some(&state));
                let word = if mode == Mode::AutoEdit {
                    "Auto-edit"
                } else {
                    ""
                };
                assert!(
                    seen.contains(" 0:42") && seen.contains(word),
                    "{columns}: {seen}"
                );
            }
        }
    }
}

#[test]
fn a_call_says_why_it_is_asked_then_what_is_asked_then_what_can_be_said() {
    use crate::permission::{DecisionReason, DecisionSource};
    let mut state = super::world::approving(&["npm install left-pad"]);
    let call = &mut state.approvals[0];
    call.reason = Some("the tests need it".to_owned());
    call.why = Some(DecisionReason {
        stored_source: Some(DecisionSource::Written),
        reason: "it leaves the sandbox".to_owned(),
        rule: "bash \"npm *\" allow".to_owned(),
        origin: "~/.config/agent-collab/config.toml:7".to_owned(),
    });
    let mut screen = screen();
    screen.composer.leave_to_view();
    for size in [(200, 50), (100, 30), (40, 24)] {
        let seen = drawn(&mut screen, size, Some(&state));
        let wanted = [
            "Allow ",
            "Asked because it leaves the",
            "Reason given",
            "npm install left-pad",
            "Allow once",
        ];
        let from = seen.find(wanted[0]).unwrap();
        let places = wanted.map(|text| seen[from..].find(text));
        assert!(places.iter().all(Option::is_some), "{size:?}:\n{seen}");
        assert!(places.is_sorted(), "{size:?}:\n{seen}");
    }
    // The smallest window shows the request and all choices.
    let seen = drawn(&mut screen, (40, 12), Some(&state));
    assert!(seen.contains("npm install left-pad"), "{seen}");
    assert!(seen.contains("▌ Allow "), "{seen}");
    for key in ["Y", "R", "L", "N", "W"] {
        assert!(seen.contains(&format!(" {key}  ")), "{key}:\n{seen}");
    }
}

#[test]
fn what_the_header_counts_is_named_at_every_width() {
    use super::world::running;
    use crate::domain::phase::Phase;
    use crate::domain::turn::TurnPurpose;
    let runs = [
        (Phase::Review, TurnPurpose::Review, "Review"),
        (Phase::Execute, TurnPurpose::Step { n: 2 }, "Execute"),
    ];
    for (phase, purpose, name) in runs {
        let state = running(phase, purpose);
        for columns in 40..=200 {
            let seen = drawn(&mut screen(), (columns, 30), Some(&state));
            let head = seen.lines().take(2).collect::<Vec<&str>>().join("\n");
            assert!(head.contains(name), "{columns}:\n{head}");
            let words: Vec<&str> = head.split([' ', '\n']).collect();
            for pair in words.windows(2) {
                let is_count = |word: &str| {
                    let parts = word.split_once('/');
                    parts.is_some_and(|(n, all)| {
                        n.parse::<u32>().is_ok() && all.parse::<u32>().is_ok()
                    })
                };
                assert!(
                    !is_count(pair[1]) || ["Plan", name].contains(&pair[0]),
                    "{columns}:\n{head}"
                );
            }
        }
    }
}

#[test]
fn what_all_roles_used_is_told_once_wherever_there_is_room() {
    use super::world::running;
    use crate::domain::phase::Phase;
    use crate::domain::turn::TurnPurpose;
    let mut state = running(Phase::Review, TurnPurpose::Review);
    state.planner.usage.cost_micro_usd = Some(120_000);
    let reviewer = state.reviewer.as_mut().unwrap();
    reviewer.usage.input_tokens = 12_000;
    reviewer.usage.cost_micro_usd = Some(1_034_000);
    let told = |columns: u16| {
        let seen = drawn(&mut screen(), (columns, 30), Some(&state));
        let row = seen.lines().find(|line| line.ends_with("Manual"));
        let (_, used) = row
            .and_then(|row| row.split_once("Ask"))
            .unwrap_or_default();
        used.trim_end_matches("Manual").trim().to_owned()
    };
    let mut forms: Vec<String> = (40..=200).map(told).collect();
    forms.dedup();
    let wanted = [
        "",
        "55k tokens · $1.15",
        // The sidebar says it.
        "",
    ];
    assert_eq!(forms, wanted);
    let wide = drawn(&mut screen(), (160, 30), Some(&state));
    let mut rows = wide.lines().map(str::trim_end);
    let agents = |row: &str| row.contains("Agents ") && row.ends_with(" 55k tokens · $1.15");
    assert!(rows.any(agents), "{wide}");
}
