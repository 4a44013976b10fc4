//! `agent-collab permissions explain`: shows every step of one decision, with every rule that matched.
//!
//! Runs nothing; resolves paths on the disk as for an agent's call.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use strum::VariantNames;

use crate::app::startup::StartError;
use crate::cli::ConfigFlagArguments;
use crate::cli::agents::unknown_agent_error;
use crate::cli::cli_context::CliContext;
use crate::config::diagnostic::escape_control_chars;
use crate::config::effective_permissions::{AllowAuthority, EffectivePermissions};
use crate::domain::phase::Phase;
use crate::engine::call_paths::resolve_call_paths;
use crate::engine::read_target_resolver::with_read_paths;
use crate::engine::stored_run::load_partial_run;
use crate::permission::permission_mode::MODES;
use crate::permission::rule_explanation::{RuleRelevance, TargetExplanation};
use crate::permission::rule_lint::unknown_tool_message;
use crate::permission::tool_names::{self, TargetKind};
use crate::permission::{
    AgentToolCall, ApprovalScope, Decision, DecisionContext, DecisionSource, Mode, PhaseAccess,
    SandboxReach, StoredApproval, decide_call, rule_explanation,
};
use crate::store::approval_store::{ApprovalRecord, ApprovalStore};

/// Arguments of `agent-collab permissions explain`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  agent-collab permissions explain bash 'cargo test && rm -rf target'\n  \
                  agent-collab permissions explain edit src/main.rs --phase REVIEW\n  \
                  agent-collab permissions explain webfetch https://example.org --agent explore"
)]
pub struct PermissionsExplainArguments {
    /// The tool: bash, edit, read, webfetch, task, … or the name of an MCP tool
    pub tool: String,
    /// What the tool would act on: a command, a path, a URL, a name
    pub target: String,
    /// The agent whose rules apply [default: the phase's agent]. (With codex, a read-only agent also runs
    /// commands that are proven to only read.)
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// The phase of the run
    #[arg(long, value_name = "PHASE", default_value = "EXECUTE")]
    pub phase: String,
    /// How much runs without asking: plan, default, auto-edit or yolo
    #[arg(long, value_name = "MODE", default_value = "default")]
    pub mode: String,
    /// Decide as if the kernel sandboxed the call
    #[arg(long)]
    pub contained: bool,
    /// Decide as if the command asked to run outside codex's sandbox
    #[arg(long, conflicts_with = "contained")]
    pub escalated: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// Runs the command.
///
/// # Errors
/// The configuration has problems, or the tool, agent, phase or mode does not exist.
pub async fn run(args: PermissionsExplainArguments) -> Result<u8, StartError> {
    if let Some((problem, hint)) = unknown_tool_message(&args.tool) {
        return Err(StartError {
            problem,
            hint,
            code: 2,
        });
    }
    let cwd = crate::cli::current_dir()?;
    let here = CliContext::load(&args.choices).await?;
    let call = build_call(&args, &cwd);
    let mut context = build_context(&args, &here, &cwd, &call)?;
    context.approvals = load_approvals(&here)?;
    context.safety_settings.home = Some(here.places.home);
    let context = with_read_paths(&call, context);
    let decision = decide_call(&call, &context);
    let text = if args.json {
        format!("{}\n", decision_to_json(&decision, &context, &call))
    } else {
        format_decision(&decision, &context, &call)
    };
    Ok(crate::cli::print_output(&text))
}

/// Loads the approvals for this project and for the current run.
fn load_approvals(here: &CliContext) -> Result<Vec<StoredApproval>, StartError> {
    let run = load_partial_run(&here.layout)?.map(|found| found.state.run);
    let stored = ApprovalStore::new(&here.places.approvals_dir(), &here.root).list()?;
    let serves = |stored: &ApprovalRecord| {
        stored.approved.scope == ApprovalScope::Project || Some(&stored.run) == run.as_ref()
    };
    let serving = stored.into_iter().filter(serves);
    Ok(serving.map(|stored| stored.approved).collect())
}

fn build_call(args: &PermissionsExplainArguments, cwd: &Path) -> AgentToolCall {
    let target = args.target.clone();
    let reach = match (args.escalated, args.contained) {
        (true, _) => SandboxReach::LeavesSandbox,
        (false, true) => SandboxReach::Contained,
        (false, false) => SandboxReach::Unconfined,
    };
    let paths = vec![PathBuf::from(&target)];
    match (
        tool_names::target_kind_for_tool(&args.tool),
        tool_names::permission_for_tool(&args.tool),
    ) {
        (TargetKind::Command, _) => AgentToolCall::Command {
            line: target,
            cwd: cwd.to_owned(),
            reach,
        },
        (TargetKind::Path, "edit") => AgentToolCall::Edit { paths, reach },
        (TargetKind::Path, "read") => AgentToolCall::Read {
            paths,
            search: None,
        },
        (TargetKind::Path | TargetKind::Text, _) => AgentToolCall::Tool {
            name: args.tool.clone(),
            input: json!({ "path": target }).to_string(),
        },
    }
}

fn build_context(
    args: &PermissionsExplainArguments,
    here: &CliContext,
    cwd: &Path,
    call: &AgentToolCall,
) -> Result<DecisionContext, StartError> {
    let usage = |problem: String, hint: String| StartError {
        problem,
        hint,
        code: 2,
    };
    let phase = parse_phase(&args.phase).ok_or_else(|| {
        usage(
            format!("no phase {:?}", args.phase),
            format!("known phases: {}", Phase::VARIANTS.join(", ")),
        )
    })?;
    let mode = Mode::from_name(&args.mode).ok_or_else(|| {
        usage(
            format!("no mode {:?}", args.mode),
            format!("known modes: {}", MODES.map(Mode::name).join(", ")),
        )
    })?;
    let of_phase = match phase {
        Phase::Execute => "build",
        Phase::Review => "review",
        Phase::Init
        | Phase::RefineGoal
        | Phase::WritePlan
        | Phase::Respond
        | Phase::Approved
        | Phase::Done
        | Phase::Cancelled => "plan",
    };
    let agent = args.agent.as_deref().unwrap_or(of_phase);
    let permissions =
        EffectivePermissions::from_config(&here.loaded.config, AllowAuthority::Everybody);
    permissions
        .profiles
        .find_by_name(agent)
        .map_err(unknown_agent_error)?;
    let phase_access = match phase {
        Phase::Execute => PhaseAccess::Execute,
        _ => PhaseAccess::BeforeExecute,
    };
    Ok(DecisionContext {
        paths: resolve_call_paths(cwd, call),
        program_folders: vec![here.layout.workdir().to_path_buf()],
        mode,
        ..permissions.decision_context(agent, phase_access, &here.root)
    })
}

fn parse_phase(name: &str) -> Option<Phase> {
    let wanted = name.to_uppercase().replace(['-', ' '], "_");
    wanted.parse().ok()
}

fn format_decision(decision: &Decision, context: &DecisionContext, call: &AgentToolCall) -> String {
    let mut out = format!(
        "{}: {} ({})\n  {}\n\nagent {}, mode {}\n\n",
        decision.action.name(),
        escape_control_chars(&decision.reason.rule),
        escape_control_chars(&decision.reason.origin),
        escape_control_chars(&decision.reason.reason),
        context.profile,
        context.mode.name(),
    );
    for link in &decision.steps {
        let says = link.says.map_or("", |action| action.name());
        out.push_str(&format!(
            "{:<24} {says:<6} {}\n",
            link.step,
            escape_control_chars(&link.told)
        ));
    }
    for looked in rule_explanation::explain_rules(call, context) {
        out.push_str(&format_rules(&looked, decision.reason.source()));
    }
    out
}

/// Formats the rules that match one target, with the deciding one marked and what overrides it.
fn format_rules(looked: &TargetExplanation<'_>, by: DecisionSource) -> String {
    let then = match by {
        DecisionSource::Floor(_) => "; a hard limit overrides it",
        DecisionSource::Approval => "; you approved what it asks",
        DecisionSource::Mode => "; the mode does not ask",
        DecisionSource::NoRule
        | DecisionSource::Program
        | DecisionSource::WrittenAsk
        | DecisionSource::Written => "",
    };
    let mut out = format!(
        "\nrules for {} {:?}, the marked one decides{then}\n",
        looked.permission, looked.target
    );
    for rule in &looked.rules {
        let is_counting = looked
            .deciding_rule
            .is_some_and(|counts| std::ptr::eq(counts, *rule));
        out.push_str(&format!(
            "{} {:<40} {}\n",
            if is_counting { ">" } else { " " },
            escape_control_chars(&rule.to_string()),
            escape_control_chars(&rule.origin.to_string())
        ));
    }
    if looked.deciding_rule.is_none() {
        out.push_str(match looked.relevance {
            RuleRelevance::Required => "> none: asks you\n",
            RuleRelevance::WrittenOnly => "> none: as if the target were not named\n",
            RuleRelevance::DenyOnly => "> none: only a deny would apply\n",
        });
    }
    out
}

fn decision_to_json(
    decision: &Decision,
    context: &DecisionContext,
    call: &AgentToolCall,
) -> serde_json::Value {
    let rules: Vec<serde_json::Value> = rule_explanation::explain_rules(call, context)
        .iter()
        .map(|looked| {
            let rules: Vec<serde_json::Value> = looked
                .rules
                .iter()
                .map(|rule| json!({ "rule": rule.to_string(), "origin": rule.origin.to_string() }))
                .collect();
            let counts = looked.deciding_rule.map(ToString::to_string);
            json!({ "permission": looked.permission, "target": looked.target, "matching": rules, "counts": counts })
        })
        .collect();
    json!({
        "decision": decision.action,
        "rule": decision.reason.rule,
        "origin": decision.reason.origin,
        "reason": decision.reason.reason,
        "agent": context.profile,
        "mode": context.mode,
        "chain": decision.steps,
        "rules": rules,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::permission::rule::{Rule, RuleLayer, RuleOrigin};
    use crate::permission::{ApprovalMatcher, PermissionAction, ProfileDefinition, RuleSet};

    fn build_context(agent: &str, written: &[(&str, PermissionAction)]) -> DecisionContext {
        let rule = |(pattern, action): &(&str, PermissionAction)| {
            let origin = RuleOrigin {
                layer: RuleLayer::Global,
                place: "config.toml:7".to_owned(),
            };
            Rule::new("bash", pattern, *action, origin)
        };
        let written: Vec<Rule> = written.iter().map(rule).collect();
        let profile = ProfileDefinition::built_in(agent).unwrap();
        DecisionContext {
            profile: agent.to_owned(),
            rules: Arc::new(RuleSet::from_layers(&profile, &written, &[])),
            ..DecisionContext::new(PhaseAccess::Execute, PathBuf::from("/repo"))
        }
    }

    /// The first line, and the marked lines.
    fn check(context: &DecisionContext, line: &str, expected: &[&str]) {
        let call = AgentToolCall::Command {
            line: line.to_owned(),
            cwd: PathBuf::from("/repo"),
            reach: SandboxReach::Unconfined,
        };
        let told = format_decision(&decide_call(&call, context), context, &call);
        let first = told.lines().take(1);
        let found: Vec<String> = first
            .chain(told.lines().filter(|line| line.starts_with('>')))
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(found, expected, "{told}");
    }

    #[test]
    fn the_marked_rule_is_the_one_that_decided() {
        let allow = [("make *", PermissionAction::Allow)];
        check(
            &build_context("build", &allow),
            "make",
            &[
                "allow: bash \"make *\" allow (config.toml:7)",
                "> bash \"make *\" allow config.toml:7",
            ],
        );
        check(
            &build_context("explore", &allow),
            "make",
            &[
                "deny: * \"*\" deny (the built-in profile explore)",
                "> * \"*\" deny the built-in profile explore",
            ],
        );
        check(
            &build_context("plan", &[]),
            "ls",
            &[
                "allow: bash \"*\" allow if it only reads (the built-in profile plan)",
                "> bash \"*\" allow if it only reads the built-in profile plan",
            ],
        );
    }

    #[test]
    fn what_was_approved_is_said_to_be_allowed() {
        let approved = StoredApproval {
            profile: "build".to_owned(),
            permission: "bash".to_owned(),
            what: ApprovalMatcher::Pattern("make *".to_owned()),
            scope: ApprovalScope::Project,
        };
        let context = DecisionContext {
            approvals: vec![approved],
            ..build_context("build", &[])
        };
        check(
            &context,
            "make",
            &[
                "allow: bash \"make *\" (approved for this project)",
                "> * \"*\" ask the built-in profile build",
            ],
        );
    }
}
