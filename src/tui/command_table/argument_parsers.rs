//! Parsers for the arguments of slash commands, shared by the rows of the command table.
//!
//! Each returns the command, or what to type instead.

use crate::domain::diff_scope::DiffScope;
use crate::domain::export_format::ExportFormat;
use crate::domain::phase::Mode;
use crate::domain::reversal_plan::UndoRequest;
use crate::domain::turn::Role;
use crate::tui::action::DocumentKind;
use crate::tui::command::ScreenCommand;
use crate::tui::discussion_commands::DiscussionScreenCommand;
use crate::tui::tab_kind::TabKind;

/// Returns the text, which must not be empty.
pub fn require_text(name: &str, argument: &str) -> Result<String, String> {
    if argument.is_empty() {
        return Err(format!("Write a text after /{name}."));
    }
    Ok(argument.to_owned())
}

/// Parses a number from 1, or nothing.
fn optional_number(argument: &str, error: &str) -> Result<Option<u32>, String> {
    if argument.is_empty() {
        return Ok(None);
    }
    let n = argument.parse().ok().filter(|n| *n > 0);
    n.map(Some).ok_or_else(|| error.to_owned())
}

/// Parses a name of letters, digits, `-` and `_`, or nothing.
fn optional_name(argument: &str, error: &str) -> Result<Option<String>, String> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    match argument {
        "" => Ok(None),
        name if name.chars().all(is_name) => Ok(Some(name.to_owned())),
        _ => Err(error.to_owned()),
    }
}

pub fn parse_task(argument: &str) -> Result<ScreenCommand, String> {
    match argument.split_once(char::is_whitespace) {
        Some((agent, text)) => Ok(ScreenCommand::StartTask(
            agent.to_owned(),
            text.trim().to_owned(),
        )),
        None => Err("Write an agent's name and the task after /task.".to_owned()),
    }
}

/// Parses the document to edit; the plan if none is named.
pub fn parse_document(argument: &str) -> Result<ScreenCommand, String> {
    match argument {
        "" | "plan" | "plan.md" => Ok(ScreenCommand::Edit(DocumentKind::Plan)),
        "comments" | "comments.md" => Ok(ScreenCommand::Edit(DocumentKind::Comments)),
        "merge" => Ok(ScreenCommand::Edit(DocumentKind::Merge)),
        _ => Err("/edit takes `plan`, `comments` or `merge`".to_owned()),
    }
}

pub fn parse_diff(argument: &str) -> Result<ScreenCommand, String> {
    let scope = match argument {
        "all" => DiffScope::All,
        "plan" | "plan.md" => DiffScope::Plan,
        number => optional_number(number, "/diff takes the number of a step, or `plan`")?
            .map_or(DiffScope::All, DiffScope::Step),
    };
    Ok(ScreenCommand::Diff(scope))
}

pub fn parse_export(argument: &str) -> Result<ScreenCommand, String> {
    let form = match argument {
        "" => Some(ExportFormat::default()),
        word => ExportFormat::from_name(word),
    };
    form.map(ScreenCommand::ExportRun)
        .ok_or_else(|| "/export takes `html` or `md`; alone it writes HTML".to_owned())
}

pub fn parse_undo(argument: &str) -> Result<ScreenCommand, String> {
    let n = optional_number(argument, "/undo takes the number of a step")?;
    Ok(ScreenCommand::Undo(
        n.map_or(UndoRequest::Last, UndoRequest::BackTo),
    ))
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

pub fn parse_skip(argument: &str) -> Result<ScreenCommand, String> {
    parse_step_words("skip", argument).map(|(n, words)| ScreenCommand::SkipStep(n, words))
}

pub fn parse_replan(argument: &str) -> Result<ScreenCommand, String> {
    parse_step_words("replan", argument).map(|(n, words)| ScreenCommand::ReplanStep(n, words))
}

pub fn parse_unnote(argument: &str) -> Result<ScreenCommand, String> {
    optional_number(argument, "/unnote takes the number of a note").map(ScreenCommand::CloseThread)
}

pub fn parse_refiner(argument: &str) -> Result<ScreenCommand, String> {
    match argument {
        "" => Ok(ScreenCommand::ChooseRefiner(None)),
        "planner" => Ok(ScreenCommand::ChooseRefiner(Some(Role::Planner))),
        "reviewer" => Ok(ScreenCommand::ChooseRefiner(Some(Role::Reviewer))),
        _ => Err("/talk takes `planner` or `reviewer`".to_owned()),
    }
}

pub fn parse_mode(argument: &str) -> Result<ScreenCommand, String> {
    if argument.is_empty() {
        return Ok(ScreenCommand::Mode(None));
    }
    Mode::from_name(argument)
        .map(|mode| ScreenCommand::Mode(Some(mode)))
        .ok_or_else(|| "/mode takes plan, default, auto-edit or yolo".to_owned())
}

/// Parses the name of a theme, or nothing for the list of themes.
pub fn parse_theme(argument: &str) -> Result<ScreenCommand, String> {
    optional_name(
        argument,
        "/theme takes the name of a theme; alone it lists them",
    )
    .map(ScreenCommand::Theme)
}

pub fn parse_budget(argument: &str) -> Result<ScreenCommand, String> {
    optional_name(argument, "/budget takes the name of a preset, or nothing")
        .map(|preset| ScreenCommand::Discuss(DiscussionScreenCommand::PreviewBudget(preset)))
}

pub fn parse_tab(argument: &str) -> Result<ScreenCommand, String> {
    TabKind::ALL
        .iter()
        .find(|tab| tab.slash_name() == argument || tab.digit().to_string() == argument)
        .map(|tab| ScreenCommand::Show(*tab))
        .ok_or_else(|| "/tab takes chat, plan, comments, log or status".to_owned())
}
