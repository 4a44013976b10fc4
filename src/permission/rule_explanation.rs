//! Every rule that has a word in a decision, for people who ask why.
//!
//! It refuses to decide.

use super::AgentToolCall;
use super::decision::call_facts;
use super::decision_context::DecisionContext;
use super::required_permissions;
use super::rule::{PermissionAction, Rule, TargetForm};

/// The rules about one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetExplanation<'a> {
    /// The permission that is needed.
    pub permission: String,
    /// The text that the rules were held against.
    pub target: String,
    /// Those that match, in their order. Restrictions of an untrusted project stand behind them.
    pub rules: Vec<&'a Rule>,
    /// The one that counts; `None` where none does.
    pub deciding_rule: Option<&'a Rule>,
    /// What no rule allows here is asked about; of what a command only leads to, words that forbid count.
    pub relevance: RuleRelevance,
}

/// What the absence of a rule about a text comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleRelevance {
    /// It is asked about.
    Required,
    /// Nothing: only what somebody wrote about it counts.
    WrittenOnly,
    /// Nothing: only a deny counts.
    DenyOnly,
}

/// Lists the rules that match what a call needs, and which of them counts.
pub fn explain_rules<'a>(
    call: &AgentToolCall,
    context: &'a DecisionContext,
) -> Vec<TargetExplanation<'a>> {
    let facts = call_facts(call, context);
    let mut looked = Vec::new();
    for check in required_permissions::permissions_for_call(call, context).checks {
        let needed = check
            .forms
            .iter()
            .cloned()
            .map(|form| (form, RuleRelevance::Required));
        let inner = check
            .inner_commands
            .iter()
            .map(|text| (TargetForm::from_text(text), RuleRelevance::WrittenOnly));
        let looks = check
            .aliases
            .iter()
            .map(|text| (TargetForm::from_text(text), RuleRelevance::DenyOnly));
        for (form, weight) in needed.chain(inner).chain(looks) {
            let rules = context
                .rules
                .rules()
                .iter()
                .chain(context.rules.restrictions());
            let said = context.rules.evaluate(&check.permission, &form, facts);
            let is_heard =
                weight != RuleRelevance::DenyOnly || said.action == PermissionAction::Deny;
            looked.push(TargetExplanation {
                permission: check.permission.clone(),
                target: form.texts.first().cloned().unwrap_or_default(),
                rules: rules
                    .filter(|rule| {
                        rule.applies_to(&check.permission, facts) && rule.matches_target(&form)
                    })
                    .collect(),
                deciding_rule: said.rule.filter(|_| is_heard),
                relevance: weight,
            });
        }
    }
    looked
}
