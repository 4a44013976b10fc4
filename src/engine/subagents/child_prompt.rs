//! Builds the prompt of a child: who it is and what it may do, then its task, and nothing from any other
//! conversation.

use crate::domain::task::TaskOrder;
use crate::engine::run_setup::RunSetup;

/// The introduction that every child gets.
const SUBAGENT_INTRODUCTION: &str = "\
You are the agent `{agent}`. {description}

You work alone on one task in the repository that is your working directory. You know nothing of the conversation of \
whoever gave it to you, and whoever gave it sees nothing of yours but your last message: say in it all that matters, \
with paths and line numbers, and what you could not find out. Whoever gave it answers no questions; where something is \
open, decide what is most likely and say so. Do not start other agents.";

/// The instruction for a child that only reads.
const READ_ONLY_INSTRUCTION: &str = "You may not change any file.";

/// The instruction for a child that writes.
const WORKTREE_INSTRUCTION: &str = "\
Your working directory is a copy of the repository that was made for you, with all that is not committed yet; files that \
git ignores, such as what was built or fetched, are not in it. Change files there and nowhere else, by paths relative to \
it. You need no commit, and git lets you make none: when you end, all that differs is handed over as one patch to whoever \
gave you the task. Leave nothing behind that should not be in it.";

/// The introduction that every participant of a discussion gets.
const PARTICIPANT_INTRODUCTION: &str = "\
You are the agent `{agent}`. {description}

You take part in a discussion. You see nothing of the others but what you are sent, and they see nothing of you but what \
you say last in each round.";

/// Returns the first line of a child's prompt, which identifies it.
pub(super) fn prompt_header(order: &TaskOrder) -> String {
    match &order.speaks {
        Some(speaks) => format!("[agent-collab discussion {}]", speaks.name),
        None => format!("[agent-collab task {}]", order.short_name()),
    }
}

/// Returns the system prompt: the first entry of the child's history.
pub(super) fn system_prompt(setup: &RunSetup, order: &TaskOrder) -> String {
    let agent = &order.agent;
    let profile = setup.permissions.profiles.find_by_name(agent).ok();
    let description = profile.map_or("", |profile| profile.description.as_str());
    let told = match &order.speaks {
        Some(_) => PARTICIPANT_INTRODUCTION,
        None => SUBAGENT_INTRODUCTION,
    };
    let mut text = told
        .replace("{agent}", agent)
        .replace("{description}", description);
    text.push_str(match order.tree {
        Some(_) => "\n\n",
        None => " ",
    });
    text.push_str(match order.tree {
        Some(_) => WORKTREE_INSTRUCTION,
        None => READ_ONLY_INSTRUCTION,
    });
    if let Some(own) = setup.agent_prompts.get(agent) {
        text.push_str(&format!("\n\n{}", own.trim()));
    }
    for (name, instructions) in &setup.instructions {
        let folder = name.rsplit_once('/').map(|(folder, _)| folder);
        let counts = folder.map_or(String::new(), |folder| {
            format!(" (for what lies below {folder}/)")
        });
        text.push_str(&format!("\n\n## {name}{counts}\n\n{}", instructions.trim()));
    }
    text
}

/// Returns everything that the agent gets with a child's first task.
pub(super) fn first_prompt(order: &TaskOrder, system: &str, prompt: &str) -> String {
    format!(
        "{}\n\n[agent-collab agent {agent}]\n{system}\n[end of agent {agent}]\n\n{prompt}",
        prompt_header(order),
        agent = order.agent
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{SessionId, TurnId};
    use crate::domain::task::TaskWaitMode;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_child_is_sent_who_it_is_and_its_task_and_nothing_else(
            agent in "[a-z]{1,8}", n in 1_u32..9, system in "\\PC{0,80}", prompt in "\\PC{0,80}"
        ) {
            let order = TaskOrder {
                session: SessionId::new("ses_child"),
                parent: Some(SessionId::new("ses_planner")),
                n,
                first_agent: None,                agent: agent.clone(),
                description: "a canary of its caller".to_owned(),
                adapter: "codex".to_owned(),
                model: None,
                waits: TaskWaitMode::Foreground,
                turn: TurnId::new("ses_child.1"),
                speaks: None,
                tree: None,
            };
            let sent = first_prompt(&order, &system, &prompt);
            let rest = sent.strip_prefix(&format!("[agent-collab task {agent}#{n}]\n\n"));
            let rest = rest.and_then(|rest| rest.strip_prefix(&format!("[agent-collab agent {agent}]\n")));
            let rest = rest.and_then(|rest| rest.strip_prefix(system.as_str()));
            let task = rest.and_then(|rest| rest.strip_prefix(&format!("\n[end of agent {agent}]\n\n")));
            prop_assert_eq!(task, Some(prompt.as_str()));
        }
    }
}
