//! Rules and texts go in, an action comes out; a naive matcher is the reference.

use proptest::prelude::*;

use super::*;

fn origin() -> RuleOrigin {
    RuleOrigin {
        layer: RuleLayer::Global,
        place: "config.toml:1".to_owned(),
    }
}

/// `permission pattern action`; the pattern may contain spaces.
fn rule(line: &str) -> Rule {
    let (permission, rest) = line.split_once(' ').unwrap();
    let (pattern, action) = rest.rsplit_once(' ').unwrap();
    Rule::new(permission, pattern, action.parse().unwrap(), origin())
}

fn said(rules: &[Rule], permission: &str, text: &str) -> Option<PermissionAction> {
    find_last_match(
        rules,
        permission,
        &TargetForm::from_text(text),
        CallFacts::default(),
    )
    .map(|rule| rule.action)
}

fn check(rules: &[&str], permission: &str, text: &str, expected: &str) {
    let rules: Vec<Rule> = rules.iter().map(|line| rule(line)).collect();
    let found = said(&rules, permission, text).map_or("nothing", PermissionAction::name);
    assert_eq!(found, expected, "{permission} {text}");
}

#[test]
fn the_last_match_wins() {
    let markdown = ["edit * deny", "edit *.md allow"];
    check(&markdown, "edit", "main.py", "deny");
    check(&markdown, "edit", "README.md", "allow");
    check(&markdown, "bash", "ls", "nothing");
    check(&["edit *.md allow", "edit * deny"], "edit", "a.md", "deny");
    check(&["* * deny", "todo* * allow"], "todoread", "*", "allow");
    check(&["bash ls * allow"], "bash", "ls", "allow");
    check(&["bash ls * allow"], "bash", "lsof", "nothing");
    check(&["bash ls * allow"], "Bash", "ls", "nothing");
    check(&["edit src/* allow"], "edit", "src/a/b.rs", "allow");
    check(&["edit **/x deny"], "edit", "x", "nothing");
    check(&["edit a[ allow"], "edit", "a[", "allow");
}

#[test]
fn an_absolute_pattern_takes_a_path_below_the_root_by_its_whole_name() {
    let form = TargetForm {
        texts: vec!["src/a".to_owned()],
        absolute_path: Some("/repo/src/a".to_owned()),
    };
    let check = |pattern: &str, expected: bool| {
        assert_eq!(
            rule(&format!("edit {pattern} deny")).matches_target(&form),
            expected
        );
    };
    check("/repo/src/*", true);
    check("src/*", true);
    check("*/src/*", false);
}

#[test]
fn a_rule_counts_when_it_says_so() {
    let when = |when| Rule {
        condition: when,
        ..rule("bash * allow")
    };
    let facts = |is_contained, leaves_sandbox, only_reads| CallFacts {
        is_contained,
        leaves_sandbox,
        only_reads,
    };
    let about = |condition, facts| when(condition).applies_to("bash", facts);
    assert!(about(RuleCondition::Always, facts(false, true, false)));
    assert!(about(RuleCondition::InSandbox, facts(true, false, false)));
    assert!(!about(RuleCondition::InSandbox, facts(false, false, false)));
    assert!(about(
        RuleCondition::SandboxNotLifted,
        facts(false, false, false)
    ));
    assert!(!about(
        RuleCondition::SandboxNotLifted,
        facts(false, true, false)
    ));
    assert!(about(RuleCondition::ReadOnly, facts(false, false, true)));
    assert!(!about(RuleCondition::ReadOnly, facts(true, false, false)));
}

#[test]
fn a_rule_and_its_origin_have_words() {
    assert_eq!(rule("bash ls * allow").to_string(), "bash \"ls *\" allow");
    assert_eq!(origin().to_string(), "config.toml:1");
    let contained = Rule {
        condition: RuleCondition::InSandbox,
        ..rule("bash * allow")
    };
    let words = "bash \"*\" allow if the kernel contains it";
    assert_eq!(contained.to_string(), words);
}

/// Matches by trying everything, without classes.
fn naively(pattern: &[char], text: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['*', rest @ ..] => (0..=text.len()).any(|skip| naively(rest, &text[skip..])),
        ['?', rest @ ..] => !text.is_empty() && naively(rest, &text[1..]),
        [c, rest @ ..] => text.first() == Some(c) && naively(rest, &text[1..]),
    }
}

fn matches_naively(pattern: &str, text: &str) -> bool {
    let chars = |text: &str| text.chars().collect::<Vec<_>>();
    let bare = pattern.strip_suffix(" *").map(chars);
    bare.is_some_and(|bare| naively(&bare, &chars(text))) || naively(&chars(pattern), &chars(text))
}

type DrawnRule = (&'static str, String, PermissionAction);

fn any_rules() -> impl Strategy<Value = Vec<DrawnRule>> {
    let rule = (
        prop::sample::select(vec!["*", "bash", "edit", "b?sh", "e*"]),
        "[ab*? /]{0,5}",
        prop::sample::select(vec![
            PermissionAction::Allow,
            PermissionAction::Ask,
            PermissionAction::Deny,
        ]),
    );
    proptest::collection::vec(rule, 0..8)
}

fn real(drawn: &[DrawnRule]) -> Vec<Rule> {
    drawn
        .iter()
        .map(|(permission, pattern, action)| Rule::new(permission, pattern, *action, origin()))
        .collect()
}

proptest! {
    #[test]
    fn rules_say_what_a_naive_search_from_the_end_says(drawn in any_rules(), permission in "bash|edit|x", text in "[ab /]{0,5}") {
        let expected = drawn.iter().rev().find(|(about, pattern, _)| matches_naively(about, &permission) && matches_naively(pattern, &text));
        prop_assert_eq!(said(&real(&drawn), &permission, &text), expected.map(|(.., action)| *action));
    }

    #[test]
    fn one_more_rule_changes_only_what_it_matches(drawn in any_rules(), more in any_rules(), text in "[ab /]{0,5}") {
        let mut longer = drawn.clone();
        longer.extend(more.into_iter().take(1));
        let takes_it = longer.len() > drawn.len() && longer.last().is_some_and(|(about, pattern, _)| matches_naively(about, "bash") && matches_naively(pattern, &text));
        if !takes_it {
            prop_assert_eq!(said(&real(&longer), "bash", &text), said(&real(&drawn), "bash", &text));
        }
    }
}
