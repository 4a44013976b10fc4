//! A profile's name and a target go in, the profile's answer comes out.

use super::super::rule::{CallFacts, TargetForm};
use super::super::rule_layers::RuleSet;
use super::*;

fn says(profile: &str, permission: &str, target: &str, facts: CallFacts) -> &'static str {
    let rules = RuleSet::from_layers(&ProfileDefinition::built_in(profile).unwrap(), &[], &[]);
    rules
        .evaluate(permission, &TargetForm::from_text(target), facts)
        .action
        .name()
}

/// Permission, target, facts about the call, then the answers of build, plan, review, explore and general.
const SAID: &str = "
    read src/a.rs - allow allow allow allow allow
    read .env - ask ask ask ask ask
    read app/.env.local - ask ask ask ask ask
    read app/.env.example - allow allow allow allow allow
    read src/environment.rs - allow allow allow allow allow
    grep TODO - allow allow allow allow allow
    edit src/a.rs - allow deny deny deny allow
    edit src/a.rs leaves ask deny deny deny ask
    bash make - ask ask ask deny ask
    bash make contained allow ask ask deny allow
    bash ls reads ask allow allow deny ask
    task general - allow allow deny deny deny
    task explore - allow allow allow deny deny
    plan_exit * - deny allow deny deny deny
    plan_enter * - allow deny deny deny deny
    external_directory /etc/x - ask ask ask deny ask
    mcp__a__b * - ask ask ask deny ask
";

#[test]
fn each_built_in_profile_says_what_its_line_promises() {
    let names = ["build", "plan", "review", "explore", "general"];
    for line in SAID.lines().filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let facts = CallFacts {
            is_contained: words[2] == "contained",
            leaves_sandbox: words[2] == "leaves",
            only_reads: words[2] == "reads",
        };
        let found = names.map(|name| says(name, words[0], words[1], facts));
        assert_eq!(found.as_slice(), &words[3..], "{line}");
    }
    for name in ["advocate", "critic", "moderator"] {
        assert_eq!(says(name, "edit", "a", CallFacts::default()), "deny");
        assert_eq!(says(name, "read", "a", CallFacts::default()), "allow");
    }
}

#[test]
fn where_files_are_read_by_commands_who_only_reads_runs_what_only_reads() {
    let reads = CallFacts {
        only_reads: true,
        ..CallFacts::default()
    };
    let none = CallFacts::default();
    for (profile, facts, line) in [
        ("explore", reads, "allow"),
        ("explore", none, "deny"),
        ("critic", reads, "allow"),
        ("general", reads, "ask"),
        ("plan", reads, "allow"),
        ("plan", none, "ask"),
    ] {
        let profile = ProfileDefinition::built_in(profile)
            .unwrap()
            .with_read_only_commands();
        let rules = RuleSet::from_layers(&profile, &[], &[]);
        let said = rules.evaluate("bash", &TargetForm::from_text("ls"), facts);
        assert_eq!(said.action.name(), line, "{} {facts:?}", profile.name);
    }
    let mut closed = ProfileDefinition::without_rules("closed", AgentMode::All);
    closed.rules = ProfileDefinition::deny_all("closed").rules;
    assert_eq!(closed.clone().with_read_only_commands(), closed);
}

#[test]
fn no_catch_all_of_a_built_in_profile_stands_behind_what_it_would_hide() {
    for (name, _, _, rows) in BUILT_IN_PROFILES {
        let n_catch_alls = rows
            .iter()
            .copied()
            .flatten()
            .filter(|row| row.0 == "*")
            .count();
        let first = rows.first().and_then(|rows| rows.first());
        assert_eq!(
            (n_catch_alls, first.map(|row| row.0)),
            (1, Some("*")),
            "{name}"
        );
    }
}

fn names(profiles: &ProfileRegistry, mode: AgentMode) -> String {
    let names: Vec<&str> = profiles
        .iter_offered(mode)
        .map(|profile| profile.name.as_str())
        .collect();
    names.join(" ")
}

#[test]
fn profiles_are_listed_by_mode() {
    let mut profiles = ProfileRegistry::default();
    profiles.insert(ProfileDefinition::without_rules("docs", AgentMode::All));
    profiles.insert(ProfileDefinition {
        visibility: ProfileVisibility::Hidden,
        ..ProfileDefinition::without_rules("secret", AgentMode::All)
    });
    assert_eq!(
        names(&profiles, AgentMode::Primary),
        "build docs plan review"
    );
    assert_eq!(
        names(&profiles, AgentMode::Subagent),
        "advocate critic docs explore general moderator"
    );
    assert!(profiles.find_by_name("secret").is_ok());
    let unknown = profiles.find_by_name("buld").unwrap_err().to_string();
    let known = "advocate, build, critic, docs, explore, general, moderator, plan, review";
    assert_eq!(unknown, format!("no agent \"buld\"; known agents: {known}"));
}

#[test]
fn a_profile_that_nobody_knows_may_do_nothing() {
    let rules = RuleSet::from_layers(&ProfileDefinition::deny_all("x"), &[], &[]);
    for permission in ["read", "bash", "edit", "task"] {
        let said = rules.evaluate(
            permission,
            &TargetForm::from_text("a"),
            CallFacts::default(),
        );
        assert_eq!(said.action, Deny);
    }
}

#[test]
fn nothing_that_only_a_role_s_session_has_is_offered_to_subagents() {
    for profile in ProfileRegistry::default().iter_offered(AgentMode::Subagent) {
        let rules = RuleSet::from_layers(profile, &[], &[]);
        for tool in CHILD_FORBIDDEN_TOOLS {
            assert!(
                rules.find_hiding_rule(tool).is_some(),
                "{} has {tool}",
                profile.name
            );
        }
    }
}
