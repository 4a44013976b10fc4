//! Several tasks in one call: each is a target of its own, and the strictest answer counts.

use super::*;
use crate::permission::ProfileDefinition;
use crate::permission::rule::{Rule, RuleLayer, RuleOrigin};
use crate::permission::rule_layers::RuleSet;

/// Checks the decision for the reviewer, who may give tasks only to `explore`, on this input.
fn reviewer(input: serde_json::Value, expected: &str) {
    let profile = ProfileDefinition::built_in("review").unwrap();
    let context = DecisionContext {
        profile: profile.name.clone(),
        rules: std::sync::Arc::new(RuleSet::from_layers(&profile, &[], &[])),
        ..context(BeforeExecute, &[])
    };
    let call = AgentToolCall::Tool {
        name: "task".to_owned(),
        input: input.to_string(),
    };
    check(&call, &context, expected);
}

#[test]
fn each_task_of_a_batch_is_decided() {
    let json = |text: &str| serde_json::from_str(text).unwrap();
    reviewer(json(r#"{"agent": "explore"}"#), "allow");
    reviewer(
        json(r#"{"tasks": [{"agent": "explore"}, {"subagent_type": "explore"}]}"#),
        "allow",
    );
    for refused in [
        r#"{"agent": "general"}"#,
        r#"{"tasks": [{"agent": "explore"}, {"agent": "general"}]}"#,
        r#"{"tasks": [{"agent": "explore"}], "agent": "general"}"#,
        r#"{"tasks": [{"agent": "explore"}, {}]}"#,
        r#"{"tasks": ["explore"]}"#,
        r#"{"tasks": []}"#,
        "{}",
    ] {
        reviewer(json(refused), "deny");
    }
}

#[test]
fn each_agent_that_a_discussion_names_is_decided() {
    let profile = ProfileDefinition::built_in("plan").unwrap();
    let origin = RuleOrigin {
        layer: RuleLayer::Project,
        place: "test".to_owned(),
    };
    let kept_out = Rule::new("group_discuss", "general", PermissionAction::Deny, origin);
    let context = DecisionContext {
        profile: profile.name.clone(),
        rules: std::sync::Arc::new(RuleSet::from_layers(&profile, &[kept_out], &[])),
        ..context(BeforeExecute, &[])
    };
    for (input, expected) in [
        (r#"{"topic": "SQLite or Postgres?"}"#, "allow"),
        (
            r#"{"topic": "x", "agents": ["advocate", "ops=critic@claude"]}"#,
            "allow",
        ),
        (
            r#"{"topic": "x", "agents": ["advocate", "ops= general @claude"]}"#,
            "deny",
        ),
        (r#"{"topic": "x", "agents": ["general@codex"]}"#, "deny"),
        (
            r#"{"topic": "x", "participants": [{"name": "ops"}]}"#,
            "deny",
        ),
        (
            r#"{"topic": "x", "participants": [{"name": "ops", "subagent_type": "general"}]}"#,
            "deny",
        ),
        (
            r#"{"topic": "x", "participants": [{"name": "general", "agent": "explore"}]}"#,
            "allow",
        ),
    ] {
        let call = AgentToolCall::Tool {
            name: "group_discuss".to_owned(),
            input: input.to_owned(),
        };
        check(&call, &context, expected);
    }
}
