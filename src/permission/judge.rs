//! What rules and approvals say about what a call needs: the strictest word counts.
//!
//! It refuses to know floors and modes.

use super::approved::{Approvable, Approved, Keeping};
use super::check::{Check, Checks};
use super::layers::Rules;
use super::rule::{Action, Facts, Form, Rule};

/// What the rules say about one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judged<'a> {
    /// Allow, ask or deny.
    pub action: Action,
    /// The rule that says so; `None` where none matches.
    pub by: Option<&'a Rule>,
    /// Whether an allow became an ask because not all that the call does is known.
    pub is_doubted: bool,
}

/// Judges what a call needs by rules alone; one answer for each check, in order.
pub fn judge<'a>(rules: &'a Rules, checks: &Checks, facts: Facts) -> Vec<Judged<'a>> {
    checks
        .checks
        .iter()
        .map(|check| {
            let judged = judge_one(rules, check, facts);
            let is_doubted = checks.doubt.is_some()
                && judged.action == Action::Allow
                && !rules.allows_everything(&check.permission, facts);
            Judged {
                action: if is_doubted {
                    Action::Ask
                } else {
                    judged.action
                },
                is_doubted,
                ..judged
            }
        })
        .collect()
}

fn judge_one<'a>(rules: &'a Rules, check: &Check, facts: Facts) -> Judged<'a> {
    let permission = check.permission.as_str();
    let about = |form: &Form| {
        let said = rules.about(permission, form, facts);
        Judged {
            action: said.action,
            by: said.by,
            is_doubted: false,
        }
    };
    let forms = check.forms.iter().map(about);
    let inner = check
        .inner
        .iter()
        .map(|text| about(&Form::of(text)))
        .filter(|judged| judged.by.is_some());
    let looks = check
        .looks
        .iter()
        .map(|text| about(&Form::of(text)))
        .filter(|judged| judged.action == Action::Deny);
    // Of equal words the first one is told: it is the one about the target as it was named.
    let nothing = Judged {
        action: Action::Ask,
        by: None,
        is_doubted: false,
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

/// Who asks, for approvals.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    /// The profile.
    pub profile: &'a str,
    /// The stored approvals.
    pub approvals: &'a [Approved],
    /// How far an approval of such a call could have been kept.
    pub keeping: Keeping,
}

impl<'a> Asker<'a> {
    /// Finds the approval of a whole call's very text.
    pub fn exactly(&self, permission: &str, text: &str) -> Option<&'a Approved> {
        self.find(permission, |approved| {
            matches!(approved.what, Approvable::Exact(_)) && self.serves(approved, permission, text)
        })
    }

    /// Finds the approvals by which a check goes ahead, one for each form; the first is told.
    pub fn approval(&self, check: &Check) -> Option<&'a Approved> {
        let mut for_forms = check.forms.iter().map(|form| {
            self.find(&check.permission, |approved| {
                form.texts
                    .iter()
                    .any(|text| self.serves(approved, &check.permission, text))
            })
        });
        let first = for_forms.next()??;
        for_forms.all(|found| found.is_some()).then_some(first)
    }

    fn find(&self, permission: &str, fits: impl Fn(&Approved) -> bool) -> Option<&'a Approved> {
        self.approvals
            .iter()
            .filter(|approved| approved.permission == permission)
            .find(|approved| fits(approved))
    }

    fn serves(&self, approved: &Approved, permission: &str, target: &str) -> bool {
        approved.serves(self.profile, permission, target, self.keeping)
    }
}
