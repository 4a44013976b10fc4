//! Lists every rule that affects a decision, for users who ask why.
//!
//! The decision itself is made in `decision`.

use super::AgentToolCall;
use super::decision::call_facts;
use super::decision_context::DecisionContext;
use super::required_permissions;
use super::rule::{PermissionAction, Rule, TargetForm};

/// The rules about one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetExplanation<'a> {
    pub permission: String,
    /// The text that the rules were matched against.
    pub target: String,
    /// The rules that match, in order. Restrictions of an untrusted project come last.
    pub rules: Vec<&'a Rule>,
    /// The rule that counts; `None` where none does.
    pub deciding_rule: Option<&'a Rule>,
    /// What a missing rule means for this text.
    pub relevance: RuleRelevance,
}

/// What a missing rule about a text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleRelevance {
    Required,
    /// Nothing: only a rule that the user wrote about it counts.
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
