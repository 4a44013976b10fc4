//! Token usage and cost as reported by the CLIs: in total, and per role for the card that ends a run.
//!
//! Costs are never estimated.

use crate::domain::run::RunState;
use crate::domain::turn::Role;
use crate::tui::labels;

/// Costs below one cent are not shown.
const MICRODOLLARS_PER_CENT: u64 = 10_000;

/// The usage of one role.
struct RoleUsage {
    role: Role,
    tokens: u64,
    cost: Option<u64>,
}

/// Returns the usage of each role that used any tokens.
fn usage_by_role(state: &RunState) -> Vec<RoleUsage> {
    let of = |role: Role| {
        let usage = &state.session(role)?.usage;
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        let cost = usage.cost_micro_usd;
        (tokens > 0).then_some(RoleUsage { role, tokens, cost })
    };
    [Role::Planner, Role::Reviewer]
        .into_iter()
        .filter_map(of)
        .collect()
}

/// Describes the tokens of each role and the total cost, below a label that says what they are.
pub fn describe_tokens(state: &RunState) -> Option<String> {
    let used = usage_by_role(state);
    let one = |used: &RoleUsage| {
        let tokens = labels::format_tokens(used.tokens);
        format!("{} {tokens}", used.role.name())
    };
    let counts = used.iter().map(one).collect::<Vec<String>>().join(" · ");
    (!used.is_empty()).then(|| format!("{counts}{}", format_cost(&used, " · ")))
}

/// Describes the tokens and the cost of all roles: `13k tokens · $0.40`; `None` before the first are reported.
pub fn describe_total_usage(state: &RunState) -> Option<String> {
    let used = usage_by_role(state);
    let tokens = used.iter().map(|used| used.tokens);
    let tokens = labels::format_tokens(tokens.fold(0, u64::saturating_add));
    (!used.is_empty()).then(|| format!("{tokens} tokens{}", format_cost(&used, " · ")))
}

/// Formats the total cost after `lead`; empty if no cost was reported or it is below one cent.
fn format_cost<'a>(used: impl IntoIterator<Item = &'a RoleUsage>, lead: &str) -> String {
    let costs = used.into_iter().filter_map(|used| used.cost);
    let cost = costs.reduce(u64::saturating_add);
    let cost = cost.filter(|micro| *micro >= MICRODOLLARS_PER_CENT);
    cost.map_or(String::new(), |micro| {
        format!("{lead}{}", labels::format_dollars(micro))
    })
}
