//! Rules, approvals, a tool and targets go in, an answer comes out.

use proptest::prelude::*;

use super::super::rule::{Rule, RuleLayer, RuleOrigin};
use super::super::wildcard;
use super::*;

/// `permission pattern action`, separated by spaces; the pattern may contain spaces.
fn rules(lines: &[&str]) -> RuleSet {
    let rule = |(at, line): (usize, &&str)| {
        let (permission, rest) = line.split_once(' ').unwrap();
        let (pattern, action) = rest.rsplit_once(' ').unwrap();
        let origin = RuleOrigin {
            layer: RuleLayer::Own,
            place: format!("rule {}", at + 1),
        };
        Rule::new(permission, pattern, action.parse().unwrap(), origin)
    };
    RuleSet::from_list(lines.iter().enumerate().map(rule).collect())
}

fn check(lines: &[&str], tool: &str, target: &str, expected: &str) {
    let answer = decide_standalone(&rules(lines), &[], tool, &[(target, None)]);
    assert_eq!(
        answer.action.name(),
        expected,
        "{tool} {target:?}: {answer:?}"
    );
}

#[test]
fn the_last_match_wins_and_nothing_asks() {
    check(&[], "read", "a", "ask");
    check(
        &["edit * deny", "edit *.md allow"],
        "edit",
        "main.py",
        "deny",
    );
    check(
        &["edit * deny", "edit *.md allow"],
        "edit",
        "docs/a.md",
        "allow",
    );
    check(
        &["* * allow", "read secrets/* deny"],
        "read",
        "secrets/key",
        "deny",
    );
    check(&["read *.MD allow"], "read", "a.md", "ask");
    check(&["todo* * allow"], "todowrite", "*", "allow");
    check(&["mcp__git__* * deny"], "mcp__git__push", "*", "deny");
    check(&["read * allow"], "read", "", "allow");
    check(&["read ? allow"], "read", "é", "allow");
    check(
        &["webfetch https://a/* allow"],
        "webfetch",
        "https://a/../b",
        "allow",
    );
}

#[test]
fn brackets_are_classes_or_themselves() {
    check(
        &["edit app/[id]/page.tsx allow"],
        "edit",
        "app/i/page.tsx",
        "allow",
    );
    check(
        &["edit app/[id]/page.tsx allow"],
        "edit",
        "app/[id]/page.tsx",
        "ask",
    );
    check(
        &["edit app/[[]id]/page.tsx allow"],
        "edit",
        "app/[id]/page.tsx",
        "allow",
    );
    check(&["edit a[b allow"], "edit", "a[b", "allow");
    check(&["edit [!.]* allow"], "edit", ".env", "ask");
    check(&["edit **/x deny"], "edit", "x", "ask");
    check(&["edit **/x deny"], "edit", "a/b/x", "deny");
}

#[test]
fn paths_are_normalised() {
    check(&["edit src/* allow"], "edit", "src/../secrets/key", "ask");
    check(
        &["edit src/* allow", "edit secrets/* deny"],
        "edit",
        "src/../secrets/key",
        "deny",
    );
    check(&["edit src/* allow"], "edit", "./src//a.rs", "allow");
    check(&["edit src/* allow"], "edit", "src/../../etc/passwd", "ask");
    check(
        &["read /etc/* deny", "read * allow"],
        "read",
        "/etc/x",
        "allow",
    );
    check(
        &["read * allow", "read /etc/* deny"],
        "read",
        "/usr/../etc/x",
        "deny",
    );
    for (path, expected) in [
        ("", ""),
        (".", "."),
        ("./a/", "a"),
        ("a/../..", ".."),
        ("/..", "/"),
        ("/a/./b//c", "/a/b/c"),
        ("../../x", "../../x"),
    ] {
        assert_eq!(normalise_path(path), expected);
    }
}

#[test]
fn a_line_is_judged_by_each_of_its_commands() {
    let ls = ["bash ls * allow", "bash pwd allow"];
    check(&ls, "bash", "ls", "allow");
    check(&ls, "bash", "ls -la", "allow");
    check(&ls, "bash", "lsof", "ask");
    check(&ls, "bash", "LS -la", "ask");
    check(&ls, "bash", "ls && pwd; ls -a | ls", "allow");
    check(&ls, "bash", "ls && rm x", "ask");
    check(
        &["bash * allow", "bash rm * deny"],
        "bash",
        "ls && rm x",
        "deny",
    );
    check(
        &["bash * allow", "bash rm * ask"],
        "shell",
        "ls; rm x",
        "ask",
    );
    check(&["bash * allow"], "bash", "ls 'a", "ask");
    check(&["bash * allow"], "bash", "if true; then ls", "ask");
    check(&["bash * allow"], "bash", "$X", "ask");
    check(&["bash ls * allow"], "bash", "ls 'a", "ask");
    check(&["bash * deny"], "bash", "", "deny");
}

#[test]
fn a_tool_goes_by_its_name_and_by_its_permission() {
    check(&["edit * deny"], "write", "a", "deny");
    check(
        &["edit * deny", "edit docs/* allow"],
        "apply_patch",
        "docs/a",
        "allow",
    );
    check(&["edit * deny", "write * allow"], "edit", "a", "deny");
    check(&["* * allow", "edit * deny"], "write", "a", "deny");
    check(&["write * deny"], "edit", "a", "ask");
    check(&["bash * allow"], "Bash", "ls", "ask");
    check(&["* * allow", "bash rm * deny"], "Bash", "rm x", "deny");
    check(&["Bash * allow"], "Bash", "ls", "allow");
}

#[test]
fn of_several_targets_the_strictest_answer_counts() {
    let rules = rules(&["edit src/* allow", "edit secrets/* deny"]);
    let check = |targets: &[StandaloneTarget<'_>], expected: &str| {
        let answer = decide_standalone(&rules, &[], "edit", targets);
        assert_eq!(answer.action.name(), expected, "{targets:?}");
    };
    check(&[("src/a", None), ("src/b", None)], "allow");
    check(&[("src/a", None), ("docs/b", None)], "ask");
    check(&[("docs/a", None), ("secrets/b", None)], "deny");
    check(&[("src/a", Some("secrets/b"))], "deny");
    check(&[("src/a", Some("docs/b"))], "ask");
    check(&[], "ask");
}

#[test]
fn approvals_make_an_allow_of_an_ask_and_exact_ones_are_data() {
    let check =
        |lines: &[&str], what: ApprovalMatcher, tool: &str, target: &str, expected: &str| {
            let approvals = [standalone_approval(tool, what)];
            let answer = decide_standalone(&rules(lines), &approvals, tool, &[(target, None)]);
            assert_eq!(answer.action.name(), expected, "{target}: {answer:?}");
        };
    let exact = |text: &str| ApprovalMatcher::Exact(text.to_owned());
    let pattern = |text: &str| ApprovalMatcher::Pattern(text.to_owned());
    check(&[], exact("rm build/*"), "bash", "rm build/*", "allow");
    check(&[], exact("rm build/*"), "bash", "rm build/x", "ask");
    check(&[], pattern("ls *"), "bash", "ls -la", "allow");
    check(&[], pattern("ls *"), "bash", "ls && rm x", "ask");
    check(&["bash ls * deny"], pattern("*"), "bash", "ls", "deny");
    check(&["edit *.md deny"], exact("a.md"), "edit", "a.md", "deny");
    check(&[], exact("app/[id]/p"), "edit", "app/[id]/p", "allow");
    check(&[], exact("app/[id]/p"), "edit", "app/i/p", "ask");
    check(&[], exact("a && b"), "bash", "a && b", "allow");
    check(&[], exact("src/a"), "edit", "src/../src/a", "allow");
    let other = [standalone_approval("edit", pattern("*"))];
    assert_eq!(
        decide_standalone(&rules(&[]), &other, "read", &[("a", None)]).action,
        PermissionAction::Ask
    );
}

#[test]
fn an_answer_names_its_rule() {
    let answer = decide_standalone(
        &rules(&["bash ls * allow"]),
        &[],
        "bash",
        &[("ls -a", None)],
    );
    assert_eq!(answer.rule.as_deref(), Some("bash \"ls *\" allow"));
    assert_eq!(
        answer.reason,
        "rule 1 is the last that matches bash \"ls -a\""
    );
    let answer = decide_standalone(&rules(&[]), &[], "read", &[("a", None)]);
    assert_eq!(
        (answer.rule, answer.reason.as_str()),
        (None, "no rule matches read \"a\"")
    );
}

proptest! {
    #[test]
    fn plain_targets_are_decided_as_the_list_says(lines in proptest::collection::vec("(grep|read|\\*) [ab*]{1,3} (allow|ask|deny)", 0..6), target in "[ab]{0,3}") {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let expected = lines.iter().rev().find_map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let is_about = words[0] == "*" || words[0] == "grep";
            (is_about && wildcard::matches(words[1], &target)).then(|| words[2].to_owned())
        });
        let answer = decide_standalone(&rules(&lines), &[], "grep", &[(&target, None)]);
        prop_assert_eq!(answer.action.name(), expected.unwrap_or("ask".to_owned()));
    }

    #[test]
    fn a_normalised_path_stays_itself(path in "[a./]{0,10}") {
        let once = normalise_path(&path);
        prop_assert_eq!(normalise_path(&once), once.clone());
        prop_assert!(!once.contains("//") && !once.contains("/./"));
    }
}
