//! Layers of rules go in, their answer about a text comes out.

use proptest::prelude::*;

use super::super::profile_registry::AgentMode;
use super::*;

fn layer_label(layer: RuleLayer) -> &'static str {
    match layer {
        RuleLayer::Default => "defaults",
        RuleLayer::BuiltIn => "built-in profile",
        RuleLayer::Global => "global",
        RuleLayer::Project => "project",
        RuleLayer::File => "--config",
        RuleLayer::Flag => "flag",
        RuleLayer::Own => "own profile",
    }
}

fn rule(layer: RuleLayer, permission: &str, pattern: &str, action: PermissionAction) -> Rule {
    let place = format!("{}:1", layer_label(layer));
    Rule::new(permission, pattern, action, RuleOrigin { layer, place })
}

fn nobody() -> ProfileDefinition {
    ProfileDefinition::without_rules("mine", AgentMode::All)
}

fn said(rules: &RuleSet, permission: &str, text: &str) -> (PermissionAction, String) {
    let said = rules.evaluate(
        permission,
        &TargetForm::from_text(text),
        CallFacts::default(),
    );
    (
        said.action,
        said.rule
            .map(|rule| rule.origin.place.clone())
            .unwrap_or_default(),
    )
}

#[test]
fn a_later_layer_beats_an_earlier_one_however_they_arrive() {
    let written = [
        rule(RuleLayer::Own, "edit", "docs/*", PermissionAction::Allow),
        rule(RuleLayer::Project, "edit", "docs/*", PermissionAction::Ask),
        rule(RuleLayer::Global, "edit", "*", PermissionAction::Deny),
    ];
    let explore = ProfileDefinition::built_in("explore").unwrap();
    let rules = RuleSet::from_layers(&explore, &written, &[]);
    assert_eq!(
        said(&rules, "edit", "docs/a"),
        (PermissionAction::Allow, "own profile:1".to_owned())
    );
    assert_eq!(
        said(&rules, "edit", "src/a"),
        (PermissionAction::Deny, "global:1".to_owned())
    );
    assert_eq!(
        said(&rules, "bash", "ls"),
        (PermissionAction::Deny, "explore".to_owned())
    );
    assert_eq!(
        said(&rules, "read", "src/a"),
        (PermissionAction::Allow, "explore".to_owned())
    );
}

#[test]
fn a_global_deny_holds_against_the_catch_all_of_a_built_in_profile() {
    let deny = [rule(
        RuleLayer::Global,
        "edit",
        "secrets/*",
        PermissionAction::Deny,
    )];
    let build = ProfileDefinition::built_in("build").unwrap();
    let rules = RuleSet::from_layers(&build, &deny, &[]);
    assert_eq!(
        said(&rules, "edit", "secrets/key").0,
        PermissionAction::Deny
    );
    assert_eq!(said(&rules, "edit", "src/a").0, PermissionAction::Allow);
}

#[test]
fn what_a_profile_denies_only_a_rule_that_names_it_lifts() {
    let check = |agent: &str,
                 layer: RuleLayer,
                 line: [&str; 2],
                 target: &str,
                 expected: PermissionAction| {
        let written = [rule(layer, line[0], line[1], PermissionAction::Allow)];
        let rules =
            RuleSet::from_layers(&ProfileDefinition::built_in(agent).unwrap(), &written, &[]);
        assert_eq!(
            said(&rules, line[0], target).0,
            expected,
            "{agent} {line:?}"
        );
    };
    for layer in [
        RuleLayer::Global,
        RuleLayer::Project,
        RuleLayer::File,
        RuleLayer::Flag,
    ] {
        for agent in ["explore", "critic", "plan", "review"] {
            check(
                agent,
                layer,
                ["edit", "*.md"],
                "a.md",
                PermissionAction::Deny,
            );
        }
        for agent in ["explore", "advocate", "critic", "moderator"] {
            check(
                agent,
                layer,
                ["bash", "cargo test *"],
                "cargo test",
                PermissionAction::Deny,
            );
            check(
                agent,
                layer,
                ["mcp__a__b", "*"],
                "x",
                PermissionAction::Deny,
            );
        }
        check(
            "review",
            layer,
            ["task", "*"],
            "general",
            PermissionAction::Deny,
        );
        check(
            "review",
            layer,
            ["task", "*"],
            "explore",
            PermissionAction::Allow,
        );
        check(
            "build",
            layer,
            ["bash", "cargo test *"],
            "cargo test",
            PermissionAction::Allow,
        );
        check(
            "explore",
            layer,
            ["external_directory", "/d/*"],
            "/d/a",
            PermissionAction::Allow,
        );
    }
    check(
        "explore",
        RuleLayer::Own,
        ["bash", "cargo test *"],
        "cargo test",
        PermissionAction::Allow,
    );
    check(
        "review",
        RuleLayer::Own,
        ["edit", "*.md"],
        "a.md",
        PermissionAction::Allow,
    );
}

#[test]
fn an_ask_about_everything_is_milder_than_no_profile_s_deny() {
    let ask = [rule(RuleLayer::Global, "edit", "*", PermissionAction::Ask)];
    let rules = RuleSet::from_layers(&ProfileDefinition::built_in("explore").unwrap(), &ask, &[]);
    assert_eq!(said(&rules, "edit", "a").0, PermissionAction::Deny);
}

#[test]
fn a_floor_hides_a_tool_and_nothing_is_allowed_whatever_it_is() {
    let allow = [rule(RuleLayer::Global, "*", "*", PermissionAction::Allow)];
    let layered = |agent: &str| {
        RuleSet::from_layers(&ProfileDefinition::built_in(agent).unwrap(), &allow, &[])
    };
    let explore = layered("explore");
    assert!(explore.find_hiding_rule("task").is_some());
    assert!(!explore.allows_everything("bash", CallFacts::default()));
    assert!(explore.allows_everything("read", CallFacts::default()));
    let build = layered("build");
    assert!(build.find_hiding_rule("task").is_none());
    assert!(build.allows_everything("bash", CallFacts::default()));
}

#[test]
fn an_allow_that_does_not_count_takes_nothing_away() {
    let discounted = |permission: &str| Rule {
        is_discounted: true,
        ..rule(RuleLayer::Global, permission, "*", PermissionAction::Ask)
    };
    let written = [
        discounted("todoread"),
        discounted("bash"),
        discounted("edit"),
    ];
    let rules = RuleSet::from_layers(
        &ProfileDefinition::built_in("review").unwrap(),
        &written,
        &[],
    );
    assert_eq!(said(&rules, "todoread", "x").0, PermissionAction::Allow);
    assert_eq!(said(&rules, "bash", "make").0, PermissionAction::Ask);
    assert_eq!(said(&rules, "edit", "a").0, PermissionAction::Deny);
}

#[test]
fn a_project_that_is_not_trusted_softens_nothing() {
    let own = [
        rule(RuleLayer::Global, "edit", "*", PermissionAction::Allow),
        rule(
            RuleLayer::Global,
            "edit",
            "secrets/*",
            PermissionAction::Deny,
        ),
    ];
    let project = [
        rule(RuleLayer::Project, "*", "*", PermissionAction::Allow),
        rule(RuleLayer::Project, "edit", "*", PermissionAction::Ask),
        rule(RuleLayer::Project, "edit", "docs/*", PermissionAction::Deny),
    ];
    let rules = RuleSet::from_layers(&nobody(), &own, &project);
    assert_eq!(
        said(&rules, "edit", "src/a"),
        (PermissionAction::Ask, "project:1".to_owned())
    );
    assert_eq!(said(&rules, "edit", "docs/a").0, PermissionAction::Deny);
    assert_eq!(
        said(&rules, "edit", "secrets/a"),
        (PermissionAction::Deny, "global:1".to_owned())
    );
    assert_eq!(said(&rules, "bash", "ls").0, PermissionAction::Ask);
}

#[test]
fn what_depends_on_no_target_is_known() {
    let check = |written: &[Rule], expected: bool| {
        let rules = RuleSet::from_layers(&nobody(), written, &[]);
        assert_eq!(
            rules.allows_everything("bash", CallFacts::default()),
            expected
        );
    };
    check(&[], false);
    check(
        &[rule(
            RuleLayer::Global,
            "bash",
            "*",
            PermissionAction::Allow,
        )],
        true,
    );
    check(
        &[
            rule(RuleLayer::Global, "*", "*", PermissionAction::Allow),
            rule(RuleLayer::Own, "edit", "*", PermissionAction::Deny),
        ],
        true,
    );
    check(
        &[
            rule(RuleLayer::Global, "*", "*", PermissionAction::Allow),
            rule(RuleLayer::Own, "bash", "rm *", PermissionAction::Deny),
        ],
        false,
    );
    check(
        &[rule(
            RuleLayer::Global,
            "bash",
            "ls *",
            PermissionAction::Allow,
        )],
        false,
    );
}

#[test]
fn a_tool_is_hidden_by_a_deny_of_everything_that_stands_last() {
    let check = |written: &[Rule], expected: bool| {
        let rules = RuleSet::from_layers(&nobody(), written, &[]);
        assert_eq!(rules.find_hiding_rule("task").is_some(), expected);
    };
    check(
        &[rule(RuleLayer::Global, "task", "*", PermissionAction::Deny)],
        true,
    );
    check(
        &[
            rule(RuleLayer::Global, "*", "*", PermissionAction::Deny),
            rule(RuleLayer::Own, "task", "explore", PermissionAction::Allow),
        ],
        false,
    );
    check(
        &[rule(RuleLayer::Global, "task", "x", PermissionAction::Deny)],
        false,
    );
}

fn any_layered() -> impl Strategy<Value = Vec<Rule>> {
    let layers = vec![
        RuleLayer::Global,
        RuleLayer::Project,
        RuleLayer::File,
        RuleLayer::Own,
    ];
    let rule = (
        prop::sample::select(layers),
        prop::sample::select(vec!["*", "bash", "edit"]),
        "[ab*]{0,3}",
        prop::sample::select(vec![
            PermissionAction::Allow,
            PermissionAction::Ask,
            PermissionAction::Deny,
        ]),
    )
        .prop_map(|(layer, permission, pattern, action)| rule(layer, permission, &pattern, action));
    proptest::collection::vec(rule, 0..8)
}

proptest! {
    #[test]
    fn layers_say_what_one_list_in_their_order_says(written in any_layered(), text in "[ab]{0,3}") {
        let mut list: Vec<Rule> = Vec::new();
        for layer in [RuleLayer::Global, RuleLayer::Project, RuleLayer::File, RuleLayer::Own] {
            list.extend(written.iter().filter(|rule| rule.origin.layer == layer).cloned());
        }
        let form = TargetForm::from_text(&text);
        let expected = list.iter().rev().find(|rule| rule.applies_to("bash", CallFacts::default()) && rule.matches_target(&form));
        let rules = RuleSet::from_layers(&nobody(), &written, &[]);
        let found = rules.evaluate("bash", &form, CallFacts::default());
        prop_assert_eq!(found.rule, expected);
        prop_assert_eq!(found.action, expected.map_or(PermissionAction::Ask, |rule| rule.action));
    }

    #[test]
    fn restrictions_only_tighten(written in any_layered(), project in any_layered(), text in "[ab]{0,3}") {
        let with = RuleSet::from_layers(&nobody(), &written, &project);
        let without = RuleSet::from_layers(&nobody(), &written, &[]);
        let form = TargetForm::from_text(&text);
        prop_assert!(with.evaluate("bash", &form, CallFacts::default()).action >= without.evaluate("bash", &form, CallFacts::default()).action);
    }
}
