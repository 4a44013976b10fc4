//! Snapshots of every tab and dialog at six sizes.

use super::world::{
    PLAN, approving, asking, drawn, press, questions, running, screen, settings, state,
};
use crate::domain::phase::Phase;
use crate::domain::question::{MergeConflict, QuestionKind};
use crate::domain::run::RunState;
use crate::domain::text_delta::{DeltaChange, TextAuthor, TextDelta};
use crate::domain::turn::{Role, TurnPurpose};
use crate::tui::{
    ConflictVersions, OwnerActivity, ReadOnlyStatus, RunCompletion, RunListEntry, Screen,
};

/// The sizes of a snapshot.
pub const SIZES: [(u16, u16); 6] = [
    (80, 24),
    (120, 40),
    (40, 20),
    (200, 50),
    (40, 12),
    (160, 45),
];

/// Returns the screen at each of the sizes, one below the other.
pub fn at_each_size(screen: &mut Screen, state: Option<&RunState>) -> String {
    let pictures = SIZES.map(|size| {
        let picture = drawn(screen, size, state);
        format!("{}x{}\n{picture}", size.0, size.1)
    });
    pictures.join("\n\n")
}

pub fn check(name: &str, screen: &mut Screen, state: Option<&RunState>) {
    insta::assert_snapshot!(name, at_each_size(screen, state));
}

pub fn not_writing() -> Screen {
    let mut screen = screen();
    screen.composer.leave_to_view();
    screen
}

#[test]
fn tabs_show_what_they_hold() {
    let reviewing = running(Phase::Review, TurnPurpose::Review);
    check("chat", &mut not_writing(), Some(&reviewing));
    let executing = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    for (key, name) in [
        ("2", "plan"),
        ("3", "comments"),
        ("4", "log"),
        ("5", "status"),
    ] {
        let mut screen = not_writing();
        press(&mut screen, Some(&executing), &[key]);
        check(name, &mut screen, Some(&executing));
    }
}

#[test]
fn a_text_that_is_being_written_and_one_that_the_user_writes_are_seen() {
    let mut screen = screen();
    let text = "Now the plan:\n\n- a first line that is long enough to be wrapped at forty columns\n- 中文\nnot yet whole";
    screen.on_delta(TextDelta {
        author: TextAuthor::Role(Role::Planner),
        item: "m".to_owned(),
        change: DeltaChange::Append(text.to_owned()),
    });
    screen.on_paste("我认为空列表应该返回零, and this line goes on until it has to be wrapped in the composer\nsecond line");
    check("writing", &mut screen, Some(&state(Phase::RefineGoal)));
}

#[test]
fn an_empty_start_says_what_to_do() {
    check("start", &mut Screen::new(settings()), None);
    let mut demo = Screen::new(crate::tui::ScreenSettings {
        demo: true,
        ..settings()
    });
    for key in ["2", "3", "4", "5"] {
        press(&mut demo, None, &["<esc>", key]);
        let picture = drawn(&mut demo, (80, 24), None);
        insta::assert_snapshot!(format!("start_{key}"), picture);
    }
}

#[test]
fn a_start_says_what_is_missing_and_what_was_done_before() {
    use crate::tui::{MissingRequirement, ReadyPart, RequirementSeverity, WelcomeInfo};
    let text = |text: &str| text.to_owned();
    let run = |date: &str, ended: &str, about: &str| RunListEntry {
        name: text(date),
        date: text(date),
        ended: text(ended),
        about: text(about),
        progress: text("3 of 3 steps, 3 commits"),
        short_result: match ended {
            "Done" => text("3 of 3 steps"),
            _ => text("unfinished"),
        },
        completion: match ended {
            "Done" => RunCompletion::Done,
            _ => RunCompletion::Complete,
        },
    };
    let mut screen = Screen::new(settings());
    screen.on_welcome(WelcomeInfo {
        ready: vec![ReadyPart {
            owner: crate::tui::ReadyOwner::Agents(text("Reviewer")),
            text: text("claude 2.1.330"),
        }],
        missing: vec![
            MissingRequirement {
                problem: text("codex is not on PATH"),
                remedy: text("install it: `npm install -g @openai/codex`, then `codex login`"),
                severity: RequirementSeverity::Blocking,
            },
            MissingRequirement {
                problem: text("no git repository is here: no branch, no commits, no undo"),
                remedy: text("`git init`, and a first commit"),
                severity: RequirementSeverity::Degrading,
            },
        ],
        runs: vec![
            run("2026-11-21", "Done", "为计算器加入求和 🎉 and a goal that goes on for so long that it has to be cut somewhere"),
            run("Sun", "Done", "Count words"),
            run("2026-11-02", "unfinished in Review", "count\u{1b}[2J words"),
        ],
    });
    check("welcome", &mut screen, None);
    let low = drawn(&mut screen, (80, 24), None);
    assert!(low.contains("Recent runs"), "{low}");
    screen.on_notice("Checking the agents …");
    insta::assert_snapshot!("welcome_notice", drawn(&mut screen, (80, 24), None));
}

#[test]
fn dialogs_say_what_waits_and_what_enter_does() {
    for (phase, kind) in questions() {
        let name = format!("dialog_{}", kind.name());
        let state = asking(phase, kind);
        let mut screen = not_writing();
        let prompt: Vec<String> = (1..=30)
            .map(|n| format!("line {n} of the prompt, 第{n}行"))
            .collect();
        screen.on_prompt_preview(&prompt.join("\n"));
        screen.on_versions(vec![versions()]);
        check(&name, &mut screen, Some(&state));
    }
    let state = approving(&[
        "pip install pytest && rm -rf build # 清理\u{1b}[2J",
        "second",
    ]);
    check("dialog_approval", &mut not_writing(), Some(&state));
    check(
        "dialog_goal",
        &mut not_writing(),
        Some(&self::state(Phase::RefineGoal)),
    );
}

fn looking(elsewhere: OwnerActivity) -> Screen {
    Screen::new(crate::tui::ScreenSettings {
        read_only: Some(ReadOnlyStatus {
            badge: "used by process 4711".to_owned(),
            reason: "used by process 4711, continue there".to_owned(),
            owner_activity: elsewhere,
            resumable_run: None,
        }),
        ..settings()
    })
}

#[test]
fn a_screen_that_only_looks_says_so_and_shows_no_dialog_of_the_run() {
    let (phase, gate) = questions().swap_remove(0);
    let waiting = asking(phase, gate);
    let mut screen = looking(OwnerActivity::Working);
    press(&mut screen, Some(&waiting), &["g"]);
    check("read_only", &mut screen, Some(&waiting));
    let mut empty = looking(OwnerActivity::Working);
    check("read_only_empty", &mut empty, None);
    let mut free = looking(OwnerActivity::Idle);
    free.ask_to_take_over();
    check("read_only_free", &mut free, Some(&waiting));
}

#[test]
fn finished_runs_are_there_to_choose_from() {
    let run = |n: usize| RunListEntry {
        name: format!("2026-11-{n:02}-x"),
        date: format!("2026-11-{n:02}"),
        ended: "Done".to_owned(),
        about: format!("为计算器加入求和, run number {n}\u{1b}[2J"),
        progress: "3 of 3 steps, 2 commits".to_owned(),
        short_result: "3 of 3 steps".to_owned(),
        completion: RunCompletion::Complete,
    };
    let mut runs: Vec<RunListEntry> = (1..=28).rev().map(run).collect();
    runs[1].ended = "damaged".to_owned();
    runs[1].about = "state.json:2: EOF while parsing".to_owned();
    runs[1].progress = String::new();
    let mut screen = not_writing();
    screen.show_run_history(&runs);
    check("history", &mut screen, None);
    let downs = ["<down>"; 27];
    press(&mut screen, None, &downs);
    check("history_last", &mut screen, None);
    for (run, rest) in runs
        .iter_mut()
        .zip([RunCompletion::Unfinished, RunCompletion::Complete])
    {
        run.completion = rest;
        run.ended = "unfinished in Review".to_owned();
    }
    let mut unfinished = not_writing();
    unfinished.show_run_history(&runs[..2]);
    check("history_unfinished", &mut unfinished, None);
    press(&mut unfinished, None, &["r"]);
    check("history_again", &mut unfinished, None);
    let mut none = not_writing();
    none.show_run_history(&[]);
    insta::assert_snapshot!("history_none", drawn(&mut none, (80, 24), None));
}

/// The plan in the user's version and in the agent's.
fn versions() -> ConflictVersions {
    ConflictVersions {
        name: "plan.md".to_owned(),
        before: PLAN.to_owned(),
        yours: PLAN.replace("3. [ ] 在", "3. [ ] 先问用户, then 在"),
        agents: PLAN.replace("a very long list", "a list of a million"),
    }
}

#[test]
fn two_texts_are_seen_one_below_the_other_and_side_by_side() {
    let conflict = questions()
        .into_iter()
        .find(|(_, kind)| kind.name() == "conflict");
    let (phase, kind) = conflict.unwrap();
    let state = asking(phase, kind);
    let mut screen = not_writing();
    screen.on_versions(vec![versions()]);
    drawn(&mut screen, (80, 24), Some(&state));
    press(&mut screen, Some(&state), &["v"]);
    check("versions_diff", &mut screen, Some(&state));
    press(&mut screen, Some(&state), &["v"]);
    check("versions_sides", &mut screen, Some(&state));
}

#[test]
fn a_merge_that_is_not_whole_says_what_is_left_to_do() {
    let clash = MergeConflict {
        file: ".agent-collab/merges/0a1b2c3d-4e5f6071-plan.md".to_owned(),
        why: "in 2 places both changed the same lines".to_owned(),
    };
    let kind = QuestionKind::Conflict {
        document: "plan.md".to_owned(),
        purpose: TurnPurpose::Respond,
        clash: Some(clash),
    };
    let state = asking(Phase::Respond, kind);
    let mut screen = not_writing();
    screen.on_versions(vec![versions()]);
    check("dialog_conflict_clash", &mut screen, Some(&state));
}

#[test]
fn a_theme_is_seen_while_it_is_pointed_at_and_esc_takes_it_back() {
    let executing = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let mut screen = not_writing();
    screen.perform_command(
        crate::tui::command::ScreenCommand::Theme(None),
        Some(&executing),
    );
    press(&mut screen, Some(&executing), &["<down>", "<down>"]);
    assert_eq!(screen.theme().name(), "light");
    check("themes", &mut screen, Some(&executing));
    press(&mut screen, Some(&executing), &["<esc>"]);
    assert_eq!(screen.theme().name(), "terminal");
    screen.perform_command(
        crate::tui::command::ScreenCommand::Theme(None),
        Some(&executing),
    );
    press(
        &mut screen,
        Some(&executing),
        &["<up>", "<down>", "<down>", "<down>", "<enter>"],
    );
    // The list wraps around.
    assert_eq!(screen.theme().name(), "light");
    assert!(screen.dialogs.own.is_none());
}

#[test]
fn what_the_screen_asks_itself_is_seen() {
    let executing = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let mut stopping = not_writing();
    press(&mut stopping, Some(&executing), &["s"]);
    check("confirm_stop", &mut stopping, Some(&executing));
    let mut quitting = not_writing();
    press(&mut quitting, Some(&executing), &["<c-c>"]);
    check("confirm_quit", &mut quitting, Some(&executing));
    // The work that it was opened for is over by now.
    let over = state(Phase::Done);
    check("confirm_quit_over", &mut quitting, Some(&over));
    press(&mut quitting, Some(&executing), &["y"]);
    check("quit", &mut quitting, Some(&executing));
    let mut helped = not_writing();
    press(&mut helped, Some(&executing), &["?"]);
    check("help", &mut helped, Some(&executing));
    let mut unfinished = Screen::new(settings());
    unfinished.ask_to_resume(
        "the calculator can sum a list\nin phase Execute · 1 of 3 steps done · last active 2 hours ago",
    );
    check("unfinished", &mut unfinished, None);
}
