//! Written permission: an ordered list of rules, of which the last that matches decides.
//!
//! It refuses to know where a list comes from and what the absence of a match leads to.

use serde::{Deserialize, Serialize};

use super::decide::Ask;
use super::wildcard;

/// What a rule says about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// The call goes ahead.
    Allow,
    /// The call does not go ahead.
    Deny,
    /// The user decides.
    Ask,
}

/// One `[[permission.rule]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// `bash`, `edit`, `read` or a tool's name; a pattern as below.
    pub permission: String,
    /// What the target must match, see [`wildcard::matches`].
    pub pattern: String,
    /// What then holds.
    pub action: Action,
}

/// Finds what the rules say about one target: the last match wins, no match is `None`.
pub fn last_match(rules: &[Rule], permission: &str, target: &str) -> Option<Action> {
    rules
        .iter()
        .rfind(|rule| {
            wildcard::matches(&rule.permission, permission)
                && wildcard::matches(&rule.pattern, target)
        })
        .map(|rule| rule.action)
}

/// Answers an ask by rules alone: a deny of any form of any target denies, an allow of every form of
/// every target allows, all else asks. An ask without a target is never allowed.
pub fn answer_by_rules(ask: &Ask, rules: &[Rule]) -> Action {
    let actions: Vec<Action> = ask
        .targets
        .iter()
        .flat_map(|target| target.forms())
        .map(|form| last_match(rules, &ask.permission, form).unwrap_or(Action::Ask))
        .collect();
    if actions.contains(&Action::Deny) {
        Action::Deny
    } else if !actions.is_empty() && actions.iter().all(|action| *action == Action::Allow) {
        Action::Allow
    } else {
        Action::Ask
    }
}

#[cfg(test)]
mod tests {
    use super::super::decide::Target;
    use super::*;

    fn rules(lines: &[(&str, &str, Action)]) -> Vec<Rule> {
        lines
            .iter()
            .map(|(permission, pattern, action)| Rule {
                permission: (*permission).to_owned(),
                pattern: (*pattern).to_owned(),
                action: *action,
            })
            .collect()
    }

    fn check(permission: &str, targets: &[(&str, Option<&str>)], expected: Action) {
        let rules = rules(&[
            ("*", "secret*", Action::Deny),
            ("bash", "cargo *", Action::Allow),
            ("bash", "cargo publish *", Action::Deny),
            ("edit", "src/*", Action::Allow),
            ("edit", "src/lib.rs", Action::Ask),
        ]);
        let targets = targets
            .iter()
            .map(|(text, real)| Target {
                text: (*text).to_owned(),
                real: real.map(str::to_owned),
            })
            .collect();
        let ask = Ask {
            permission: permission.to_owned(),
            targets,
        };
        assert_eq!(answer_by_rules(&ask, &rules), expected, "{ask:?}");
    }

    #[test]
    fn the_last_match_wins() {
        check("bash", &[("cargo test", None)], Action::Allow);
        check("bash", &[("cargo publish", None)], Action::Deny);
        check("edit", &[("src/lib.rs", None)], Action::Ask);
    }

    #[test]
    fn no_match_asks() {
        check("bash", &[("make", None)], Action::Ask);
        check("read", &[("cargo test", None)], Action::Ask);
        check("bash", &[], Action::Ask);
    }

    #[test]
    fn every_target_must_be_allowed_in_every_form() {
        check("edit", &[("src/a.rs", Some("src/b.rs"))], Action::Allow);
        check("edit", &[("src/a.rs", Some("/etc/passwd"))], Action::Ask);
        check("edit", &[("src/a.rs", Some("secret/x"))], Action::Deny);
        check(
            "edit",
            &[("src/a.rs", None), ("docs/a.md", None)],
            Action::Ask,
        );
        check(
            "edit",
            &[("docs/a.md", None), ("secret", None)],
            Action::Deny,
        );
    }

    #[test]
    fn an_allow_is_always_earned_and_a_deny_never_lost() {
        // Whatever else is asked for at the same time, it can only make the answer stricter.
        for more in ["src/a.rs", "src/lib.rs", "x", "secret"] {
            check("edit", &[("secret", None), (more, None)], Action::Deny);
        }
    }

    #[test]
    fn a_rule_is_read_from_its_written_form() {
        let rule: Rule =
            serde_json::from_str(r#"{"permission":"bash","pattern":"ls *","action":"allow"}"#)
                .unwrap();
        assert_eq!(last_match(&[rule], "bash", "ls -la"), Some(Action::Allow));
        let unknown = r#"{"permission":"bash","pattern":"ls *","action":"maybe"}"#;
        assert!(serde_json::from_str::<Rule>(unknown).is_err());
    }
}
