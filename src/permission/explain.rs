//! Every rule that has a word in a decision, for people who ask why.
//!
//! It refuses to decide.

use super::Call;
use super::check;
use super::context::Context;
use super::decide::facts;
use super::rule::{Action, Form, Rule};

/// The rules about one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked<'a> {
    /// The permission that is needed.
    pub permission: String,
    /// The text that the rules were held against.
    pub target: String,
    /// Those that match, in their order. Restrictions of an untrusted project stand behind them.
    pub rules: Vec<&'a Rule>,
    /// The one that counts; `None` where none does.
    pub counts: Option<&'a Rule>,
    /// What no rule allows here is asked about; of what a command only leads to, words that forbid count.
    pub weight: Weight,
}

/// What the absence of a rule about a text comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// It is asked about.
    Needed,
    /// Nothing: only what somebody wrote about it counts.
    Mentioned,
    /// Nothing: only a deny counts.
    LookedAt,
}

/// Lists the rules that match what a call needs, and which of them counts.
pub fn rules_about<'a>(call: &Call, context: &'a Context) -> Vec<Looked<'a>> {
    let facts = facts(call, context);
    let mut looked = Vec::new();
    for check in check::of(call, context).checks {
        let needed = check
            .forms
            .iter()
            .cloned()
            .map(|form| (form, Weight::Needed));
        let inner = check
            .inner
            .iter()
            .map(|text| (Form::of(text), Weight::Mentioned));
        let looks = check
            .looks
            .iter()
            .map(|text| (Form::of(text), Weight::LookedAt));
        for (form, weight) in needed.chain(inner).chain(looks) {
            let rules = context
                .rules
                .list()
                .iter()
                .chain(context.rules.restrictions());
            let said = context.rules.about(&check.permission, &form, facts);
            let is_heard = weight != Weight::LookedAt || said.action == Action::Deny;
            looked.push(Looked {
                permission: check.permission.clone(),
                target: form.texts.first().cloned().unwrap_or_default(),
                rules: rules
                    .filter(|rule| rule.is_about(&check.permission, facts) && rule.takes(&form))
                    .collect(),
                counts: said.by.filter(|_| is_heard),
                weight,
            });
        }
    }
    looked
}
