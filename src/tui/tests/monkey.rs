//! Monkey test: random keys, mouse events, resizes and events, with a count of the keys pressed in each
//! place. Nothing panics, Esc leaves everything, and every pair of place and key is covered.
//!
//! `MONKEY_STEPS=1000000 cargo test --release --lib monkey -- --nocapture` runs it longer; `MONKEY_SEED=N`
//! repeats a run.

use crate::tui::command_palette::CommandPalette;
use crate::tui::diff_view::DiffView;
use crate::tui::discussion_board::DiscussionBoard;
use crate::tui::pager::TextPager;
use crate::tui::search_bar::SearchBar;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hasher, RandomState};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use super::children::with_children;
use super::nasty::said;
use super::outcome::awake_at;
use super::weights::destroys;
use super::world::{NOW, approving, asking, questions, running, screen, state, story};
use crate::domain::diff_scope::DiffScope;
use crate::domain::event::{Approval, CallPermission};
use crate::domain::ids::{RequestId, UnixMillis};
use crate::domain::phase::{Gate, Phase};
use crate::domain::plan_execution::StepStage;
use crate::domain::question::{
    AgentQuestion, AnswerOption, AnswerSelectMode, ArbitrationReason, FileOrigin, QuestionAnswer,
    QuestionAsker, QuestionKind,
};
use crate::domain::reversal_plan::{FileReversalKind, ReversalPreview, UndoDirection};
use crate::domain::run::RunState;
use crate::domain::text_delta::{DeltaChange, TextAuthor, TextDelta};
use crate::domain::turn::{Role, TurnPurpose};
use crate::permission::ApprovalMatcher;
use crate::text::unified_diff::UnifiedDiff;
use crate::tui::command::ScreenCommand;
use crate::tui::command_table::parse_slash_command;
use crate::tui::dialog::{ChoiceAction, ComposerDraft, DialogWeight};
use crate::tui::dialogs::{confirmations, view_list};
use crate::tui::keymap::{ActiveKeymap, ComposerFocus, KeyChord, KeyContext};
use crate::tui::scroll_view::ScrollTarget;
use crate::tui::tab_kind::TabKind;
use crate::tui::tabs::chat::ChatArrangement;
use crate::tui::tabs::{SidePaneKind, WIDE};
use crate::tui::{
    Action, ApprovalEntry, DiffLookup, ExactCall, OwnerActivity, ReadOnlyStatus, RunCompletion,
    RunDocumentFiles, RunListEntry, Screen,
};

/// Number of steps per seed by default.
const STEPS: u64 = 20_000;
/// How long another one plays each time: too short to press everything, long enough to get to most places.
const FRESH_STEPS: u64 = 8_000;
/// Only one frame in this many steps is drawn, because drawing takes most of the time.
const DRAWN: u64 = 12;

/// A pseudo-random generator that repeats its numbers for the same seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n.max(1) as u64).unwrap()
    }

    fn within(&mut self, from: u16, to: u16) -> u16 {
        from + u16::try_from(self.below(usize::from(to - from))).unwrap()
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// A tab, a dialog or another view that takes keys, and how to open it.
pub(super) struct Place {
    name: String,
    state: Option<RunState>,
    open: fn(&mut Screen, Option<&RunState>),
    /// Whether only a wide window shows it.
    is_wide: bool,
}

impl Place {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn state(&self) -> Option<&RunState> {
        self.state.as_ref()
    }

    pub(super) fn open(&self, screen: &mut Screen) {
        self.open_with(screen, self.state());
    }

    /// Opens it with another run of the same kind.
    pub(super) fn open_with(&self, screen: &mut Screen, state: Option<&RunState>) {
        (self.open)(screen, state);
    }
}

fn at(name: &str, state: Option<RunState>, open: fn(&mut Screen, Option<&RunState>)) -> Place {
    Place {
        name: name.to_owned(),
        state,
        open,
        is_wide: false,
    }
}

fn past_run(name: &str) -> RunListEntry {
    RunListEntry {
        name: name.to_owned(),
        date: "2026-11-21".to_owned(),
        ended: "DONE".to_owned(),
        about: said("it"),
        progress: String::new(),
        short_result: String::new(),
        completion: match name.len() % 2 {
            0 => RunCompletion::Complete,
            _ => RunCompletion::Unfinished,
        },
    }
}

fn offers() -> Vec<ReversalPreview> {
    let offer = |way| ReversalPreview {
        way,
        steps: vec![2],
        inspected_tree: "5ee7".to_owned(),
        files: vec![
            (FileReversalKind::Modify, said("calc.py")),
            (FileReversalKind::Delete, said("total.py")),
        ],
        user_edited: vec![said("calc.py")],
        unfinished: None,
        commits: vec![("3f2c9a1be0aa".to_owned(), said("[Step 2] test sum"))],
        commit_subject: Some(said("[Undo step 2]")),
    };
    vec![
        offer(UndoDirection::Undo { step: 2 }),
        offer(UndoDirection::Redo),
    ]
}

/// The changes of a step.
fn a_diff() -> DiffLookup {
    let file = said("calc.py").replace('/', "_");
    let [before, after] = ["return a", "return a + b"].map(said);
    let head = format!("diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}");
    let lines = format!(" def add(a, b):\n-    {before}\n+    {after}");
    DiffLookup::Changes(UnifiedDiff::parse(&format!(
        "{head}\n@@ -1,2 +1,2 @@\n{lines}\n"
    )))
}

fn kept() -> [ApprovalEntry; 1] {
    [ApprovalEntry {
        id: 1,
        what: said("npm install *"),
        about: said("build"),
    }]
}

/// A place for another form of a question whose first form already has a place.
fn form(name: &str, phase: Phase, kind: QuestionKind) -> Place {
    at(name, Some(asking(phase, kind)), |_, _| {})
}

/// An agent's question with several answers.
pub fn several() -> AgentQuestion {
    let offered = |label: &str, description: &str| AnswerOption {
        label: said(label),
        description: Some(said(description)),
    };
    AgentQuestion {
        text: said("Which systems are supported?"),
        header: Some(said("Systems")),
        options: vec![
            offered("Linux", "with bubblewrap, as today"),
            offered("macOS", "without a sandbox of its own"),
            offered("Windows", "在 WSL 里 only"),
        ],
        picks: AnswerSelectMode::Several,
    }
}

/// Questions that look or behave differently from the one of their kind in `questions`.
fn other_forms() -> Vec<Place> {
    let [mut waits, mut fails, mut recovers, mut rewrites] = [
        "usage_limit",
        "adapter_failed",
        "step_recovery",
        "dirty_files",
    ]
    .map(|name| {
        let mut all = questions().into_iter().map(|(_, kind)| kind);
        all.find(|kind| kind.name() == name).unwrap()
    });
    if let QuestionKind::UsageLimit { then, other, .. } = &mut waits {
        (*then, *other) = (Gate::Auto, None);
    }
    if let QuestionKind::AdapterFailed { other, .. } = &mut fails {
        *other = None;
    }
    if let QuestionKind::StepRecovery { stage, .. } = &mut recovers {
        *stage = StepStage::Commit;
    }
    if let QuestionKind::DirtyFiles { origin, .. } = &mut rewrites {
        *origin = FileOrigin::WrittenByTests;
    }
    let mut outside = rewrites.clone();
    if let QuestionKind::DirtyFiles { origin, .. } = &mut outside {
        *origin = FileOrigin::OutsideOfCalls;
    }
    let stalls = QuestionKind::Arbitration {
        reason: ArbitrationReason::Stall,
        open: 2,
    };
    let approves = QuestionKind::Arbitration {
        reason: ArbitrationReason::ApprovedBeside,
        open: 2,
    };
    let picks = QuestionKind::Agent {
        request: Some(RequestId::new("req_several")),
        questions: vec![several()],
        asker: QuestionAsker::Role {
            purpose: TurnPurpose::WritePlan,
        },
    };
    let mut one = questions().into_iter().map(|(_, kind)| kind);
    let mut one = one.find(|kind| kind.name() == "execute").unwrap();
    if let QuestionKind::Execute { terms } = &mut one {
        terms.test = terms.other_test.take();
    }
    let mut asked = super::children::with_children();
    asked.asked = vec![super::children::asks()];
    let judged = super::settled::asking(Phase::Review, QuestionKind::Dispute { n: 1 });
    vec![
        form("question usage_limit, waits", Phase::WritePlan, waits),
        form("question adapter_failed, alone", Phase::WritePlan, fails),
        form("question step_recovery, commit", Phase::Execute, recovers),
        form("question dirty_files, tests", Phase::Execute, rewrites),
        form("question dirty_files, outside", Phase::Execute, outside),
        form("question execute, one command", Phase::Approved, one),
        form("question arbitration, stall", Phase::Review, stalls),
        form("question arbitration, approved", Phase::Review, approves),
        form("question of several answers", Phase::WritePlan, picks),
        at("question of a child", Some(asked), |_, _| {}),
        at("question dispute, judged", Some(judged), |_, _| {}),
        settled(ArbitrationReason::LeftOut),
        settled(ArbitrationReason::NothingHolds),
        settled(ArbitrationReason::Circle),
        settled(ArbitrationReason::ResidualBlocker),
    ]
}

/// The question of a review that does not end by itself, with findings that fit the reason.
fn settled(reason: ArbitrationReason) -> Place {
    let state = super::settled::arbitrating(reason);
    at(&arbitration_place(reason), Some(state), |_, _| {})
}

fn arbitration_place(reason: ArbitrationReason) -> String {
    let what = match reason {
        ArbitrationReason::Cap => return "question arbitration".to_owned(),
        ArbitrationReason::Stall => "stall",
        ArbitrationReason::ApprovedBeside => "approved",
        ArbitrationReason::LeftOut => "left out",
        ArbitrationReason::UnprovenFix => "unproven fix",
        ArbitrationReason::NothingHolds => "nothing holds",
        ArbitrationReason::Circle => "circle",
        ArbitrationReason::ResidualBlocker => "residual blocker",
    };
    format!("question arbitration, {what}")
}

/// Approval requests other than for a command of the turn: an edit, the patch of a task, a call of a child.
fn other_calls() -> Vec<Place> {
    fn of(permission: &str, target: &str, child: Option<&str>) -> Option<RunState> {
        let mut state = approving(&[target]);
        state.approvals[0].permission = permission.to_owned().into();
        state.approvals[0].child = child.map(|path| path.to_owned().into());
        state.approvals[0].offers = vec![ApprovalMatcher::Exact(target.to_owned())];
        Some(state)
    }
    fn would_change(screen: &mut Screen, state: Option<&RunState>) {
        let call = &state.unwrap().approvals[0];
        let file = &call.targets[0];
        let before = said("a word");
        let after = said("a word is what is counted");
        screen.on_pending_call(ExactCall {
            call: call.n,
            text: file.clone(),
            diff: format!("{file}\n@@ -1,2 +1,2 @@\n # Notes\n-{before}\n+{after}\n"),
        });
    }
    let child = Some("planner ▸ general#1");
    vec![
        at(
            "call of an edit",
            of("edit", "NOTES.md", None),
            would_change,
        ),
        at(
            "call of a patch",
            of("edit", "NOTES.md", child),
            would_change,
        ),
        at("call of a child", of("bash", "rg TODO", child), |_, _| {}),
    ]
}

/// Views that a window size or a key adds to a tab: a second pane, or completions over it.
fn beside() -> Vec<Place> {
    let executing = || Some(running(Phase::Execute, TurnPurpose::Step { n: 2 }));
    let mut side = at("second pane", executing(), |screen, _| {
        screen.show_tab(TabKind::Chat);
        screen.tabs.view.side_pane = SidePaneKind::Document;
    });
    let mut voices = at("voices", executing(), |screen, _| {
        screen.tabs.chat.arrangement = ChatArrangement::SideBySide;
    });
    (side.is_wide, voices.is_wide) = (true, true);
    let offer = at("offer", executing(), |screen, _| {
        screen.on_agents(super::agents::agents());
        screen.on_repository_files(vec![said("calc.py"), said("tests/说明.md")]);
        screen.composer.focus = ComposerFocus::Focused;
        screen.composer.editor.set_text("@");
        screen.update_completion(None);
    });
    vec![side, voices, offer]
}

/// Tabs in a special mode: with composer focus, compared, beside another tab, read-only.
fn modes() -> Vec<Place> {
    let executing = || Some(running(Phase::Execute, TurnPurpose::Step { n: 2 }));
    vec![
        at(
            "a note is written",
            Some(state(Phase::Review)),
            |screen, state| {
                screen.show_tab(TabKind::Plan);
                screen.tabs.plan.view.select_line(12);
                screen.perform_command(ScreenCommand::AddPlanNote(String::new()), state);
            },
        ),
        at(
            "a line is written",
            Some(state(Phase::Review)),
            |screen, state| {
                screen.show_tab(TabKind::Plan);
                screen.tabs.plan.view.select_line(12);
                screen.perform_command(ScreenCommand::RewritePlanLine, state);
            },
        ),
        at("tab plan, compared", executing(), |screen, state| {
            screen.show_tab(TabKind::Plan);
            screen.perform_command(parse_slash_command("/filter").unwrap(), state);
        }),
        at("only looked at", executing(), |screen, _| {
            screen.on_read_only(ReadOnlyStatus {
                badge: "b".to_owned(),
                reason: said("used by process 4711, continue there"),
                owner_activity: OwnerActivity::Working,
                resumable_run: None,
            });
        }),
    ]
}

/// Returns every place that takes keys.
#[expect(clippy::too_many_lines, reason = "one entry a place: a list to read")]
pub(super) fn places() -> Vec<Place> {
    let executing = || Some(running(Phase::Execute, TurnPurpose::Step { n: 2 }));
    let mut all = vec![
        at("tab chat", executing(), |screen, _| {
            screen.show_tab(TabKind::Chat)
        }),
        at("tab plan", executing(), |screen, _| {
            screen.show_tab(TabKind::Plan)
        }),
        at("tab comments", executing(), |screen, _| {
            screen.show_tab(TabKind::Comments)
        }),
        at("tab log", executing(), |screen, _| {
            screen.show_tab(TabKind::Log)
        }),
        at("tab status", executing(), |screen, _| {
            screen.show_tab(TabKind::Status)
        }),
        at(
            "call",
            Some(approving(&["npm install left-pad"])),
            |_, _| {},
        ),
        at(
            "keep",
            Some(approving(&["npm install left-pad"])),
            |screen, state| {
                let sheet = screen.pending_dialog(state).unwrap();
                let mut choices = sheet.choices.into_iter();
                let asks = choices.find(|choice| matches!(choice.action, ChoiceAction::Confirm(_)));
                screen.perform_choice(asks.unwrap(), state);
            },
        ),
        at("goal", Some(state(Phase::RefineGoal)), |_, _| {}),
        at("unfinished", None, |screen, _| {
            screen.ask_to_resume(&said("a run"))
        }),
        at("instructions", None, |screen, _| {
            screen.ask_about_instructions(vec![
                (
                    "AGENTS.md".to_owned(),
                    said("Write tests first.\n\nRun `make check`."),
                ),
                ("src/web/AGENTS.md".to_owned(), "No jQuery.".to_owned()),
            ])
        }),
        at("palette", executing(), |screen, _| {
            screen.open_palette();
        }),
        at("find", executing(), |screen, _| drop(screen.open_search())),
        at("text", executing(), |screen, _| {
            screen.show_text(&said("t"), &said("# a\n\nb"))
        }),
        at("diff", executing(), |screen, _| {
            screen.perform_command(ScreenCommand::Diff(DiffScope::All), None);
            screen.on_diff(
                DiffScope::All,
                vec![DiffScope::All, DiffScope::Step(1)],
                a_diff(),
            );
        }),
        at("themes", executing(), |screen, _| {
            screen.perform_command(ScreenCommand::Theme(None), None);
        }),
        at("views", executing(), |screen, _| {
            screen.dialogs.own = Some(view_list::build_dialog(TabKind::Plan));
        }),
        at("cancel", executing(), |screen, _| {
            screen.dialogs.own = Some(confirmations::cancel_run())
        }),
        at("back-to-goal", executing(), |screen, _| {
            screen.dialogs.own = Some(confirmations::return_to_goal(7))
        }),
        at("force-pass", executing(), |screen, _| {
            screen.dialogs.own = Some(confirmations::force_pass(7, 2))
        }),
        at("overwrite", executing(), |screen, _| {
            screen.dialogs.own = confirmations::confirm_answer(7, &QuestionAnswer::Overwrite)
        }),
        at("discard", executing(), |screen, _| {
            screen.dialogs.own = confirmations::confirm_answer(7, &QuestionAnswer::Discard)
        }),
        at("put-back", executing(), |screen, _| {
            screen.dialogs.own = confirmations::confirm_answer(7, &QuestionAnswer::PutBack)
        }),
        at("redo-step", executing(), |screen, _| {
            screen.dialogs.own = confirmations::confirm_answer(7, &QuestionAnswer::RedoStep)
        }),
        at("stop", executing(), |screen, _| {
            screen.dialogs.own = Some(confirmations::stop_run(Phase::Execute, screen.keymap()))
        }),
        at("quit", Some(with_children()), |screen, state| {
            screen.open_quit_dialog(state);
        }),
        at("yolo", executing(), |screen, _| {
            screen.dialogs.own = Some(confirmations::enable_yolo_mode())
        }),
        at("release", executing(), |screen, _| {
            screen.dialogs.own = Some(confirmations::send_turn(&said("it")))
        }),
        at("redo", executing(), |screen, _| {
            screen.on_undo_previews(&offers().split_off(1), Phase::Execute);
        }),
        at("history", executing(), |screen, _| {
            screen.show_run_history(&[past_run("one"), past_run("two")]);
        }),
        at("permissions", executing(), |screen, _| {
            screen.show_stored_approvals(&kept())
        }),
        at("free", executing(), |screen, _| screen.ask_to_take_over()),
        at(
            "board",
            Some(super::discussion::running()),
            |screen, state| {
                screen.perform_command(super::discussion::BOARD, state);
            },
        ),
        at("discuss", executing(), |screen, _| {
            screen.show_discussion_plan(&super::discussion::planned());
        }),
        at(
            "settle",
            Some(super::discussion::about_finding()),
            |screen, state| {
                screen
                    .tabs
                    .comments
                    .selection
                    .select_listed(ScrollTarget::Finding(1));
                screen.perform_command(super::discussion::SETTLE, state);
            },
        ),
        at("undo", executing(), |screen, _| {
            screen.on_undo_previews(&offers(), Phase::Execute)
        }),
        at("sessions", Some(with_children()), |screen, state| {
            screen.perform_command(parse_slash_command("/sessions").unwrap(), state);
        }),
        at("stop one", Some(with_children()), |screen, state| {
            screen.perform_command(parse_slash_command("/sessions").unwrap(), state);
            confirm_by(screen, 's', state);
        }),
        at("take", executing(), |screen, state| {
            screen.show_run_history(&[past_run("one"), past_run("two")]);
            confirm_by(screen, 'r', state);
            confirm_by(screen, '1', state);
        }),
        at("agents", executing(), |screen, state| {
            screen.on_agents(super::agents::agents());
            screen.perform_command(parse_slash_command("/agent").unwrap(), state);
        }),
        at("agent", executing(), |screen, state| {
            screen.on_agents(super::agents::agents());
            screen.perform_command(parse_slash_command("/agent explore").unwrap(), state);
        }),
        at("plan-anew", executing(), |screen, _| {
            screen.dialogs.own = Some(confirmations::replan())
        }),
    ];
    let questions = questions().into_iter().map(|(phase, kind)| {
        let name = format!("question {}", kind.name());
        form(&name, phase, kind)
    });
    all.extend(questions);
    all.extend(other_forms());
    all.extend(other_calls());
    all.extend(modes());
    all.extend(beside());
    all
}

/// Selects a choice that asks for confirmation.
fn confirm_by(screen: &mut Screen, key: char, state: Option<&RunState>) {
    let sheet = screen.pending_dialog(state).unwrap();
    let choice = sheet.choices.into_iter().find(|choice| choice.key == key);
    screen.perform_choice(choice.unwrap(), state);
}

/// Returns the name of the view that takes the next key.
fn place(screen: &Screen, state: Option<&RunState>) -> String {
    let over = [
        (screen.overlays.has::<CommandPalette>(), "palette"),
        (screen.overlays.has::<SearchBar>(), "find"),
        (screen.overlays.has::<TextPager>(), "text"),
        (screen.overlays.has::<DiffView>(), "diff"),
        (screen.overlays.has::<DiscussionBoard>(), "board"),
        (
            screen.composer.assist.has_completion()
                && screen.composer.focus == ComposerFocus::Focused,
            "offer",
        ),
    ];
    if let Some((_, name)) = over.iter().find(|(is_open, _)| *is_open) {
        return (*name).to_owned();
    }
    let sheet = screen.pending_dialog(state);
    let id = sheet.map(|sheet| sheet.id);
    match (
        &screen.dialogs.own,
        &screen.dialogs.unfinished_run,
        state,
        id,
    ) {
        (Some(own), ..) if own.id.starts_with("call kept") => "keep".to_owned(),
        (Some(own), ..) if own.id == "sessions to stop" => "stop one".to_owned(),
        (Some(own), ..) => {
            let id = own.id.trim_start_matches("confirm ");
            id.split(' ').next().unwrap().to_owned()
        }
        (None, ..) if screen.dialogs.instructions.is_some() => "instructions".to_owned(),
        (None, Some(_), ..) => "unfinished".to_owned(),
        (None, None, Some(state), Some(_)) if !state.approvals.is_empty() => {
            call_place(&state.approvals[0]).to_owned()
        }
        (None, None, Some(state), Some(_)) => match state.current_question() {
            Some(question) => question_place(&question.kind),
            None => "goal".to_owned(),
        },
        (None, None, _, _) => tab_place(screen, state),
    }
}

fn call_place(call: &Approval) -> &'static str {
    match (&call.permission, &call.child) {
        (CallPermission::Edit, None) => "call of an edit",
        (CallPermission::Edit, Some(_)) => "call of a patch",
        (_, Some(_)) => "call of a child",
        (_, None) => "call",
    }
}

fn question_place(kind: &QuestionKind) -> String {
    match kind {
        kind if kind.is_from_child() => "question of a child".to_owned(),
        QuestionKind::Agent { questions, .. }
            if questions[0].picks == AnswerSelectMode::Several =>
        {
            "question of several answers".to_owned()
        }
        QuestionKind::Arbitration { reason, .. } => arbitration_place(*reason),
        QuestionKind::Dispute { n: 1 } => "question dispute, judged".to_owned(),
        QuestionKind::Execute { terms } if terms.other_test.is_none() => {
            "question execute, one command".to_owned()
        }
        QuestionKind::UsageLimit {
            then: Gate::Auto, ..
        } => "question usage_limit, waits".to_owned(),
        QuestionKind::AdapterFailed { other: None, .. } => {
            "question adapter_failed, alone".to_owned()
        }
        QuestionKind::StepRecovery {
            stage: StepStage::Commit,
            ..
        } => "question step_recovery, commit".to_owned(),
        QuestionKind::DirtyFiles {
            origin: FileOrigin::WrittenByTests,
            ..
        } => "question dirty_files, tests".to_owned(),
        QuestionKind::DirtyFiles {
            origin: FileOrigin::OutsideOfCalls,
            ..
        } => "question dirty_files, outside".to_owned(),
        _ => format!("question {}", kind.name()),
    }
}

fn tab_place(screen: &Screen, state: Option<&RunState>) -> String {
    let columns = screen.hit_areas.composer.width;
    let is_compared = screen.tabs.view.shown == TabKind::Plan
        && screen.tabs.plan.view.compared_version().is_some();
    match screen.composer.draft {
        _ if screen.settings.read_only.is_some() => "only looked at".to_owned(),
        Some(ComposerDraft::Note) => "a note is written".to_owned(),
        Some(ComposerDraft::Line) => "a line is written".to_owned(),
        _ if is_compared => "tab plan, compared".to_owned(),
        _ if screen.tabs.view.shown == TabKind::Chat
            && screen.tabs.chat.arrangement == ChatArrangement::SideBySide =>
        {
            "voices".to_owned()
        }
        _ if screen
            .tabs
            .tab_beside(columns, &screen.documents, state)
            .is_some() =>
        {
            "second pane".to_owned()
        }
        _ => format!("tab {}", screen.tabs.view.shown.slash_name()),
    }
}

/// Returns every key of the command table once, with the composer focus that it needs.
fn keys() -> Vec<(KeyChord, Option<ComposerFocus>)> {
    let mut all: Vec<(KeyChord, Option<ComposerFocus>)> = Vec::new();
    for (binding, keys) in ActiveKeymap::default().all_rows() {
        for key in keys {
            let mode = match binding.context {
                KeyContext::Composer => Some(ComposerFocus::Focused),
                KeyContext::OutsideComposer => Some(ComposerFocus::Unfocused),
                KeyContext::Anywhere => key.is_printable().then_some(ComposerFocus::Unfocused),
                KeyContext::Diff | KeyContext::Board | KeyContext::Find | KeyContext::Text => None,
            };
            all.push((*key, mode));
        }
    }
    all
}

/// Which keys were pressed in which place.
struct Pressed {
    keys: Vec<(KeyChord, Option<ComposerFocus>)>,
    /// For each place, the keys that were not pressed there yet.
    left: BTreeMap<String, BTreeSet<usize>>,
    n_pairs: usize,
}

impl Pressed {
    fn new(places: &[Place]) -> Self {
        let keys = keys();
        // Completions are only offered while the composer has the focus.
        let is_reached = |place: &Place, at: usize| {
            place.name != "offer" || keys[at].1 != Some(ComposerFocus::Unfocused)
        };
        let left: BTreeMap<String, BTreeSet<usize>> = places
            .iter()
            .map(|place| {
                let reached = (0..keys.len()).filter(|at| is_reached(place, *at));
                (place.name.clone(), reached.collect())
            })
            .collect();
        Self {
            n_pairs: left.values().map(BTreeSet::len).sum(),
            keys,
            left,
        }
    }

    fn note(&mut self, place: &str, event: &KeyEvent, writing: ComposerFocus) {
        let left = self.left.get_mut(place);
        let left = left.unwrap_or_else(|| panic!("{place} is missing among the places"));
        left.retain(|at| {
            let (key, mode) = self.keys[*at];
            !(key.matches(event) && mode.is_none_or(|mode| mode == writing))
        });
    }

    fn n_left(&self) -> usize {
        self.left.values().map(BTreeSet::len).sum()
    }

    fn told(&self, of: &str) -> String {
        let left = self.left.iter().flat_map(|(place, left)| {
            let name = |at: &usize| format!("{place} × {}", self.keys[*at].0.label());
            left.iter().map(name).collect::<Vec<_>>()
        });
        let left: Vec<String> = left.collect();
        format!(
            "{of}: {} places × {} keys, {} of {} pairs pressed{}{}",
            self.left.len(),
            self.keys.len(),
            self.n_pairs - left.len(),
            self.n_pairs,
            if left.is_empty() { "" } else { "; left out: " },
            left.join(", ")
        )
    }
}

/// The state of one monkey run.
struct Monkey {
    seed: u64,
    n_steps: u64,
    dice: Dice,
    places: Vec<Place>,
    pressed: Pressed,
    screen: Screen,
    state: Option<RunState>,
    size: (u16, u16),
    last: Vec<String>,
}

impl Drop for Monkey {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let from = self.last.len().saturating_sub(12);
            eprintln!(
                "MONKEY_SEED={} shows it again: step {}, {:?}, after {:?}",
                self.seed,
                self.n_steps,
                self.size,
                &self.last[from..]
            );
        }
    }
}

impl Monkey {
    fn new(seed: u64) -> Self {
        let places = places();
        Self {
            seed,
            n_steps: 0,
            dice: Dice(seed),
            pressed: Pressed::new(&places),
            places,
            screen: screen(),
            state: None,
            size: (80, 24),
            last: Vec::new(),
        }
    }

    /// Opens another place, preferably one with keys that were not pressed yet.
    fn sit_down(&mut self) {
        let open: Vec<usize> = (0..self.places.len())
            .filter(|at| !self.pressed.left[&self.places[*at].name].is_empty())
            .collect();
        let at = if open.is_empty() {
            self.dice.below(self.places.len())
        } else {
            *self.dice.of(&open)
        };
        self.size = match (self.places[at].is_wide, self.size) {
            (true, _) => (180, 30),
            (false, (WIDE.., rows)) => (80, rows),
            (false, size) => size,
        };
        self.screen = screen();
        self.screen.composer.leave_to_view();
        self.state.clone_from(&self.places[at].state);
        (self.places[at].open)(&mut self.screen, self.state.as_ref());
        self.last.clear();
        self.last.push(self.places[at].name.clone());
        self.draw();
    }

    fn draw(&mut self) {
        let mut terminal = Terminal::new(TestBackend::new(self.size.0, self.size.1)).unwrap();
        let (screen, state) = (&mut self.screen, self.state.as_ref());
        terminal
            .draw(|frame| screen.draw(frame, state, NOW))
            .unwrap();
        for cell in terminal.backend().buffer().content() {
            let has_control = cell
                .symbol()
                .bytes()
                .any(|byte| byte < b' ' || byte == 0x7f);
            assert!(!has_control, "{:?}", cell.symbol());
        }
        assert!(!screen.is_dirty());
    }

    fn step(&mut self) {
        self.n_steps += 1;
        match self.dice.below(100) {
            0..56 => self.known_key(),
            56..66 => self.any_key(),
            66..76 => self.mouse(),
            76..83 => self.resize(),
            83..90 => self.event(),
            90..93 => self.screen.on_paste("一 text\n/with @ lines"),
            93..96 => self.texts(),
            96..98 => self.state = self.dice.of(&self.places).state.clone(),
            _ => {
                self.screen.composer.focus = match self.screen.composer.focus {
                    ComposerFocus::Focused => ComposerFocus::Unfocused,
                    ComposerFocus::Unfocused => ComposerFocus::Focused,
                };
            }
        }
        if self.n_steps.is_multiple_of(DRAWN) {
            self.draw();
        }
    }

    /// Presses a key of the command table, preferably one that was not pressed here yet.
    fn known_key(&mut self) {
        let here = place(&self.screen, self.state.as_ref());
        let left: Vec<usize> = self
            .pressed
            .left
            .get(&here)
            .into_iter()
            .flatten()
            .copied()
            .collect();
        let at = if left.is_empty() {
            self.dice.below(self.pressed.keys.len())
        } else {
            *self.dice.of(&left)
        };
        let (key, mode) = self.pressed.keys[at];
        if let (Some(mode), false) = (mode, left.is_empty()) {
            self.screen.composer.focus = mode;
        }
        self.press(KeyEvent::new(key.code, key.modifiers));
    }

    fn any_key(&mut self) {
        let codes = [
            KeyCode::Enter,
            KeyCode::Esc,
            KeyCode::Up,
            KeyCode::Down,
            KeyCode::Left,
            KeyCode::Backspace,
            KeyCode::Delete,
            KeyCode::F(12),
            KeyCode::Null,
            KeyCode::Char('中'),
            KeyCode::Char('\u{1b}'),
        ];
        let code = match self.dice.below(3) {
            0 => *self.dice.of(&codes),
            _ => KeyCode::Char(char::from(u8::try_from(self.dice.within(32, 127)).unwrap())),
        };
        let modifiers = [
            KeyModifiers::NONE,
            KeyModifiers::NONE,
            KeyModifiers::NONE,
            KeyModifiers::SHIFT,
            KeyModifiers::CONTROL,
            KeyModifiers::ALT,
        ];
        let modifiers = *self.dice.of(&modifiers);
        self.press(KeyEvent::new(code, modifiers));
    }

    fn press(&mut self, key: KeyEvent) {
        let here = place(&self.screen, self.state.as_ref());
        self.pressed.note(&here, &key, self.screen.composer.focus);
        self.last.push(format!("{} {:?}", here, key.code));
        let at = i64::try_from(self.n_steps).unwrap() * 150;
        self.screen.on_time(UnixMillis(NOW.0 + at));
        let due = self.screen.act_on_due_letter(self.state.as_ref());
        due.into_iter().for_each(|action| self.answer(action));
        for action in self.screen.on_key(key, self.state.as_ref()) {
            self.answer(action);
        }
    }

    /// Does what the program would do for an action.
    fn answer(&mut self, action: Action) {
        match action {
            Action::ShowDiff(scope) => {
                let diff = DiffLookup::NoChanges("nothing".to_owned());
                self.screen
                    .on_diff(scope, vec![DiffScope::All, DiffScope::Step(1)], diff);
            }
            Action::Undo(_) => self.screen.on_undo_previews(&offers(), Phase::Execute),
            Action::ShowHistory => self.screen.show_run_history(&[past_run("one")]),
            Action::ShowPermissions => self.screen.show_stored_approvals(&kept()),
            Action::PlanDiscussion(_) => self
                .screen
                .show_discussion_plan(&super::discussion::planned()),
            Action::ListFiles => self.screen.on_repository_files(vec!["calc.py".to_owned()]),
            Action::Event(_) | Action::AnswerApproval { .. } => {
                self.state = self.dice.of(&self.places).state.clone();
            }
            _ => {}
        }
    }

    fn mouse(&mut self) {
        let kinds = [
            MouseEventKind::Down(MouseButton::Left),
            MouseEventKind::Down(MouseButton::Left),
            MouseEventKind::Up(MouseButton::Left),
            MouseEventKind::Drag(MouseButton::Left),
            MouseEventKind::Down(MouseButton::Right),
            MouseEventKind::ScrollUp,
            MouseEventKind::ScrollDown,
            MouseEventKind::Moved,
        ];
        let event = MouseEvent {
            kind: *self.dice.of(&kinds),
            column: self.dice.within(0, self.size.0 + 3),
            row: self.dice.within(0, self.size.1 + 3),
            modifiers: KeyModifiers::NONE,
        };
        self.last.push(format!("{event:?}"));
        for action in self.screen.on_mouse(event, self.state.as_ref()) {
            self.answer(action);
        }
    }

    fn resize(&mut self) {
        self.size = match self.dice.below(8) {
            0 => (self.dice.within(1, 12), self.dice.within(1, 12)),
            1 => (self.dice.within(100, 180), self.dice.within(3, 30)),
            _ => (self.dice.within(30, 90), self.dice.within(8, 26)),
        };
        self.draw();
    }

    fn event(&mut self) {
        let all = story();
        let event = self.dice.of(&all).clone();
        self.screen.on_event(NOW, &event);
        let item = self.dice.below(3).to_string();
        let role = *self.dice.of(&[Role::Planner, Role::Reviewer]);
        let change = match self.dice.below(5) {
            0 => DeltaChange::Withdraw,
            _ => DeltaChange::Append("more \u{1b}[31m中\n- of it".to_owned()),
        };
        let author = TextAuthor::Role(role);
        self.screen.on_delta(TextDelta {
            author,
            item,
            change,
        });
    }

    fn texts(&mut self) {
        self.screen.on_prompt_preview("a prompt\n\nof lines");
        self.screen.on_notice("something\u{7} happened");
        self.screen.on_documents(RunDocumentFiles {
            plan: Some("1. [ ] a\n2. [x] b".to_owned()),
            comments: Some("1. [minor] c".to_owned()),
            log: Some("l".to_owned()),
            ..RunDocumentFiles::default()
        });
    }

    /// Checks that Esc alone leaves whatever is open.
    fn leave(&mut self) {
        let esc = KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE);
        self.draw();
        for _ in 0..8 {
            self.press(esc);
        }
        let screen = &self.screen;
        let is_left = screen.dialogs.own.is_none() && screen.overlays.is_empty();
        assert!(
            is_left,
            "{} cannot be left",
            place(screen, self.state.as_ref())
        );
    }

    /// Returns whether to go to another place: likely once every key was pressed here and other places have
    /// keys left.
    fn is_bored(&mut self) -> bool {
        let here = place(&self.screen, self.state.as_ref());
        let is_left = self
            .pressed
            .left
            .get(&here)
            .is_some_and(|left| !left.is_empty());
        !is_left && self.pressed.n_left() > 0 && self.dice.below(4) == 0
    }

    fn play(mut self, n_steps: u64) -> String {
        while self.n_steps < n_steps {
            self.sit_down();
            for _ in 0..self.dice.within(20, 90) {
                self.step();
                if self.is_bored() {
                    break;
                }
            }
            self.leave();
        }
        let told = self
            .pressed
            .told(&format!("monkey, seed {}, {n_steps} steps", self.seed));
        if n_steps >= STEPS {
            assert_eq!(self.pressed.n_left(), 0, "{told}");
        }
        told
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "by hand it runs for longer, or once more"
)]
fn told(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn check(seed: u64, n_steps: u64) {
    let told = Monkey::new(seed).play(told("MONKEY_STEPS").unwrap_or(n_steps));
    println!("{told}");
}

#[test]
fn a_monkey_presses_every_key_everywhere() {
    check(1, STEPS);
}

#[test]
fn another_monkey_each_time_does_too() {
    let fresh = RandomState::new().build_hasher().finish() % 1_000_000;
    // Uses the seed of the property tests if that is set, so that the same content gets the same test
    // again.
    let said = told("MONKEY_SEED").or_else(|| told("PROPTEST_RNG_SEED"));
    check(said.unwrap_or(fresh), FRESH_STEPS);
}

/// Presses a key on a visible dialog; returns whether it had an effect.
fn does(place: &Place, key: KeyCode) -> bool {
    let mut screen = screen();
    screen.composer.leave_to_view();
    place.open(&mut screen);
    let state = place.state.as_ref();
    let size = (100, 40);
    super::world::drawn(&mut screen, size, state);
    let before = picture(&mut screen, state);
    screen.on_time(UnixMillis(NOW.0 + 60_000));
    let actions = screen.on_key(KeyEvent::new(key, KeyModifiers::NONE), state);
    !actions.is_empty() || picture(&mut screen, state) != before
}

fn picture(screen: &mut Screen, state: Option<&RunState>) -> String {
    let writing = screen.composer.focus;
    format!(
        "{}{writing:?}",
        super::world::drawn(screen, (100, 40), state)
    )
}

#[test]
fn every_choice_of_every_dialog_does_something_and_so_does_enter() {
    for place in places() {
        let mut screen = screen();
        place.open(&mut screen);
        let Some(sheet) = screen.pending_dialog(place.state.as_ref()) else {
            continue;
        };
        if screen.overlays.has::<CommandPalette>()
            || screen.overlays.has::<SearchBar>()
            || screen.overlays.has::<DiffView>()
            || screen.overlays.has::<DiscussionBoard>()
        {
            continue;
        }
        assert!(does(&place, KeyCode::Enter), "{}: Enter", place.name);
        // A number only selects; Enter confirms.
        let choices = sheet.choices.iter();
        for choice in choices.filter(|choice| !choice.key.is_ascii_digit()) {
            // The current theme's letter confirms it as well.
            let is_done = does(&place, KeyCode::Char(choice.key));
            assert!(is_done, "{}: {}", place.name, choice.key);
        }
    }
}

/// Returns whether a key answers the dialog, or is bound in any view.
fn means_something(screen: &Screen, state: Option<&RunState>, code: KeyCode) -> bool {
    let event = KeyEvent::new(code, KeyModifiers::NONE);
    let keymap = screen.keymap();
    let answers = screen.pending_dialog(state).is_some_and(|sheet| {
        let mut keys = sheet.choices.iter().map(|choice| choice.key);
        keys.any(|key| matches!(code, KeyCode::Char(c) if c.to_ascii_lowercase() == key))
    });
    let in_view = |view| keymap.find_view_command(&event, view).is_some();
    // These are handled without the keymap.
    let is_fixed = matches!(code, KeyCode::Char('/' | 'G' | '0'..='9'));
    answers
        || is_fixed
        || keymap
            .find_command(&event, ComposerFocus::Unfocused)
            .is_some()
        || KeyContext::VIEWS.into_iter().any(in_view)
}

/// The window of a test that draws ten thousand times.
const SMALL_SIZE: (u16, u16) = (60, 16);

#[test]
fn no_key_destroys_anything_by_itself() {
    for place in places() {
        let state = place.state();
        let sample = awake_at(SMALL_SIZE, state, |screen| place.open(screen));
        let mut has_tried_free = false;
        for code in (' '..='~').map(KeyCode::Char).chain([KeyCode::Enter]) {
            // Of the keys that mean nothing here, one stands for all.
            if !means_something(&sample, state, code)
                && std::mem::replace(&mut has_tried_free, true)
            {
                continue;
            }
            let mut screen = awake_at(SMALL_SIZE, state, |screen| place.open(screen));
            let weight = screen.pending_dialog(state).map(|sheet| sheet.weight);
            let actions = screen.on_key(KeyEvent::new(code, KeyModifiers::NONE), state);
            if weight != Some(DialogWeight::Destructive) || code == KeyCode::Enter {
                let loss = actions.iter().find_map(destroys);
                assert_eq!(loss, None, "{} {code:?}", place.name());
            }
        }
    }
}
