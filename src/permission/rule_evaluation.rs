//! Evaluates rules and approvals for what a call needs: the strictest answer counts.
//!
//! Floors and modes come later, in `decision`.

use super::required_permissions::{PermissionCheck, RequiredPermissions};
use super::rule::{CallFacts, PermissionAction, Rule, TargetForm};
use super::rule_layers::RuleSet;
use super::stored_approval::{ApprovalMatcher, MaxApprovalScope, StoredApproval};

/// The answer of the rules for one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PermissionOutcome<'a> {
    /// Allow, ask or deny.
    pub action: PermissionAction,
    /// The rule that decides; `None` where none matches.
    pub rule: Option<&'a Rule>,
    /// Whether an allow became an ask because the call is only partly understood.
    pub is_downgraded: bool,
}

/// Evaluates the rules alone; one answer for each check, in order.
pub fn evaluate_checks<'a>(
    rules: &'a RuleSet,
    checks: &RequiredPermissions,
    facts: CallFacts,
) -> Vec<PermissionOutcome<'a>> {
    checks
        .checks
        .iter()
        .map(|check| {
            let judged = evaluate_check(rules, check, facts);
            let is_doubted = checks.doubt.is_some()
                && judged.action == PermissionAction::Allow
                && !rules.allows_everything(&check.permission, facts);
            PermissionOutcome {
                action: if is_doubted {
                    PermissionAction::Ask
                } else {
                    judged.action
                },
                is_downgraded: is_doubted,
                ..judged
            }
        })
        .collect()
}

fn evaluate_check<'a>(
    rules: &'a RuleSet,
    check: &PermissionCheck,
    facts: CallFacts,
) -> PermissionOutcome<'a> {
    let permission = check.permission.as_str();
    let about = |form: &TargetForm| {
        let said = rules.evaluate(permission, form, facts);
        PermissionOutcome {
            action: said.action,
            rule: said.rule,
            is_downgraded: false,
        }
    };
    let forms = check.forms.iter().map(about);
    let inner = check
        .inner_commands
        .iter()
        .map(|text| about(&TargetForm::from_text(text)))
        .filter(|judged| judged.rule.is_some());
    let looks = check
        .aliases
        .iter()
        .map(|text| about(&TargetForm::from_text(text)))
        .filter(|judged| judged.action == PermissionAction::Deny);
    // Between equal answers the first one is reported: it is about the target as the agent named it.
    let nothing = PermissionOutcome {
        action: PermissionAction::Ask,
        rule: None,
        is_downgraded: false,
    };
    forms
        .chain(inner)
        .chain(looks)
        .reduce(|found, next| {
            if next.action > found.action {
                next
            } else {
                found
            }
        })
        .unwrap_or(nothing)
}

/// What an approval lookup depends on.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalLookup<'a> {
    pub profile: &'a str,
    pub approvals: &'a [StoredApproval],
    /// How long an approval of such a call may be stored.
    pub max_scope: MaxApprovalScope,
}

impl<'a> ApprovalLookup<'a> {
    /// Finds an approval of a whole call's exact text.
    pub fn find_exact(&self, permission: &str, text: &str) -> Option<&'a StoredApproval> {
        self.find_matching(permission, |approved| {
            matches!(approved.what, ApprovalMatcher::Exact(_))
                && self.covers(approved, permission, text)
        })
    }

    /// Finds the approvals that allow a check, one for each form, and returns the first.
    pub fn find_for_check(&self, check: &PermissionCheck) -> Option<&'a StoredApproval> {
        let mut for_forms = check.forms.iter().map(|form| {
            self.find_matching(&check.permission, |approved| {
                form.texts
                    .iter()
                    .any(|text| self.covers(approved, &check.permission, text))
            })
        });
        let first = for_forms.next()??;
        for_forms.all(|found| found.is_some()).then_some(first)
    }

    fn find_matching(
        &self,
        permission: &str,
        fits: impl Fn(&StoredApproval) -> bool,
    ) -> Option<&'a StoredApproval> {
        self.approvals
            .iter()
            .filter(|approved| approved.permission == permission)
            .find(|approved| fits(approved))
    }

    fn covers(&self, approved: &StoredApproval, permission: &str, target: &str) -> bool {
        approved.covers(self.profile, permission, target, self.max_scope)
    }
}
