//! Combines all rules for one profile into one ordered list in which the last match wins, and restricts what
//! an untrusted repository may add.
//!
//! Does not read files: rules arrive with their origin.

use super::profile_registry::ProfileDefinition;
use super::rule::{
    CallFacts, PermissionAction, Rule, RuleLayer, RuleOrigin, TargetForm, find_last_match,
};

/// The rules that apply to a profile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuleSet {
    list: Vec<Rule>,
    restrictions: Vec<Rule>,
}

/// The answer of the rules for one form of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleOutcome<'a> {
    /// Allow, ask or deny; ask where no rule matches.
    pub action: PermissionAction,
    /// The rule that decides.
    pub rule: Option<&'a Rule>,
}

impl RuleSet {
    /// Puts the layers in order: defaults, built-in profile, the user's, the project's, this start's, the user's own
    /// rules for the profile. Within a layer the order stays.
    ///
    /// `restrictions` are the rules of an untrusted project. They form a list of their own. Its asks and denies apply
    /// whatever the other list says, so that none of them can soften a rule.
    pub fn from_layers(
        profile: &ProfileDefinition,
        written: &[Rule],
        restrictions: &[Rule],
    ) -> Self {
        let mut list = default_rules();
        list.extend(profile.rules.iter().cloned());
        list.extend(written.iter().cloned());
        list.sort_by_key(|rule| rule.origin.layer);
        Self {
            list,
            restrictions: without_allows(restrictions),
        }
    }

    /// Makes a rule set from one list, without any other layer.
    pub fn from_list(list: Vec<Rule>) -> Self {
        Self {
            list,
            restrictions: Vec::new(),
        }
    }

    /// Makes a rule set from the rules written for every profile, without defaults and profiles.
    pub fn from_written(written: &[Rule], restrictions: &[Rule]) -> Self {
        let mut list = written.to_vec();
        list.sort_by_key(|rule| rule.origin.layer);
        Self {
            list,
            restrictions: without_allows(restrictions),
        }
    }

    /// Returns all rules in order, without restrictions.
    pub fn rules(&self) -> &[Rule] {
        &self.list
    }

    /// Returns the restrictions in order; none of them allows.
    pub fn restrictions(&self) -> &[Rule] {
        &self.restrictions
    }

    /// Evaluates one form of a target; the stricter of the two lists counts.
    pub fn evaluate(
        &self,
        permission: &str,
        form: &TargetForm,
        facts: CallFacts,
    ) -> RuleOutcome<'_> {
        let by = self.find_last_match(permission, form, facts).map(|last| {
            self.find_profile_floor_under(last, permission, form, facts)
                .unwrap_or(last)
        });
        let said = RuleOutcome {
            action: by.map_or(PermissionAction::Ask, |rule| rule.action),
            rule: by,
        };
        let taken = find_last_match(&self.restrictions, permission, form, facts);
        match taken {
            Some(rule) if rule.action > said.action || by.is_none() => RuleOutcome {
                action: rule.action.max(said.action),
                rule: taken,
            },
            Some(_) | None => said,
        }
    }

    fn find_last_match(
        &self,
        permission: &str,
        form: &TargetForm,
        facts: CallFacts,
    ) -> Option<&Rule> {
        find_last_match(&self.list, permission, form, facts)
    }

    /// Finds the floor of a built-in profile: its denies. A rule about every agent does not lift
    /// them, a rule about this agent does.
    fn find_profile_floor_under(
        &self,
        last: &Rule,
        permission: &str,
        form: &TargetForm,
        facts: CallFacts,
    ) -> Option<&Rule> {
        if last.action == PermissionAction::Deny || !last.origin.layer.is_general() {
            return None;
        }
        let floor = find_last_match(self.built_in_rules(), permission, form, facts);
        floor.filter(|rule| is_profile_floor(rule, permission))
    }

    /// Returns the rules of the built-in profile, and the defaults before them.
    fn built_in_rules(&self) -> &[Rule] {
        let end = self
            .list
            .partition_point(|rule| rule.origin.layer <= RuleLayer::BuiltIn);
        self.list.get(..end).unwrap_or_default()
    }

    /// Returns whether the profile's floor may override a rule about every agent for some or all targets.
    fn has_profile_floor(&self, permission: &str, facts: CallFacts) -> bool {
        self.built_in_rules()
            .iter()
            .rev()
            .filter(|rule| rule.applies_to(permission, facts))
            .find(|rule| rule.action == PermissionAction::Deny || rule.matches_every_target())
            .is_some_and(|rule| is_profile_floor(rule, permission))
    }

    /// Finds the part of the profile that a rule about every agent cannot lift, whatever the target.
    pub fn find_profile_floor(&self, permission: &str) -> Option<&Rule> {
        let last = self
            .built_in_rules()
            .iter()
            .rfind(|rule| rule.applies_to(permission, CallFacts::default()))?;
        (is_profile_floor(last, permission) && last.matches_every_target()).then_some(last)
    }

    /// Returns whether a file with this name, below the root, is read without asking.
    pub fn allows_reading(&self, name: &str) -> bool {
        let said = self.evaluate("read", &TargetForm::from_text(name), CallFacts::default());
        said.action == PermissionAction::Allow
    }

    /// Lists the literal part of each target that some rule denies for a permission; rules
    /// about every target are left out.
    pub fn denied_literals(&self, permission: &str) -> Vec<String> {
        let rules = self.list.iter().chain(&self.restrictions);
        rules
            .filter(|rule| {
                rule.action == PermissionAction::Deny
                    && rule.applies_to(permission, CallFacts::default())
                    && !rule.matches_every_target()
            })
            .map(|rule| longest_literal(&rule.pattern))
            .collect()
    }

    /// Lists the literal part of each target that some rule does not allow for a permission; `None` where any target,
    /// whatever its name, may be restricted.
    pub fn restricted_literals(&self, permission: &str) -> Option<Vec<String>> {
        let facts = CallFacts::default();
        // A name that no rule is written for.
        let plain = self.evaluate(permission, &TargetForm::from_text("\u{1}"), facts);
        let mut literals = Vec::new();
        for rule in self.list.iter().chain(&self.restrictions) {
            let holds =
                rule.action != PermissionAction::Allow && rule.applies_to(permission, facts);
            if holds && !rule.matches_every_target() {
                literals.push(longest_literal(&rule.pattern));
            }
        }
        let is_known = !literals.iter().any(String::is_empty);
        (plain.action == PermissionAction::Allow && is_known).then_some(literals)
    }

    /// Returns whether the permission is allowed for every target.
    pub fn allows_everything(&self, permission: &str, facts: CallFacts) -> bool {
        let about = |rule: &&Rule| rule.applies_to(permission, facts);
        let last_for_all = self
            .list
            .iter()
            .filter(about)
            .rev()
            .filter(|rule| !rule.is_discounted)
            .take_while(|rule| rule.action == PermissionAction::Allow)
            .find(|rule| rule.matches_every_target());
        let is_lifted = last_for_all.is_some_and(|rule| {
            !rule.origin.layer.is_general() || !self.has_profile_floor(permission, facts)
        });
        is_lifted && !self.restrictions.iter().any(|rule| about(&rule))
    }

    /// Finds the rule that hides a tool: the last rule about it, if that rule denies every target.
    pub fn find_hiding_rule(&self, tool: &str) -> Option<&Rule> {
        let facts = CallFacts::default();
        let lists = [&self.list, &self.restrictions];
        let hidden = lists.into_iter().find_map(|list| {
            let last = list.iter().rfind(|rule| rule.applies_to(tool, facts))?;
            (last.action == PermissionAction::Deny && last.matches_every_target()).then_some(last)
        });
        let last = self.list.iter().rfind(|rule| rule.applies_to(tool, facts));
        let is_general = last.is_some_and(|rule| rule.origin.layer.is_general());
        hidden.or_else(|| self.find_profile_floor(tool).filter(|_| is_general))
    }
}

/// A profile's denies override rules about every agent, except for where it may look: that is
/// not part of what a profile is.
fn is_profile_floor(rule: &Rule, permission: &str) -> bool {
    rule.origin.layer == RuleLayer::BuiltIn
        && rule.action == PermissionAction::Deny
        && !matches!(permission, "external_directory" | "doom_loop")
}

/// Returns the longest text that every match of a pattern contains; a class matches one character and is no part of it.
fn longest_literal(pattern: &str) -> String {
    let plain = pattern.split('[').next().unwrap_or_default();
    let pattern = pattern.strip_suffix(" *").unwrap_or(pattern);
    let pattern = if pattern.contains('[') {
        plain
    } else {
        pattern
    };
    let runs = pattern.split(['*', '?']);
    let longest = runs.max_by_key(|run| run.len());
    longest.unwrap_or_default().to_owned()
}

/// The rules for every profile, until another rule overrides them.
fn default_rules() -> Vec<Rule> {
    let origin = RuleOrigin {
        layer: RuleLayer::Default,
        place: "defaults".to_owned(),
    };
    ["external_directory", "doom_loop"]
        .map(|permission| Rule::new(permission, "*", PermissionAction::Ask, origin.clone()))
        .to_vec()
}

/// An untrusted project can only tighten: its allows are dropped.
fn without_allows(rules: &[Rule]) -> Vec<Rule> {
    rules
        .iter()
        .filter(|rule| rule.action != PermissionAction::Allow)
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests;
