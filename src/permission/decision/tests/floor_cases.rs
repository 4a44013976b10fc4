//! Each floor against each mode and each phase.

use super::super::super::decision_context::OutsidePaths;
use super::super::super::permission_mode::MODES;
use super::super::super::rule::{Rule, RuleLayer, RuleOrigin};
use super::super::super::rule_layers::RuleSet;
use super::super::super::{
    ApprovalMatcher, ApprovalScope, LoopStatus, MaxApprovalScope, Mode, ProfileDefinition,
    SessionLineage, StoredApproval,
};
use super::*;
use SandboxReach::Contained;

/// A context in which a written rule allows everything and everything is approved, so that only floors are left.
fn all_allowed(phase_access: PhaseAccess, mode: Mode, paths: &[&str]) -> DecisionContext {
    let origin = RuleOrigin {
        layer: RuleLayer::Global,
        place: "config.toml:1".to_owned(),
    };
    let allow = [Rule::new("*", "*", PermissionAction::Allow, origin)];
    let profile = ProfileDefinition::built_in("build").unwrap();
    let approved = |permission: &str| StoredApproval {
        profile: "build".to_owned(),
        permission: permission.to_owned(),
        what: ApprovalMatcher::Pattern("*".to_owned()),
        scope: ApprovalScope::Run,
    };
    DecisionContext {
        mode,
        profile: profile.name.clone(),
        rules: std::sync::Arc::new(RuleSet::from_layers(&profile, &allow, &[])),
        approvals: ["bash", "edit", "read", "task"].map(approved).to_vec(),
        ..context(phase_access, paths)
    }
}

fn command(line: &str, reach: SandboxReach) -> AgentToolCall {
    AgentToolCall::Command {
        line: line.to_owned(),
        cwd: PathBuf::from(ROOT),
        reach,
    }
}

fn edit(paths: &[&str]) -> AgentToolCall {
    AgentToolCall::Edit {
        paths: named(paths),
        reach: Unconfined,
    }
}

fn tool(name: &str) -> AgentToolCall {
    AgentToolCall::Tool {
        name: name.to_owned(),
        input: "{}".to_owned(),
    }
}

/// Checks the decision before EXECUTE in each mode, then in EXECUTE in each mode, in the order of [`MODES`].
fn check_all(
    call: &AgentToolCall,
    paths: &[&str],
    change: impl Fn(DecisionContext) -> DecisionContext,
    expected: [&str; 8],
) {
    let mut found = Vec::new();
    for phase_access in [BeforeExecute, Execute] {
        for mode in MODES {
            let context = change(all_allowed(phase_access, mode, paths));
            found.push(decide_call(call, &context).action.name());
        }
    }
    assert_eq!(found, expected, "{call:?}");
}

const DENY: &str = "deny";
const ALLOW: &str = "allow";
const ASK: &str = "ask";

#[test]
fn protected_paths_are_never_written() {
    for path in [
        ".git/config",
        ".agent-collab/state.json",
        "runs/x",
        "a -> /repo/.git/x",
    ] {
        check_all(&edit(&[path]), &[path], |context| context, [DENY; 8]);
    }
    for line in [
        "echo x > .git/config",
        "ls && echo x >> ./.agent-collab/state.json",
    ] {
        for reach in [Unconfined, LeavesSandbox, Contained] {
            check_all(&command(line, reach), &[], |context| context, [DENY; 8]);
        }
    }
}

#[test]
fn the_users_tree_is_closed_to_whoever_has_one_of_its_own() {
    let closed = |context: DecisionContext| DecisionContext {
        closed_folders: vec!["/user".into(), "/user/.git".into()],
        ..context
    };
    for path in ["/user/a", "/user/.git/config", "a -> /user/a"] {
        check_all(&edit(&[path]), &[path], closed, [DENY; 8]);
    }
    for line in [
        "git -C /user commit -m x",
        "git --git-dir=/user/.git log",
        "echo x > /user/a",
        "cp a ../user/a",
        "ln -s /user way",
        "make && /user/run",
    ] {
        for reach in [Unconfined, LeavesSandbox, Contained] {
            check_all(&command(line, reach), &[], closed, [DENY; 8]);
        }
    }
    let own = [DENY, DENY, DENY, DENY, DENY, ALLOW, ALLOW, ALLOW];
    check_all(&edit(&["src/a"]), &["src/a"], closed, own);
}

#[test]
fn before_execute_and_in_mode_plan_nothing_but_staging_is_written() {
    let expected = [DENY, DENY, DENY, DENY, DENY, ALLOW, ALLOW, ALLOW];
    check_all(&edit(&["src/a"]), &["src/a"], |context| context, expected);
    check_all(
        &edit(&[STAGING[0]]),
        &[STAGING[0]],
        |context| context,
        [ALLOW; 8],
    );
    check_all(&tool("mcp__a__b"), &[], |context| context, expected);
    check_all(&tool("webfetch"), &[], |context| context, [ALLOW; 8]);
    for reach in [Unconfined, Contained] {
        check_all(&command("make", reach), &[], |context| context, expected);
    }
    for reach in [Unconfined, Contained] {
        check_all(
            &command("ls -la", reach),
            &[],
            |context| context,
            [ALLOW; 8],
        );
    }
}

#[test]
fn nothing_outside_is_read_in_read_only_phases() {
    let call = AgentToolCall::Read {
        paths: named(&["/etc/hosts"]),
        search: None,
    };
    let expected = [DENY, DENY, DENY, DENY, DENY, ALLOW, ALLOW, ALLOW];
    check_all(&call, &["/etc/hosts"], |context| context, expected);
}

#[test]
fn what_the_plan_does_not_name_asks_in_mode_default_and_a_deletion_in_every_mode() {
    let outside = |is_deleted| {
        move |context| {
            let mut outside_paths = OutsidePaths {
                step: 2,
                ..OutsidePaths::default()
            };
            for path in ["a.rs", "b.rs", "a.rs"] {
                outside_paths.add(path.to_owned(), is_deleted);
            }
            DecisionContext {
                outside_paths,
                ..context
            }
        }
    };
    let call = edit(&["a.rs"]);
    let before = [DENY; 5];
    for (is_deleted, in_execute, reason) in [
        (
            false,
            [ASK, ALLOW, ALLOW],
            "step 2 names other files, not a.rs and 1 more",
        ),
        (
            true,
            [ASK; 3],
            "step 2 names other files, and this deletes a.rs and 1 more",
        ),
    ] {
        let expected: Vec<&str> = before.iter().chain(&in_execute).copied().collect();
        check_all(
            &call,
            &["a.rs"],
            outside(is_deleted),
            expected.try_into().unwrap(),
        );
        let context = outside(is_deleted)(all_allowed(Execute, Mode::Default, &["a.rs"]));
        let decision = decide_call(&call, &context);
        assert_eq!(decision.max_scope, MaxApprovalScope::Never);
        assert_eq!(decision.reason.reason, reason);
    }
    // What rules deny stays denied.
    let denied = DecisionContext {
        outside_paths: outside(true)(context(Execute, &[])).outside_paths,
        ..super::relaxation_cases::with_rules(&["edit * deny"], &["a.rs"])
    };
    assert_eq!(decide_call(&call, &denied).action, PermissionAction::Deny);
}

#[test]
fn a_hidden_tool_is_blocked() {
    let hide = |context| DecisionContext {
        hidden_tools: vec!["task".to_owned()],
        ..context
    };
    check_all(&tool("task"), &[], |context| context, [ALLOW; 8]);
    check_all(&tool("Task"), &[], hide, [DENY; 8]);
    let context = hide(all_allowed(Execute, Mode::Default, &[]));
    let decision = decide_call(&tool("task"), &context);
    assert!(decision.reason.reason.starts_with("blocked"));
    assert_eq!(decision.reason.origin, "floor: hidden tool");
}

#[test]
fn a_child_has_less_than_its_parent() {
    let child = |denies: Vec<Rule>| {
        let session = std::sync::Arc::new(RuleSet::from_written(&denies, &[]));
        move |context: DecisionContext| DecisionContext {
            lineage: SessionLineage::Child {
                session: session.clone(),
            },
            ..context
        }
    };
    for name in [
        "task",
        "todowrite",
        "plan_exit",
        "group_discuss",
        "session_manage",
    ] {
        check_all(&tool(name), &[], child(Vec::new()), [DENY; 8]);
    }
    let origin = RuleOrigin {
        layer: RuleLayer::Global,
        place: "config.toml:3".to_owned(),
    };
    let deny = Rule::new("bash", "make *", PermissionAction::Deny, origin);
    check_all(
        &command("make all", Contained),
        &[],
        child(vec![deny.clone()]),
        [DENY; 8],
    );
    let expected = [DENY, DENY, DENY, DENY, DENY, ALLOW, ALLOW, ALLOW];
    check_all(
        &command("cargo test", Contained),
        &[],
        child(vec![deny]),
        expected,
    );
}

#[test]
fn the_safety_list_is_asked_about_in_every_mode() {
    let expected = [DENY, DENY, DENY, DENY, DENY, ASK, ASK, ASK];
    for line in ["rm -rf build", "git push"] {
        for reach in [Unconfined, Contained] {
            check_all(&command(line, reach), &[], |context| context, expected);
        }
    }
    let confirmed = |line: &'static str| {
        move |mut context: DecisionContext| {
            context.approvals.push(StoredApproval {
                profile: "build".to_owned(),
                permission: "bash".to_owned(),
                what: ApprovalMatcher::Exact(line.to_owned()),
                scope: ApprovalScope::Run,
            });
            context
        }
    };
    let once = [DENY, DENY, DENY, DENY, DENY, ALLOW, ALLOW, ALLOW];
    check_all(
        &command("git push", Contained),
        &[],
        confirmed("git push"),
        once,
    );
    check_all(
        &command("rm -rf build", Contained),
        &[],
        confirmed("rm -rf build"),
        expected,
    );
}

#[test]
fn a_loop_is_asked_about_in_every_mode() {
    let turning = |context| DecisionContext {
        loop_status: LoopStatus::Loop,
        ..context
    };
    check_all(&command("ls", Contained), &[], turning, [ASK; 8]);
    check_all(&edit(&[STAGING[0]]), &[STAGING[0]], turning, [ASK; 8]);
}

#[test]
fn a_child_may_what_its_parents_session_excepts_from_a_deny() {
    let rule = |pattern: &str, action| {
        let origin = RuleOrigin {
            layer: RuleLayer::Global,
            place: "config.toml:3".to_owned(),
        };
        Rule::new("edit", pattern, action, origin)
    };
    let denies = [
        rule("docs/*", PermissionAction::Deny),
        rule("docs/own/*", PermissionAction::Allow),
    ];
    let session = std::sync::Arc::new(RuleSet::from_written(&denies, &[]));
    let check = |path: &str, expected: &str| {
        let context = DecisionContext {
            lineage: SessionLineage::Child {
                session: session.clone(),
            },
            ..all_allowed(Execute, Mode::Yolo, &[path])
        };
        let decision = decide_call(&edit(&[path]), &context);
        assert_eq!(decision.action.name(), expected, "{path}");
        decision.reason.origin
    };
    assert_eq!(check("docs/a.md", DENY), "floor: parent session");
    check("docs/own/a.md", ALLOW);
    check("src/a.rs", ALLOW);
}

#[test]
fn what_runs_outside_of_codex_s_sandbox_is_asked_about_in_every_mode_and_each_time() {
    let same = |context| context;
    for line in ["touch ../outside", "git commit -m x", "cargo test", "ls"] {
        let call = command(line, SandboxReach::LeavesSandbox);
        check_all(
            &call,
            &[],
            same,
            [DENY, DENY, DENY, DENY, DENY, ASK, ASK, ASK],
        );
        let decision = decide_call(&call, &all_allowed(Execute, Mode::Yolo, &[]));
        assert_eq!(decision.max_scope, MaxApprovalScope::Never);
        assert!(decision.reason.reason.contains("outside the sandbox"));
    }
    let let_out = command("cargo test", SandboxReach::LetOut);
    check_all(
        &let_out,
        &[],
        same,
        [DENY, DENY, DENY, DENY, DENY, ASK, ASK, ASK],
    );
    let reading = command("ls", SandboxReach::LetOut);
    check_all(&reading, &[], same, [ALLOW; 8]);
}
