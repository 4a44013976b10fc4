//! The agents as dialogs: who there is, what each may do, and what can be done with one now; and the text that gives an
//! agent a task by its name.
//!
//! Refuses to know rules: whoever opens the screen says what each agent may.

use super::action::Action;
use super::command::Command;
use super::dialogs::confirm;
use super::sheet::{Sheet, Then};
use super::wrap::one_line;
use super::{Screen, hints, theme};
use crate::domain::event::Event;
use crate::domain::phase::Phase;
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::run::RunState;
use crate::domain::turn::TurnProfile;
use crate::permission::AgentMode;

/// Who there is for tasks.
const TAKEN_BY: &str = "tasks are taken by";

/// An agent, as the screen lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// Where it may be used.
    pub mode: AgentMode,
    /// What it is for, in one line; empty when nobody said.
    pub about: String,
    /// The adapter and the model that play it, where they are its own.
    pub plays: Option<String>,
    /// Tools that it uses without being asked.
    pub has: Vec<String>,
    /// Tools of which its rules or somebody's word decide each call.
    pub asks: Vec<String>,
    /// Tools that it does not have.
    pub lacks: Vec<String>,
    /// Its rules, one a line, with where each stands.
    pub rules: String,
}

impl Agent {
    /// Tells whether tasks can be given to it.
    pub fn takes_tasks(&self) -> bool {
        self.mode != AgentMode::Primary
    }

    fn tools(&self) -> String {
        let kinds = [
            ("uses", &self.has),
            ("each call by its rules or your word", &self.asks),
            ("does not have", &self.lacks),
        ];
        let told = kinds.iter().filter(|(_, tools)| !tools.is_empty());
        let told: Vec<String> = told
            .map(|(kind, tools)| format!("{kind}: {}", tools.join(", ")))
            .collect();
        told.join("\n")
    }
}

/// What a text that begins with `@` means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mention {
    /// A task to the agent of this name.
    Task(String, String),
    /// It could mean two things, or lacks something.
    Wrong(String),
}

impl Screen {
    /// Takes in which agents there are.
    pub fn on_agents(&mut self, agents: Vec<Agent>) {
        self.dirty = true;
        self.helped.agents = agents;
    }

    /// Lists the agents, or shows one by its name.
    pub(super) fn show_agents(&mut self, name: &str, state: Option<&RunState>) -> Vec<Action> {
        let agents = &self.helped.agents;
        if agents.is_empty() {
            return self.refuse("which agents there are is known once the configuration was read");
        }
        if name.is_empty() {
            let sheet = list(agents, state);
            return self.ask(sheet);
        }
        match agents.iter().find(|agent| agent.name == name) {
            Some(agent) => {
                let sheet = one(agent, state);
                self.ask(sheet)
            }
            None => self.refuse(&no_agent(name, "there are", agents.iter())),
        }
    }

    /// Gives a task to an agent, by its name; one that there is not is said so before anything is opened for it.
    pub(super) fn give_task(&mut self, agent: String, prompt: String) -> Vec<Action> {
        let agents = &self.helped.agents;
        let is_known = agents.is_empty() || agents.iter().any(|known| known.name == agent);
        match is_known {
            true => vec![Action::GiveTask { agent, prompt }],
            false => {
                let takers = agents.iter().filter(|agent| agent.takes_tasks());
                self.refuse(&no_agent(&agent, TAKEN_BY, takers))
            }
        }
    }

    /// Reads a text that begins with the name of an agent after `@`; `None` for every other text.
    pub(super) fn mention(&self, text: &str) -> Option<Mention> {
        let rest = text.trim().strip_prefix('@')?;
        let (name, prompt) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let agents = &self.helped.agents;
        if self.is_nobody(name) {
            let takers = agents.iter().filter(|agent| agent.takes_tasks());
            let takers: Vec<&str> = takers.map(|agent| agent.name.as_str()).collect();
            return Some(Mention::Wrong(format!(
                "{}; {TAKEN_BY} {}; a text that begins otherwise is sent as it is",
                self.helped.nothing_called(&one_line(name)),
                takers.join(", ")
            )));
        }
        let mut takers = agents.iter().filter(|agent| agent.takes_tasks());
        let agent = takers.find(|agent| agent.name == name)?;
        let (name, prompt) = (agent.name.clone(), prompt.trim().to_owned());
        if self.is_file(&name) {
            return Some(Mention::Wrong(format!(
                "`{name}` is an agent and a file: /task {name} … gives the task, @./{name} means the file"
            )));
        }
        Some(match prompt.is_empty() {
            true => Mention::Wrong(format!("write after @{name} what it is to do")),
            false => Mention::Task(name, prompt),
        })
    }
}

impl Screen {
    /// Tells whether a name that follows `@` is an agent's by its letters, and nothing has it.
    fn is_nobody(&self, name: &str) -> bool {
        let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        let agents = &self.helped.agents;
        let is_known = agents.iter().any(|agent| agent.name == name) || self.is_file(name);
        !agents.is_empty() && !is_known && !name.is_empty() && name.chars().all(is_of_name)
    }
}

/// That there is no agent of a name, and who there is instead.
fn no_agent<'a>(name: &str, there_are: &str, agents: impl Iterator<Item = &'a Agent>) -> String {
    let names: Vec<&str> = agents.map(|agent| agent.name.as_str()).collect();
    format!(
        "there is no agent {}; {there_are} {}",
        one_line(name),
        names.join(", ")
    )
}

fn list(agents: &[Agent], state: Option<&RunState>) -> Sheet {
    let text = "Enter shows what the chosen one may do; Esc goes back. @NAME TEXT gives a task.";
    let mut sheet = Sheet::list("agents", "agents").says(text, hints::marked(theme::QUIET));
    for (agent, key) in agents.iter().zip(('1'..='9').chain(std::iter::repeat('·'))) {
        let label = format!("{} ({}): {}", agent.name, agent.mode.name(), agent.about);
        sheet = sheet.offers(key, &label, Then::Confirm(Box::new(one(agent, state))));
    }
    sheet.offers('b', "back", Then::Back)
}

fn one(agent: &Agent, state: Option<&RunState>) -> Sheet {
    let title = format!("agent {} ({})", one_line(&agent.name), agent.mode.name());
    let mut sheet = Sheet::list(format!("agent {}", agent.name), &title);
    if !agent.about.is_empty() {
        sheet = sheet.says(&agent.about, theme::PLAIN);
    }
    if let Some(plays) = &agent.plays {
        sheet = sheet.says(&format!("played by {plays}"), theme::QUIET);
    }
    for line in agent.tools().lines() {
        sheet = sheet.says(line, theme::QUIET);
    }
    let whole = format!(
        "{}\n\n{}\n\n## Rules, the last one that matches counts\n\n```\n{}```\n",
        agent.about,
        agent.tools().replace('\n', "\n\n"),
        agent.rules
    );
    sheet.whole = Some((title, whole));
    if agent.takes_tasks() {
        let text = format!("@{} ", agent.name);
        sheet = sheet.offers('t', "give it a task: write", Then::Fill(text));
    }
    match puts_on(agent, state) {
        Some((label, then)) => sheet.offers('p', label, then),
        None => sheet,
    }
    .offers('v', "view its rules", Then::Do(Command::View))
    .offers('b', "back", Then::Back)
}

/// What puts an agent on the planner now: the way there is the workflow's own.
fn puts_on(agent: &Agent, state: Option<&RunState>) -> Option<(&'static str, Then)> {
    let state = state?;
    if agent.name == TurnProfile::Plan.name() && state.phase == Phase::Execute {
        let then = Then::Confirm(Box::new(confirm::plan_anew()));
        return Some(("put it on: back to planning", then));
    }
    let question = state
        .current_question()
        .filter(|_| agent.name == TurnProfile::Build.name())?;
    let answered = Event::QuestionAnswered {
        id: question.id,
        answer: QuestionAnswer::Execute,
    };
    let then = Then::ActAndBack(vec![Action::Event(answered)]);
    matches!(question.kind, QuestionKind::Execute { .. })
        .then_some(("put it on: execute the plan", then))
}
