//! The one table of key bindings; it drives key handling, footer hints, slash commands and the help.
//!
//! Users can reassign keys (`key_overrides`, `active_keymap`); keys of a single view are in `view_bindings`.
//! The keys of an open dialog are its own choices; each of them also works as `/answer CHOICE`.

mod active_keymap;
mod command_group;
mod key_binding;
mod key_chord;
mod key_overrides;
mod slash_command;
mod view_bindings;

use ratatui::crossterm::event::KeyCode;

use super::action::{DocumentKind, ExternalViewer};
use super::command::{ScreenCommand, ScrollMove};
use super::discussion_commands::DiscussionScreenCommand;
use super::tabs::TabKind;
use super::transcript::SelectionMove;
use crate::domain::diff_scope::DiffScope;
use crate::domain::export_format::ExportFormat;
use crate::domain::reversal_plan::UndoRequest as UndoWish;
pub use active_keymap::{ActiveKeymap, ComposerFocus, KeyHint};
pub use command_group::COMMAND_GROUPS;
pub use key_binding::{KeyBinding, KeyContext};
use key_binding::{bind_keys, slash_only};
pub use key_chord::{KeyChord, suggest_nearest};
use key_chord::{alt_key, ctrl_key, letter_key, plain_key};
pub use key_overrides::{KeyOverride, KeymapError};

pub use slash_command::{SlashArgument, SlashCommand};

use KeyContext::{Anywhere, Composer, OutsideComposer};
use SlashArgument::{Choice, Optional, Text};

/// All keys and slash commands, in the order of the help.
#[rustfmt::skip]
pub const BINDINGS: &[KeyBinding] = &[
    bind_keys("go", &[letter_key('g')], OutsideComposer, || ScreenCommand::Go,
        ["/go", "Send the waiting turn, or confirm the goal", "go"]),
    bind_keys("auto", &[letter_key('a')], OutsideComposer, || ScreenCommand::AutoGate,
        ["/auto", "Switch to Auto: send turns without asking", "auto"]),
    bind_keys("pause", &[letter_key('p')], OutsideComposer, || ScreenCommand::ManualGate,
        ["/pause", "Switch to Manual: the next turn waits for you", "pause"]).with_aliases(&["/manual"]),
    bind_keys("interrupt", &[letter_key('x'), ctrl_key('x')], Anywhere, || ScreenCommand::InterruptTurn,
        ["/interrupt", "Interrupt the turn or the tests", "interrupt"]),
    bind_keys("stop", &[letter_key('s')], OutsideComposer, || ScreenCommand::StopToGoal,
        ["/stop", "Stop and return to the goal (files and commits stay)", "stop"]),
    slash_only("/steer", "Message the agent during its turn").with_argument(Text("TEXT")),
    slash_only("/approve", "Run the approved plan"),
    slash_only("/changes", "Ask for changes to the approved plan").with_argument(Text("TEXT")),
    slash_only("/allow", "Allow the waiting request once"),
    slash_only("/reject", "Deny the waiting request and end the turn, or say why and continue")
        .with_argument(Optional(&["TEXT"])),
    bind_keys("permissions", &[], Anywhere, || ScreenCommand::ShowApprovals,
        ["/permissions", "List and remove your standing approvals", ""]),
    slash_only("/task", "Give a task to a separate agent (or write `@AGENT TEXT`)").with_argument(Text("AGENT TEXT")),
    slash_only("/agent", "List the agents and what each may do").with_argument(Optional(&["NAME"])),
    slash_only("/sessions", "List task sessions, read or stop one"),
    slash_only("/discuss", "Let several agents discuss and decide a question (no topic: show the board)")
        .with_argument(Text("[PRESET] TOPIC")),
    slash_only("/budget", "Preview a discussion: participants and their limits").with_argument(Optional(&["PRESET"])),
    slash_only("/diagnose", "Check CLIs, git and settings"),
    bind_keys("discuss-finding", &[letter_key('&')], OutsideComposer, || ScreenCommand::Discuss(DiscussionScreenCommand::DiscussFinding),
        ["/discuss-finding", "Discuss the selected finding and tell the reviewer the result", ""]),
    bind_keys("discuss-stop", &[], OutsideComposer, || ScreenCommand::Discuss(DiscussionScreenCommand::Stop),
        ["/discuss-stop", "Stop the discussion (what was said stays)", ""]),
    bind_keys("discuss-on", &[], OutsideComposer, || ScreenCommand::Discuss(DiscussionScreenCommand::Resume),
        ["/discuss-on", "Continue a stopped or failed discussion after its last finished round", ""]),
    bind_keys("minutes", &[], OutsideComposer, || ScreenCommand::Discuss(DiscussionScreenCommand::Export),
        ["/minutes", "Export the last discussion as Markdown", ""]),
    bind_keys("board", &[letter_key('#')], OutsideComposer, || ScreenCommand::Discuss(DiscussionScreenCommand::ShowBoard),
        ["/board", "Show the board of a discussion", "board"]),
    bind_keys("quote", &[letter_key('"')], OutsideComposer, || ScreenCommand::Discuss(DiscussionScreenCommand::Quote),
        ["/quote", "Quote the last discussion's result in the composer", ""]),
    bind_keys("settle", &[], OutsideComposer, || ScreenCommand::Discuss(DiscussionScreenCommand::Settle),
        ["/settle", "Resolve the selected finding as discussed", ""]),
    slash_only("/todos", "Show the agents' todo lists"),
    slash_only("/answer", "Answer the open question with a word (below)").with_argument(Text("CHOICE")),
    slash_only("/goal", "Set the goal, or confirm it in your words").with_argument(Text("TEXT")),
    bind_keys("cancel", &[], Anywhere, || ScreenCommand::CancelRun, ["/cancel", "Cancel the run", ""]),
    bind_keys("edit", &[letter_key('e')], OutsideComposer, || ScreenCommand::Edit(DocumentKind::Plan),
        ["/edit", "Edit a document or an open merge in your editor", "edit"]).with_argument(Choice(&["plan", "comments", "merge"])),
    bind_keys("diff", &[letter_key('d')], OutsideComposer, || ScreenCommand::Diff(DiffScope::All),
        ["/diff", "Show the diff of the run, of step N, or of the plan", "diff"]).with_argument(Optional(&["N", "plan"])),
    bind_keys("view", &[letter_key('v')], OutsideComposer, || ScreenCommand::ViewFullText,
        ["/view", "Show the whole prompt, request or question", "view"]),
    bind_keys("refiner", &[plain_key(KeyCode::F(2))], Anywhere, || ScreenCommand::ChooseRefiner(None),
        ["/refiner", "Choose who talks with you", ""]).with_argument(Optional(&["planner", "reviewer"])),
    bind_keys("thinking", &[letter_key('t')], OutsideComposer, || ScreenCommand::ToggleThinking,
        ["/thinking", "Fold or unfold the agents' thinking", ""]),
    bind_keys("copy", &[ctrl_key('y')], OutsideComposer, || ScreenCommand::Copy,
        ["/copy", "Copy the selection, or the open text, diff or tab", ""]),
    bind_keys("copy-code", &[alt_key('y')], OutsideComposer, || ScreenCommand::CopyCodeBlock,
        ["/copy-code", "Copy the last code block (again: the one above)", ""]),
    bind_keys("next-block", &[letter_key('.')], OutsideComposer, || ScreenCommand::SelectAdjacent(SelectionMove::Next),
        ["/next-block", "Pick the next chat block or finding", ""]),
    bind_keys("previous-block", &[letter_key(',')], OutsideComposer, || ScreenCommand::SelectAdjacent(SelectionMove::Previous),
        ["/previous-block", "Pick the previous block", ""]),
    bind_keys("next-turn", &[letter_key(']')], OutsideComposer, || ScreenCommand::SelectAdjacent(SelectionMove::NextTurn),
        ["/next-turn", "Go to the next turn", ""]),
    bind_keys("previous-turn", &[letter_key('[')], OutsideComposer, || ScreenCommand::SelectAdjacent(SelectionMove::PreviousTurn),
        ["/previous-turn", "Go to the previous turn", ""]),
    bind_keys("open", &[letter_key(' ')], OutsideComposer, || ScreenCommand::OpenSelection,
        ["/open", "Open or fold the selection (for a step: its diff)", ""]),
    bind_keys("filter", &[letter_key('=')], OutsideComposer, || ScreenCommand::CycleFilter,
        ["/filter", "Filter the findings, or compare the plan with an earlier one", ""]),
    bind_keys("jump", &[letter_key('>')], OutsideComposer, || ScreenCommand::JumpToCounterpart,
        ["/jump", "Jump between a finding and its plan line", ""]),
    bind_keys("note", &[letter_key(';')], OutsideComposer, || ScreenCommand::AddPlanNote(String::new()),
        ["/note", "Add a note for both agents to the selected plan line", ""]).with_argument(Optional(&["TEXT"])),
    bind_keys("unnote", &[letter_key('-')], OutsideComposer, || ScreenCommand::RemovePlanNote(None),
        ["/unnote", "Remove the note on the selected line, or note N", ""]).with_argument(Optional(&["N"])),
    bind_keys("rewrite", &[letter_key('+')], OutsideComposer, || ScreenCommand::RewritePlanLine,
        ["/rewrite", "Rewrite the selected plan line here", ""]),
    bind_keys("editor", &[ctrl_key('e')], OutsideComposer, || ScreenCommand::OpenInViewer(ExternalViewer::Editor),
        ["/editor", "Open the selection in your editor (VISUAL, EDITOR)", ""]),
    bind_keys("pager", &[alt_key('l')], OutsideComposer, || ScreenCommand::OpenInViewer(ExternalViewer::Pager),
        ["/pager", "Open the selection in your pager (PAGER)", ""]),
    bind_keys("needs-me", &[letter_key('!')], OutsideComposer, || ScreenCommand::GoToWaitingDialog,
        ["/needs-me", "Go to what needs you", ""]),
    bind_keys("voices", &[letter_key('|')], OutsideComposer, || ScreenCommand::ToggleChatArrangement,
        ["/voices", "Show planner and reviewer side by side (wide window)", ""]),
    bind_keys("find", &[ctrl_key('f')], Anywhere, || ScreenCommand::OpenSearch,
        ["/find", "Find text in the open tab, text or diff", ""]),
    bind_keys("side", &[letter_key('\\')], OutsideComposer, || ScreenCommand::ToggleSidePane,
        ["/side", "Show or hide the second pane (wide window)", ""]),
    bind_keys("other-pane", &[plain_key(KeyCode::F(6))], Anywhere, || ScreenCommand::TogglePaneFocus,
        ["/other-pane", "Switch the keys to the other pane", "other pane"]),
    bind_keys("show-chat", &[letter_key('1')], OutsideComposer, || ScreenCommand::Show(TabKind::Chat),
        ["/chat", "Show Chat", ""]),
    bind_keys("show-plan", &[letter_key('2')], OutsideComposer, || ScreenCommand::Show(TabKind::Plan),
        ["/tab", "Show Plan", ""]).with_argument(Choice(&["plan"])),
    bind_keys("show-comments", &[letter_key('3')], OutsideComposer, || ScreenCommand::Show(TabKind::Comments),
        ["/comments", "Show Comments", ""]),
    bind_keys("show-log", &[letter_key('4')], OutsideComposer, || ScreenCommand::Show(TabKind::Log),
        ["/log", "Show Log (again: fold it)", ""]),
    bind_keys("show-status", &[letter_key('5')], OutsideComposer, || ScreenCommand::Show(TabKind::Status),
        ["/status", "Show Status (again: fold it)", ""]),
    bind_keys("next-tab", &[plain_key(KeyCode::Tab)], Anywhere, || ScreenCommand::NextTab,
        ["/next", "Next tab", "tabs"]),
    bind_keys("tab-right", &[plain_key(KeyCode::Right)], OutsideComposer, || ScreenCommand::NextTab,
        ["/next", "Next tab", ""]),
    bind_keys("tab-left", &[plain_key(KeyCode::Left)], OutsideComposer, || ScreenCommand::PreviousTab,
        ["/previous", "Previous tab", ""]),
    bind_keys("mode", &[plain_key(KeyCode::BackTab)], Anywhere, || ScreenCommand::Mode(None),
        ["/mode", "Set what agents may do without asking (the key skips Full access)", ""])
        .with_aliases(&["/plan", "/default", "/auto-edit", "/yolo"]),
    bind_keys("page-up", &[plain_key(KeyCode::PageUp)], Anywhere, || ScreenCommand::Scroll(ScrollMove::PageUp),
        ["/up", "Page up", ""]),
    bind_keys("page-down", &[plain_key(KeyCode::PageDown)], Anywhere, || ScreenCommand::Scroll(ScrollMove::PageDown),
        ["/down", "Page down", ""]),
    bind_keys("line-up", &[plain_key(KeyCode::Up), letter_key('k')], OutsideComposer, || ScreenCommand::Scroll(ScrollMove::Up),
        ["/line-up", "Line up (in Plan, Comments and Log: select the one above)", ""]),
    bind_keys("line-down", &[plain_key(KeyCode::Down), letter_key('j')], OutsideComposer, || ScreenCommand::Scroll(ScrollMove::Down),
        ["/line-down", "Line down (in Plan, Comments and Log: select the one below)", ""]),
    bind_keys("top", &[plain_key(KeyCode::Home)], OutsideComposer, || ScreenCommand::Scroll(ScrollMove::Top),
        ["/top", "Go to the first line", ""]),
    bind_keys("end", &[plain_key(KeyCode::End)], OutsideComposer, || ScreenCommand::Scroll(ScrollMove::End),
        ["/end", "Go to the last line and follow it", ""]),
    bind_keys("write", &[letter_key('i'), plain_key(KeyCode::Enter)], OutsideComposer, || ScreenCommand::FocusComposer,
        ["/write", "Write in the composer", "write"]),
    bind_keys("leave", &[plain_key(KeyCode::Esc)], Composer, || ScreenCommand::LeaveComposer,
        ["/leave", "Leave the composer, so that letters are commands", "back"]),
    bind_keys("theme", &[], Anywhere, || ScreenCommand::Theme(None),
        ["/theme", "List the themes, or use one", ""]).with_argument(Optional(&["NAME"])),
    bind_keys("mouse", &[plain_key(KeyCode::F(3))], Anywhere, || ScreenCommand::ToggleMouse,
        ["/mouse", "Give the mouse to the terminal, or take it back", ""]),
    bind_keys("resume", &[letter_key('r')], OutsideComposer, || ScreenCommand::ResumeRun,
        ["/resume", "Resume the unfinished run, or the open one of the history", "resume"]),
    bind_keys("history", &[], Anywhere, || ScreenCommand::ShowHistory,
        ["/history", "List earlier runs, read one, or resume an unfinished one", ""]),
    bind_keys("export", &[ctrl_key('s')], OutsideComposer, || ScreenCommand::ExportRun(ExportFormat::default()),
        ["/export", "Export a report of the run", ""]).with_argument(Optional(&["html", "md"])),
    bind_keys("help", &[letter_key('?'), plain_key(KeyCode::F(1))], Anywhere, || ScreenCommand::ShowHelp,
        ["/help", "Show these keys", "help"]),
    bind_keys("palette", &[ctrl_key('p'), letter_key(':')], Anywhere, || ScreenCommand::OpenPalette,
        ["/palette", "Find a command by a few letters", "commands"]),
    bind_keys("undo", &[letter_key('u')], OutsideComposer, || ScreenCommand::Undo(UndoWish::Last),
        ["/undo", "Undo the last step with changes, or all from step N on", "undo"]).with_argument(Optional(&["N"])),
    bind_keys("redo", &[ctrl_key('r')], OutsideComposer, || ScreenCommand::Undo(UndoWish::Redo),
        ["/redo", "Redo what you undid last", ""]),
    slash_only("/skip", "Skip step N, which has not ended, and say why").with_argument(Text("N TEXT")),
    slash_only("/replan", "Have step N planned again; finished steps stay").with_argument(Text("N TEXT")),
    bind_keys("redraw", &[ctrl_key('l')], Anywhere, || ScreenCommand::Redraw, ["/redraw", "Redraw the screen", ""]),
    bind_keys("suspend", &[ctrl_key('z')], Anywhere, || ScreenCommand::Suspend,
        ["/suspend", "Suspend to the background", ""]),
    bind_keys("quit", &[ctrl_key('c')], Anywhere, || ScreenCommand::Quit,
        ["/quit", "Quit (asks if something is running, again: at once)", "quit"]),
];
