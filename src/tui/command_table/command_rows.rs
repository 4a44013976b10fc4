//! The rows of all commands, by group; within a group, the order is that of the help.
//!
//! CONTRIBUTING.md has the recipe for a new one.

use crate::tui::tab_kind::TabKind;
use crate::tui::view_moves::{ScrollMove, SelectionMove};
use ratatui::crossterm::event::KeyCode;

use super::argument_parsers as parse;
use super::command_conditions as only_if;
use super::command_row::CommandEffect::{Build, Call};
use super::command_row::{CommandGroup, CommandRow, PaletteHeading, ViewReach};
use super::command_row::{in_group, key_command, slash_command};
use super::slash_command::ArgumentValues;
use super::slash_command::SlashArgument::{Choice, Optional, Text};
use crate::domain::reversal_plan::UndoRequest;
use crate::tui::action::{Action, ExternalViewer};
use crate::tui::command::ScreenCommand;
use crate::tui::discussion_commands::DiscussionScreenCommand as Discussion;
use crate::tui::keymap::KeyContext::{Anywhere, Composer, OutsideComposer};
use crate::tui::keymap::{alt_key, ctrl_key, letter_key, plain_key};

/// The rows of each group, in the order of the help.
pub static GROUPS: [&[CommandRow]; 8] = [
    RUN, REQUESTS, DOCUMENTS, AGENTS, NAVIGATION, LAYOUT, COMPOSER, PROGRAM,
];

#[rustfmt::skip]
static RUN: &[CommandRow] = &in_group(CommandGroup::Run, [
    key_command("/go", &[letter_key('g')], OutsideComposer, Build(|_| Ok(ScreenCommand::Go)),
        "Send the waiting turn, or confirm the goal").titled("Send the turn or confirm the goal")
        .hint(10, "go").unless(only_if::turn_is_waiting).changes_run().answers_dialog().sendable().listed(),
    key_command("/interrupt", &[letter_key('x'), ctrl_key('x')], Anywhere, Build(|_| Ok(ScreenCommand::InterruptTurn)),
        "Interrupt the turn or the tests")
        .hint(40, "interrupt").unless(only_if::turn_or_tests_are_running).changes_run().also_in_overlay().sendable()
        .reaches(ViewReach::DiffAndBoard).listed(),
    key_command("/auto", &[letter_key('a')], OutsideComposer, Build(|_| Ok(ScreenCommand::AutoGate)),
        "Switch to Auto: send turns without asking").titled("Switch to Auto")
        .hint(20, "auto").unless(only_if::gate_is_manual).changes_run().sendable().listed(),
    key_command("/pause", &[letter_key('p')], OutsideComposer, Build(|_| Ok(ScreenCommand::ManualGate)),
        "Switch to Manual: the next turn waits for you").titled("Switch to Manual").with_aliases(&["/manual"])
        .hint(30, "pause").unless(only_if::gate_is_auto).changes_run().sendable().reaches(ViewReach::DiffAndBoard)
        .listed(),
    key_command("/stop", &[letter_key('s')], OutsideComposer, Build(|_| Ok(ScreenCommand::StopToGoal)),
        "Stop and return to the goal (files and commits stay)").titled("Stop, back to the goal")
        .hint(50, "stop").unless(only_if::run_is_past_the_goal).changes_run().sendable().listed(),
    slash_command("/steer", Build(|text| parse::require_text("steer", text).map(ScreenCommand::SteerTurn)),
        "Message the agent during its turn").with_argument(Text("TEXT")).titled("Message the agent now…")
        .unless(only_if::turn_is_running).changes_run().sendable().listed(),
    key_command("/mode", &[plain_key(KeyCode::BackTab)], Anywhere, Build(parse::parse_mode),
        "Set what agents may do without asking (the key skips Full access)").titled("Change what agents may do")
        .with_aliases(&["/plan", "/default", "/auto-edit", "/yolo"]).with_values(ArgumentValues::Modes)
        .unless(only_if::run_is_open).changes_run().listed(),
    slash_command("/goal", Build(|text| Ok(ScreenCommand::SetGoal(text.to_owned()))),
        "Set the goal, or confirm it in your words").with_argument(Text("TEXT")).titled("Set or confirm the goal…")
        .unless(only_if::goal_is_open_or_run_has_ended).changes_run_with_argument().sendable(),
    key_command("/talk", &[plain_key(KeyCode::F(2))], Anywhere, Build(parse::parse_refiner),
        "Choose who talks with you").named("refiner").with_unlisted_name("/refiner")
        .with_argument(Optional(&["planner", "reviewer"]))
        .unless(only_if::goal_is_open).changes_run(),
    key_command("/undo", &[letter_key('u')], OutsideComposer, Build(parse::parse_undo),
        "Undo the last step with changes, or all from step N on").titled("Undo the last step").with_argument(Optional(&["N"]))
        .hint(170, "undo").unless(only_if::step_can_be_undone).changes_run().listed().offered_at_end(2, "Undo a step"),
    key_command("/redo", &[ctrl_key('r')], OutsideComposer, Build(|_| Ok(ScreenCommand::Undo(UndoRequest::Redo))),
        "Redo what you undid last").unless(only_if::step_can_be_undone).changes_run(),
    slash_command("/skip", Build(parse::parse_skip), "Skip step N, which has not ended, and say why")
        .with_argument(Text("N TEXT")).titled("Skip a step…")
        .unless(only_if::plan_is_being_executed).changes_run(),
    slash_command("/replan", Build(parse::parse_replan), "Have step N planned again; finished steps stay")
        .with_argument(Text("N TEXT")).titled("Plan a step again…")
        .unless(only_if::plan_is_being_executed).changes_run(),
    key_command("/cancel", &[], Anywhere, Build(|_| Ok(ScreenCommand::CancelRun)), "Cancel the run")
        .unless(only_if::run_is_open).changes_run().sendable().placed(PaletteHeading::Run, 130).listed(),
    key_command("/resume", &[letter_key('r')], OutsideComposer, Build(|_| Ok(ScreenCommand::ResumeRun)),
        "Resume the unfinished run, or the open one of the history").titled("Resume an unfinished run")
        .hint(140, "resume").unless(only_if::run_can_be_resumed).changes_run().listed(),
]);

#[rustfmt::skip]
static REQUESTS: &[CommandRow] = &in_group(CommandGroup::Requests, [
    key_command("/needs-me", &[letter_key('!')], OutsideComposer, Build(|_| Ok(ScreenCommand::GoToWaitingDialog)),
        "Go to the open question").unless(only_if::dialog_is_open).placed(PaletteHeading::Now, 0).listed(),
    key_command("/view", &[letter_key('v')], OutsideComposer, Build(|_| Ok(ScreenCommand::ViewFullText)),
        "Show the whole prompt, request or question").titled("Show the whole prompt or request").hint(90, "view").unless(only_if::dialog_is_open),
    slash_command("/answer", Build(|word| parse::require_text("answer", word).map(ScreenCommand::AnswerQuestion)),
        "Answer the open question with a word (below)").with_argument(Text("CHOICE")).titled("Answer the open question…")
        .with_values(ArgumentValues::Answers).unless(only_if::question_is_open).changes_run().answers_dialog(),
    slash_command("/allow", Build(|_| Ok(ScreenCommand::AllowCall)), "Allow the waiting request once")
        .unless(only_if::request_is_waiting).changes_run().answers_dialog(),
    slash_command("/reject", Build(|why| Ok(ScreenCommand::RejectCall(why.to_owned()))),
        "Deny the waiting request and end the turn, or say why and continue").titled("Deny the waiting request").with_argument(Optional(&["TEXT"]))
        .unless(only_if::request_is_waiting).changes_run().answers_dialog(),
    key_command("/permissions", &[], Anywhere, Call(|_, _, _| vec![Action::ShowPermissions]),
        "List and remove your standing approvals").titled("List your standing approvals…").changes_run(),
    slash_command("/approve", Build(|_| Ok(ScreenCommand::ApprovePlan)), "Run the approved plan")
        .unless(only_if::plan_approval_is_asked).changes_run().answers_dialog(),
    slash_command("/changes", Build(|text| parse::require_text("changes", text).map(ScreenCommand::Changes)),
        "Ask for changes to the approved plan").with_argument(Text("TEXT")).titled("Ask for changes to the plan…")
        .unless(only_if::plan_approval_is_asked).changes_run().answers_dialog().sendable(),
]);

#[rustfmt::skip]
static DOCUMENTS: &[CommandRow] = &in_group(CommandGroup::Documents, [
    key_command("/edit", &[letter_key('e')], OutsideComposer, Build(parse::parse_document),
        "Edit a document or an open merge in your editor").titled("Edit a document in your editor").with_argument(Choice(&["plan", "comments", "merge"]))
        .hint(70, "edit").unless(only_if::plan_exists).changes_run().listed(),
    key_command("/diff", &[letter_key('d')], OutsideComposer, Build(parse::parse_diff),
        "Show the diff of the run, of step N, or of the plan").titled("Changes").with_argument(Optional(&["N", "plan"]))
        .hint(80, "diff").unless(only_if::step_has_run).placed(PaletteHeading::View, 20).listed().offered_at_end(1, "See the diff"),
    key_command("/note", &[letter_key(';')], OutsideComposer, Build(|text| Ok(ScreenCommand::AddPlanNote(text.to_owned()))),
        "Add a note for both agents to the selected plan line, finding or thread (or `step 2: TEXT`)").titled("Add a note for the agents…").with_argument(Optional(&["TEXT"]))
        .unless(only_if::notes_are_taken).changes_run(),
    key_command("/unnote", &[letter_key('-')], OutsideComposer, Build(parse::parse_unnote),
        "Resolve the selected thread, or thread N (takes back a note that was not sent)").titled("Resolve a thread").with_argument(Optional(&["N"]))
        .unless(only_if::plan_exists).changes_run(),
    key_command("/rewrite", &[letter_key('+')], OutsideComposer, Build(|_| Ok(ScreenCommand::RewritePlanLine)),
        "Rewrite the selected plan line here").unless(only_if::notes_are_taken).changes_run(),
    key_command("/filter", &[letter_key('=')], OutsideComposer, Call(|screen, _, state| screen.cycle_filter(state)),
        "Filter the findings, or compare the plan with an earlier one").titled("Filter findings, compare plans").unless(only_if::run_exists),
    key_command("/jump", &[letter_key('>')], OutsideComposer, Call(|screen, _, state| screen.jump_to_counterpart(state)),
        "Jump between a finding or thread and its plan line").titled("Jump between finding and plan line").unless(only_if::plan_exists),
    key_command("/changed", &[letter_key('<')], OutsideComposer, Call(|screen, n, state| screen.show_plan_change(n, state)),
        "Show what changed in the plan for the selected finding or thread").titled("Show what a finding changed").with_argument(Optional(&["N"]))
        .unless(only_if::plan_exists),
    key_command("/settle", &[], OutsideComposer, Build(|_| Ok(ScreenCommand::Discuss(Discussion::Settle))),
        "Resolve the selected finding as discussed").titled("Resolve the discussed finding").unless(only_if::finding_was_discussed).changes_run(),
]);

#[rustfmt::skip]
static AGENTS: &[CommandRow] = &in_group(CommandGroup::Agents, [
    slash_command("/task", Build(parse::parse_task), "Give a task to a separate agent (or write `@AGENT TEXT`)")
        .with_argument(Text("AGENT TEXT")).titled("Give a task to another agent…").with_values(ArgumentValues::TaskAgents).changes_run()
        .listed(),
    slash_command("/agent", Call(|screen, name, state| screen.show_agents(name, state)),
        "List the agents and what each may do").titled("What agents may do…").with_argument(Optional(&["NAME"])).with_unlisted_name("/agents")
        .placed(PaletteHeading::Run, 113).listed_before_run().with_values(ArgumentValues::Agents),
    slash_command("/sessions", Call(|screen, _, state| screen.list_children(state)),
        "List task sessions, read or stop one").titled("List task sessions…").changes_run(),
    slash_command("/todos", Call(|screen, _, state| screen.show_todo_lists(state)), "Show the agents' todo lists"),
    slash_command("/discuss", Build(|text| Ok(ScreenCommand::Discuss(Discussion::Start(text.to_owned())))),
        "Let several agents discuss and decide a question (no topic: show the board)").titled("Discuss a question…")
        .with_argument(Text("[PRESET] TOPIC")).with_values(ArgumentValues::Presets).changes_run_with_argument()
        .listed(),
    slash_command("/budget", Build(parse::parse_budget), "Preview a discussion: participants and their limits").titled("Preview a discussion")
        .with_argument(Optional(&["PRESET"])).with_values(ArgumentValues::Presets).changes_run(),
    key_command("/board", &[letter_key('#')], OutsideComposer, Build(|_| Ok(ScreenCommand::Discuss(Discussion::ShowBoard))),
        "Show the board of a discussion").hint(60, "board").unless(only_if::discussion_exists).listed(),
    key_command("/discuss-finding", &[letter_key('&')], OutsideComposer,
        Build(|_| Ok(ScreenCommand::Discuss(Discussion::DiscussFinding))),
        "Discuss the selected finding and tell the reviewer the result").titled("Discuss the finding").unless(only_if::finding_is_open).changes_run(),
    key_command("/discuss-stop", &[], OutsideComposer, Build(|_| Ok(ScreenCommand::Discuss(Discussion::Stop))),
        "Stop the discussion (what was said stays)").titled("Stop the discussion").unless(only_if::discussion_is_running).changes_run()
        .listed(),
    key_command("/discuss-on", &[], OutsideComposer, Build(|_| Ok(ScreenCommand::Discuss(Discussion::Resume))),
        "Continue a stopped or failed discussion after its last finished round").titled("Continue the discussion")
        .unless(only_if::discussion_can_resume).changes_run().listed(),
    key_command("/quote", &[letter_key('"')], OutsideComposer, Build(|_| Ok(ScreenCommand::Discuss(Discussion::Quote))),
        "Quote the last discussion's result in the composer").titled("Quote the result of the discussion").unless(only_if::discussion_has_finished).changes_run(),
    key_command("/minutes", &[], OutsideComposer, Build(|_| Ok(ScreenCommand::Discuss(Discussion::Export))),
        "Export the last discussion as Markdown").titled("Export the discussion").unless(only_if::discussion_exists),
]);

#[rustfmt::skip]
static NAVIGATION: &[CommandRow] = &in_group(CommandGroup::Navigation, [
    key_command("/next-block", &[letter_key('.')], OutsideComposer,
        Build(|_| Ok(ScreenCommand::SelectAdjacent(SelectionMove::Next))), "Pick the next chat block or finding").titled("Pick the next block"),
    key_command("/previous-block", &[letter_key(',')], OutsideComposer,
        Build(|_| Ok(ScreenCommand::SelectAdjacent(SelectionMove::Previous))), "Pick the previous block"),
    key_command("/next-turn", &[letter_key(']')], OutsideComposer,
        Build(|_| Ok(ScreenCommand::SelectAdjacent(SelectionMove::NextTurn))), "Go to the next turn"),
    key_command("/previous-turn", &[letter_key('[')], OutsideComposer,
        Build(|_| Ok(ScreenCommand::SelectAdjacent(SelectionMove::PreviousTurn))), "Go to the previous turn"),
    key_command("/find", &[ctrl_key('f')], Anywhere, Build(|_| Ok(ScreenCommand::OpenSearch)),
        "Find text in the open tab, text or diff").titled("Find text…").reaches(ViewReach::Diff)
        .placed(PaletteHeading::View, 30).listed_during_run(),
    key_command("/up", &[plain_key(KeyCode::PageUp)], Anywhere, Build(|_| Ok(ScreenCommand::Scroll(ScrollMove::PageUp))),
        "Page up").named("page-up").reaches(ViewReach::DiffAndBoard).in_window_only(),
    key_command("/down", &[plain_key(KeyCode::PageDown)], Anywhere, Build(|_| Ok(ScreenCommand::Scroll(ScrollMove::PageDown))),
        "Page down").named("page-down").reaches(ViewReach::DiffAndBoard).in_window_only(),
    key_command("/line-up", &[plain_key(KeyCode::Up), letter_key('k')], OutsideComposer,
        Build(|_| Ok(ScreenCommand::Scroll(ScrollMove::Up))),
        "Line up (in Plan, Comments and Log: select the one above)").titled("Line up").reaches(ViewReach::DiffAndBoard).in_window_only(),
    key_command("/line-down", &[plain_key(KeyCode::Down), letter_key('j')], OutsideComposer,
        Build(|_| Ok(ScreenCommand::Scroll(ScrollMove::Down))),
        "Line down (in Plan, Comments and Log: select the one below)").titled("Line down").reaches(ViewReach::DiffAndBoard).in_window_only(),
    key_command("/top", &[plain_key(KeyCode::Home)], OutsideComposer, Build(|_| Ok(ScreenCommand::Scroll(ScrollMove::Top))),
        "Go to the first line").reaches(ViewReach::DiffAndBoard).in_window_only(),
    key_command("/end", &[plain_key(KeyCode::End)], OutsideComposer, Build(|_| Ok(ScreenCommand::Scroll(ScrollMove::End))),
        "Go to the last line and follow it").titled("Go to the last line").reaches(ViewReach::DiffAndBoard).in_window_only(),
]);

#[rustfmt::skip]
static LAYOUT: &[CommandRow] = &in_group(CommandGroup::Layout, [
    key_command("/chat", &[letter_key('1')], OutsideComposer, Build(|_| Ok(ScreenCommand::Show(TabKind::Chat))),
        "Show Chat").named("show-chat").reaches(ViewReach::DiffAndBoard),
    key_command("/tab", &[letter_key('2')], OutsideComposer, Build(parse::parse_tab),
        "Show Plan").titled("Plan").named("show-plan").with_argument(Choice(&["plan"])).reaches(ViewReach::DiffAndBoard)
        .placed(PaletteHeading::View, 10).listed_during_run(),
    key_command("/comments", &[letter_key('3')], OutsideComposer, Build(|_| Ok(ScreenCommand::Show(TabKind::Comments))),
        "Show Comments").named("show-comments").reaches(ViewReach::DiffAndBoard),
    key_command("/log", &[letter_key('4')], OutsideComposer, Build(|_| Ok(ScreenCommand::Show(TabKind::Log))),
        "Show Log (again: fold it)").titled("Show Log").named("show-log").reaches(ViewReach::DiffAndBoard),
    key_command("/status", &[letter_key('5')], OutsideComposer, Build(|_| Ok(ScreenCommand::Show(TabKind::Status))),
        "Show Status (again: fold it)").titled("Show Status").named("show-status").reaches(ViewReach::DiffAndBoard),
    key_command("/next", &[plain_key(KeyCode::Tab)], Anywhere, Call(|screen, _, _| screen.step_tab(1)),
        "Next tab").named("next-tab").hint(110, "tabs"),
    key_command("/next", &[plain_key(KeyCode::Right)], OutsideComposer, Call(|screen, _, _| screen.step_tab(1)),
        "Next tab").named("tab-right"),
    key_command("/previous", &[plain_key(KeyCode::Left)], OutsideComposer, Call(|screen, _, _| screen.step_tab(-1)),
        "Previous tab").named("tab-left"),
    key_command("/open", &[letter_key(' ')], OutsideComposer, Call(|screen, _, state| screen.open_selection(state)),
        "Open or fold the selection (for a step: its diff)").titled("Open or fold the selection"),
    key_command("/thinking", &[letter_key('t')], OutsideComposer, Build(|_| Ok(ScreenCommand::ToggleThinking)),
        "Fold or unfold the agents' thinking").titled("Fold or unfold thinking"),
    key_command("/voices", &[letter_key('|')], OutsideComposer, Call(|screen, _, _| screen.toggle_chat_arrangement()),
        "Show planner and reviewer side by side (wide window)").titled("Show the agents side by side").in_window_only(),
    key_command("/side", &[letter_key('\\')], OutsideComposer, Call(|screen, _, state| screen.toggle_side_pane(state)),
        "Switch between the sidebar, a second pane and neither (wide window)").titled("Switch sidebar and second pane").in_window_only(),
    key_command("/other-pane", &[plain_key(KeyCode::F(6))], Anywhere, Build(|_| Ok(ScreenCommand::TogglePaneFocus)),
        "Switch the keys to the other pane").titled("Go to the other pane").hint(100, "other pane").in_window_only(),
    key_command("/theme", &[], Anywhere, Build(parse::parse_theme),
        "List the themes, or use one").titled("Theme…").with_argument(Optional(&["NAME"])).with_values(ArgumentValues::Themes)
        .listed().in_window_only(),
    key_command("/mouse", &[plain_key(KeyCode::F(3))], Anywhere, Call(|screen, _, _| screen.toggle_mouse_capture()),
        "Give the mouse to the terminal, or take it back").titled("Give the mouse to the terminal").in_window_only(),
    key_command("/redraw", &[ctrl_key('l')], Anywhere, Call(|_, _, _| vec![Action::Redraw]),
        "Redraw the screen").reaches(ViewReach::All).in_window_only(),
]);

#[rustfmt::skip]
static COMPOSER: &[CommandRow] = &in_group(CommandGroup::Composer, [
    key_command("/write", &[letter_key('i'), plain_key(KeyCode::Enter)], OutsideComposer,
        Build(|_| Ok(ScreenCommand::FocusComposer)), "Write in the composer")
        .hint(120, "write").changes_run().also_in_overlay().offered_at_end(4, "New goal").in_window_only(),
    key_command("/leave", &[plain_key(KeyCode::Esc)], Composer, Call(|screen, _, _| screen.leave_composer()),
        "Leave the composer, so that letters are commands").titled("Leave the composer").hint(130, "back"),
    key_command("/copy", &[ctrl_key('y')], OutsideComposer, Build(|_| Ok(ScreenCommand::Copy)),
        "Copy the selection, or the open text, diff or tab").titled("Copy the selection or the view").reaches(ViewReach::DiffAndBoard),
    key_command("/copy-code", &[alt_key('y')], OutsideComposer, Call(|screen, _, state| screen.copy_code_block(state)),
        "Copy the last code block (again: the one above)").titled("Copy the last code block"),
    key_command("/editor", &[ctrl_key('e')], OutsideComposer,
        Call(|screen, _, state| screen.open_in_viewer(ExternalViewer::Editor, state)),
        "Open the selection in your editor (VISUAL, EDITOR)").titled("Open in your editor"),
    key_command("/pager", &[alt_key('l')], OutsideComposer,
        Call(|screen, _, state| screen.open_in_viewer(ExternalViewer::Pager, state)),
        "Open the selection in your pager (PAGER)").titled("Open in your pager"),
]);

#[rustfmt::skip]
static PROGRAM: &[CommandRow] = &in_group(CommandGroup::Program, [
    key_command("/help", &[letter_key('?'), plain_key(KeyCode::F(1))], Anywhere, Build(|_| Ok(ScreenCommand::ShowHelp)),
        "Show these keys").titled("Show all keys and commands").hint(150, "help").reaches(ViewReach::DiffAndBoard)
        .listed(),
    key_command("/palette", &[ctrl_key('p'), letter_key(':')], Anywhere, Build(|_| Ok(ScreenCommand::OpenPalette)),
        "Find a command by a few letters").titled("Find a command").hint(160, "commands").reaches(ViewReach::DiffAndBoard).in_window_only(),
    key_command("/history", &[], Anywhere, Call(|_, _, _| vec![Action::ShowHistory]),
        "List earlier runs, read one, or resume an unfinished one").titled("Earlier runs…")
        .placed(PaletteHeading::Run, 110).listed(),
    key_command("/export", &[ctrl_key('s')], OutsideComposer, Build(parse::parse_export),
        "Export a report of the run").titled("Export a report").with_argument(Optional(&["html", "md"]))
        .unless(only_if::run_exists).not_in_overlay().placed(PaletteHeading::Run, 120).listed().offered_at_end(3, "Export a report"),
    slash_command("/diagnose", Call(|_, _, _| vec![Action::Diagnose]), "Check CLIs, git and settings")
        .titled("Check the setup").placed(PaletteHeading::Run, 112).listed_before_run(),
    key_command("/suspend", &[ctrl_key('z')], Anywhere, Call(|_, _, _| vec![Action::Suspend]),
        "Suspend to the background").reaches(ViewReach::All),
    key_command("/quit", &[ctrl_key('c')], Anywhere, Build(|_| Ok(ScreenCommand::Quit)),
        "Quit (asks if something is running, again: at once)").titled("Quit").hint(180, "quit").sendable().reaches(ViewReach::All)
        .listed(),
]);
