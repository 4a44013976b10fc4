//! All written rules for one profile, in the one order in which the last match wins, and what a
//! repository that is not trusted takes away from them.
//!
//! It refuses to read files: rules arrive with their origin.

use super::profile::Profile;
use super::rule::{Action, Facts, Form, Layer, Origin, Rule, last_match};

/// The rules that hold for a profile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rules {
    list: Vec<Rule>,
    restrictions: Vec<Rule>,
}

/// What the rules say about one form of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said<'a> {
    /// Allow, ask or deny; ask where no rule matches.
    pub action: Action,
    /// The rule that says so.
    pub by: Option<&'a Rule>,
}

impl Rules {
    /// Puts layers in their order: defaults, built-in profile, the user's, the project's, this start's,
    /// the user's own of the profile. Of one layer earlier rules stay earlier.
    ///
    /// `restrictions` are the rules of a project that is not trusted. They are a list of their own,
    /// whose asks and denies hold whatever the other says, so that none of them can soften a rule.
    pub fn layered(profile: &Profile, written: &[Rule], restrictions: &[Rule]) -> Self {
        let mut list = defaults();
        list.extend(profile.rules.iter().cloned());
        list.extend(written.iter().cloned());
        list.sort_by_key(|rule| rule.origin.layer);
        Self {
            list,
            restrictions: strict(restrictions),
        }
    }

    /// Takes a list as it stands, without any other layer.
    pub fn alone(list: Vec<Rule>) -> Self {
        Self {
            list,
            restrictions: Vec::new(),
        }
    }

    /// Takes what is written for every profile, without defaults and profiles.
    pub fn written(written: &[Rule], restrictions: &[Rule]) -> Self {
        let mut list = written.to_vec();
        list.sort_by_key(|rule| rule.origin.layer);
        Self {
            list,
            restrictions: strict(restrictions),
        }
    }

    /// All rules in their order, restrictions apart.
    pub fn list(&self) -> &[Rule] {
        &self.list
    }

    /// The restrictions, in their order; none allows.
    pub fn restrictions(&self) -> &[Rule] {
        &self.restrictions
    }

    /// Tells what the rules say about one form of a target, by the stricter of the two lists.
    pub fn about(&self, permission: &str, form: &Form, facts: Facts) -> Said<'_> {
        let by = self.last(permission, form, facts).map(|last| {
            self.floor_under(last, permission, form, facts)
                .unwrap_or(last)
        });
        let said = Said {
            action: by.map_or(Action::Ask, |rule| rule.action),
            by,
        };
        let taken = last_match(&self.restrictions, permission, form, facts);
        match taken {
            Some(rule) if rule.action > said.action || by.is_none() => Said {
                action: rule.action.max(said.action),
                by: taken,
            },
            Some(_) | None => said,
        }
    }

    fn last(&self, permission: &str, form: &Form, facts: Facts) -> Option<&Rule> {
        last_match(&self.list, permission, form, facts)
    }

    /// What a built-in profile denies is its floor: a rule about every agent does not lift it, one of this agent does.
    fn floor_under(
        &self,
        last: &Rule,
        permission: &str,
        form: &Form,
        facts: Facts,
    ) -> Option<&Rule> {
        if last.action == Action::Deny || !last.origin.layer.is_general() {
            return None;
        }
        let floor = last_match(self.built_in(), permission, form, facts);
        floor.filter(|rule| is_floor(rule, permission))
    }

    /// The rules of the built-in profile, and the defaults before them.
    fn built_in(&self) -> &[Rule] {
        let end = self
            .list
            .partition_point(|rule| rule.origin.layer <= Layer::BuiltIn);
        self.list.get(..end).unwrap_or_default()
    }

    /// Tells whether a rule about every agent may have no say in some target, or in none, since the profile's floor
    /// denies it.
    fn has_floor(&self, permission: &str, facts: Facts) -> bool {
        self.built_in()
            .iter()
            .rev()
            .filter(|rule| rule.is_about(permission, facts))
            .find(|rule| rule.action == Action::Deny || rule.takes_every_target())
            .is_some_and(|rule| is_floor(rule, permission))
    }

    /// Finds what of a profile a rule about every agent cannot lift, whatever the target.
    pub fn floor_of(&self, permission: &str) -> Option<&Rule> {
        let last = self
            .built_in()
            .iter()
            .rfind(|rule| rule.is_about(permission, Facts::default()))?;
        (is_floor(last, permission) && last.takes_every_target()).then_some(last)
    }

    /// Tells whether a file of this name, below the root, is read without anybody being asked.
    pub fn lets_read(&self, name: &str) -> bool {
        let said = self.about("read", &Form::of(name), Facts::default());
        said.action == Action::Allow
    }

    /// Lists what is in each target of a permission that some rule denies; rules about every target are left out.
    pub fn denied_literals(&self, permission: &str) -> Vec<String> {
        let rules = self.list.iter().chain(&self.restrictions);
        rules
            .filter(|rule| {
                rule.action == Action::Deny
                    && rule.is_about(permission, Facts::default())
                    && !rule.takes_every_target()
            })
            .map(|rule| longest_literal(&rule.pattern))
            .collect()
    }

    /// Lists what is in each target of a permission that some rule does not allow; `None` where a target can be held
    /// back whatever it is called.
    pub fn held_literals(&self, permission: &str) -> Option<Vec<String>> {
        let facts = Facts::default();
        // A name that no rule has in mind.
        let plain = self.about(permission, &Form::of("\u{1}"), facts);
        let mut literals = Vec::new();
        for rule in self.list.iter().chain(&self.restrictions) {
            let holds = rule.action != Action::Allow && rule.is_about(permission, facts);
            if holds && !rule.takes_every_target() {
                literals.push(longest_literal(&rule.pattern));
            }
        }
        let is_known = !literals.iter().any(String::is_empty);
        (plain.action == Action::Allow && is_known).then_some(literals)
    }

    /// Tells whether whatever the permission is asked for is allowed: nothing then depends on the target.
    pub fn allows_everything(&self, permission: &str, facts: Facts) -> bool {
        let about = |rule: &&Rule| rule.is_about(permission, facts);
        let last_for_all = self
            .list
            .iter()
            .filter(about)
            .rev()
            .filter(|rule| !rule.is_discounted)
            .take_while(|rule| rule.action == Action::Allow)
            .find(|rule| rule.takes_every_target());
        let is_lifted = last_for_all.is_some_and(|rule| {
            !rule.origin.layer.is_general() || !self.has_floor(permission, facts)
        });
        is_lifted && !self.restrictions.iter().any(|rule| about(&rule))
    }

    /// Finds the rule that hides a tool: the last about it, where that denies every target.
    pub fn hides(&self, tool: &str) -> Option<&Rule> {
        let facts = Facts::default();
        let lists = [&self.list, &self.restrictions];
        let hidden = lists.into_iter().find_map(|list| {
            let last = list.iter().rfind(|rule| rule.is_about(tool, facts))?;
            (last.action == Action::Deny && last.takes_every_target()).then_some(last)
        });
        let last = self.list.iter().rfind(|rule| rule.is_about(tool, facts));
        let is_general = last.is_some_and(|rule| rule.origin.layer.is_general());
        hidden.or_else(|| self.floor_of(tool).filter(|_| is_general))
    }
}

/// What a profile denies holds against rules about every agent. Where it may look is no part of what it is.
fn is_floor(rule: &Rule, permission: &str) -> bool {
    rule.origin.layer == Layer::BuiltIn
        && rule.action == Action::Deny
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
fn defaults() -> Vec<Rule> {
    let origin = Origin {
        layer: Layer::Default,
        place: "defaults".to_owned(),
    };
    ["external_directory", "doom_loop"]
        .map(|permission| Rule::new(permission, "*", Action::Ask, origin.clone()))
        .to_vec()
}

/// A project that is not trusted only tightens: what allows is no restriction.
fn strict(rules: &[Rule]) -> Vec<Rule> {
    rules
        .iter()
        .filter(|rule| rule.action != Action::Allow)
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests;
