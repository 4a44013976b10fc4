//! The one table of keys: it drives what a key does, the footer's hints, the slash commands' list and the help.
//!
//! Keys of an open dialog are the dialog's own choices; each of them is also `/answer CHOICE`.

mod key;

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::action::DocumentKind;
use super::command::{Command, Move};
use super::tabs::Tab;
use super::transcript::Along;
use crate::domain::changes::Scope;
use crate::domain::undo::Wish;
pub use key::Key;
use key::{ctrl, letter, plain};

/// Where a key works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// Also while the composer is focused.
    Anywhere,
    /// Only while the composer is not focused.
    Outside,
    /// Only while it is.
    Composer,
}

/// One line of the table.
#[derive(Debug)]
pub struct Binding {
    /// The keys; the first is the one that is shown.
    pub keys: &'static [Key],
    /// Where they work.
    pub context: Context,
    /// What they do; `None` for what is a slash command only.
    pub command: Option<fn() -> Command>,
    /// The slash commands that mean the same, with their arguments, separated by `, `.
    pub slash: &'static str,
    /// What it does, for the help.
    pub help: &'static str,
    /// One or two words for the footer; empty where it has no place there.
    pub hint: &'static str,
}

const fn bind(
    keys: &'static [Key],
    context: Context,
    command: fn() -> Command,
    texts: [&'static str; 3],
) -> Binding {
    Binding {
        keys,
        context,
        command: Some(command),
        slash: texts[0],
        help: texts[1],
        hint: texts[2],
    }
}

const fn slash(slash: &'static str, help: &'static str) -> Binding {
    Binding {
        keys: &[],
        context: Context::Anywhere,
        command: None,
        slash,
        help,
        hint: "",
    }
}

use Context::{Anywhere, Composer, Outside};

/// All keys and slash commands, in the order of the help.
pub const BINDINGS: &[Binding] = &[
    bind(
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
        &[letter('x'), ctrl('x')],
        Anywhere,
        || Command::Interrupt,
        [
            "/interrupt",
            "interrupt the running turn and stay (Ctrl+X also while you write)",
            "interrupt",
        ],
    ),
    bind(
        &[letter('s')],
        Outside,
        || Command::Stop,
        [
            "/stop",
            "stop: interrupt and go back to the goal; files and commits stay",
            "stop",
        ],
    ),
    slash("/approve", "execute the approved plan"),
    slash("/changes TEXT", "have the approved plan changed first"),
    slash("/allow", "allow the agent's call that waits, this once"),
    slash(
        "/reject [TEXT]",
        "refuse the agent's call that waits and end its turn; with a text, the agent is told it and goes on",
    ),
    slash(
        "/permissions",
        "what you approved for more than one call, to be taken back",
    ),
    slash(
        "/answer CHOICE",
        "answer the open question by a word (below)",
    ),
    slash("/goal TEXT", "give the goal, or confirm it in your words"),
    slash("/cancel", "give the run up"),
    bind(
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
        &[letter('d')],
        Outside,
        || Command::Diff(Scope::All),
        [
            "/diff [N|plan]",
            "show what the run changed, step N of it, or how the plan changed",
            "diff",
        ],
    ),
    bind(
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
        &[letter('t')],
        Outside,
        || Command::Thinking,
        ["/thinking", "fold or unfold what agents think", ""],
    ),
    bind(
        &[ctrl('y')],
        Outside,
        || Command::Copy,
        [
            "/copy",
            "copy the block that is pointed at, else the last answer",
            "",
        ],
    ),
    bind(
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
        &[letter(',')],
        Outside,
        || Command::Pick(Along::Previous),
        ["/previous-block", "point at the block before", ""],
    ),
    bind(
        &[letter(']')],
        Outside,
        || Command::Pick(Along::NextTurn),
        ["/next-turn", "to the next turn", ""],
    ),
    bind(
        &[letter('[')],
        Outside,
        || Command::Pick(Along::PreviousTurn),
        ["/previous-turn", "to the turn before", ""],
    ),
    bind(
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
        &[ctrl('f')],
        Anywhere,
        || Command::Find,
        [
            "/find",
            "find something in the chat; in Log, list the events that have it",
            "",
        ],
    ),
    bind(
        &[letter('\\')],
        Outside,
        || Command::Side,
        ["/side", "show or hide the second pane of a wide window", ""],
    ),
    bind(
        &[letter('1')],
        Outside,
        || Command::Show(Tab::Chat),
        ["/chat", "show Chat", ""],
    ),
    bind(
        &[letter('2')],
        Outside,
        || Command::Show(Tab::Plan),
        ["/tab plan", "show Plan", ""],
    ),
    bind(
        &[letter('3')],
        Outside,
        || Command::Show(Tab::Comments),
        ["/comments", "show Comments", ""],
    ),
    bind(
        &[letter('4')],
        Outside,
        || Command::Show(Tab::Log),
        ["/log", "show Log; once more folds it", ""],
    ),
    bind(
        &[letter('5')],
        Outside,
        || Command::Show(Tab::Status),
        ["/status", "show Status; once more folds it", ""],
    ),
    bind(
        &[plain(KeyCode::Tab)],
        Anywhere,
        || Command::NextTab,
        ["/next", "the next tab", "tabs"],
    ),
    bind(
        &[plain(KeyCode::Right)],
        Outside,
        || Command::NextTab,
        ["/next", "the next tab", ""],
    ),
    bind(
        &[plain(KeyCode::Left)],
        Outside,
        || Command::PreviousTab,
        ["/previous", "the tab before", ""],
    ),
    bind(
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
        &[plain(KeyCode::PageUp)],
        Anywhere,
        || Command::Scroll(Move::PageUp),
        ["/up", "a page up", ""],
    ),
    bind(
        &[plain(KeyCode::PageDown)],
        Anywhere,
        || Command::Scroll(Move::PageDown),
        ["/down", "a page down", ""],
    ),
    bind(
        &[letter('k'), plain(KeyCode::Up)],
        Outside,
        || Command::Scroll(Move::Up),
        ["/up", "a line up", ""],
    ),
    bind(
        &[letter('j'), plain(KeyCode::Down)],
        Outside,
        || Command::Scroll(Move::Down),
        ["/down", "a line down", ""],
    ),
    bind(
        &[plain(KeyCode::Home)],
        Outside,
        || Command::Scroll(Move::Top),
        ["/top", "to the first line", ""],
    ),
    bind(
        &[plain(KeyCode::End)],
        Outside,
        || Command::Scroll(Move::End),
        ["/end", "to the last line, and follow it", ""],
    ),
    bind(
        &[letter('i'), plain(KeyCode::Enter)],
        Outside,
        || Command::Focus,
        [
            "/write",
            "write (with a dialog open, Enter is the dialog's)",
            "write",
        ],
    ),
    bind(
        &[plain(KeyCode::Esc)],
        Composer,
        || Command::Unfocus,
        [
            "/leave",
            "leave the composer, so that letters are commands",
            "commands",
        ],
    ),
    slash(
        "/theme [NAME]",
        "show the themes, or take one of them; screen.theme of the configuration keeps it",
    ),
    slash("/resume", "go on with the unfinished run"),
    slash("/history", "list finished runs, and open one to be read"),
    bind(
        &[letter('?'), plain(KeyCode::F(1))],
        Anywhere,
        || Command::Help,
        ["/help", "these keys (F1 also while you write)", "help"],
    ),
    bind(
        &[ctrl('p'), letter(':')],
        Anywhere,
        || Command::Palette,
        ["/palette", "find any of these by a few letters", "actions"],
    ),
    bind(
        &[letter('u')],
        Outside,
        || Command::Undo(Wish::Last),
        [
            "/undo [N]",
            "undo the last step that changed something, or back to before step N; then redo",
            "undo",
        ],
    ),
    slash("/redo", "bring back what was undone last"),
    bind(
        &[ctrl('z')],
        Anywhere,
        || Command::Suspend,
        ["/suspend", "to the background", ""],
    ),
    bind(
        &[ctrl('c')],
        Anywhere,
        || Command::Quit,
        [
            "/quit",
            "save and end; once more while a turn is being ended: kill it now",
            "quit",
        ],
    ),
];

/// Finds what a key means. A printable key means nothing while the composer is focused.
pub fn find(event: &KeyEvent, is_writing: IsWriting) -> Option<Command> {
    BINDINGS
        .iter()
        .filter(|binding| works(binding.context, is_writing))
        .find(|binding| {
            binding
                .keys
                .iter()
                .any(|key| key.is(event) && !(is_writing == IsWriting::Yes && key.is_printable()))
        })
        .and_then(|binding| binding.command)
        .map(|command| command())
}

/// Whether the composer is focused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsWriting {
    /// It is.
    Yes,
    /// It is not.
    No,
}

fn works(context: Context, is_writing: IsWriting) -> bool {
    match context {
        Context::Anywhere => true,
        Context::Outside => is_writing == IsWriting::No,
        Context::Composer => is_writing == IsWriting::Yes,
    }
}

/// The key to show for a binding here: one that works while the user writes, when that is so.
pub fn key_for(binding: &Binding, is_writing: IsWriting) -> Option<Key> {
    if !works(binding.context, is_writing) {
        return None;
    }
    let fits = |key: &&Key| is_writing == IsWriting::No || !key.is_printable();
    binding.keys.iter().find(fits).copied()
}
