//! A decision by given rules and approvals alone: no floor, no profile, no mode, no repository.
//!
//! It refuses to know where the rules come from. Paths are normalised by name; a shell line is judged by each
//! of its commands, and what it writes by redirects counts as edits.

use super::approved::{Approvable, Approved, Keeping};
use super::check::{Check, Checks, Place};
use super::decide::Target;
use super::judge::{Asker, Judged, judge};
use super::layers::Rules;
use super::names::{Sort, permission_of, sort_of};
use super::parts;
use super::rule::{Action, Facts, Form};

/// A target: its text, and its real path where that is another.
pub type Named<'a> = (&'a str, Option<&'a str>);

/// What is decided, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Allow, ask or deny.
    pub action: Action,
    /// The rule or approval, in words with its place; `None` where nothing matches.
    pub rule: Option<String>,
    /// Why, in a sentence without its full stop.
    pub reason: String,
}

/// The name under which given approvals serve.
const PROFILE: &str = "given";

/// Makes an approval for [`decide`].
pub fn approved(tool: &str, what: Approvable) -> Approved {
    let what = match (sort_of(tool), what) {
        (Sort::Path, Approvable::Exact(path)) => Approvable::Exact(normalised(&path)),
        (Sort::Command, Approvable::Exact(line)) => Approvable::Exact(line.trim().to_owned()),
        (_, what) => what,
    };
    Approved {
        profile: PROFILE.to_owned(),
        permission: permission_of(tool).to_owned(),
        what,
        scope: super::Scope::Run,
    }
}

/// Decides what a tool may do to its targets. The strictest answer counts; without a target it is `*`.
pub fn decide(rules: &Rules, approvals: &[Approved], tool: &str, targets: &[Named<'_>]) -> Answer {
    let targets = match targets {
        [] => &[("*", None)],
        targets => targets,
    };
    let answers = targets
        .iter()
        .map(|target| decide_one(rules, approvals, tool, *target));
    answers
        .reduce(|found, next| {
            if next.action > found.action {
                next
            } else {
                found
            }
        })
        .unwrap_or_else(|| nothing(tool, "*"))
}

fn decide_one(rules: &Rules, approvals: &[Approved], tool: &str, target: Named<'_>) -> Answer {
    let checks = checks(tool, target);
    let judged = judge_names(rules, tool, &checks);
    let doubt = checks.doubt.as_deref();
    let asker = Asker {
        profile: PROFILE,
        approvals,
        keeping: Keeping::Project,
    };
    let answers = checks.checks.iter().zip(&judged).map(|(check, judged)| {
        // A command that is not understood to its end is asked about, whatever allows it.
        let is_misread = doubt.is_some() && sort_of(tool) == Sort::Command;
        let judged = Judged {
            action: judged.action.max(if is_misread {
                Action::Ask
            } else {
                Action::Allow
            }),
            is_doubted: judged.is_doubted || is_misread && judged.action == Action::Allow,
            ..*judged
        };
        let answer = told(check, &judged, doubt);
        let permission = permission_of(&check.permission);
        if answer.action != Action::Ask {
            return answer;
        }
        let whole = || asker.exactly(permission_of(tool), target.0.trim());
        let part = || {
            let check = Check {
                permission: permission.to_owned(),
                ..check.clone()
            };
            doubt.is_none().then(|| asker.approval(&check)).flatten()
        };
        match whole().or_else(part) {
            Some(approved) => Answer {
                action: Action::Allow,
                rule: Some(format!("approval {:?}", approved.what.text())),
                reason: format!("{} {:?} was approved", check.permission, check.target.text),
            },
            None => answer,
        }
    });
    answers
        .reduce(|found, next| {
            if next.action > found.action {
                next
            } else {
                found
            }
        })
        .unwrap_or_else(|| nothing(tool, target.0))
}

/// A tool goes by its own name first, and by the permission that it needs where no rule is about its name;
/// where rules are about both, the stricter answer counts. A name in other letters is another name, which
/// what is denied to the permission is denied to as well.
fn judge_names<'a>(rules: &'a Rules, tool: &str, checks: &Checks) -> Vec<Judged<'a>> {
    let facts = Facts::default();
    let judged = judge(rules, checks, facts);
    let general = Checks {
        checks: checks
            .checks
            .iter()
            .map(|check| Check {
                permission: permission_of(&check.permission).to_owned(),
                ..check.clone()
            })
            .collect(),
        doubt: checks.doubt.clone(),
    };
    let is_other_name = tool.chars().any(char::is_uppercase);
    judged
        .into_iter()
        .zip(judge(rules, &general, facts))
        .map(|(own, general)| {
            let takes_general = match (own.by, general.by) {
                (_, None) => false,
                (None, Some(_)) => !is_other_name || general.action > own.action,
                (Some(_), Some(_)) => general.action > own.action,
            };
            if takes_general { general } else { own }
        })
        .collect()
}

fn checks(tool: &str, (text, real): Named<'_>) -> Checks {
    let path = |permission: &str, forms: Vec<Form>| Check {
        permission: permission.to_owned(),
        target: Target {
            text: text.to_owned(),
            real: real.map(str::to_owned),
        },
        forms,
        looks: Vec::new(),
        inner: Vec::new(),
        place: Place::Inside,
    };
    match sort_of(tool) {
        Sort::Command => of_line(tool, text),
        Sort::Path => {
            let forms = std::iter::once(text).chain(real);
            let forms = forms.map(|text| Form::of(&normalised(text))).collect();
            sure(vec![path(tool, forms)])
        }
        Sort::Text => sure(vec![path(tool, vec![Form::of(text)])]),
    }
}

fn sure(checks: Vec<Check>) -> Checks {
    Checks {
        checks,
        doubt: None,
    }
}

fn of_line(tool: &str, line: &str) -> Checks {
    let split = parts::split(line);
    let mut checks = Vec::new();
    let check = |permission: &str, text: &str, form: Form| Check {
        permission: permission.to_owned(),
        target: Target {
            text: text.to_owned(),
            real: None,
        },
        forms: vec![form],
        looks: Vec::new(),
        inner: Vec::new(),
        place: Place::Inside,
    };
    for part in split.parts {
        if let Some(first) = part.said.first().cloned() {
            let form = Form {
                texts: part.said,
                whole: None,
            };
            checks.push(Check {
                looks: part.looks,
                inner: part.inner,
                ..check(tool, &first, form)
            });
        }
        for written in &part.writes {
            let path = normalised(written);
            checks.push(check("edit", written, Form::of(&path)));
        }
    }
    Checks {
        checks,
        doubt: split.doubt,
    }
}

/// Takes `.`, `..` and double slashes out of a path by name; what leaves its beginning keeps its `..`.
pub fn normalised(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if is_absolute => {}
            part => parts.push(part),
        }
    }
    match (is_absolute, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) if path.is_empty() => String::new(),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}

fn told(check: &Check, judged: &Judged<'_>, doubt: Option<&str>) -> Answer {
    let (permission, target) = (&check.permission, &check.target.text);
    let Some(rule) = judged.by else {
        return nothing(permission, target);
    };
    let reason = match doubt.filter(|_| judged.is_doubted) {
        Some(doubt) => format!("{doubt}, so that no allow can be relied on"),
        None => {
            let place = &rule.origin.place;
            format!("{place} is the last that matches {permission} {target:?}")
        }
    };
    Answer {
        action: judged.action,
        rule: Some(rule.to_string()),
        reason,
    }
}

fn nothing(permission: &str, target: &str) -> Answer {
    Answer {
        action: Action::Ask,
        rule: None,
        reason: format!("no rule matches {permission} {target:?}"),
    }
}

#[cfg(test)]
mod tests;
