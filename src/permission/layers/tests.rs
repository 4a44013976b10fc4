//! Layers go in, what they say of a text comes out.

use proptest::prelude::*;

use super::super::profile::AgentMode;
use super::*;

fn rule(layer: Layer, permission: &str, pattern: &str, action: Action) -> Rule {
    let place = format!("{}:1", layer.name());
    Rule::new(permission, pattern, action, Origin { layer, place })
}

fn nobody() -> Profile {
    Profile::of_the_user("mine", AgentMode::All)
}

fn said(rules: &Rules, permission: &str, text: &str) -> (Action, String) {
    let said = rules.about(permission, &Form::of(text), Facts::default());
    (
        said.action,
        said.by
            .map(|rule| rule.origin.place.clone())
            .unwrap_or_default(),
    )
}

#[test]
fn a_later_layer_beats_an_earlier_one_however_they_arrive() {
    let written = [
        rule(Layer::Own, "edit", "docs/*", Action::Allow),
        rule(Layer::Project, "edit", "docs/*", Action::Ask),
        rule(Layer::Global, "edit", "*", Action::Deny),
    ];
    let explore = Profile::built_in("explore").unwrap();
    let rules = Rules::layered(&explore, &written, &[]);
    assert_eq!(
        said(&rules, "edit", "docs/a"),
        (Action::Allow, "own profile:1".to_owned())
    );
    assert_eq!(
        said(&rules, "edit", "src/a"),
        (Action::Deny, "global:1".to_owned())
    );
    assert_eq!(
        said(&rules, "bash", "ls"),
        (Action::Deny, "explore".to_owned())
    );
    assert_eq!(
        said(&rules, "read", "src/a"),
        (Action::Allow, "explore".to_owned())
    );
}

#[test]
fn a_global_deny_holds_against_the_catch_all_of_a_built_in_profile() {
    let deny = [rule(Layer::Global, "edit", "secrets/*", Action::Deny)];
    let build = Profile::built_in("build").unwrap();
    let rules = Rules::layered(&build, &deny, &[]);
    assert_eq!(said(&rules, "edit", "secrets/key").0, Action::Deny);
    assert_eq!(said(&rules, "edit", "src/a").0, Action::Allow);
}

#[test]
fn what_a_profile_denies_only_a_rule_that_names_it_lifts() {
    let check = |agent: &str, layer: Layer, line: [&str; 2], target: &str, expected: Action| {
        let written = [rule(layer, line[0], line[1], Action::Allow)];
        let rules = Rules::layered(&Profile::built_in(agent).unwrap(), &written, &[]);
        assert_eq!(
            said(&rules, line[0], target).0,
            expected,
            "{agent} {line:?}"
        );
    };
    for layer in [Layer::Global, Layer::Project, Layer::File, Layer::Flag] {
        for agent in ["explore", "critic", "plan", "review"] {
            check(agent, layer, ["edit", "*.md"], "a.md", Action::Deny);
        }
        for agent in ["explore", "advocate", "critic", "moderator"] {
            check(
                agent,
                layer,
                ["bash", "cargo test *"],
                "cargo test",
                Action::Deny,
            );
            check(agent, layer, ["mcp__a__b", "*"], "x", Action::Deny);
        }
        check("review", layer, ["task", "*"], "general", Action::Deny);
        check("review", layer, ["task", "*"], "explore", Action::Allow);
        check(
            "build",
            layer,
            ["bash", "cargo test *"],
            "cargo test",
            Action::Allow,
        );
        check(
            "explore",
            layer,
            ["external_directory", "/d/*"],
            "/d/a",
            Action::Allow,
        );
    }
    check(
        "explore",
        Layer::Own,
        ["bash", "cargo test *"],
        "cargo test",
        Action::Allow,
    );
    check(
        "review",
        Layer::Own,
        ["edit", "*.md"],
        "a.md",
        Action::Allow,
    );
}

#[test]
fn an_ask_about_everything_is_milder_than_no_profile_s_deny() {
    let ask = [rule(Layer::Global, "edit", "*", Action::Ask)];
    let rules = Rules::layered(&Profile::built_in("explore").unwrap(), &ask, &[]);
    assert_eq!(said(&rules, "edit", "a").0, Action::Deny);
}

#[test]
fn a_floor_hides_a_tool_and_nothing_is_allowed_whatever_it_is() {
    let allow = [rule(Layer::Global, "*", "*", Action::Allow)];
    let layered = |agent: &str| Rules::layered(&Profile::built_in(agent).unwrap(), &allow, &[]);
    let explore = layered("explore");
    assert!(explore.hides("task").is_some());
    assert!(!explore.allows_everything("bash", Facts::default()));
    assert!(explore.allows_everything("read", Facts::default()));
    let build = layered("build");
    assert!(build.hides("task").is_none());
    assert!(build.allows_everything("bash", Facts::default()));
}

#[test]
fn an_allow_that_does_not_count_takes_nothing_away() {
    let discounted = |permission: &str| Rule {
        is_discounted: true,
        ..rule(Layer::Global, permission, "*", Action::Ask)
    };
    let written = [
        discounted("todoread"),
        discounted("bash"),
        discounted("edit"),
    ];
    let rules = Rules::layered(&Profile::built_in("review").unwrap(), &written, &[]);
    assert_eq!(said(&rules, "todoread", "x").0, Action::Allow);
    assert_eq!(said(&rules, "bash", "make").0, Action::Ask);
    assert_eq!(said(&rules, "edit", "a").0, Action::Deny);
}

#[test]
fn a_project_that_is_not_trusted_softens_nothing() {
    let own = [
        rule(Layer::Global, "edit", "*", Action::Allow),
        rule(Layer::Global, "edit", "secrets/*", Action::Deny),
    ];
    let project = [
        rule(Layer::Project, "*", "*", Action::Allow),
        rule(Layer::Project, "edit", "*", Action::Ask),
        rule(Layer::Project, "edit", "docs/*", Action::Deny),
    ];
    let rules = Rules::layered(&nobody(), &own, &project);
    assert_eq!(
        said(&rules, "edit", "src/a"),
        (Action::Ask, "project:1".to_owned())
    );
    assert_eq!(said(&rules, "edit", "docs/a").0, Action::Deny);
    assert_eq!(
        said(&rules, "edit", "secrets/a"),
        (Action::Deny, "global:1".to_owned())
    );
    assert_eq!(said(&rules, "bash", "ls").0, Action::Ask);
}

#[test]
fn what_depends_on_no_target_is_known() {
    let check = |written: &[Rule], expected: bool| {
        let rules = Rules::layered(&nobody(), written, &[]);
        assert_eq!(rules.allows_everything("bash", Facts::default()), expected);
    };
    check(&[], false);
    check(&[rule(Layer::Global, "bash", "*", Action::Allow)], true);
    check(
        &[
            rule(Layer::Global, "*", "*", Action::Allow),
            rule(Layer::Own, "edit", "*", Action::Deny),
        ],
        true,
    );
    check(
        &[
            rule(Layer::Global, "*", "*", Action::Allow),
            rule(Layer::Own, "bash", "rm *", Action::Deny),
        ],
        false,
    );
    check(&[rule(Layer::Global, "bash", "ls *", Action::Allow)], false);
}

#[test]
fn a_tool_is_hidden_by_a_deny_of_everything_that_stands_last() {
    let check = |written: &[Rule], expected: bool| {
        let rules = Rules::layered(&nobody(), written, &[]);
        assert_eq!(rules.hides("task").is_some(), expected);
    };
    check(&[rule(Layer::Global, "task", "*", Action::Deny)], true);
    check(
        &[
            rule(Layer::Global, "*", "*", Action::Deny),
            rule(Layer::Own, "task", "explore", Action::Allow),
        ],
        false,
    );
    check(&[rule(Layer::Global, "task", "x", Action::Deny)], false);
}

fn any_layered() -> impl Strategy<Value = Vec<Rule>> {
    let layers = vec![Layer::Global, Layer::Project, Layer::File, Layer::Own];
    let rule = (
        prop::sample::select(layers),
        prop::sample::select(vec!["*", "bash", "edit"]),
        "[ab*]{0,3}",
        prop::sample::select(vec![Action::Allow, Action::Ask, Action::Deny]),
    )
        .prop_map(|(layer, permission, pattern, action)| rule(layer, permission, &pattern, action));
    proptest::collection::vec(rule, 0..8)
}

proptest! {
    #[test]
    fn layers_say_what_one_list_in_their_order_says(written in any_layered(), text in "[ab]{0,3}") {
        let mut list: Vec<Rule> = Vec::new();
        for layer in [Layer::Global, Layer::Project, Layer::File, Layer::Own] {
            list.extend(written.iter().filter(|rule| rule.origin.layer == layer).cloned());
        }
        let form = Form::of(&text);
        let expected = list.iter().rev().find(|rule| rule.is_about("bash", Facts::default()) && rule.takes(&form));
        let rules = Rules::layered(&nobody(), &written, &[]);
        let found = rules.about("bash", &form, Facts::default());
        prop_assert_eq!(found.by, expected);
        prop_assert_eq!(found.action, expected.map_or(Action::Ask, |rule| rule.action));
    }

    #[test]
    fn restrictions_only_tighten(written in any_layered(), project in any_layered(), text in "[ab]{0,3}") {
        let with = Rules::layered(&nobody(), &written, &project);
        let without = Rules::layered(&nobody(), &written, &[]);
        let form = Form::of(&text);
        prop_assert!(with.about("bash", &form, Facts::default()).action >= without.about("bash", &form, Facts::default()).action);
    }
}
