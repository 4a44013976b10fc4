//! How approvals, modes and written rules change an ask, and what decided.

use std::sync::Arc;

use super::super::super::permission_mode::MODES;
use super::super::super::rule::{Rule, RuleLayer, RuleOrigin};
use super::super::super::rule_layers::RuleSet;
use super::super::super::{
    ApprovalMatcher, ApprovalScope, Mode, ProfileDefinition, StoredApproval,
};
use super::*;
use SandboxReach::Contained;

fn rule(line: &str) -> Rule {
    let (permission, rest) = line.split_once(' ').unwrap();
    let (pattern, action) = rest.rsplit_once(' ').unwrap();
    let origin = RuleOrigin {
        layer: RuleLayer::Global,
        place: "config.toml:7".to_owned(),
    };
    Rule::new(permission, pattern, action.parse().unwrap(), origin)
}

pub(super) fn with_rules(rules: &[&str], paths: &[&str]) -> DecisionContext {
    let written: Vec<Rule> = rules.iter().map(|line| rule(line)).collect();
    let profile = ProfileDefinition::built_in("build").unwrap();
    DecisionContext {
        rules: Arc::new(RuleSet::from_layers(&profile, &written, &[])),
        ..context(Execute, paths)
    }
}

fn command(line: &str) -> AgentToolCall {
    AgentToolCall::Command {
        line: line.to_owned(),
        cwd: PathBuf::from(ROOT),
        reach: Unconfined,
    }
}

fn check_line(rules: &[&str], line: &str, expected: &str) {
    let decision = decide_call(&command(line), &with_rules(rules, &[]));
    assert_eq!(
        decision.action.name(),
        expected,
        "{line}: {:#?}",
        decision.steps
    );
}

#[test]
fn a_line_is_judged_by_each_of_its_commands() {
    let rules = ["bash ls * allow", "bash echo * allow", "bash rm * deny"];
    check_line(&rules, "ls", "allow");
    check_line(&rules, "ls -la && echo done", "allow");
    check_line(&rules, "ls && make", "ask");
    check_line(&rules, "make && rm x", "deny");
    check_line(&rules, "/bin/rm x", "deny");
    check_line(&rules, "'rm' x", "deny");
    check_line(&rules, "lsof", "ask");
    check_line(&rules, "", "ask");
    check_line(&rules, "ls 'a", "ask");
    check_line(&["bash * allow"], "ls 'a", "ask");
    check_line(&["bash * allow", "bash rm * deny"], "ls 'a", "ask");
    check_line(&["bash echo \"a b\" allow"], "echo \"a b\"", "allow");
}

#[test]
fn a_path_is_allowed_by_name_and_in_truth_and_denied_by_either() {
    let check = |rules: &[&str], path: &str, expected: &str| {
        let call = AgentToolCall::Edit {
            paths: named(&[path]),
            reach: LeavesSandbox,
        };
        let decision = decide_call(&call, &with_rules(rules, &[path]));
        assert_eq!(decision.action.name(), expected, "{path}");
    };
    check(&["edit src/* allow"], "src/../src/a", "allow");
    check(&["edit src/* allow"], "src/../secrets/key", "ask");
    check(&["edit src/* allow"], "src/a -> /repo/docs/a", "ask");
    check(&["edit secrets/* deny"], "src/a -> /repo/secrets/a", "deny");
    check(&["edit secrets/* deny"], "secrets/a -> /repo/src/a", "deny");
    check(&["edit /repo/src/* allow"], "src/a", "allow");
    check(&["edit * allow"], "/etc/hosts", "ask");
    check(
        &["edit * allow", "external_directory /etc/* allow"],
        "/etc/hosts",
        "allow",
    );
}

fn approved(what: ApprovalMatcher) -> StoredApproval {
    StoredApproval {
        profile: "build".to_owned(),
        permission: "bash".to_owned(),
        what,
        scope: ApprovalScope::Project,
    }
}

#[test]
fn an_approval_makes_an_allow_of_an_ask_and_of_nothing_else() {
    let pattern = |text: &str| approved(ApprovalMatcher::Pattern(text.to_owned()));
    let exact = |text: &str| approved(ApprovalMatcher::Exact(text.to_owned()));
    let check = |rules: &[&str], approvals: &[StoredApproval], line: &str, expected: &str| {
        let context = DecisionContext {
            approvals: approvals.to_vec(),
            ..with_rules(rules, &[])
        };
        let decision = decide_call(&command(line), &context);
        assert_eq!(decision.action.name(), expected, "{line}");
    };
    check(&[], &[pattern("ls *")], "ls -la", "allow");
    check(&["bash ls * deny"], &[pattern("ls *")], "ls -la", "deny");
    check(&["bash ls * ask"], &[pattern("ls *")], "ls -la", "allow");
    check(&[], &[pattern("ls *")], "ls && make", "ask");
    check(
        &[],
        &[pattern("ls *"), pattern("make *")],
        "ls && make",
        "allow",
    );
    check(&[], &[exact("ls && make")], "ls && make", "allow");
    check(&[], &[exact("ls && make")], "make && ls", "ask");
    check(&[], &[exact("rm build/*")], "rm build/x", "ask");
    check(&[], &[exact("make 'a")], "make 'a", "ask");
    check(&[], &[pattern("make *")], "make 'a", "ask");
    let other = StoredApproval {
        profile: "plan".to_owned(),
        ..pattern("*")
    };
    check(&[], &[other], "ls", "ask");
}

#[test]
fn a_mode_makes_an_allow_of_what_it_is_for() {
    let check = |call: &AgentToolCall, paths: &[&str], expected: [&str; 4]| {
        let found = MODES.map(|mode| {
            let context = DecisionContext {
                mode,
                ..with_rules(&["edit * ask", "bash rm * deny"], paths)
            };
            decide_call(call, &context).action.name()
        });
        assert_eq!(found, expected, "{call:?}");
    };
    let edit = |path: &str| AgentToolCall::Edit {
        paths: named(&[path]),
        reach: Unconfined,
    };
    check(
        &edit("src/a"),
        &["src/a"],
        ["deny", "ask", "allow", "allow"],
    );
    check(&edit("/etc/a"), &["/etc/a"], ["deny", "ask", "ask", "ask"]);
    check(
        &edit("a -> /etc/a"),
        &["a -> /etc/a"],
        ["deny", "ask", "ask", "ask"],
    );
    check(&command("make"), &[], ["deny", "ask", "ask", "allow"]);
    check(&command("rm x"), &[], ["deny", "deny", "deny", "deny"]);
    check(&command("touch ../x"), &[], ["deny", "ask", "ask", "ask"]);
    let rights = AgentToolCall::Tool {
        name: "request_permissions".to_owned(),
        input: "{}".to_owned(),
    };
    check(&rights, &[], ["deny", "ask", "ask", "ask"]);
}

#[test]
fn the_kernel_s_hold_lets_commands_run_in_mode_default() {
    let contained = AgentToolCall::Command {
        line: "make".to_owned(),
        cwd: PathBuf::from(ROOT),
        reach: Contained,
    };
    let decision = decide_call(&contained, &context(Execute, &[]));
    assert_eq!(decision.action, PermissionAction::Allow);
    assert_eq!(decision.reason.origin, "the built-in profile build");
    let asked = with_rules(&["bash make * ask"], &[]);
    assert_eq!(
        decide_call(&contained, &asked).action,
        PermissionAction::Ask
    );
}

#[test]
fn a_decision_names_its_rule_and_where_it_stands() {
    let context = with_rules(&["bash ls * allow", "bash rm * deny"], &[]);
    let why = |line: &str| {
        let DecisionReason {
            rule,
            origin,
            reason,
            ..
        } = decide_call(&command(line), &context).reason;
        format!("{rule} | {origin} | {reason}")
    };
    assert_eq!(
        why("ls"),
        "bash \"ls *\" allow | config.toml:7 | a rule allows bash `ls`"
    );
    assert_eq!(
        why("ls; rm x"),
        "bash \"rm *\" deny | config.toml:7 | a rule denies bash `rm x`"
    );
    assert_eq!(
        why("make"),
        "* \"*\" ask | the built-in profile build | a rule asks for bash `make`"
    );
    assert_eq!(
        why("sudo make"),
        "safety list | floor: safety list | it is `sudo`, which safety.blocked_commands stops"
    );
    let chain = decide_call(&command("ls"), &context).steps;
    assert_eq!(
        chain.first().map(|link| link.told.as_str()),
        Some("needs bash for `ls`")
    );
    assert_eq!(
        chain.last().map(|link| link.says),
        Some(Some(PermissionAction::Allow))
    );
}

#[test]
fn nine_hundred_rules_are_looked_through() {
    let lines: Vec<String> = (0..900).map(|n| format!("bash tool{n} * deny")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    check_line(&lines, "tool7 --all", "deny");
    check_line(&lines, "tool901 --all", "ask");
}

fn any_mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(MODES.to_vec())
}

fn any_line() -> impl Strategy<Value = String> {
    "(ls|make|rm|git push|sudo ls|'| ; | && |x|/etc/a|>a){1,5}"
}

fn any_written() -> impl Strategy<Value = Vec<String>> {
    let line = "(bash|\\*|edit) (ls \\*|make|\\*|rm \\*|x\\*) (allow|ask|deny)";
    proptest::collection::vec(line, 0..6)
}

proptest! {
    #[test]
    fn what_floors_or_rules_deny_no_approval_and_no_mode_allows(rules in any_written(), line in any_line(), mode in any_mode(), text in any_line()) {
        let lines: Vec<&str> = rules.iter().map(String::as_str).collect();
        let strict = with_rules(&lines, &[]);
        let mild = DecisionContext {
            mode,
            approvals: vec![approved(ApprovalMatcher::Pattern("*".to_owned())), approved(ApprovalMatcher::Exact(text))],
            ..strict.clone()
        };
        let before = decide_call(&command(&line), &strict).action;
        let after = decide_call(&command(&line), &mild);
        let stored = serde_json::to_value(&after.reason).unwrap();
        prop_assert_eq!(&serde_json::from_value::<DecisionReason>(stored).unwrap(), &after.reason);
        let after = after.action;
        if before == PermissionAction::Deny {
            prop_assert_eq!(after, PermissionAction::Deny);
        } else if mode != Mode::Plan {
            prop_assert!(after <= before);
        }
    }

    #[test]
    fn a_list_of_commands_is_judged_as_the_strictest_of_them(rules in any_written(), first in "(ls|make|rm|x)( a)?", second in "(ls|make|rm|x)( b)?", joint in "( && |; | \\| )") {
        let lines: Vec<&str> = rules.iter().map(String::as_str).collect();
        let context = with_rules(&lines, &[]);
        let action = |line: &str| decide_call(&command(line), &context).action;
        prop_assert_eq!(action(&format!("{first}{joint}{second}")), action(&first).max(action(&second)));
    }
}
