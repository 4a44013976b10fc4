//! The one table of keys: it drives what a key does, the footer's hints, the slash commands' list and the help.
//!
//! The user may give its actions other keys (`map`, `own`); what works in one view only stands in `views`. Keys of
//! an open dialog are the dialog's own choices; each of them is also `/answer CHOICE`.

mod binding;
mod group;
mod key;
mod map;
mod own;
mod views;

use ratatui::crossterm::event::KeyCode;

use super::action::{DocumentKind, Viewer};
use super::command::{Command, Move};
use super::discussing::Wish;
use super::tabs::Tab;
use super::transcript::Along;
use crate::domain::diff_scope::DiffScope;
use crate::domain::export_format::ExportFormat;
use crate::domain::reversal_plan::UndoRequest as UndoWish;
pub use binding::{Binding, Context, mode_of};
use binding::{bind, slash};
pub use group::GROUPS;
pub use key::{Key, nearest};
use key::{alt, ctrl, letter, plain};
pub use map::{Hint, IsWriting, Keymap};
pub use own::{Flaw, Wished};

use Context::{Anywhere, Composer, Outside};

/// All keys and slash commands, in the order of the help.
pub const BINDINGS: &[Binding] = &[
    bind(
        "go",
        &[letter('g')],
        Outside,
        || Command::Go,
        [
            "/go",
            "release the turn that waits, or confirm the goal (Enter does what the open dialog says)",
            "go",
        ],
    ),
    bind(
        "auto",
        &[letter('a')],
        Outside,
        || Command::Auto,
        [
            "/auto",
            "let turns follow each other without asking",
            "auto",
        ],
    ),
    bind(
        "pause",
        &[letter('p')],
        Outside,
        || Command::Pause,
        [
            "/pause, /manual",
            "let the running turn end, the next one waits for you",
            "pause",
        ],
    ),
    bind(
        "interrupt",
        &[letter('x'), ctrl('x')],
        Anywhere,
        || Command::Interrupt,
        [
            "/interrupt",
            "interrupt the turn or the first test run, and stay",
            "interrupt",
        ],
    ),
    bind(
        "stop",
        &[letter('s')],
        Outside,
        || Command::Stop,
        [
            "/stop",
            "stop: interrupt and go back to the goal; files and commits stay",
            "stop",
        ],
    ),
    slash(
        "/steer TEXT",
        "say something to the agent in the middle of its turn, which goes on",
    ),
    slash("/approve", "execute the approved plan"),
    slash("/changes TEXT", "have the approved plan changed first"),
    slash("/allow", "allow the agent's call that waits, this once"),
    slash(
        "/reject [TEXT]",
        "refuse the agent's call that waits and end its turn; with a text, the agent is told it and goes on",
    ),
    bind(
        "permissions",
        &[],
        Anywhere,
        || Command::Permissions,
        [
            "/permissions",
            "what you approved for more than one call, to be taken back",
            "",
        ],
    ),
    slash(
        "/task AGENT TEXT",
        "give a task to an agent of its own, beside the run; `@AGENT TEXT` does the same",
    ),
    slash(
        "/agent [NAME]",
        "the agents: what each is for and may do, and what can be done with it now",
    ),
    slash(
        "/sessions",
        "the sessions of tasks, to be read; one that runs can be stopped",
    ),
    slash(
        "/discuss [PRESET] TOPIC",
        "have several agents discuss a question in rounds and decide it; alone it shows the board",
    ),
    slash(
        "/budget [PRESET]",
        "what a discussion would be given, who would take part and how; nothing is started",
    ),
    slash(
        "/diagnose",
        "what everything stands on here: CLIs, git, configuration, environment; nothing is started",
    ),
    bind(
        "discuss-finding",
        &[letter('&')],
        Outside,
        || Command::Discuss(Wish::Finding),
        [
            "/discuss-finding",
            "have the finding that is pointed at discussed; the reviewer is told what it comes to",
            "",
        ],
    ),
    bind(
        "discuss-stop",
        &[],
        Outside,
        || Command::Discuss(Wish::Stop),
        [
            "/discuss-stop",
            "stop the discussion that runs; what was said stays",
            "",
        ],
    ),
    bind(
        "discuss-on",
        &[],
        Outside,
        || Command::Discuss(Wish::GoOn),
        [
            "/discuss-on",
            "go on with the discussion that was stopped, was cut off or failed, after its last finished round",
            "",
        ],
    ),
    bind(
        "minutes",
        &[],
        Outside,
        || Command::Discuss(Wish::Export),
        ["/minutes", "write the last discussion down as Markdown", ""],
    ),
    bind(
        "board",
        &[letter('#')],
        Outside,
        || Command::Discuss(Wish::Board),
        [
            "/board",
            "show the board of a discussion: who said what in which round, and what came of it",
            "board",
        ],
    ),
    bind(
        "quote",
        &[letter('"')],
        Outside,
        || Command::Discuss(Wish::Quote),
        [
            "/quote",
            "put the result of the last discussion into the composer, for the next turn",
            "",
        ],
    ),
    bind(
        "settle",
        &[],
        Outside,
        || Command::Discuss(Wish::Settle),
        [
            "/settle",
            "settle the finding that is pointed at by what its discussion came to",
            "",
        ],
    ),
    slash("/todos", "what the agents have written down to do"),
    slash(
        "/answer CHOICE",
        "answer the open question by a word (below)",
    ),
    slash("/goal TEXT", "give the goal, or confirm it in your words"),
    bind(
        "cancel",
        &[],
        Anywhere,
        || Command::Cancel,
        ["/cancel", "give the run up", ""],
    ),
    bind(
        "edit",
        &[letter('e')],
        Outside,
        || Command::Edit(DocumentKind::Plan),
        [
            "/edit plan|comments|merge",
            "edit the document, or the merge of the open conflict, in your editor",
            "edit",
        ],
    ),
    bind(
        "diff",
        &[letter('d')],
        Outside,
        || Command::Diff(DiffScope::All),
        [
            "/diff [N|plan]",
            "show what the run changed, step N of it, or how the plan changed",
            "diff",
        ],
    ),
    bind(
        "view",
        &[letter('v')],
        Outside,
        || Command::View,
        [
            "/view",
            "show the whole of what waits: prompt, call, question",
            "view",
        ],
    ),
    bind(
        "refiner",
        &[plain(KeyCode::F(2))],
        Anywhere,
        || Command::Refiner(None),
        [
            "/refiner [planner|reviewer]",
            "choose which agent talks with you about the goal",
            "",
        ],
    ),
    bind(
        "thinking",
        &[letter('t')],
        Outside,
        || Command::Thinking,
        ["/thinking", "fold or unfold what agents think", ""],
    ),
    bind(
        "copy",
        &[ctrl('y')],
        Outside,
        || Command::Copy,
        [
            "/copy",
            "copy what is pointed at, else what is open: a text, a diff, a tab, the last answer",
            "",
        ],
    ),
    bind(
        "copy-code",
        &[alt('y')],
        Outside,
        || Command::CopyCode,
        [
            "/copy-code",
            "copy the last block of code of what is pointed at, else of what is open; again: the one above",
            "",
        ],
    ),
    bind(
        "next-block",
        &[letter('.')],
        Outside,
        || Command::Pick(Along::Next),
        [
            "/next-block",
            "point at the next block of the chat, or the next finding",
            "",
        ],
    ),
    bind(
        "previous-block",
        &[letter(',')],
        Outside,
        || Command::Pick(Along::Previous),
        ["/previous-block", "point at the block before", ""],
    ),
    bind(
        "next-turn",
        &[letter(']')],
        Outside,
        || Command::Pick(Along::NextTurn),
        ["/next-turn", "to the next turn", ""],
    ),
    bind(
        "previous-turn",
        &[letter('[')],
        Outside,
        || Command::Pick(Along::PreviousTurn),
        ["/previous-turn", "to the turn before", ""],
    ),
    bind(
        "open",
        &[letter(' ')],
        Outside,
        || Command::Open,
        [
            "/open",
            "open or fold the call, the thinking, the finding or the event that is pointed at; of a step, open its diff",
            "",
        ],
    ),
    bind(
        "filter",
        &[letter('=')],
        Outside,
        || Command::Filter,
        [
            "/filter",
            "list all findings, the open ones, those rejected, those settled; compare the plan with an earlier one",
            "",
        ],
    ),
    bind(
        "jump",
        &[letter('>')],
        Outside,
        || Command::Jump,
        [
            "/jump",
            "from the finding that is pointed at to its line of the plan, and back",
            "",
        ],
    ),
    bind(
        "note",
        &[letter(';')],
        Outside,
        || Command::Note(String::new()),
        [
            "/note [TEXT]",
            "make a note on the line of the plan that is pointed at: reviewer and planner get it",
            "",
        ],
    ),
    bind(
        "unnote",
        &[letter('-')],
        Outside,
        || Command::Unnote(None),
        [
            "/unnote [N]",
            "take back the note of the line that is pointed at, or note N",
            "",
        ],
    ),
    bind(
        "rewrite",
        &[letter('+')],
        Outside,
        || Command::Rewrite,
        [
            "/rewrite",
            "write the line of the plan that is pointed at anew, here; /edit opens all of it in your editor",
            "",
        ],
    ),
    bind(
        "editor",
        &[ctrl('e')],
        Outside,
        || Command::Outside(Viewer::Editor),
        [
            "/editor",
            "open what is pointed at, else what is open, in your editor (VISUAL, EDITOR)",
            "",
        ],
    ),
    bind(
        "pager",
        &[alt('l')],
        Outside,
        || Command::Outside(Viewer::Pager),
        ["/pager", "the same in your pager (PAGER)", ""],
    ),
    bind(
        "needs-me",
        &[letter('!')],
        Outside,
        || Command::NeedsMe,
        ["/needs-me", "go to what needs you", ""],
    ),
    bind(
        "voices",
        &[letter('|')],
        Outside,
        || Command::Voices,
        [
            "/voices",
            "show planner and reviewer beside each other in a wide window, in the order in which they speak",
            "",
        ],
    ),
    bind(
        "find",
        &[ctrl('f')],
        Anywhere,
        || Command::Find,
        [
            "/find",
            "find something in what is open: a tab, a long text, a diff; in Log, list the events that have it",
            "",
        ],
    ),
    bind(
        "side",
        &[letter('\\')],
        Outside,
        || Command::Side,
        ["/side", "show or hide the second pane of a wide window", ""],
    ),
    bind(
        "other-pane",
        &[plain(KeyCode::F(6))],
        Anywhere,
        || Command::OtherPane,
        [
            "/other-pane",
            "give the keys to the other pane of a wide window, and back",
            "other pane",
        ],
    ),
    bind(
        "show-chat",
        &[letter('1')],
        Outside,
        || Command::Show(Tab::Chat),
        ["/chat", "show Chat", ""],
    ),
    bind(
        "show-plan",
        &[letter('2')],
        Outside,
        || Command::Show(Tab::Plan),
        ["/tab plan", "show Plan", ""],
    ),
    bind(
        "show-comments",
        &[letter('3')],
        Outside,
        || Command::Show(Tab::Comments),
        ["/comments", "show Comments", ""],
    ),
    bind(
        "show-log",
        &[letter('4')],
        Outside,
        || Command::Show(Tab::Log),
        ["/log", "show Log; once more folds it", ""],
    ),
    bind(
        "show-status",
        &[letter('5')],
        Outside,
        || Command::Show(Tab::Status),
        ["/status", "show Status; once more folds it", ""],
    ),
    bind(
        "next-tab",
        &[plain(KeyCode::Tab)],
        Anywhere,
        || Command::NextTab,
        ["/next", "the next tab", "tabs"],
    ),
    bind(
        "tab-right",
        &[plain(KeyCode::Right)],
        Outside,
        || Command::NextTab,
        ["/next", "the next tab", ""],
    ),
    bind(
        "tab-left",
        &[plain(KeyCode::Left)],
        Outside,
        || Command::PreviousTab,
        ["/previous", "the tab before", ""],
    ),
    bind(
        "mode",
        &[plain(KeyCode::BackTab)],
        Anywhere,
        || Command::Mode(None),
        [
            "/mode, /plan, /default, /auto-edit, /yolo",
            "how much agents do without asking; the key goes through all but yolo",
            "",
        ],
    ),
    bind(
        "page-up",
        &[plain(KeyCode::PageUp)],
        Anywhere,
        || Command::Scroll(Move::PageUp),
        ["/up", "a page up", ""],
    ),
    bind(
        "page-down",
        &[plain(KeyCode::PageDown)],
        Anywhere,
        || Command::Scroll(Move::PageDown),
        ["/down", "a page down", ""],
    ),
    bind(
        "line-up",
        &[plain(KeyCode::Up), letter('k')],
        Outside,
        || Command::Scroll(Move::Up),
        [
            "/line-up",
            "a line up; in Plan, Comments and Log, point at what stands above",
            "",
        ],
    ),
    bind(
        "line-down",
        &[plain(KeyCode::Down), letter('j')],
        Outside,
        || Command::Scroll(Move::Down),
        [
            "/line-down",
            "a line down; in Plan, Comments and Log, point at what stands below",
            "",
        ],
    ),
    bind(
        "top",
        &[plain(KeyCode::Home)],
        Outside,
        || Command::Scroll(Move::Top),
        ["/top", "to the first line", ""],
    ),
    bind(
        "end",
        &[plain(KeyCode::End)],
        Outside,
        || Command::Scroll(Move::End),
        ["/end", "to the last line, and follow it", ""],
    ),
    bind(
        "write",
        &[letter('i'), plain(KeyCode::Enter)],
        Outside,
        || Command::Focus,
        [
            "/write",
            "write (Enter is an open dialog's, and opens what is pointed at)",
            "write",
        ],
    ),
    bind(
        "leave",
        &[plain(KeyCode::Esc)],
        Composer,
        || Command::Unfocus,
        [
            "/leave",
            "leave the composer, so that letters are commands",
            "commands",
        ],
    ),
    bind(
        "theme",
        &[],
        Anywhere,
        || Command::Theme(None),
        [
            "/theme [NAME]",
            "show the themes, or take one of them; screen.theme of the configuration keeps it",
            "",
        ],
    ),
    bind(
        "mouse",
        &[plain(KeyCode::F(3))],
        Anywhere,
        || Command::Mouse,
        [
            "/mouse",
            "leave the mouse to the terminal, or take it again (a drag with Shift held always selects text)",
            "",
        ],
    ),
    bind(
        "resume",
        &[letter('r')],
        Outside,
        || Command::Resume,
        [
            "/resume",
            "go on with the unfinished run; the key takes up the one of the history that is open",
            "take up again",
        ],
    ),
    bind(
        "history",
        &[],
        Anywhere,
        || Command::History,
        [
            "/history",
            "list finished runs, open one to be read, take an unfinished one up again",
            "",
        ],
    ),
    bind(
        "export",
        &[ctrl('s')],
        Outside,
        || Command::Export(ExportFormat::default()),
        [
            "/export [html|md]",
            "write the run down as one page to show to others",
            "",
        ],
    ),
    bind(
        "help",
        &[letter('?'), plain(KeyCode::F(1))],
        Anywhere,
        || Command::Help,
        ["/help", "these keys", "help"],
    ),
    bind(
        "palette",
        &[ctrl('p'), letter(':')],
        Anywhere,
        || Command::Palette,
        ["/palette", "find any of these by a few letters", "actions"],
    ),
    bind(
        "undo",
        &[letter('u')],
        Outside,
        || Command::Undo(UndoWish::Last),
        [
            "/undo [N]",
            "undo the last step that changed something, or back to before step N",
            "undo",
        ],
    ),
    bind(
        "redo",
        &[ctrl('r')],
        Outside,
        || Command::Undo(UndoWish::Redo),
        ["/redo", "bring back what was undone last", ""],
    ),
    bind(
        "redraw",
        &[ctrl('l')],
        Anywhere,
        || Command::Redraw,
        [
            "/redraw",
            "draw everything anew, where another program wrote onto the screen",
            "",
        ],
    ),
    bind(
        "suspend",
        &[ctrl('z')],
        Anywhere,
        || Command::Suspend,
        ["/suspend", "to the background", ""],
    ),
    bind(
        "quit",
        &[ctrl('c')],
        Anywhere,
        || Command::Quit,
        [
            "/quit",
            "save and end; where something works it asks first, and once more leaves at once",
            "quit",
        ],
    ),
];
