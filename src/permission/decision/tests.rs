//! A call goes in, one line of the decision comes out.

use proptest::prelude::*;

use std::path::{Path, PathBuf};

use super::super::lexical_path::lexical_absolute;
use super::super::{PhaseAccess, ResolvedPath};
use super::*;

mod batch_tasks;
mod decision_table;
mod floor_cases;
mod relaxation_cases;

const ROOT: &str = "/repo";
const STAGING: [&str; 2] = [
    "/repo/.agent-collab/turns/s1/plan.md",
    "/repo/.agent-collab/turns/s1/comments.md",
];

/// Paths are `named` or `named -> real`.
fn context(phase_access: PhaseAccess, paths: &[&str]) -> DecisionContext {
    let resolve = |path: &&str| {
        let (named, real) = path.split_once(" -> ").unwrap_or((path, path));
        let absolute = |path: &str| lexical_absolute(Path::new(ROOT), Path::new(path));
        ResolvedPath {
            lexical: absolute(named),
            real: absolute(real),
        }
    };
    DecisionContext {
        paths: paths.iter().map(resolve).collect(),
        staging_files: STAGING.map(PathBuf::from).to_vec(),
        program_folders: vec![PathBuf::from("/repo/runs")],
        ..DecisionContext::new(phase_access, PathBuf::from(ROOT))
    }
}

fn named(paths: &[&str]) -> Vec<PathBuf> {
    paths
        .iter()
        .map(|path| PathBuf::from(path.split(" -> ").next().unwrap_or_default()))
        .collect()
}

fn shown_decision(decision: &Decision) -> String {
    if decision.action != PermissionAction::Ask {
        return decision.action.name().to_owned();
    }
    let targets: Vec<String> = decision
        .request
        .targets
        .iter()
        .map(|target| target.forms().collect::<Vec<_>>().join(" -> "))
        .collect();
    format!("ask {} {}", decision.request.permission, targets.join(", "))
        .trim_end()
        .to_owned()
}

fn check(call: &AgentToolCall, context: &DecisionContext, expected: &str) {
    assert_eq!(
        shown_decision(&decide_call(call, context)),
        expected,
        "{call:?}"
    );
}

fn check_command(phase_access: PhaseAccess, reach: SandboxReach, line: &str, expected: &str) {
    let call = AgentToolCall::Command {
        line: line.to_owned(),
        cwd: PathBuf::from(ROOT),
        reach,
    };
    check(&call, &context(phase_access, &[]), expected);
}

fn check_edit(phase_access: PhaseAccess, reach: SandboxReach, paths: &[&str], expected: &str) {
    let call = AgentToolCall::Edit {
        paths: named(paths),
        reach,
    };
    check(&call, &context(phase_access, paths), expected);
}

fn check_read(phase_access: PhaseAccess, paths: &[&str], expected: &str) {
    check(
        &AgentToolCall::Read {
            paths: named(paths),
            search: None,
        },
        &context(phase_access, paths),
        expected,
    );
}

use PhaseAccess::{BeforeExecute, Execute};
use SandboxReach::{LeavesSandbox, Unconfined};

#[test]
fn before_execute_only_plain_reading_commands_run() {
    for line in [
        "ls -la",
        "cat src/main.rs",
        "grep -rn 'a|b' src",
        "git status --short",
        "cat .git/HEAD",
    ] {
        check_command(BeforeExecute, Unconfined, line, "allow");
        check_command(BeforeExecute, LeavesSandbox, line, "deny");
    }
    for line in [
        "ls; touch a",
        "cat a > b",
        "cat $(id)",
        "cat $HOME/x",
        "ls | sh",
        "X=1 ls",
        "rm a",
        "git push",
        "tail -f a",
        "cat /etc/passwd",
        "cat ../x",
        "ls ~",
        "",
        "ls 'a",
    ] {
        check_command(BeforeExecute, Unconfined, line, "deny");
    }
}

#[test]
fn before_execute_a_command_runs_inside_the_root() {
    let call = AgentToolCall::Command {
        line: "ls".to_owned(),
        cwd: PathBuf::from("/etc"),
        reach: Unconfined,
    };
    check(&call, &context(BeforeExecute, &[]), "deny");
}

#[test]
fn before_execute_only_staging_files_are_written() {
    for reach in [Unconfined, LeavesSandbox] {
        check_edit(BeforeExecute, reach, &[STAGING[0]], "allow");
        check_edit(BeforeExecute, reach, &STAGING, "allow");
        check_edit(BeforeExecute, reach, &[], "deny");
        check_edit(BeforeExecute, reach, &["src/a.rs"], "deny");
        check_edit(BeforeExecute, reach, &[STAGING[0], "src/a.rs"], "deny");
        check_edit(
            BeforeExecute,
            reach,
            &["/repo/.agent-collab/turns/s1/plan.md -> /etc/passwd"],
            "deny",
        );
        check_edit(
            BeforeExecute,
            reach,
            &["link -> /repo/.agent-collab/turns/s1/plan.md"],
            "deny",
        );
        check_edit(
            BeforeExecute,
            reach,
            &["/repo/.agent-collab/turns/s1/other.md"],
            "deny",
        );
        check_edit(
            BeforeExecute,
            reach,
            &["/repo/.agent-collab/turns/s2/plan.md"],
            "deny",
        );
    }
}

#[test]
fn before_execute_reading_stays_inside_and_tools_are_denied() {
    check_read(BeforeExecute, &["src/a.rs"], "allow");
    check_read(BeforeExecute, &["/etc/passwd"], "deny");
    check_read(BeforeExecute, &["a -> /etc/passwd"], "deny");
    check_read(BeforeExecute, &[], "deny");
    let tool = AgentToolCall::Tool {
        name: "mcp__elsewhere__act".to_owned(),
        input: "{}".to_owned(),
    };
    check(&tool, &context(BeforeExecute, &[]), "deny");
}

#[test]
fn in_execute_edits_inside_the_repository_are_allowed() {
    check_edit(Execute, Unconfined, &["src/a.rs", "/repo/b"], "allow");
    check_edit(Execute, Unconfined, &["a -> /repo/b"], "allow");
    check_edit(Execute, LeavesSandbox, &["src/a.rs"], "ask edit src/a.rs");
    check_edit(
        Execute,
        Unconfined,
        &["/etc/passwd"],
        "ask edit /etc/passwd",
    );
    check_edit(
        Execute,
        Unconfined,
        &["a -> /etc/passwd"],
        "ask edit a -> /etc/passwd",
    );
    check_edit(
        Execute,
        Unconfined,
        &["/tmp/l -> /repo/a"],
        "ask edit /tmp/l -> a",
    );
    check_edit(
        Execute,
        Unconfined,
        &["/repository/x"],
        "ask edit /repository/x",
    );
    check_edit(Execute, Unconfined, &["/repo"], "ask edit /repo");
    check_edit(Execute, Unconfined, &[], "ask edit");
}

#[test]
fn in_execute_protected_folders_are_never_written() {
    for path in [
        ".git/config",
        ".GIT/hooks/x",
        "sub/.git/x",
        ".agent-collab/state.json",
        "runs/state.json",
        ".Agent-Collab/x",
        "x -> /repo/.git/config",
        ".git/x -> /repo/x",
        "/other/.git/x",
    ] {
        for reach in [Unconfined, LeavesSandbox] {
            check_edit(Execute, reach, &[path], "deny");
            check_edit(Execute, reach, &["src/a.rs", path], "deny");
        }
    }
}

#[test]
fn in_execute_everything_else_asks() {
    check_command(Execute, Unconfined, "ls && id", "ask bash ls && id");
    check_command(Execute, LeavesSandbox, "ls", "ask bash ls");
    check_read(Execute, &["src/a.rs"], "allow");
    check_read(
        Execute,
        &["src/a.rs", "a -> /etc/passwd"],
        "ask read a -> /etc/passwd",
    );
    let tool = AgentToolCall::Tool {
        name: "mcp__elsewhere__act".to_owned(),
        input: "{\"u\":1}".to_owned(),
    };
    check(
        &tool,
        &context(Execute, &[]),
        "ask mcp__elsewhere__act {\"u\":1}",
    );
}

#[test]
fn paths_that_were_not_resolved_allow_nothing() {
    let call = AgentToolCall::Edit {
        paths: named(&["a", "b"]),
        reach: Unconfined,
    };
    check(&call, &context(Execute, &["a"]), "ask edit");
    let call = AgentToolCall::Edit {
        paths: named(&[STAGING[0], "b"]),
        reach: Unconfined,
    };
    check(&call, &context(BeforeExecute, &[STAGING[0]]), "deny");
}

fn any_path() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(STAGING[0].to_owned()),
        Just(STAGING[1].to_owned()),
        Just("src/a.rs".to_owned()),
        "(/|\\.\\./|repo/|\\.git/|\\.agent-collab/|runs/|turns/|s1/|plan\\.md|a){1,6}",
    ]
}

fn any_paths() -> impl Strategy<Value = Vec<(String, String)>> {
    proptest::collection::vec((any_path(), any_path()), 0..4)
}

fn resolved(paths: &[(String, String)]) -> (Vec<PathBuf>, Vec<ResolvedPath>) {
    let root = Path::new(ROOT);
    let named = paths.iter().map(|(name, _)| PathBuf::from(name)).collect();
    let resolve = |(name, real): &(String, String)| ResolvedPath {
        lexical: lexical_absolute(root, Path::new(name)),
        real: lexical_absolute(root, Path::new(real)),
    };
    (named, paths.iter().map(resolve).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn before_execute_no_edit_beside_staging_is_allowed(paths in any_paths(), unconfined in any::<bool>()) {
        let (paths, resolved) = resolved(&paths);
        let reach = if unconfined { Unconfined } else { LeavesSandbox };
        let context = DecisionContext { paths: resolved.clone(), ..context(BeforeExecute, &[]) };
        let staged = resolved.iter().flat_map(|path| [&path.lexical, &path.real]).all(|path| context.staging_files.contains(path));
        let expected = staged && !paths.is_empty();
        let decision = decide_call(&AgentToolCall::Edit { paths, reach }, &context);
        prop_assert_eq!(decision.action == PermissionAction::Allow, expected);
        prop_assert!(decision.action != PermissionAction::Ask);
    }

    #[test]
    fn in_execute_no_edit_outside_or_protected_is_allowed(paths in any_paths()) {
        let (paths, resolved) = resolved(&paths);
        let context = DecisionContext { paths: resolved.clone(), ..context(Execute, &[]) };
        let decision = decide_call(&AgentToolCall::Edit { paths, reach: Unconfined }, &context);
        if decision.action == PermissionAction::Allow {
            for path in resolved.iter().flat_map(|path| [&path.lexical, &path.real]) {
                if context.staging_files.contains(path) {
                    continue;
                }
                prop_assert!(path.starts_with("/repo/"));
                prop_assert!(!path.iter().any(|part| part == ".git"));
                prop_assert!(!path.starts_with("/repo/.agent-collab"));
                prop_assert!(!path.starts_with("/repo/runs"));
            }
        }
    }

    #[test]
    fn one_more_path_never_makes_a_decision_milder(paths in any_paths(), more in (any_path(), any_path())) {
        prop_assume!(!paths.is_empty());
        let mut longer = paths.clone();
        longer.push(more);
        for phase_access in [BeforeExecute, Execute] {
            let judge = |paths: &[(String, String)]| {
                let (paths, resolved) = resolved(paths);
                let context = DecisionContext { paths: resolved, ..context(phase_access, &[]) };
                decide_call(&AgentToolCall::Edit { paths, reach: Unconfined }, &context).action
            };
            prop_assert!(judge(&longer) >= judge(&paths));
        }
    }

    #[test]
    fn before_execute_no_line_that_also_writes_is_allowed(left in "(ls|cat a|grep x a|git status)", operator in "(;|&&|[|]|[|][|]|&|\n)", right in "(rm a|touch a|sh|git push|tee a|echo x > a|[$]X|sed -i p a)") {
        let call = AgentToolCall::Command { line: format!("{left} {operator} {right}"), cwd: PathBuf::from(ROOT), reach: Unconfined };
        let decision = decide_call(&call, &context(BeforeExecute, &[]));
        prop_assert_eq!(shown_decision(&decision), "deny");
    }

    #[test]
    fn in_execute_no_command_runs_unasked(line in any::<String>()) {
        // A redirect alone is an edit.
        prop_assume!(!line.contains('>'));
        let call = AgentToolCall::Command { line, cwd: PathBuf::from(ROOT), reach: Unconfined };
        prop_assert_eq!(decide_call(&call, &context(Execute, &[])).action, PermissionAction::Ask);
    }
}
