//! The one decision about a call.
//!
//! Floors, rules, approvals, mode, in this order; the strictest word counts, and only approvals and modes
//! make anything milder: an ask becomes an allow, never a deny. Paths arrive resolved; nothing here looks
//! at the disk. It refuses to know adapters and who answers an ask.

use serde::{Deserialize, Serialize};

use super::approved::Keeping;
use super::check::{self, Check, Checks, Place};
use super::context::Context;
use super::floors::{self, FLOORS, Floor, Held, Looked};
use super::judge::{Asker, Judged, judge};
use super::mode::Relaxable;
use super::rule::{Action, Facts, Layer};
use super::{Call, Reach};

/// What happens to a call, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Allow: it goes ahead, once. Ask: the user answers. Deny: it does not go ahead.
    pub action: Action,
    /// What is decided about; of an ask only what asks.
    pub ask: Ask,
    /// The permissions that are needed, each once; of an ask only those that ask.
    pub permissions: Vec<String>,
    /// How far an answer to the ask may be kept.
    pub keeping: Keeping,
    /// Who decided.
    pub by: By,
    /// What decided.
    pub why: Why,
    /// Everything that was looked at, in its order.
    pub chain: Vec<Link>,
}

/// Who decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// A floor.
    Floor,
    /// What is built into the program, a profile's rule too.
    Program,
    /// A rule that somebody wrote.
    Written,
    /// An approval of the user's.
    Approval,
    /// The mode.
    Mode,
}

/// What decided about a call, for people, agents and the log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Why {
    /// The rule, floor, approval or mode, in words.
    pub rule: String,
    /// Where it stands: file and line, or what part of the program it is.
    pub origin: String,
    /// Why, in a sentence without its full stop.
    pub reason: String,
}

/// One thing that was looked at on the way to a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// What: a floor, the rules, approvals, the mode.
    pub step: String,
    /// What it says; `None` when it says nothing.
    pub says: Option<Action>,
    /// About what, by which rule, why.
    pub told: String,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// `bash`, `edit`, `read` or a tool's name.
    pub permission: String,
    /// What it is asked for; empty when the CLI did not say.
    pub targets: Vec<Target>,
}

/// One thing that an ask is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// A whole command line, a tool's input, or a path by name: below the root relative to it, else absolute.
    pub text: String,
    /// The path's real form, where it differs from its name.
    pub real: Option<String>,
}

impl Target {
    /// Every form of it.
    pub fn forms(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.text.as_str()).chain(self.real.as_deref())
    }

    fn in_words(&self) -> String {
        match &self.real {
            Some(real) => format!("`{}` (really `{real}`)", self.text),
            None => format!("`{}`", self.text),
        }
    }
}

/// Decides about a call. Total; what is not known to be harmless is asked in EXECUTE and denied before.
pub fn decide(call: &Call, context: &Context) -> Decision {
    let checks = check::of(call, context);
    let facts = facts(call, context);
    let looked = Looked {
        call,
        checks: &checks,
        facts,
        context,
    };
    let floors: Vec<(Floor, Option<Held>)> = FLOORS
        .into_iter()
        .map(|floor| (floor, floor.holds(&looked)))
        .collect();
    let mut weighing = Weighing {
        call,
        checks: &checks,
        context,
        chain: Vec::new(),
    };
    weighing.note_call();
    let forced = weighing.weigh_floors(&floors);
    if let Some(denied) = forced.denied {
        return weighing.end(Action::Deny, Keeping::Never, denied, &checks.checks);
    }
    if floors::is_staging(&looked) {
        return weighing.end_staging(forced.asked);
    }
    let judged = judge(&context.rules, &checks, facts);
    if let Some(denied) = weighing.weigh_denies(&judged) {
        return weighing.end(Action::Deny, Keeping::Never, denied, &checks.checks);
    }
    weighing.weigh_asks(forced.asked, &judged)
}

/// What is known of a call besides its targets.
pub(super) fn facts(call: &Call, context: &Context) -> Facts {
    let reach = check::reach(call);
    Facts {
        is_contained: reach == Some(Reach::Contained),
        leaves_sandbox: reach == Some(Reach::LeavesSandbox),
        only_reads: match call {
            Call::Command { line, cwd, reach } => {
                floors::reading_refusal(line, cwd, *reach, context).is_none()
            }
            Call::Edit { .. } | Call::Read { .. } | Call::Tool { .. } => false,
        },
    }
}

/// A reason and who gives it.
type Reason = (By, Why);

/// What the floors say together.
struct Forced {
    denied: Option<Reason>,
    asked: Option<(Keeping, Reason)>,
}

/// A decision in the making.
struct Weighing<'a> {
    call: &'a Call,
    checks: &'a Checks,
    context: &'a Context,
    chain: Vec<Link>,
}

impl Weighing<'_> {
    fn link(&mut self, step: &str, says: Option<Action>, told: String) {
        self.chain.push(Link {
            step: step.to_owned(),
            says,
            told,
        });
    }

    fn note_call(&mut self) {
        for check in &self.checks.checks {
            let told = format!("needs {} for {}", check.permission, check.target.in_words());
            self.link("call", None, told);
        }
        if let Some(doubt) = &self.checks.doubt {
            self.link("call", None, doubt.clone());
        }
    }

    fn weigh_floors(&mut self, floors: &[(Floor, Option<Held>)]) -> Forced {
        let mut forced = Forced {
            denied: None,
            asked: None,
        };
        for (floor, held) in floors {
            let step = format!("floor: {}", floor.name());
            let Some(held) = held else {
                self.link(&step, None, "does not apply".to_owned());
                continue;
            };
            self.link(&step, Some(held.action), held.reason.clone());
            let why = Why {
                rule: floor.name().to_owned(),
                origin: step,
                reason: held.reason.clone(),
            };
            let reason = (By::Floor, why);
            match held.action {
                Action::Deny => forced.denied = forced.denied.or(Some(reason)),
                Action::Ask | Action::Allow => {
                    forced.asked = match forced.asked {
                        Some(asked) if asked.0 >= held.keeping => Some(asked),
                        Some(_) | None => Some((held.keeping, reason)),
                    };
                }
            }
        }
        forced
    }

    /// The staging files are the program's own: rules are about what is the user's.
    fn end_staging(self, forced: Option<(Keeping, Reason)>) -> Decision {
        let checks = self.checks;
        match forced {
            Some((keeping, why)) => self.end(Action::Ask, keeping, why, &checks.checks),
            None => {
                let why = built_in(
                    "the turn's own staging files",
                    "the turn returns its document in them",
                );
                self.end(Action::Allow, Keeping::Never, why, &checks.checks)
            }
        }
    }

    fn weigh_denies(&mut self, judged: &[Judged<'_>]) -> Option<Reason> {
        let mut denied = None;
        for (check, judged) in self.checks.checks.iter().zip(judged) {
            let reason = reason_of(check, judged, self.checks.doubt.as_deref());
            let (target, why) = (check.target.in_words(), &reason.1);
            let mut told = format!(
                "{} {target}: {} ({})",
                check.permission, why.rule, why.origin
            );
            if judged.is_doubted {
                told.push_str(&format!(", but {}", why.reason));
            }
            self.link("rules", Some(judged.action), told);
            if judged.action == Action::Deny && denied.is_none() {
                denied = Some(reason);
            }
        }
        denied
    }

    fn weigh_asks(mut self, forced: Option<(Keeping, Reason)>, judged: &[Judged<'_>]) -> Decision {
        let checks = self.checks;
        let keeping = forced
            .as_ref()
            .map_or(Keeping::Project, |(keeping, _)| *keeping);
        let mut asking = Vec::new();
        let (mut asked_by, mut allowed_by) = (None, None);
        for (check, judged) in checks.checks.iter().zip(judged) {
            if judged.action == Action::Allow && forced.is_none() {
                let reason = reason_of(check, judged, None);
                allowed_by = allowed_by.or(Some(reason));
                continue;
            }
            match self.relaxed(check, keeping, forced.is_some()) {
                Some(reason) => {
                    let said = format!("{} ({})", reason.1.rule, reason.1.origin);
                    self.link("relaxed", Some(Action::Allow), said);
                    allowed_by = Some(reason);
                }
                None => {
                    asking.push(check.clone());
                    let reason = reason_of(check, judged, checks.doubt.as_deref());
                    asked_by = asked_by.or(Some(reason));
                }
            }
        }
        if let Some(reason) = allowed_by.filter(|_| asking.is_empty()) {
            return self.end(Action::Allow, Keeping::Never, reason, &checks.checks);
        }
        let reason = forced.map(|(_, reason)| reason).or(asked_by);
        let nothing_known = || {
            let doubt = checks.doubt.as_deref();
            built_in(
                "no rule can be looked up",
                doubt.unwrap_or("nothing is known of it"),
            )
        };
        self.end(
            Action::Ask,
            keeping,
            reason.unwrap_or_else(nothing_known),
            &asking,
        )
    }

    /// An approval, or else the mode, makes an allow of an ask. Of forced asks only an approval for the run answers one.
    fn relaxed(&self, check: &Check, keeping: Keeping, is_forced: bool) -> Option<Reason> {
        let asker = Asker {
            profile: &self.context.profile,
            approvals: &self.context.approvals,
            keeping,
        };
        let exactly = match self.call {
            Call::Command { line, .. } => asker.exactly("bash", line.trim()),
            Call::Edit { .. } | Call::Read { .. } | Call::Tool { .. } => None,
        };
        // Of a call that is not wholly known only its very text can have been approved.
        let for_check = || match &self.checks.doubt {
            Some(_) => None,
            None => asker.approval(check),
        };
        if let Some(approved) = exactly.or_else(for_check) {
            let why = Why {
                rule: format!("{} {:?}", approved.permission, approved.what.text()),
                origin: format!("approved for {}", approved.scope.name()),
                reason: "you approved it before".to_owned(),
            };
            return Some((By::Approval, why));
        }
        let mode = self.context.mode;
        let why = || Why {
            rule: format!("mode {}", mode.name()),
            origin: "mode".to_owned(),
            reason: format!("mode {} does not ask for it", mode.name()),
        };
        (!is_forced && mode.relaxes(relaxable(check))).then(|| (By::Mode, why()))
    }

    fn end(
        mut self,
        action: Action,
        keeping: Keeping,
        (by, why): Reason,
        about: &[Check],
    ) -> Decision {
        let told = format!("{} ({}): {}", why.rule, why.origin, why.reason);
        self.link("decision", Some(action), told);
        Decision {
            action,
            ask: self.ask(about),
            permissions: permissions(about),
            keeping,
            by,
            why,
            chain: self.chain,
        }
    }

    /// A command is asked about as a whole; of paths those are named that ask.
    fn ask(&self, about: &[Check]) -> Ask {
        let whole = |permission: &str, text: &str| Ask {
            permission: permission.to_owned(),
            targets: vec![Target {
                text: text.to_owned(),
                real: None,
            }],
        };
        match self.call {
            Call::Command { line, .. } => whole("bash", line),
            Call::Tool { name, input } => whole(name, input),
            Call::Edit { .. } => of_paths("edit", about),
            Call::Read { .. } => of_paths("read", about),
        }
    }
}

fn permissions(about: &[Check]) -> Vec<String> {
    let mut permissions: Vec<String> = Vec::new();
    for check in about {
        if !permissions.contains(&check.permission) {
            permissions.push(check.permission.clone());
        }
    }
    permissions
}

fn of_paths(permission: &str, about: &[Check]) -> Ask {
    let mut targets = Vec::new();
    for check in about {
        if !targets.contains(&check.target) {
            targets.push(check.target.clone());
        }
    }
    Ask {
        permission: permission.to_owned(),
        targets,
    }
}

fn relaxable(check: &Check) -> Relaxable {
    match (check.permission.as_str(), check.place) {
        (_, Place::Outside) | ("external_directory" | "doom_loop", _) => Relaxable::Never,
        ("edit", Place::Inside) => Relaxable::EditInside,
        (_, Place::Inside) => Relaxable::Other,
    }
}

fn built_in(rule: &str, reason: &str) -> Reason {
    let why = Why {
        rule: rule.to_owned(),
        origin: "built in".to_owned(),
        reason: reason.to_owned(),
    };
    (By::Program, why)
}

fn reason_of(check: &Check, judged: &Judged<'_>, doubt: Option<&str>) -> Reason {
    let target = check.target.in_words();
    let Some(rule) = judged.by else {
        let reason = format!("no rule is about {} {target}", check.permission);
        return built_in("no rule", &reason);
    };
    let verb = match judged.action {
        Action::Allow => "allows",
        Action::Ask => "asks for",
        Action::Deny => "denies",
    };
    let reason = match doubt.filter(|_| judged.is_doubted) {
        Some(doubt) => format!("{doubt}, so that no allow can be relied on"),
        None => format!("a rule {verb} {} {target}", check.permission),
    };
    let by = match rule.origin.layer {
        Layer::Default | Layer::BuiltIn => By::Program,
        Layer::Global | Layer::Project | Layer::File | Layer::Flag | Layer::Own => By::Written,
    };
    let why = Why {
        rule: rule.to_string(),
        origin: rule.origin.to_string(),
        reason,
    };
    (by, why)
}

#[cfg(test)]
mod tests;
