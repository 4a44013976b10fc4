//! The commands of the screen, whether they come from a key, a slash command or the mouse, and the parser for
//! slash commands.
//!
//! Whether a command makes sense now is checked where it is carried out.

use super::action::{DocumentKind, ExternalViewer};
use super::diff_view::DiffAction;
use super::discussion_board::BoardAction as BoardDoes;
use super::discussion_commands::DiscussionScreenCommand as OfDiscussion;
use super::keymap::{BINDINGS, KeyBinding};
use super::search_bar::SearchStep;
use super::tabs::TabKind;
use super::transcript::SelectionMove;
use crate::domain::diff_scope::DiffScope;
use crate::domain::export_format::ExportFormat;
use crate::domain::phase::Mode;
use crate::domain::reversal_plan::UndoRequest;
use crate::domain::turn::Role;

/// A command of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScreenCommand {
    /// Send the waiting turn, or confirm the goal.
    Go,
    /// Start each turn without asking.
    AutoGate,
    /// Ask before each turn.
    ManualGate,
    /// Set how much runs without approval; without a mode, switch to the next one except yolo.
    Mode(Option<Mode>),
    /// Stop and go back to the goal.
    StopToGoal,
    /// Send a message to the agent whose turn is running.
    SteerTurn(String),
    /// Interrupt the running turn, and nothing else.
    InterruptTurn,
    ApprovePlan,
    /// Request changes to the approved plan.
    Changes(String),
    CancelRun,
    SetGoal(String),
    Edit(DocumentKind),
    /// Allow the agent's pending call.
    AllowCall,
    /// Reject the agent's pending call; with a reason, the agent continues.
    RejectCall(String),
    /// Show the approvals that cover more than one call.
    ShowApprovals,
    /// Show the agents' todo lists.
    ShowTodos,
    /// Answer the open question with the name of an answer.
    AnswerQuestion(String),
    /// Undo or redo steps.
    Undo(UndoRequest),
    /// Skip a step: its number, and why.
    SkipStep(u32, String),
    /// Have a step planned again: its number, and what the planner is told.
    ReplanStep(u32, String),
    /// Show the changes of the run or of a step.
    Diff(DiffScope),
    /// Give an agent a task: the agent's name, and the prompt.
    StartTask(String, String),
    ListTaskSessions,
    /// Run the doctor's checks.
    RunDoctor,
    ShowAgents(String),
    Discuss(OfDiscussion),
    /// A command for the open discussion board.
    BoardAction(BoardDoes),
    ResumeRun,
    ShowHistory,
    /// Export the run as one page.
    ExportRun(ExportFormat),
    /// Choose the agent that refines the goal; without a role, switch to the other one.
    ChooseRefiner(Option<Role>),
    /// Show the full text of the open dialog.
    ViewFullText,
    /// Switch to a theme, or open the theme list.
    Theme(Option<String>),
    /// Switch mouse handling between the program and the terminal.
    ToggleMouse,
    ToggleThinking,
    /// Copy the selected block, or the last answer of an agent.
    Copy,
    /// Copy only the code of that block.
    CopyCodeBlock,
    /// Select another block of the chat.
    SelectAdjacent(SelectionMove),
    /// Open or fold the selected block.
    OpenSelection,
    /// Open the selection, or the last answer, in another program.
    OpenInViewer(ExternalViewer),
    /// Go to what needs the user.
    GoToWaitingDialog,
    /// Show both agents side by side, or in one column.
    ToggleChatArrangement,
    /// Search in the open view.
    OpenSearch,
    /// Switch the filter of findings or events, or the version that the plan is compared with.
    CycleFilter,
    /// Add a note to the selected line of the plan; without a text, start writing one.
    AddPlanNote(String),
    /// Remove the note with this number, or the note on the selected line.
    RemovePlanNote(Option<u32>),
    /// Edit the selected line of the plan.
    RewritePlanLine,
    /// Jump from a finding to its line of the plan, and back.
    JumpToCounterpart,
    /// Show or hide the second pane of a wide window.
    ToggleSidePane,
    /// Move the keys to the other pane.
    TogglePaneFocus,
    /// Redraw the whole screen.
    Redraw,
    Show(TabKind),
    NextTab,
    PreviousTab,
    /// Scroll the view by lines or pages.
    Scroll(ScrollMove),
    FocusComposer,
    LeaveComposer,
    Suspend,
    Quit,
    /// Show the key bindings.
    ShowHelp,
    /// Open the command palette.
    OpenPalette,
    /// A command for the open diff.
    DiffAction(DiffAction),
    /// A command for the search bar.
    SearchAction(SearchStep),
    /// Close the long text, or whatever is on top.
    Close,
}

/// A scroll step of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScrollMove {
    Up,
    Down,
    PageUp,
    PageDown,
    Top,
    /// To the last line; new lines are followed from then on.
    End,
}

/// Why a text is not a valid command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandParseError {
    /// An ordinary message, not a command.
    Text,
    /// Looks like a command; the message says what is wrong and what to type instead.
    Wrong(String),
}

/// Parses `/name argument`.
///
/// # Errors
/// The text is not a command, or the command is unknown or lacks its argument.
pub fn parse_slash_command(text: &str) -> Result<ScreenCommand, CommandParseError> {
    let text = text.trim();
    let Some(rest) = text.strip_prefix('/') else {
        return Err(CommandParseError::Text);
    };
    let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    // Paths and code comments also start with a slash.
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphabetic() || c == '-') {
        return Err(CommandParseError::Text);
    }
    let argument = argument.trim();
    let name = name.to_ascii_lowercase();
    match parse_run_command(&name, argument) {
        Some(command) => command.map_err(CommandParseError::Wrong),
        None => Err(CommandParseError::Wrong(describe_unknown_command(&name))),
    }
}

fn parse_run_command(name: &str, argument: &str) -> Option<Result<ScreenCommand, String>> {
    Some(Ok(match name {
        "go" => ScreenCommand::Go,
        "auto" => ScreenCommand::AutoGate,
        "manual" | "pause" => ScreenCommand::ManualGate,
        "mode" => return Some(parse_mode(argument)),
        "stop" => ScreenCommand::StopToGoal,
        "steer" => return Some(require_text("steer", argument).map(ScreenCommand::SteerTurn)),
        "interrupt" => ScreenCommand::InterruptTurn,
        "approve" => ScreenCommand::ApprovePlan,
        "changes" => return Some(require_text("changes", argument).map(ScreenCommand::Changes)),
        "cancel" => ScreenCommand::CancelRun,
        "goal" => ScreenCommand::SetGoal(argument.to_owned()),
        "edit" => return Some(parse_document(argument)),
        "allow" => ScreenCommand::AllowCall,
        "reject" => ScreenCommand::RejectCall(argument.to_owned()),
        "permissions" => ScreenCommand::ShowApprovals,
        "todos" => ScreenCommand::ShowTodos,
        "answer" => {
            return Some(require_text("answer", argument).map(ScreenCommand::AnswerQuestion));
        }
        "undo" => return Some(parse_undo(argument)),
        "redo" => ScreenCommand::Undo(UndoRequest::Redo),
        "skip" => {
            let step = parse_step_words("skip", argument);
            return Some(step.map(|(n, words)| ScreenCommand::SkipStep(n, words)));
        }
        "replan" => {
            let step = parse_step_words("replan", argument);
            return Some(step.map(|(n, words)| ScreenCommand::ReplanStep(n, words)));
        }
        "diff" => return Some(parse_diff(argument)),
        "resume" => ScreenCommand::ResumeRun,
        "history" => ScreenCommand::ShowHistory,
        "refiner" => return Some(parse_refiner(argument)),
        "view" => ScreenCommand::ViewFullText,
        "theme" => return Some(parse_theme(argument)),
        "mouse" => ScreenCommand::ToggleMouse,
        "thinking" => ScreenCommand::ToggleThinking,
        "copy" => ScreenCommand::Copy,
        "copy-code" => ScreenCommand::CopyCodeBlock,
        "next-block" => ScreenCommand::SelectAdjacent(SelectionMove::Next),
        "previous-block" => ScreenCommand::SelectAdjacent(SelectionMove::Previous),
        "next-turn" => ScreenCommand::SelectAdjacent(SelectionMove::NextTurn),
        "previous-turn" => ScreenCommand::SelectAdjacent(SelectionMove::PreviousTurn),
        "open" => ScreenCommand::OpenSelection,
        "editor" => ScreenCommand::OpenInViewer(ExternalViewer::Editor),
        "pager" => ScreenCommand::OpenInViewer(ExternalViewer::Pager),
        "needs-me" => ScreenCommand::GoToWaitingDialog,
        "voices" => ScreenCommand::ToggleChatArrangement,
        "find" => ScreenCommand::OpenSearch,
        "filter" => ScreenCommand::CycleFilter,
        "note" => ScreenCommand::AddPlanNote(argument.to_owned()),
        "unnote" => return Some(parse_unnote(argument)),
        "jump" => ScreenCommand::JumpToCounterpart,
        "side" => ScreenCommand::ToggleSidePane,
        "tab" => return Some(parse_tab(argument)),
        "next" => ScreenCommand::NextTab,
        "previous" => ScreenCommand::PreviousTab,
        "up" => ScreenCommand::Scroll(ScrollMove::PageUp),
        "down" => ScreenCommand::Scroll(ScrollMove::PageDown),
        "top" => ScreenCommand::Scroll(ScrollMove::Top),
        "end" => ScreenCommand::Scroll(ScrollMove::End),
        "suspend" => ScreenCommand::Suspend,
        "write" => ScreenCommand::FocusComposer,
        "leave" => ScreenCommand::LeaveComposer,
        "quit" => ScreenCommand::Quit,
        "help" => ScreenCommand::ShowHelp,
        "palette" => ScreenCommand::OpenPalette,
        _ => return parse_view_command(name, argument),
    }))
}

/// Parses the commands of the view, and the names of modes and tabs.
fn parse_view_command(name: &str, argument: &str) -> Option<Result<ScreenCommand, String>> {
    match name {
        "task" => return Some(parse_task(argument)),
        "line-up" => return Some(Ok(ScreenCommand::Scroll(ScrollMove::Up))),
        "line-down" => return Some(Ok(ScreenCommand::Scroll(ScrollMove::Down))),
        "sessions" => return Some(Ok(ScreenCommand::ListTaskSessions)),
        "diagnose" => return Some(Ok(ScreenCommand::RunDoctor)),
        "export" => return Some(parse_export(argument)),
        "rewrite" => return Some(Ok(ScreenCommand::RewritePlanLine)),
        "other-pane" => return Some(Ok(ScreenCommand::TogglePaneFocus)),
        "redraw" => return Some(Ok(ScreenCommand::Redraw)),
        "discuss" => {
            let text = argument.to_owned();
            return Some(Ok(ScreenCommand::Discuss(OfDiscussion::Start(text))));
        }
        "budget" => return Some(parse_budget(argument)),
        "discuss-finding" => return Some(Ok(ScreenCommand::Discuss(OfDiscussion::DiscussFinding))),
        "discuss-stop" => return Some(Ok(ScreenCommand::Discuss(OfDiscussion::Stop))),
        "discuss-on" => return Some(Ok(ScreenCommand::Discuss(OfDiscussion::Resume))),
        "minutes" => return Some(Ok(ScreenCommand::Discuss(OfDiscussion::Export))),
        "board" => return Some(Ok(ScreenCommand::Discuss(OfDiscussion::ShowBoard))),
        "quote" => return Some(Ok(ScreenCommand::Discuss(OfDiscussion::Quote))),
        "settle" => return Some(Ok(ScreenCommand::Discuss(OfDiscussion::Settle))),
        "agent" | "agents" => return Some(Ok(ScreenCommand::ShowAgents(argument.to_owned()))),
        _ => {}
    }
    if let Ok(command) = parse_mode(name) {
        return Some(Ok(command));
    }
    let mut tabs = TabKind::ALL.iter();
    let tab = tabs.find(|tab| tab.slash_name() == name);
    tab.map(|tab| Ok(ScreenCommand::Show(*tab)))
}

fn require_text(name: &str, argument: &str) -> Result<String, String> {
    if argument.is_empty() {
        return Err(format!("Write a text after /{name}."));
    }
    Ok(argument.to_owned())
}

fn parse_task(argument: &str) -> Result<ScreenCommand, String> {
    match argument.split_once(char::is_whitespace) {
        Some((agent, text)) => Ok(ScreenCommand::StartTask(
            agent.to_owned(),
            text.trim().to_owned(),
        )),
        None => Err("Write an agent's name and the task after /task.".to_owned()),
    }
}

fn parse_document(argument: &str) -> Result<ScreenCommand, String> {
    match argument {
        "" | "plan" | "plan.md" => Ok(ScreenCommand::Edit(DocumentKind::Plan)),
        "comments" | "comments.md" => Ok(ScreenCommand::Edit(DocumentKind::Comments)),
        "merge" => Ok(ScreenCommand::Edit(DocumentKind::Merge)),
        _ => Err("/edit takes `plan`, `comments` or `merge`".to_owned()),
    }
}

fn parse_diff(argument: &str) -> Result<ScreenCommand, String> {
    match argument {
        "" | "all" => return Ok(ScreenCommand::Diff(DiffScope::All)),
        "plan" | "plan.md" => return Ok(ScreenCommand::Diff(DiffScope::Plan)),
        _ => {}
    }
    let n = argument.parse().ok().filter(|n| *n > 0);
    n.map(|n| ScreenCommand::Diff(DiffScope::Step(n)))
        .ok_or_else(|| "/diff takes the number of a step, or `plan`".to_owned())
}

fn parse_export(argument: &str) -> Result<ScreenCommand, String> {
    let form = match argument {
        "" => Some(ExportFormat::default()),
        word => ExportFormat::from_name(word),
    };
    form.map(ScreenCommand::ExportRun)
        .ok_or_else(|| "/export takes `html` or `md`; alone it writes HTML".to_owned())
}

fn parse_undo(argument: &str) -> Result<ScreenCommand, String> {
    if argument.is_empty() {
        return Ok(ScreenCommand::Undo(UndoRequest::Last));
    }
    let n = argument.parse().ok().filter(|n| *n > 0);
    n.map(|n| ScreenCommand::Undo(UndoRequest::BackTo(n)))
        .ok_or_else(|| "/undo takes the number of a step".to_owned())
}

/// Parses the number of a step and words about it.
fn parse_step_words(command: &str, argument: &str) -> Result<(u32, String), String> {
    let (number, words) = argument.split_once(' ').unwrap_or((argument, ""));
    let n = number.parse().ok().filter(|n| *n > 0);
    let words = words.trim();
    match n {
        Some(n) if !words.is_empty() => Ok((n, words.to_owned())),
        Some(_) => Err(format!("/{command} takes words after the number: say why")),
        None => Err(format!("/{command} takes the number of a step, and words")),
    }
}

fn parse_unnote(argument: &str) -> Result<ScreenCommand, String> {
    if argument.is_empty() {
        return Ok(ScreenCommand::RemovePlanNote(None));
    }
    let n = argument.parse().ok().filter(|n| *n > 0);
    n.map(|n| ScreenCommand::RemovePlanNote(Some(n)))
        .ok_or_else(|| "/unnote takes the number of a note".to_owned())
}

fn parse_refiner(argument: &str) -> Result<ScreenCommand, String> {
    match argument {
        "" => Ok(ScreenCommand::ChooseRefiner(None)),
        "planner" => Ok(ScreenCommand::ChooseRefiner(Some(Role::Planner))),
        "reviewer" => Ok(ScreenCommand::ChooseRefiner(Some(Role::Reviewer))),
        _ => Err("/refiner takes `planner` or `reviewer`".to_owned()),
    }
}

fn parse_mode(argument: &str) -> Result<ScreenCommand, String> {
    if argument.is_empty() {
        return Ok(ScreenCommand::Mode(None));
    }
    Mode::from_name(argument)
        .map(|mode| ScreenCommand::Mode(Some(mode)))
        .ok_or_else(|| "/mode takes plan, default, auto-edit or yolo".to_owned())
}

fn parse_theme(argument: &str) -> Result<ScreenCommand, String> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    match argument {
        "" => Ok(ScreenCommand::Theme(None)),
        name if name.chars().all(is_name) => Ok(ScreenCommand::Theme(Some(name.to_owned()))),
        _ => Err("/theme takes the name of a theme; alone it lists them".to_owned()),
    }
}

fn parse_budget(argument: &str) -> Result<ScreenCommand, String> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    match argument {
        "" => Ok(ScreenCommand::Discuss(OfDiscussion::PreviewBudget(None))),
        name if name.chars().all(is_name) => {
            let name = Some(name.to_owned());
            Ok(ScreenCommand::Discuss(OfDiscussion::PreviewBudget(name)))
        }
        _ => Err("/budget takes the name of a preset, or nothing".to_owned()),
    }
}

fn parse_tab(argument: &str) -> Result<ScreenCommand, String> {
    TabKind::ALL
        .iter()
        .find(|tab| tab.slash_name() == argument || tab.digit().to_string() == argument)
        .map(|tab| ScreenCommand::Show(*tab))
        .ok_or_else(|| "/tab takes chat, plan, comments, log or status".to_owned())
}

fn describe_unknown_command(name: &str) -> String {
    let nearest = BINDINGS
        .iter()
        .flat_map(KeyBinding::slash_commands)
        .map(|slash| slash.name)
        .map(|slash| (edit_distance(name, slash.trim_start_matches('/')), slash))
        .min_by_key(|(distance, _)| *distance);
    match nearest {
        // A suggestion further away than that does not help.
        Some((distance, nearest)) if distance * 3 <= name.chars().count().max(3) => {
            format!("/{name} is not a command. Did you mean {nearest}? /help lists all.")
        }
        Some(_) | None => format!("/{name} is not a command. /help lists all."),
    }
}

/// Returns the edit distance: how many letters to add, remove or replace to turn one word into the other.
pub(super) fn edit_distance(left: &str, right: &str) -> usize {
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
        assert_eq!(format!("{:?}", parse_slash_command(text)), wanted, "{text}");
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
            "Err(Wrong(\"/aprove is not a command. Did you mean /approve? /help lists all.\"))",
        );
        check("/changes", "Err(Wrong(\"Write a text after /changes.\"))");
    }

    #[test]
    fn every_binding_has_a_slash_command_that_means_the_same() {
        for binding in BINDINGS {
            for slash in binding.slash_commands() {
                let typed = slash
                    .to_string()
                    .replace("[N|plan]", "")
                    .replace("[N]", "")
                    .replace(" N ", " 1 ")
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
                let command = parse_slash_command(&typed);
                assert!(command.is_ok(), "{slash}: {command:?}");
            }
        }
    }
}
