//! Decides about a call: allow, ask or deny.
//!
//! The order is floors, rules, approvals, mode. The strictest answer counts. Only approvals and modes make an answer
//! milder: they turn an ask into an allow, never a deny. Paths arrive resolved; nothing here reads the disk. Who
//! answers an ask is not known here.

mod decision_reason;

use serde::{Deserialize, Serialize};
use strum::VariantArray;

pub use self::decision_reason::{DecisionReason, DecisionSource, TASK_CHANGES, known_or_none};
use super::decision_context::DecisionContext;
use super::floor_input::{FloorInput, FloorRestriction};
use super::hard_limits::{self, Floor};
use super::permission_mode::RelaxableAsk;
use super::required_permissions::{
    self, PermissionCheck, PermissionRequest, PermissionTarget, RequiredPermissions, TargetLocation,
};
use super::rule::{CallFacts, PermissionAction, RuleLayer};
use super::rule_evaluation::{ApprovalLookup, PermissionOutcome, evaluate_checks};
use super::stored_approval::MaxApprovalScope;
use super::{AgentToolCall, SandboxReach};

/// What happens to a call, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Allow: it runs, once. Ask: the user answers. Deny: it does not run.
    pub action: PermissionAction,
    /// What the decision is about; for an ask, only the targets that ask.
    pub request: PermissionRequest,
    /// The permissions that the call needs, each once; for an ask, only those that ask.
    pub permissions: Vec<String>,
    /// How long an answer to the ask may be stored.
    pub max_scope: MaxApprovalScope,
    pub reason: DecisionReason,
    /// Every check on the way to the decision, in order.
    pub steps: Vec<DecisionStep>,
}

/// One check on the way to a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionStep {
    /// What was checked: a floor, the rules, approvals, the mode.
    pub step: String,
    /// The answer of the check; `None` when it has none.
    pub says: Option<PermissionAction>,
    /// Details: the target, the rule and the reason.
    pub told: String,
}

/// Decides about a call. Always returns a decision; a call that is not known to be harmless asks
/// in EXECUTE and is denied before.
pub fn decide_call(call: &AgentToolCall, context: &DecisionContext) -> Decision {
    let checks = required_permissions::permissions_for_call(call, context);
    let facts = call_facts(call, context);
    let looked = FloorInput {
        call,
        checks: &checks,
        facts,
        context,
    };
    let floors: Vec<(Floor, Option<FloorRestriction>)> = Floor::VARIANTS
        .iter()
        .map(|&floor| (floor, floor.evaluate(&looked)))
        .collect();
    let mut weighing = DecisionBuilder {
        call,
        checks: &checks,
        context,
        steps: Vec::new(),
    };
    weighing.add_call_steps();
    let forced = weighing.apply_floors(&floors);
    if let Some(denied) = forced.deny {
        return weighing.finish(
            PermissionAction::Deny,
            MaxApprovalScope::Never,
            denied,
            &checks.checks,
        );
    }
    if hard_limits::is_staging_edit(&looked) {
        return weighing.finish_staging(forced.ask);
    }
    let judged = evaluate_checks(&context.rules, &checks, facts);
    if let Some(denied) = weighing.apply_denies(&judged) {
        return weighing.finish(
            PermissionAction::Deny,
            MaxApprovalScope::Never,
            denied,
            &checks.checks,
        );
    }
    weighing.apply_asks(forced.ask, &judged)
}

/// Returns the facts about a call that rules depend on, besides its targets.
pub(super) fn call_facts(call: &AgentToolCall, context: &DecisionContext) -> CallFacts {
    let reach = required_permissions::sandbox_reach(call);
    CallFacts {
        is_contained: reach == Some(SandboxReach::Contained),
        leaves_sandbox: reach == Some(SandboxReach::LeavesSandbox),
        only_reads: match call {
            AgentToolCall::Command { line, cwd, reach } => {
                hard_limits::read_only_refusal(line, cwd, *reach, context).is_none()
            }
            AgentToolCall::Edit { .. }
            | AgentToolCall::Read { .. }
            | AgentToolCall::Tool { .. } => false,
        },
    }
}

/// The combined answer of all floors.
struct FloorOutcome {
    deny: Option<DecisionReason>,
    ask: Option<(MaxApprovalScope, DecisionReason)>,
}

/// Collects the steps of a decision.
struct DecisionBuilder<'a> {
    call: &'a AgentToolCall,
    checks: &'a RequiredPermissions,
    context: &'a DecisionContext,
    steps: Vec<DecisionStep>,
}

impl DecisionBuilder<'_> {
    fn add_step(&mut self, step: &str, says: Option<PermissionAction>, told: String) {
        self.steps.push(DecisionStep {
            step: step.to_owned(),
            says,
            told,
        });
    }

    fn add_call_steps(&mut self) {
        for check in &self.checks.checks {
            let told = format!(
                "needs {} for {}",
                check.permission,
                check.target.to_display()
            );
            self.add_step("call", None, told);
        }
        if let Some(doubt) = &self.checks.doubt {
            self.add_step("call", None, doubt.clone());
        }
    }

    fn apply_floors(&mut self, floors: &[(Floor, Option<FloorRestriction>)]) -> FloorOutcome {
        let mut forced = FloorOutcome {
            deny: None,
            ask: None,
        };
        for (floor, held) in floors {
            let step = format!("floor: {}", floor.label());
            let Some(held) = held else {
                self.add_step(&step, None, "does not apply".to_owned());
                continue;
            };
            self.add_step(&step, Some(held.action), held.reason.clone());
            let reason = DecisionReason {
                stored_source: Some(DecisionSource::Floor(*floor)),
                rule: floor.label().to_owned(),
                origin: step,
                reason: held.reason.clone(),
            };
            match held.action {
                PermissionAction::Deny => forced.deny = forced.deny.or(Some(reason)),
                PermissionAction::Ask | PermissionAction::Allow => {
                    // Of several forced asks, the one whose answer may be stored for the shortest time counts.
                    forced.ask = match forced.ask {
                        Some(asked) if asked.0 >= held.max_scope => Some(asked),
                        Some(_) | None => Some((held.max_scope, reason)),
                    };
                }
            }
        }
        forced
    }

    /// The staging files belong to the program; rules are about the user's files, so they are not consulted.
    fn finish_staging(self, forced: Option<(MaxApprovalScope, DecisionReason)>) -> Decision {
        let checks = self.checks;
        match forced {
            Some((keeping, why)) => {
                self.finish(PermissionAction::Ask, keeping, why, &checks.checks)
            }
            None => {
                let why = built_in_reason(
                    "the turn's own staging files",
                    "the turn returns its document in them",
                );
                self.finish(
                    PermissionAction::Allow,
                    MaxApprovalScope::Never,
                    why,
                    &checks.checks,
                )
            }
        }
    }

    fn apply_denies(&mut self, judged: &[PermissionOutcome<'_>]) -> Option<DecisionReason> {
        let mut denied = None;
        for (check, judged) in self.checks.checks.iter().zip(judged) {
            let reason = rule_reason(check, judged, self.checks.doubt.as_deref());
            let mut told = format!(
                "{} {}: {} ({})",
                check.permission,
                check.target.to_display(),
                reason.rule,
                reason.origin
            );
            if judged.is_downgraded {
                told.push_str(&format!(", but {}", reason.reason));
            }
            self.add_step("rules", Some(judged.action), told);
            if judged.action == PermissionAction::Deny && denied.is_none() {
                denied = Some(reason);
            }
        }
        denied
    }

    fn apply_asks(
        mut self,
        forced: Option<(MaxApprovalScope, DecisionReason)>,
        judged: &[PermissionOutcome<'_>],
    ) -> Decision {
        let checks = self.checks;
        let keeping = forced
            .as_ref()
            .map_or(MaxApprovalScope::Project, |(keeping, _)| *keeping);
        let mut asking = Vec::new();
        let (mut asked_by, mut allowed_by) = (None, None);
        for (check, judged) in checks.checks.iter().zip(judged) {
            if judged.action == PermissionAction::Allow && forced.is_none() {
                let reason = rule_reason(check, judged, None);
                allowed_by = allowed_by.or(Some(reason));
                continue;
            }
            match self.find_relaxation(check, keeping, forced.is_some()) {
                Some(reason) => {
                    let said = format!("{} ({})", reason.rule, reason.origin);
                    self.add_step("relaxed", Some(PermissionAction::Allow), said);
                    allowed_by = Some(reason);
                }
                None => {
                    asking.push(check.clone());
                    let reason = rule_reason(check, judged, checks.doubt.as_deref());
                    asked_by = asked_by.or(Some(reason));
                }
            }
        }
        if let Some(reason) = allowed_by.filter(|_| asking.is_empty()) {
            return self.finish(
                PermissionAction::Allow,
                MaxApprovalScope::Never,
                reason,
                &checks.checks,
            );
        }
        let reason = forced.map(|(_, reason)| reason).or(asked_by);
        let nothing_known = || {
            let doubt = checks.doubt.as_deref();
            built_in_reason(
                "no rule can be looked up",
                doubt.unwrap_or("nothing is known of it"),
            )
        };
        self.finish(
            PermissionAction::Ask,
            keeping,
            reason.unwrap_or_else(nothing_known),
            &asking,
        )
    }

    /// Turns an ask into an allow by an approval or else by the mode. A forced ask is only
    /// answered by an approval for the run.
    fn find_relaxation(
        &self,
        check: &PermissionCheck,
        keeping: MaxApprovalScope,
        is_forced: bool,
    ) -> Option<DecisionReason> {
        let asker = ApprovalLookup {
            profile: &self.context.profile,
            approvals: &self.context.approvals,
            max_scope: keeping,
        };
        let exactly = match self.call {
            AgentToolCall::Command { line, .. } => asker.find_exact("bash", line.trim()),
            AgentToolCall::Edit { .. }
            | AgentToolCall::Read { .. }
            | AgentToolCall::Tool { .. } => None,
        };
        // If a call is only partly understood, only an approval of its exact text counts.
        let for_check = || match &self.checks.doubt {
            Some(_) => None,
            None => asker.find_for_check(check),
        };
        if let Some(approved) = exactly.or_else(for_check) {
            return Some(DecisionReason {
                stored_source: Some(DecisionSource::Approval),
                rule: format!("{} {:?}", approved.permission, approved.what.as_str()),
                origin: format!("approved for {}", approved.scope.label()),
                reason: "you approved it before".to_owned(),
            });
        }
        let mode = self.context.mode;
        (!is_forced && mode.relaxes(classify_ask(check))).then(|| DecisionReason {
            stored_source: Some(DecisionSource::Mode),
            rule: format!("mode {}", mode.name()),
            origin: "mode".to_owned(),
            reason: format!("mode {} does not ask for it", mode.name()),
        })
    }

    fn finish(
        mut self,
        action: PermissionAction,
        keeping: MaxApprovalScope,
        reason: DecisionReason,
        about: &[PermissionCheck],
    ) -> Decision {
        let told = format!("{} ({}): {}", reason.rule, reason.origin, reason.reason);
        self.add_step("decision", Some(action), told);
        Decision {
            action,
            request: self.build_request(about),
            permissions: distinct_permissions(about),
            max_scope: keeping,
            reason,
            steps: self.steps,
        }
    }

    /// For a command the whole line is asked about; for paths only those that ask.
    fn build_request(&self, about: &[PermissionCheck]) -> PermissionRequest {
        let whole = |permission: &str, text: &str| PermissionRequest {
            permission: permission.to_owned(),
            targets: vec![PermissionTarget {
                text: text.to_owned(),
                real: None,
            }],
        };
        match self.call {
            AgentToolCall::Command { line, .. } => whole("bash", line),
            AgentToolCall::Tool { name, input } => whole(name, input),
            AgentToolCall::Edit { .. } => build_path_request("edit", about),
            AgentToolCall::Read { .. } => build_path_request("read", about),
        }
    }
}

fn distinct_permissions(about: &[PermissionCheck]) -> Vec<String> {
    let mut permissions: Vec<String> = Vec::new();
    for check in about {
        if !permissions.contains(&check.permission) {
            permissions.push(check.permission.clone());
        }
    }
    permissions
}

fn build_path_request(permission: &str, about: &[PermissionCheck]) -> PermissionRequest {
    let mut targets = Vec::new();
    for check in about {
        if !targets.contains(&check.target) {
            targets.push(check.target.clone());
        }
    }
    PermissionRequest {
        permission: permission.to_owned(),
        targets,
    }
}

fn classify_ask(check: &PermissionCheck) -> RelaxableAsk {
    match (check.permission.as_str(), check.location) {
        (_, TargetLocation::Outside) | ("external_directory" | "doom_loop", _) => {
            RelaxableAsk::Never
        }
        ("edit", TargetLocation::Inside) => RelaxableAsk::EditInside,
        (_, TargetLocation::Inside) => RelaxableAsk::Other,
    }
}

fn built_in_reason(rule: &str, reason: &str) -> DecisionReason {
    DecisionReason {
        stored_source: Some(DecisionSource::Program),
        rule: rule.to_owned(),
        origin: "built in".to_owned(),
        reason: reason.to_owned(),
    }
}

fn rule_reason(
    check: &PermissionCheck,
    judged: &PermissionOutcome<'_>,
    doubt: Option<&str>,
) -> DecisionReason {
    let target = check.target.to_display();
    let Some(rule) = judged.rule else {
        let reason = format!("no rule matches {} {target}", check.permission);
        return DecisionReason {
            stored_source: Some(DecisionSource::NoRule),
            ..built_in_reason("no rule", &reason)
        };
    };
    let verb = match judged.action {
        PermissionAction::Allow => "allows",
        PermissionAction::Ask => "asks for",
        PermissionAction::Deny => "denies",
    };
    let reason = match doubt.filter(|_| judged.is_downgraded) {
        Some(doubt) => format!("{doubt}, so no allow applies"),
        None => format!("a rule {verb} {} {target}", check.permission),
    };
    let source = match rule.origin.layer {
        RuleLayer::Default | RuleLayer::BuiltIn if rule.permission == "*" => DecisionSource::NoRule,
        RuleLayer::Default | RuleLayer::BuiltIn => DecisionSource::Program,
        RuleLayer::Global
        | RuleLayer::Project
        | RuleLayer::File
        | RuleLayer::Flag
        | RuleLayer::Own => match rule.action {
            PermissionAction::Ask => DecisionSource::WrittenAsk,
            PermissionAction::Allow | PermissionAction::Deny => DecisionSource::Written,
        },
    };
    DecisionReason {
        stored_source: Some(source),
        rule: rule.to_string(),
        origin: rule.origin.to_string(),
        reason,
    }
}

#[cfg(test)]
mod tests;
