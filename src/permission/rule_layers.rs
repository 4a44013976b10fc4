//! All written rules for one profile, in the one order in which the last match wins, and what a
//! repository that is not trusted takes away from them.
//!
//! It refuses to read files: rules arrive with their origin.

use super::profile_registry::ProfileDefinition;
use super::rule::{
    CallFacts, PermissionAction, Rule, RuleLayer, RuleOrigin, TargetForm, find_last_match,
};

/// The rules that hold for a profile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuleSet {
    list: Vec<Rule>,
    restrictions: Vec<Rule>,
}

/// What the rules say about one form of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleOutcome<'a> {
    /// Allow, ask or deny; ask where no rule matches.
    pub action: PermissionAction,
    /// The rule that says so.
    pub rule: Option<&'a Rule>,
}

impl RuleSet {
    /// Puts layers in their order: defaults, built-in profile, the user's, the project's, this start's,
    /// the user's own of the profile. Of one layer earlier rules stay earlier.
    ///
    /// `restrictions` are the rules of a project that is not trusted. They are a list of their own,
    /// whose asks and denies hold whatever the other says, so that none of them can soften a rule.
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

    /// Takes a list as it stands, without any other layer.
    pub fn from_list(list: Vec<Rule>) -> Self {
        Self {
            list,
            restrictions: Vec::new(),
        }
    }

    /// Takes what is written for every profile, without defaults and profiles.
    pub fn from_written(written: &[Rule], restrictions: &[Rule]) -> Self {
        let mut list = written.to_vec();
        list.sort_by_key(|rule| rule.origin.layer);
        Self {
            list,
            restrictions: without_allows(restrictions),
        }
    }

    /// All rules in their order, restrictions apart.
    pub fn rules(&self) -> &[Rule] {
        &self.list
    }

    /// The restrictions, in their order; none allows.
    pub fn restrictions(&self) -> &[Rule] {
        &self.restrictions
    }

    /// Tells what the rules say about one form of a target, by the stricter of the two lists.
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

    /// What a built-in profile denies is its floor: a rule about every agent does not lift it, one of this agent does.
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

    /// The rules of the built-in profile, and the defaults before them.
    fn built_in_rules(&self) -> &[Rule] {
        let end = self
            .list
            .partition_point(|rule| rule.origin.layer <= RuleLayer::BuiltIn);
        self.list.get(..end).unwrap_or_default()
    }

    /// Tells whether a rule about every agent may have no say in some target, or in none, since the profile's floor
    /// denies it.
    fn has_profile_floor(&self, permission: &str, facts: CallFacts) -> bool {
        self.built_in_rules()
            .iter()
            .rev()
            .filter(|rule| rule.applies_to(permission, facts))
            .find(|rule| rule.action == PermissionAction::Deny || rule.matches_every_target())
            .is_some_and(|rule| is_profile_floor(rule, permission))
    }

    /// Finds what of a profile a rule about every agent cannot lift, whatever the target.
    pub fn find_profile_floor(&self, permission: &str) -> Option<&Rule> {
        let last = self
            .built_in_rules()
            .iter()
            .rfind(|rule| rule.applies_to(permission, CallFacts::default()))?;
        (is_profile_floor(last, permission) && last.matches_every_target()).then_some(last)
    }

    /// Tells whether a file of this name, below the root, is read without anybody being asked.
    pub fn allows_reading(&self, name: &str) -> bool {
        let said = self.evaluate("read", &TargetForm::from_text(name), CallFacts::default());
        said.action == PermissionAction::Allow
    }

    /// Lists what is in each target of a permission that some rule denies; rules about every target are left out.
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

    /// Lists what is in each target of a permission that some rule does not allow; `None` where a target can be held
    /// back whatever it is called.
    pub fn restricted_literals(&self, permission: &str) -> Option<Vec<String>> {
        let facts = CallFacts::default();
        // A name that no rule has in mind.
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

    /// Tells whether whatever the permission is asked for is allowed: nothing then depends on the target.
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

    /// Finds the rule that hides a tool: the last about it, where that denies every target.
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

/// What a profile denies holds against rules about every agent. Where it may look is no part of what it is.
fn is_profile_floor(rule: &Rule, permission: &str) -> bool {
    rule.origin.layer == RuleLayer::BuiltIn
        && rule.action == PermissionAction::Deny
        && !matches!(permission, "external_directory" | "doom_loop")
}

/// The longest text that each match of a pattern holds; what is in a class stands for one character alone.
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

/// What holds for every profile until a rule says otherwise.
fn default_rules() -> Vec<Rule> {
    let origin = RuleOrigin {
        layer: RuleLayer::Default,
        place: "defaults".to_owned(),
    };
    ["external_directory", "doom_loop"]
        .map(|permission| Rule::new(permission, "*", PermissionAction::Ask, origin.clone()))
        .to_vec()
}

/// A project that is not trusted only tightens: what allows is no restriction.
fn without_allows(rules: &[Rule]) -> Vec<Rule> {
    rules
        .iter()
        .filter(|rule| rule.action != PermissionAction::Allow)
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests;
