//! What can be asked of the screen, whether by key, by slash command or by mouse; and how a slash command is read.
//!
//! Refuses to know the run: whether a command makes sense now is said where it is carried out.

use super::action::{DocumentKind, Viewer};
use super::board::Does as BoardDoes;
use super::diff::Does;
use super::discussing::Wish as OfDiscussion;
use super::find::Step;
use super::keymap::BINDINGS;
use super::tabs::Tab;
use super::transcript::Along;
use crate::domain::diff_scope::DiffScope;
use crate::domain::export_format::ExportFormat;
use crate::domain::phase::Mode;
use crate::domain::reversal_plan::UndoRequest;
use crate::domain::turn::Role;

/// One thing that can be asked of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Release the waiting turn, or confirm the goal.
    Go,
    /// Turns follow each other.
    Auto,
    /// Every turn waits.
    Pause,
    /// How much runs without asking; without one, the next that is not yolo.
    Mode(Option<Mode>),
    /// Back to the goal.
    Stop,
    /// Say something to the agent whose turn runs.
    Steer(String),
    /// End the running turn and nothing else.
    Interrupt,
    /// Execute the approved plan.
    Approve,
    /// Change the approved plan.
    Changes(String),
    /// Give the run up.
    Cancel,
    /// Set or show the goal.
    Goal(String),
    /// Open a document in the editor.
    Edit(DocumentKind),
    /// Allow the agent's call that waits.
    Allow,
    /// Refuse the agent's call that waits, and say why where the agent is to go on.
    Reject(String),
    /// Show what was approved for more than one call.
    Permissions,
    /// Show the lists of todos that agents keep.
    Todos,
    /// Answer the open question by its word.
    Answer(String),
    /// Take steps back, or bring them back.
    Undo(UndoRequest),
    /// Show what changed, in the run or in a step.
    Diff(DiffScope),
    /// Give a task to an agent: its name, and what is to be done.
    Task(String, String),
    /// List the sessions of tasks.
    Sessions,
    /// Look at what everything stands on.
    Diagnose,
    /// List the agents, or show one.
    Agent(String),
    /// Something about discussions.
    Discuss(OfDiscussion),
    /// Something on the open board.
    OnBoard(BoardDoes),
    /// Go on with the unfinished run.
    Resume,
    /// Show finished runs.
    History,
    /// Write the run down as one page.
    Export(ExportFormat),
    /// Choose who talks about the goal; without a role, the other one.
    Refiner(Option<Role>),
    /// Show the whole of what waits.
    View,
    /// Show another theme, or the list of them.
    Theme(Option<String>),
    /// Take the mouse, or leave it to the terminal.
    Mouse,
    /// Fold or unfold thinking.
    Thinking,
    /// Copy the block that is pointed at, else the last answer of an agent.
    Copy,
    /// Copy the code of it alone.
    CopyCode,
    /// Point at another block of the chat.
    Pick(Along),
    /// Open or fold the block that is pointed at.
    Open,
    /// Open what is pointed at, or the last answer, in another program.
    Outside(Viewer),
    /// Go to what needs the user.
    NeedsMe,
    /// Show both agents beside each other, or one below the other.
    Voices,
    /// Look for something in what is open.
    Find,
    /// List other findings; compare the plan with an earlier version; tell other events.
    Filter,
    /// Make a note on the line of the plan that is pointed at; without a text, write it.
    Note(String),
    /// Take a note back: that of this number, else that of the line that is pointed at.
    Unnote(Option<u32>),
    /// Write the line of the plan that is pointed at anew.
    Rewrite,
    /// From a finding to its line of the plan, and back.
    Jump,
    /// Show or hide the second pane of a wide window.
    Side,
    /// Give the keys to the other pane.
    OtherPane,
    /// Draw everything anew.
    Redraw,
    /// Show a tab.
    Show(Tab),
    /// The next tab.
    NextTab,
    /// The tab before.
    PreviousTab,
    /// Move the view by lines or pages.
    Scroll(Move),
    /// Write.
    Focus,
    /// Leave the composer.
    Unfocus,
    /// To the background.
    Suspend,
    /// End the program.
    Quit,
    /// Show the keys.
    Help,
    /// Find an action by a few letters.
    Palette,
    /// Something in the open diff.
    InDiff(Does),
    /// Something in the line that looks for something.
    InFind(Step),
    /// Close the long text, or else what it would be closed for.
    Close,
}

/// A move of the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// One line up.
    Up,
    /// One line down.
    Down,
    /// One page up.
    PageUp,
    /// One page down.
    PageDown,
    /// To the first line.
    Top,
    /// To the last line, and follow it.
    End,
}

/// Why a text is no command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoCommand {
    /// It is a text for somebody.
    Text,
    /// It looks like a command; the text says what is wrong and what to type instead.
    Wrong(String),
}

/// Reads `/name argument`.
///
/// # Errors
/// When the text is no command, or one that is not known or lacks its argument.
pub fn read(text: &str) -> Result<Command, NoCommand> {
    let text = text.trim();
    let Some(rest) = text.strip_prefix('/') else {
        return Err(NoCommand::Text);
    };
    let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    // A path or a comment begins with a slash too.
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphabetic() || c == '-') {
        return Err(NoCommand::Text);
    }
    let argument = argument.trim();
    let name = name.to_ascii_lowercase();
    match named(&name, argument) {
        Some(command) => command.map_err(NoCommand::Wrong),
        None => Err(NoCommand::Wrong(unknown(&name))),
    }
}

fn named(name: &str, argument: &str) -> Option<Result<Command, String>> {
    Some(Ok(match name {
        "go" => Command::Go,
        "auto" => Command::Auto,
        "manual" | "pause" => Command::Pause,
        "mode" => return Some(mode(argument)),
        "stop" => Command::Stop,
        "steer" => return Some(with_text("steer", argument).map(Command::Steer)),
        "interrupt" => Command::Interrupt,
        "approve" => Command::Approve,
        "changes" => return Some(with_text("changes", argument).map(Command::Changes)),
        "cancel" => Command::Cancel,
        "goal" => Command::Goal(argument.to_owned()),
        "edit" => return Some(document(argument)),
        "allow" => Command::Allow,
        "reject" => Command::Reject(argument.to_owned()),
        "permissions" => Command::Permissions,
        "todos" => Command::Todos,
        "answer" => return Some(with_text("answer", argument).map(Command::Answer)),
        "undo" => return Some(undo(argument)),
        "redo" => Command::Undo(UndoRequest::Redo),
        "diff" => return Some(diff(argument)),
        "resume" => Command::Resume,
        "history" => Command::History,
        "refiner" => return Some(refiner(argument)),
        "view" => Command::View,
        "theme" => return Some(theme(argument)),
        "mouse" => Command::Mouse,
        "thinking" => Command::Thinking,
        "copy" => Command::Copy,
        "copy-code" => Command::CopyCode,
        "next-block" => Command::Pick(Along::Next),
        "previous-block" => Command::Pick(Along::Previous),
        "next-turn" => Command::Pick(Along::NextTurn),
        "previous-turn" => Command::Pick(Along::PreviousTurn),
        "open" => Command::Open,
        "editor" => Command::Outside(Viewer::Editor),
        "pager" => Command::Outside(Viewer::Pager),
        "needs-me" => Command::NeedsMe,
        "voices" => Command::Voices,
        "find" => Command::Find,
        "filter" => Command::Filter,
        "note" => Command::Note(argument.to_owned()),
        "unnote" => return Some(unnote(argument)),
        "jump" => Command::Jump,
        "side" => Command::Side,
        "tab" => return Some(tab(argument)),
        "next" => Command::NextTab,
        "previous" => Command::PreviousTab,
        "up" => Command::Scroll(Move::PageUp),
        "down" => Command::Scroll(Move::PageDown),
        "top" => Command::Scroll(Move::Top),
        "end" => Command::Scroll(Move::End),
        "suspend" => Command::Suspend,
        "write" => Command::Focus,
        "leave" => Command::Unfocus,
        "quit" => Command::Quit,
        "help" => Command::Help,
        "palette" => Command::Palette,
        _ => return named_so(name, argument),
    }))
}

/// Commands beside the run, and those that modes and tabs name.
fn named_so(name: &str, argument: &str) -> Option<Result<Command, String>> {
    match name {
        "task" => return Some(task(argument)),
        "line-up" => return Some(Ok(Command::Scroll(Move::Up))),
        "line-down" => return Some(Ok(Command::Scroll(Move::Down))),
        "sessions" => return Some(Ok(Command::Sessions)),
        "diagnose" => return Some(Ok(Command::Diagnose)),
        "export" => return Some(export(argument)),
        "rewrite" => return Some(Ok(Command::Rewrite)),
        "other-pane" => return Some(Ok(Command::OtherPane)),
        "redraw" => return Some(Ok(Command::Redraw)),
        "discuss" => {
            let text = argument.to_owned();
            return Some(Ok(Command::Discuss(OfDiscussion::Begin(text))));
        }
        "budget" => return Some(budget(argument)),
        "discuss-finding" => return Some(Ok(Command::Discuss(OfDiscussion::Finding))),
        "discuss-stop" => return Some(Ok(Command::Discuss(OfDiscussion::Stop))),
        "discuss-on" => return Some(Ok(Command::Discuss(OfDiscussion::GoOn))),
        "minutes" => return Some(Ok(Command::Discuss(OfDiscussion::Export))),
        "board" => return Some(Ok(Command::Discuss(OfDiscussion::Board))),
        "quote" => return Some(Ok(Command::Discuss(OfDiscussion::Quote))),
        "settle" => return Some(Ok(Command::Discuss(OfDiscussion::Settle))),
        "agent" | "agents" => return Some(Ok(Command::Agent(argument.to_owned()))),
        _ => {}
    }
    if let Ok(command) = mode(name) {
        return Some(Ok(command));
    }
    let mut tabs = Tab::ALL.iter();
    let tab = tabs.find(|tab| tab.slash_name() == name);
    tab.map(|tab| Ok(Command::Show(*tab)))
}

fn with_text(name: &str, argument: &str) -> Result<String, String> {
    if argument.is_empty() {
        return Err(format!("/{name} needs a text after it"));
    }
    Ok(argument.to_owned())
}

fn task(argument: &str) -> Result<Command, String> {
    match argument.split_once(char::is_whitespace) {
        Some((agent, text)) => Ok(Command::Task(agent.to_owned(), text.trim().to_owned())),
        None => Err("/task needs an agent's name and what it is to do".to_owned()),
    }
}

fn document(argument: &str) -> Result<Command, String> {
    match argument {
        "" | "plan" | "plan.md" => Ok(Command::Edit(DocumentKind::Plan)),
        "comments" | "comments.md" => Ok(Command::Edit(DocumentKind::Comments)),
        "merge" => Ok(Command::Edit(DocumentKind::Merge)),
        _ => Err("/edit takes `plan`, `comments` or `merge`".to_owned()),
    }
}

fn diff(argument: &str) -> Result<Command, String> {
    match argument {
        "" | "all" => return Ok(Command::Diff(DiffScope::All)),
        "plan" | "plan.md" => return Ok(Command::Diff(DiffScope::Plan)),
        _ => {}
    }
    let n = argument.parse().ok().filter(|n| *n > 0);
    n.map(|n| Command::Diff(DiffScope::Step(n)))
        .ok_or_else(|| "/diff takes the number of a step, or `plan`".to_owned())
}

fn export(argument: &str) -> Result<Command, String> {
    let form = match argument {
        "" => Some(ExportFormat::default()),
        word => ExportFormat::from_name(word),
    };
    form.map(Command::Export)
        .ok_or_else(|| "/export takes `html` or `md`; alone it writes HTML".to_owned())
}

fn undo(argument: &str) -> Result<Command, String> {
    if argument.is_empty() {
        return Ok(Command::Undo(UndoRequest::Last));
    }
    let n = argument.parse().ok().filter(|n| *n > 0);
    n.map(|n| Command::Undo(UndoRequest::BackTo(n)))
        .ok_or_else(|| "/undo takes the number of a step".to_owned())
}

fn unnote(argument: &str) -> Result<Command, String> {
    if argument.is_empty() {
        return Ok(Command::Unnote(None));
    }
    let n = argument.parse().ok().filter(|n| *n > 0);
    n.map(|n| Command::Unnote(Some(n)))
        .ok_or_else(|| "/unnote takes the number of a note".to_owned())
}

fn refiner(argument: &str) -> Result<Command, String> {
    match argument {
        "" => Ok(Command::Refiner(None)),
        "planner" => Ok(Command::Refiner(Some(Role::Planner))),
        "reviewer" => Ok(Command::Refiner(Some(Role::Reviewer))),
        _ => Err("/refiner takes `planner` or `reviewer`".to_owned()),
    }
}

fn mode(argument: &str) -> Result<Command, String> {
    if argument.is_empty() {
        return Ok(Command::Mode(None));
    }
    Mode::from_name(argument)
        .map(|mode| Command::Mode(Some(mode)))
        .ok_or_else(|| "/mode takes plan, default, auto-edit or yolo".to_owned())
}

fn theme(argument: &str) -> Result<Command, String> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    match argument {
        "" => Ok(Command::Theme(None)),
        name if name.chars().all(is_name) => Ok(Command::Theme(Some(name.to_owned()))),
        _ => Err("/theme takes the name of a theme; alone it lists them".to_owned()),
    }
}

fn budget(argument: &str) -> Result<Command, String> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    match argument {
        "" => Ok(Command::Discuss(OfDiscussion::Budget(None))),
        name if name.chars().all(is_name) => {
            let name = Some(name.to_owned());
            Ok(Command::Discuss(OfDiscussion::Budget(name)))
        }
        _ => Err("/budget takes the name of a preset, or nothing".to_owned()),
    }
}

fn tab(argument: &str) -> Result<Command, String> {
    Tab::ALL
        .iter()
        .find(|tab| tab.slash_name() == argument || tab.digit().to_string() == argument)
        .map(|tab| Command::Show(*tab))
        .ok_or_else(|| "/tab takes chat, plan, comments, log or status".to_owned())
}

fn unknown(name: &str) -> String {
    let nearest = BINDINGS
        .iter()
        .flat_map(|binding| binding.slash.split(", "))
        .map(|slash| slash.split(' ').next().unwrap_or(slash))
        .filter(|slash| !slash.is_empty())
        .map(|slash| (distance(name, slash.trim_start_matches('/')), slash))
        .min_by_key(|(distance, _)| *distance);
    match nearest {
        // Further away it is a guess that helps nobody.
        Some((distance, nearest)) if distance * 3 <= name.chars().count().max(3) => {
            format!("/{name} is no command; did you mean {nearest}? /help lists all")
        }
        Some(_) | None => format!("/{name} is no command; /help lists all"),
    }
}

/// How many letters have to be added, removed or changed to make one word the other.
pub(super) fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (n, a) in left.chars().take(40).enumerate() {
        let mut before = row[0];
        row[0] = n + 1;
        for (m, b) in right.iter().enumerate() {
            let changed = before + usize::from(a != *b);
            before = row[m + 1];
            row[m + 1] = changed.min(before + 1).min(row[m] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: &str) {
        assert_eq!(format!("{:?}", read(text)), wanted, "{text}");
    }

    #[test]
    fn slash_commands_are_read_with_their_arguments() {
        check("/go", "Ok(Go)");
        check("/Diff 2", "Ok(Diff(Step(2)))");
        check("/undo", "Ok(Undo(Last))");
        check("/undo 2", "Ok(Undo(BackTo(2)))");
        check("/diff", "Ok(Diff(All))");
        check("/diff plan", "Ok(Diff(Plan))");
        check("/changes  use a map ", "Ok(Changes(\"use a map\"))");
        check("/edit comments", "Ok(Edit(Comments))");
        check("/plan", "Ok(Mode(Some(Plan)))");
        check("/mode", "Ok(Mode(None))");
        check("/mode yolo", "Ok(Mode(Some(Yolo)))");
        check(
            "/mode x",
            "Err(Wrong(\"/mode takes plan, default, auto-edit or yolo\"))",
        );
        check("/auto-edit", "Ok(Mode(Some(AutoEdit)))");
        check("/tab plan", "Ok(Show(Plan))");
    }

    #[test]
    fn what_is_no_command_is_a_text_or_says_what_is_wrong() {
        check("hello", "Err(Text)");
        check("/usr/bin is wrong", "Err(Text)");
        check("// a comment", "Err(Text)");
        check(
            "/aprove",
            "Err(Wrong(\"/aprove is no command; did you mean /approve? /help lists all\"))",
        );
        check("/changes", "Err(Wrong(\"/changes needs a text after it\"))");
    }

    #[test]
    fn every_binding_has_a_slash_command_that_means_the_same() {
        for binding in BINDINGS {
            for slash in binding.slash.split(", ") {
                let typed = slash
                    .replace("[N|plan]", "")
                    .replace("[N]", "")
                    .replace("[NAME]", "")
                    .replace("[PRESET]", "")
                    .replace("TOPIC", "x")
                    .replace("AGENT", "explore")
                    .replace("[TEXT]", "")
                    .replace("TEXT", "x")
                    .replace("CHOICE", "x");
                let typed = typed
                    .replace("plan|comments|merge", "plan")
                    .replace("[html|md]", "md")
                    .replace("[planner|reviewer]", "reviewer");
                let command = read(&typed);
                assert!(command.is_ok(), "{slash}: {command:?}");
            }
        }
    }
}
