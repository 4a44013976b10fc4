//! Every mode in every phase for every profile, call by call: each of the three matters by itself.

use super::super::super::permission_mode::MODES;
use super::super::super::{LoopStatus, ProfileDefinition, ProfileRegistry, RuleSet};
use super::*;
use SandboxReach::Contained;

/// Each call, with its description.
fn calls() -> Vec<(&'static str, AgentToolCall, Vec<&'static str>, LoopStatus)> {
    let command = |line: &str, reach| AgentToolCall::Command {
        line: line.to_owned(),
        cwd: PathBuf::from(ROOT),
        reach,
    };
    let edit = |path: &str| AgentToolCall::Edit {
        paths: vec![PathBuf::from(path)],
        reach: Contained,
    };
    let read = |path: &str| AgentToolCall::Read {
        paths: vec![PathBuf::from(path)],
        search: None,
    };
    let tool = |name: &str| AgentToolCall::Tool {
        name: name.to_owned(),
        input: "{}".to_owned(),
    };
    let once = LoopStatus::NoLoop;
    vec![
        ("read inside", read("src/a"), vec!["src/a"], once),
        ("read .env", read(".env"), vec![".env"], once),
        ("read outside", read("/etc/hosts"), vec!["/etc/hosts"], once),
        ("edit staging", edit(STAGING[0]), vec![STAGING[0]], once),
        ("edit inside", edit("src/a"), vec!["src/a"], once),
        ("edit outside", edit("/etc/hosts"), vec!["/etc/hosts"], once),
        ("edit .git", edit(".git/config"), vec![".git/config"], once),
        ("ls, held", command("ls -la", Contained), vec![], once),
        ("ls, free", command("ls -la", Unconfined), vec![], once),
        ("make, held", command("make", Contained), vec![], once),
        ("make, free", command("make", Unconfined), vec![], once),
        ("git push", command("git push", Contained), vec![], once),
        ("rm -rf", command("rm -rf build", Contained), vec![], once),
        (
            "ls in a circle",
            command("ls -la", Contained),
            vec![],
            LoopStatus::Loop,
        ),
        ("webfetch", tool("webfetch"), vec![], once),
        ("task", tool("task"), vec![], once),
        ("plan_exit", tool("plan_exit"), vec![], once),
        ("an MCP tool", tool("mcp__a__b"), vec![], once),
    ]
}

/// Makes one row for a call and a profile: before EXECUTE in each mode, then in EXECUTE in each
/// mode, in the order of [`MODES`].
fn row(profile: &ProfileDefinition, call: &(&str, AgentToolCall, Vec<&str>, LoopStatus)) -> String {
    let (name, call, paths, repetition) = call;
    let mut row = format!("{name:<15} {:<8}", profile.name);
    for phase_access in [BeforeExecute, Execute] {
        row.push_str(" |");
        for mode in MODES {
            let context = DecisionContext {
                mode,
                profile: profile.name.clone(),
                rules: std::sync::Arc::new(RuleSet::from_layers(profile, &[], &[])),
                loop_status: *repetition,
                ..context(phase_access, paths)
            };
            row.push_str(&format!(
                " {:<5}",
                decide_call(call, &context).action.name()
            ));
        }
    }
    row.trim_end().to_owned()
}

#[test]
fn modes_phases_and_profiles_each_take_their_own() {
    let profiles = ProfileRegistry::default();
    let mut table = Vec::new();
    for call in calls() {
        for name in ["build", "plan", "review", "explore", "general"] {
            table.push(row(profiles.find_by_name(name).unwrap(), &call));
        }
    }
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn what_may_be_done_follows_from_mode_phase_and_rules_and_not_from_the_agents_name() {
    let profiles = ProfileRegistry::default();
    for call in calls() {
        for name in ["build", "plan", "review", "explore", "general"] {
            let known = profiles.find_by_name(name).unwrap();
            let renamed = ProfileDefinition {
                name: "renamed".to_owned(),
                ..known.clone()
            };
            let [decided, usual] = [&renamed, known].map(|profile| {
                let row = row(profile, &call);
                row.split_once('|').unwrap().1.to_owned()
            });
            assert_eq!(decided, usual, "{name}: {}", call.0);
        }
    }
}
