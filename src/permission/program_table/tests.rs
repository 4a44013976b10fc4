//! Every row of the table of programs is read and played, and what it shares exists.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;
use crate::permission::command_safety::{CommandSafetySettings, classify_script};
use crate::permission::{
    AgentToolCall, ApprovalMatcher, DecisionContext, PhaseAccess, SandboxReach,
    approval_suggestions, decide_call, prove_read_only,
};

/// Returns all that is judged about a command: its class, whether it only reads, and which approvals are suggested.
fn judgements(command: &str, settings: &CommandSafetySettings) -> Vec<String> {
    let root = Path::new("/repo");
    let call = AgentToolCall::Command {
        line: command.to_owned(),
        cwd: root.to_owned(),
        reach: SandboxReach::Unconfined,
    };
    let context = DecisionContext::new(PhaseAccess::Execute, root.to_owned());
    let suggested = approval_suggestions::suggest_approvals(&call, &decide_call(&call, &context));
    let mut found = vec![classify_script(command, settings).class.as_str().to_owned()];
    if prove_read_only(command, root, root).is_ok() {
        found.push("reads".to_owned());
    }
    found.extend(suggested.iter().filter_map(|approval| match approval {
        ApprovalMatcher::Pattern(pattern) => Some(pattern.clone()),
        ApprovalMatcher::Exact(_) if suggested.len() == 1 => Some("exact".to_owned()),
        ApprovalMatcher::Exact(_) => None,
    }));
    found
}

#[test]
fn the_example_of_each_row_is_judged_as_the_row_says() {
    let settings = CommandSafetySettings::default();
    let misses: Vec<String> = PROGRAM_TABLE
        .rows
        .iter()
        .filter_map(|(name, facts)| {
            let found = judgements(&facts.example, &settings);
            let mut names = facts.aliases.iter().chain([name]);
            let names_it = names.any(|name| facts.example.contains(name.as_str()));
            let is_as_told = names_it && found.contains(&facts.gives);
            (!is_as_told).then(|| format!("{name}: {:?} gives {found:?}", facts.example))
        })
        .collect();
    assert_eq!(misses, Vec::<String>::new());
}

#[test]
fn facts_that_a_row_shares_stand_in_the_row_that_it_names() {
    let broken: Vec<&String> = PROGRAM_TABLE
        .rows
        .iter()
        .filter(|(_, facts)| !facts.shares_known_facts())
        .map(|(name, _)| name)
        .collect();
    assert_eq!(broken, Vec::<&String>::new());
}

#[test]
fn a_name_stands_for_one_program_alone() {
    let mut seen = BTreeSet::new();
    for (name, facts) in &PROGRAM_TABLE.rows {
        for alias in &facts.aliases {
            assert!(seen.insert(alias), "{alias} stands for two programs");
            assert_eq!(resolve_alias(alias), name);
        }
        assert_eq!(resolve_alias(name), resolve_alias(resolve_alias(name)));
    }
}
