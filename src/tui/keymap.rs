//! The one table of key bindings; it drives key handling, footer hints, slash commands and the help.
//!
//! Users can reassign keys (`key_overrides`, `active_keymap`); keys of a single view are in `view_bindings`.
//! The keys of an open dialog are its own choices; each of them also works as `/answer CHOICE`.

mod active_keymap;
mod command_group;
mod key_binding;
mod key_chord;
mod key_overrides;
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
pub use key_binding::{KeyBinding, KeyContext, slash_mode};
use key_binding::{bind_keys, slash_only};
pub use key_chord::{KeyChord, suggest_nearest};
use key_chord::{alt_key, ctrl_key, letter_key, plain_key};
pub use key_overrides::{KeyOverride, KeymapError};

use KeyContext::{Anywhere, Composer, OutsideComposer};

/// All keys and slash commands, in the order of the help.
pub const BINDINGS: &[KeyBinding] = &[
    bind_keys(
        "go",
        &[letter_key('g')],
        OutsideComposer,
        || ScreenCommand::Go,
        [
            "/go",
            "release the turn that waits, or confirm the goal (Enter does what the open dialog says)",
            "go",
        ],
    ),
    bind_keys(
        "auto",
        &[letter_key('a')],
        OutsideComposer,
        || ScreenCommand::AutoGate,
        [
            "/auto",
            "let turns follow each other without asking",
            "auto",
        ],
    ),
    bind_keys(
        "pause",
        &[letter_key('p')],
        OutsideComposer,
        || ScreenCommand::ManualGate,
        [
            "/pause, /manual",
            "let the running turn end, the next one waits for you",
            "pause",
        ],
    ),
    bind_keys(
        "interrupt",
        &[letter_key('x'), ctrl_key('x')],
        Anywhere,
        || ScreenCommand::InterruptTurn,
        [
            "/interrupt",
            "interrupt the turn or the first test run, and stay",
            "interrupt",
        ],
    ),
    bind_keys(
        "stop",
        &[letter_key('s')],
        OutsideComposer,
        || ScreenCommand::StopToGoal,
        [
            "/stop",
            "stop: interrupt and go back to the goal; files and commits stay",
            "stop",
        ],
    ),
    slash_only(
        "/steer TEXT",
        "say something to the agent in the middle of its turn, which goes on",
    ),
    slash_only("/approve", "execute the approved plan"),
    slash_only("/changes TEXT", "have the approved plan changed first"),
    slash_only("/allow", "allow the agent's call that waits, this once"),
    slash_only(
        "/reject [TEXT]",
        "refuse the agent's call that waits and end its turn; with a text, the agent is told it and goes on",
    ),
    bind_keys(
        "permissions",
        &[],
        Anywhere,
        || ScreenCommand::ShowApprovals,
        [
            "/permissions",
            "what you approved for more than one call, to be taken back",
            "",
        ],
    ),
    slash_only(
        "/task AGENT TEXT",
        "give a task to an agent of its own, beside the run; `@AGENT TEXT` does the same",
    ),
    slash_only(
        "/agent [NAME]",
        "the agents: what each is for and may do, and what can be done with it now",
    ),
    slash_only(
        "/sessions",
        "the sessions of tasks, to be read; one that runs can be stopped",
    ),
    slash_only(
        "/discuss [PRESET] TOPIC",
        "have several agents discuss a question in rounds and decide it; alone it shows the board",
    ),
    slash_only(
        "/budget [PRESET]",
        "what a discussion would be given, who would take part and how; nothing is started",
    ),
    slash_only(
        "/diagnose",
        "what everything stands on here: CLIs, git, configuration, environment; nothing is started",
    ),
    bind_keys(
        "discuss-finding",
        &[letter_key('&')],
        OutsideComposer,
        || ScreenCommand::Discuss(DiscussionScreenCommand::DiscussFinding),
        [
            "/discuss-finding",
            "have the finding that is pointed at discussed; the reviewer is told what it comes to",
            "",
        ],
    ),
    bind_keys(
        "discuss-stop",
        &[],
        OutsideComposer,
        || ScreenCommand::Discuss(DiscussionScreenCommand::Stop),
        [
            "/discuss-stop",
            "stop the discussion that runs; what was said stays",
            "",
        ],
    ),
    bind_keys(
        "discuss-on",
        &[],
        OutsideComposer,
        || ScreenCommand::Discuss(DiscussionScreenCommand::Resume),
        [
            "/discuss-on",
            "go on with the discussion that was stopped, was cut off or failed, after its last finished round",
            "",
        ],
    ),
    bind_keys(
        "minutes",
        &[],
        OutsideComposer,
        || ScreenCommand::Discuss(DiscussionScreenCommand::Export),
        ["/minutes", "write the last discussion down as Markdown", ""],
    ),
    bind_keys(
        "board",
        &[letter_key('#')],
        OutsideComposer,
        || ScreenCommand::Discuss(DiscussionScreenCommand::ShowBoard),
        [
            "/board",
            "show the board of a discussion: who said what in which round, and what came of it",
            "board",
        ],
    ),
    bind_keys(
        "quote",
        &[letter_key('"')],
        OutsideComposer,
        || ScreenCommand::Discuss(DiscussionScreenCommand::Quote),
        [
            "/quote",
            "put the result of the last discussion into the composer, for the next turn",
            "",
        ],
    ),
    bind_keys(
        "settle",
        &[],
        OutsideComposer,
        || ScreenCommand::Discuss(DiscussionScreenCommand::Settle),
        [
            "/settle",
            "settle the finding that is pointed at by what its discussion came to",
            "",
        ],
    ),
    slash_only("/todos", "what the agents have written down to do"),
    slash_only(
        "/answer CHOICE",
        "answer the open question by a word (below)",
    ),
    slash_only("/goal TEXT", "give the goal, or confirm it in your words"),
    bind_keys(
        "cancel",
        &[],
        Anywhere,
        || ScreenCommand::CancelRun,
        ["/cancel", "give the run up", ""],
    ),
    bind_keys(
        "edit",
        &[letter_key('e')],
        OutsideComposer,
        || ScreenCommand::Edit(DocumentKind::Plan),
        [
            "/edit plan|comments|merge",
            "edit the document, or the merge of the open conflict, in your editor",
            "edit",
        ],
    ),
    bind_keys(
        "diff",
        &[letter_key('d')],
        OutsideComposer,
        || ScreenCommand::Diff(DiffScope::All),
        [
            "/diff [N|plan]",
            "show what the run changed, step N of it, or how the plan changed",
            "diff",
        ],
    ),
    bind_keys(
        "view",
        &[letter_key('v')],
        OutsideComposer,
        || ScreenCommand::ViewFullText,
        [
            "/view",
            "show the whole of what waits: prompt, call, question",
            "view",
        ],
    ),
    bind_keys(
        "refiner",
        &[plain_key(KeyCode::F(2))],
        Anywhere,
        || ScreenCommand::ChooseRefiner(None),
        [
            "/refiner [planner|reviewer]",
            "choose which agent talks with you about the goal",
            "",
        ],
    ),
    bind_keys(
        "thinking",
        &[letter_key('t')],
        OutsideComposer,
        || ScreenCommand::ToggleThinking,
        ["/thinking", "fold or unfold what agents think", ""],
    ),
    bind_keys(
        "copy",
        &[ctrl_key('y')],
        OutsideComposer,
        || ScreenCommand::Copy,
        [
            "/copy",
            "copy what is pointed at, else what is open: a text, a diff, a tab, the last answer",
            "",
        ],
    ),
    bind_keys(
        "copy-code",
        &[alt_key('y')],
        OutsideComposer,
        || ScreenCommand::CopyCodeBlock,
        [
            "/copy-code",
            "copy the last block of code of what is pointed at, else of what is open; again: the one above",
            "",
        ],
    ),
    bind_keys(
        "next-block",
        &[letter_key('.')],
        OutsideComposer,
        || ScreenCommand::SelectAdjacent(SelectionMove::Next),
        [
            "/next-block",
            "point at the next block of the chat, or the next finding",
            "",
        ],
    ),
    bind_keys(
        "previous-block",
        &[letter_key(',')],
        OutsideComposer,
        || ScreenCommand::SelectAdjacent(SelectionMove::Previous),
        ["/previous-block", "point at the block before", ""],
    ),
    bind_keys(
        "next-turn",
        &[letter_key(']')],
        OutsideComposer,
        || ScreenCommand::SelectAdjacent(SelectionMove::NextTurn),
        ["/next-turn", "to the next turn", ""],
    ),
    bind_keys(
        "previous-turn",
        &[letter_key('[')],
        OutsideComposer,
        || ScreenCommand::SelectAdjacent(SelectionMove::PreviousTurn),
        ["/previous-turn", "to the turn before", ""],
    ),
    bind_keys(
        "open",
        &[letter_key(' ')],
        OutsideComposer,
        || ScreenCommand::OpenSelection,
        [
            "/open",
            "open or fold the call, the thinking, the finding or the event that is pointed at; of a step, open its diff",
            "",
        ],
    ),
    bind_keys(
        "filter",
        &[letter_key('=')],
        OutsideComposer,
        || ScreenCommand::CycleFilter,
        [
            "/filter",
            "list all findings, the open ones, those rejected, those settled; compare the plan with an earlier one",
            "",
        ],
    ),
    bind_keys(
        "jump",
        &[letter_key('>')],
        OutsideComposer,
        || ScreenCommand::JumpToCounterpart,
        [
            "/jump",
            "from the finding that is pointed at to its line of the plan, and back",
            "",
        ],
    ),
    bind_keys(
        "note",
        &[letter_key(';')],
        OutsideComposer,
        || ScreenCommand::AddPlanNote(String::new()),
        [
            "/note [TEXT]",
            "make a note on the line of the plan that is pointed at: reviewer and planner get it",
            "",
        ],
    ),
    bind_keys(
        "unnote",
        &[letter_key('-')],
        OutsideComposer,
        || ScreenCommand::RemovePlanNote(None),
        [
            "/unnote [N]",
            "take back the note of the line that is pointed at, or note N",
            "",
        ],
    ),
    bind_keys(
        "rewrite",
        &[letter_key('+')],
        OutsideComposer,
        || ScreenCommand::RewritePlanLine,
        [
            "/rewrite",
            "write the line of the plan that is pointed at anew, here; /edit opens all of it in your editor",
            "",
        ],
    ),
    bind_keys(
        "editor",
        &[ctrl_key('e')],
        OutsideComposer,
        || ScreenCommand::OpenInViewer(ExternalViewer::Editor),
        [
            "/editor",
            "open what is pointed at, else what is open, in your editor (VISUAL, EDITOR)",
            "",
        ],
    ),
    bind_keys(
        "pager",
        &[alt_key('l')],
        OutsideComposer,
        || ScreenCommand::OpenInViewer(ExternalViewer::Pager),
        ["/pager", "the same in your pager (PAGER)", ""],
    ),
    bind_keys(
        "needs-me",
        &[letter_key('!')],
        OutsideComposer,
        || ScreenCommand::GoToWaitingDialog,
        ["/needs-me", "go to what needs you", ""],
    ),
    bind_keys(
        "voices",
        &[letter_key('|')],
        OutsideComposer,
        || ScreenCommand::ToggleChatArrangement,
        [
            "/voices",
            "show planner and reviewer beside each other in a wide window, in the order in which they speak",
            "",
        ],
    ),
    bind_keys(
        "find",
        &[ctrl_key('f')],
        Anywhere,
        || ScreenCommand::OpenSearch,
        [
            "/find",
            "find something in what is open: a tab, a long text, a diff; in Log, list the events that have it",
            "",
        ],
    ),
    bind_keys(
        "side",
        &[letter_key('\\')],
        OutsideComposer,
        || ScreenCommand::ToggleSidePane,
        ["/side", "show or hide the second pane of a wide window", ""],
    ),
    bind_keys(
        "other-pane",
        &[plain_key(KeyCode::F(6))],
        Anywhere,
        || ScreenCommand::TogglePaneFocus,
        [
            "/other-pane",
            "give the keys to the other pane of a wide window, and back",
            "other pane",
        ],
    ),
    bind_keys(
        "show-chat",
        &[letter_key('1')],
        OutsideComposer,
        || ScreenCommand::Show(TabKind::Chat),
        ["/chat", "show Chat", ""],
    ),
    bind_keys(
        "show-plan",
        &[letter_key('2')],
        OutsideComposer,
        || ScreenCommand::Show(TabKind::Plan),
        ["/tab plan", "show Plan", ""],
    ),
    bind_keys(
        "show-comments",
        &[letter_key('3')],
        OutsideComposer,
        || ScreenCommand::Show(TabKind::Comments),
        ["/comments", "show Comments", ""],
    ),
    bind_keys(
        "show-log",
        &[letter_key('4')],
        OutsideComposer,
        || ScreenCommand::Show(TabKind::Log),
        ["/log", "show Log; once more folds it", ""],
    ),
    bind_keys(
        "show-status",
        &[letter_key('5')],
        OutsideComposer,
        || ScreenCommand::Show(TabKind::Status),
        ["/status", "show Status; once more folds it", ""],
    ),
    bind_keys(
        "next-tab",
        &[plain_key(KeyCode::Tab)],
        Anywhere,
        || ScreenCommand::NextTab,
        ["/next", "the next tab", "tabs"],
    ),
    bind_keys(
        "tab-right",
        &[plain_key(KeyCode::Right)],
        OutsideComposer,
        || ScreenCommand::NextTab,
        ["/next", "the next tab", ""],
    ),
    bind_keys(
        "tab-left",
        &[plain_key(KeyCode::Left)],
        OutsideComposer,
        || ScreenCommand::PreviousTab,
        ["/previous", "the tab before", ""],
    ),
    bind_keys(
        "mode",
        &[plain_key(KeyCode::BackTab)],
        Anywhere,
        || ScreenCommand::Mode(None),
        [
            "/mode, /plan, /default, /auto-edit, /yolo",
            "how much agents do without asking; the key goes through all but yolo",
            "",
        ],
    ),
    bind_keys(
        "page-up",
        &[plain_key(KeyCode::PageUp)],
        Anywhere,
        || ScreenCommand::Scroll(ScrollMove::PageUp),
        ["/up", "a page up", ""],
    ),
    bind_keys(
        "page-down",
        &[plain_key(KeyCode::PageDown)],
        Anywhere,
        || ScreenCommand::Scroll(ScrollMove::PageDown),
        ["/down", "a page down", ""],
    ),
    bind_keys(
        "line-up",
        &[plain_key(KeyCode::Up), letter_key('k')],
        OutsideComposer,
        || ScreenCommand::Scroll(ScrollMove::Up),
        [
            "/line-up",
            "a line up; in Plan, Comments and Log, point at what stands above",
            "",
        ],
    ),
    bind_keys(
        "line-down",
        &[plain_key(KeyCode::Down), letter_key('j')],
        OutsideComposer,
        || ScreenCommand::Scroll(ScrollMove::Down),
        [
            "/line-down",
            "a line down; in Plan, Comments and Log, point at what stands below",
            "",
        ],
    ),
    bind_keys(
        "top",
        &[plain_key(KeyCode::Home)],
        OutsideComposer,
        || ScreenCommand::Scroll(ScrollMove::Top),
        ["/top", "to the first line", ""],
    ),
    bind_keys(
        "end",
        &[plain_key(KeyCode::End)],
        OutsideComposer,
        || ScreenCommand::Scroll(ScrollMove::End),
        ["/end", "to the last line, and follow it", ""],
    ),
    bind_keys(
        "write",
        &[letter_key('i'), plain_key(KeyCode::Enter)],
        OutsideComposer,
        || ScreenCommand::FocusComposer,
        [
            "/write",
            "write (Enter is an open dialog's, and opens what is pointed at)",
            "write",
        ],
    ),
    bind_keys(
        "leave",
        &[plain_key(KeyCode::Esc)],
        Composer,
        || ScreenCommand::LeaveComposer,
        [
            "/leave",
            "leave the composer, so that letters are commands",
            "commands",
        ],
    ),
    bind_keys(
        "theme",
        &[],
        Anywhere,
        || ScreenCommand::Theme(None),
        [
            "/theme [NAME]",
            "show the themes, or take one of them; screen.theme of the configuration keeps it",
            "",
        ],
    ),
    bind_keys(
        "mouse",
        &[plain_key(KeyCode::F(3))],
        Anywhere,
        || ScreenCommand::ToggleMouse,
        [
            "/mouse",
            "leave the mouse to the terminal, or take it again (a drag with Shift held always selects text)",
            "",
        ],
    ),
    bind_keys(
        "resume",
        &[letter_key('r')],
        OutsideComposer,
        || ScreenCommand::ResumeRun,
        [
            "/resume",
            "go on with the unfinished run; the key takes up the one of the history that is open",
            "take up again",
        ],
    ),
    bind_keys(
        "history",
        &[],
        Anywhere,
        || ScreenCommand::ShowHistory,
        [
            "/history",
            "list finished runs, open one to be read, take an unfinished one up again",
            "",
        ],
    ),
    bind_keys(
        "export",
        &[ctrl_key('s')],
        OutsideComposer,
        || ScreenCommand::ExportRun(ExportFormat::default()),
        [
            "/export [html|md]",
            "write the run down as one page to show to others",
            "",
        ],
    ),
    bind_keys(
        "help",
        &[letter_key('?'), plain_key(KeyCode::F(1))],
        Anywhere,
        || ScreenCommand::ShowHelp,
        ["/help", "these keys", "help"],
    ),
    bind_keys(
        "palette",
        &[ctrl_key('p'), letter_key(':')],
        Anywhere,
        || ScreenCommand::OpenPalette,
        ["/palette", "find any of these by a few letters", "actions"],
    ),
    bind_keys(
        "undo",
        &[letter_key('u')],
        OutsideComposer,
        || ScreenCommand::Undo(UndoWish::Last),
        [
            "/undo [N]",
            "undo the last step that changed something, or back to before step N",
            "undo",
        ],
    ),
    bind_keys(
        "redo",
        &[ctrl_key('r')],
        OutsideComposer,
        || ScreenCommand::Undo(UndoWish::Redo),
        ["/redo", "bring back what was undone last", ""],
    ),
    bind_keys(
        "redraw",
        &[ctrl_key('l')],
        Anywhere,
        || ScreenCommand::Redraw,
        [
            "/redraw",
            "draw everything anew, where another program wrote onto the screen",
            "",
        ],
    ),
    bind_keys(
        "suspend",
        &[ctrl_key('z')],
        Anywhere,
        || ScreenCommand::Suspend,
        ["/suspend", "to the background", ""],
    ),
    bind_keys(
        "quit",
        &[ctrl_key('c')],
        Anywhere,
        || ScreenCommand::Quit,
        [
            "/quit",
            "save and end; where something works it asks first, and once more leaves at once",
            "quit",
        ],
    ),
];
