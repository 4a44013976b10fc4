//! The dialogs that list the agents and show one of them, and the `@agent` texts that give a task.
//!
//! What each agent may do comes from the caller, not from rules here.

use super::action::Action;
use super::command::ScreenCommand;
use super::composer_pane::ComposerPane;
use super::dialog::{ChoiceAction, ChoiceDialog};
use super::dialogs::confirmations;
use super::text_wrap::to_one_line;
use super::{clickable_keys, theme};
use crate::domain::event::Event;
use crate::domain::phase::Phase;
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::run::RunState;
use crate::domain::turn::TurnProfile;
use crate::permission::AgentMode;

/// Introduces the list of agents that take tasks.
const TAKEN_BY: &str = "Agents for tasks:";

/// One agent in the list of agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentEntry {
    pub name: String,
    pub mode: AgentMode,
    /// What it is for, in one line; empty if its definition does not say.
    pub description: String,
    /// Its own adapter and model, if it has any.
    pub adapter_and_model: Option<String>,
    /// Tools that it uses without approval.
    pub allowed_tools: Vec<String>,
    /// Tools whose calls its rules or the user decide one by one.
    pub asked_tools: Vec<String>,
    pub missing_tools: Vec<String>,
    /// Its rules, one per line, each with the place where it is defined.
    pub rules: String,
}

impl AgentEntry {
    /// Returns whether tasks can be given to this agent.
    pub fn accepts_tasks(&self) -> bool {
        self.mode != AgentMode::Primary
    }

    fn describe_tools(&self) -> String {
        let kinds = [
            ("uses", &self.allowed_tools),
            ("its rules and you decide each call", &self.asked_tools),
            ("does not have", &self.missing_tools),
        ];
        let told = kinds.iter().filter(|(_, tools)| !tools.is_empty());
        let told: Vec<String> = told
            .map(|(kind, tools)| format!("{kind}: {}", tools.join(", ")))
            .collect();
        told.join("\n")
    }
}

/// Builds the list of agents, or the dialog about one by its name.
///
/// # Errors
/// No agent has this name.
pub(super) fn build_dialog(
    name: &str,
    agents: &[AgentEntry],
    state: Option<&RunState>,
) -> Result<ChoiceDialog, String> {
    if name.is_empty() {
        return Ok(agent_list_dialog(agents, state));
    }
    let agent = agents.iter().find(|agent| agent.name == name);
    agent
        .map(|agent| agent_dialog(agent, state))
        .ok_or_else(|| describe_unknown_agent(name, "Known agents:", agents.iter()))
}

/// Returns why no agent of this name takes a task. Before the configuration is read the list is empty, and any name
/// may exist.
pub(super) fn unknown_task_agent(name: &str, agents: &[AgentEntry]) -> Option<String> {
    let is_known = agents.is_empty() || agents.iter().any(|known| known.name == name);
    let takers = agents.iter().filter(|agent| agent.accepts_tasks());
    (!is_known).then(|| describe_unknown_agent(name, TAKEN_BY, takers))
}

/// The meaning of a text that starts with `@`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AgentMention {
    /// A task: the agent's name and the prompt.
    Task(String, String),
    /// The text is ambiguous or incomplete; holds the message for the user.
    Wrong(String),
}

/// Builds the message for an unknown agent, with the agents that exist.
fn describe_unknown_agent<'a>(
    name: &str,
    there_are: &str,
    agents: impl Iterator<Item = &'a AgentEntry>,
) -> String {
    let names: Vec<&str> = agents.map(|agent| agent.name.as_str()).collect();
    format!(
        "No agent is called {}. {there_are} {}",
        to_one_line(name),
        names.join(", ")
    )
}

fn agent_list_dialog(agents: &[AgentEntry], state: Option<&RunState>) -> ChoiceDialog {
    let text = "Enter shows what an agent may do, Esc goes back. @NAME TEXT gives it a task.";
    let mut sheet = ChoiceDialog::list("agents", "Agents")
        .with_text(text, clickable_keys::mark_hint(theme::QUIET));
    for (agent, key) in agents.iter().zip(('1'..='9').chain(std::iter::repeat('·'))) {
        let label = format!(
            "{} ({}): {}",
            agent.name,
            agent.mode.name(),
            agent.description
        );
        sheet = sheet.with_choice(
            key,
            &label,
            ChoiceAction::Confirm(Box::new(agent_dialog(agent, state))),
        );
    }
    sheet.with_choice('b', "Back", ChoiceAction::Close)
}

fn agent_dialog(agent: &AgentEntry, state: Option<&RunState>) -> ChoiceDialog {
    let title = format!("Agent {} ({})", to_one_line(&agent.name), agent.mode.name());
    let mut sheet = ChoiceDialog::list(format!("agent {}", agent.name), &title);
    if !agent.description.is_empty() {
        sheet = sheet.with_text(&agent.description, theme::PLAIN);
    }
    if let Some(plays) = &agent.adapter_and_model {
        sheet = sheet.with_text(&format!("runs on {plays}"), theme::QUIET);
    }
    for line in agent.describe_tools().lines() {
        sheet = sheet.with_text(line, theme::QUIET);
    }
    let whole = format!(
        "{}\n\n{}\n\n## Rules (the last match wins)\n\n```\n{}```\n",
        agent.description,
        agent.describe_tools().replace('\n', "\n\n"),
        agent.rules
    );
    sheet.full_text = Some((title, whole));
    if agent.accepts_tasks() {
        let text = format!("@{} ", agent.name);
        sheet = sheet.with_choice('t', "Give it a task…", ChoiceAction::FillComposer(text));
    }
    match planner_switch(agent, state) {
        Some((label, then)) => sheet.with_choice('p', label, then),
        None => sheet,
    }
    .with_choice(
        'v',
        "Read its rules",
        ChoiceAction::RunCommand(ScreenCommand::ViewFullText),
    )
    .with_choice('b', "Back", ChoiceAction::Close)
}

/// Returns the choice that switches the planner to this agent now, through the workflow's own step: replan or execute.
fn planner_switch(
    agent: &AgentEntry,
    state: Option<&RunState>,
) -> Option<(&'static str, ChoiceAction)> {
    let state = state?;
    if agent.name == TurnProfile::Plan.name() && state.phase == Phase::Execute {
        let then = ChoiceAction::Confirm(Box::new(confirmations::replan()));
        return Some(("Switch and plan again", then));
    }
    let question = state
        .current_question()
        .filter(|_| agent.name == TurnProfile::Build.name())?;
    let answered = Event::QuestionAnswered {
        id: question.id,
        answer: QuestionAnswer::Execute,
    };
    let then = ChoiceAction::ActAndClose(vec![Action::Event(answered)]);
    matches!(question.kind, QuestionKind::Execute { .. })
        .then_some(("Switch and run the plan", then))
}

impl ComposerPane {
    /// Parses a text that starts with `@` and an agent's name; `None` for every other text.
    pub fn parse_mention(&self, text: &str) -> Option<AgentMention> {
        let rest = text.trim().strip_prefix('@')?;
        let (name, prompt) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let agents = &self.assist.agents;
        if self.is_unknown_agent(name) {
            let takers = agents.iter().filter(|agent| agent.accepts_tasks());
            let takers: Vec<&str> = takers.map(|agent| agent.name.as_str()).collect();
            return Some(AgentMention::Wrong(format!(
                "{}. {TAKEN_BY} {}. A text that starts otherwise is sent as it is.",
                self.assist.describe_unknown_name(&to_one_line(name)),
                takers.join(", ")
            )));
        }
        let mut takers = agents.iter().filter(|agent| agent.accepts_tasks());
        let agent = takers.find(|agent| agent.name == name)?;
        let (name, prompt) = (agent.name.clone(), prompt.trim().to_owned());
        if self.is_repository_file(&name) {
            return Some(AgentMention::Wrong(format!(
                "`{name}` is both an agent and a file. Write /task {name} … for the task, @./{name} for the file."
            )));
        }
        Some(if prompt.is_empty() {
            AgentMention::Wrong(format!("Write the task after @{name}."))
        } else {
            AgentMention::Task(name, prompt)
        })
    }

    /// Returns whether `name` looks like an agent's name but is neither an agent nor a file.
    pub fn is_unknown_agent(&self, name: &str) -> bool {
        let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        let agents = &self.assist.agents;
        let is_known =
            agents.iter().any(|agent| agent.name == name) || self.is_repository_file(name);
        !agents.is_empty() && !is_known && !name.is_empty() && name.chars().all(is_of_name)
    }
}
