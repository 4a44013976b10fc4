//! What the CLIs told of tokens and cost: of each role, or of both together where there is less room.
//!
//! Refuses to guess: a CLI that told no cost has none.

use crate::domain::run::RunState;
use crate::domain::turn::Role;
use crate::tui::words;

/// Less than a cent is not worth the room.
const CENT: u64 = 10_000;

/// What one role used.
struct Used {
    role: Role,
    tokens: u64,
    cost: Option<u64>,
}

/// What each role used that used anything.
fn by_roles(state: &RunState) -> Vec<Used> {
    let of = |role: Role| {
        let usage = &state.session(role)?.usage;
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        let cost = usage.cost_micro_usd;
        (tokens > 0).then_some(Used { role, tokens, cost })
    };
    [Role::Planner, Role::Reviewer]
        .into_iter()
        .filter_map(of)
        .collect()
}

/// The tokens of each role, and what all of it cost.
pub fn used_in_words(state: &RunState) -> Option<String> {
    let used = by_roles(state);
    (!used.is_empty()).then(|| together(&used))
}

/// The same in all forms, the longest first: with the cost of each role, with that of all, and nothing by role.
pub fn forms(state: &RunState) -> Vec<String> {
    let used = by_roles(state);
    match &used[..] {
        [] => Vec::new(),
        [_] => vec![together(&used)],
        _ => vec![each(&used), together(&used), in_all(&used)],
    }
}

fn each(used: &[Used]) -> String {
    let one = |used: &Used| {
        let (role, tokens) = (used.role.name(), words::tokens(used.tokens));
        format!("{role} {tokens} tokens{}", cost_of([used], " "))
    };
    used.iter().map(one).collect::<Vec<String>>().join(" · ")
}

fn together(used: &[Used]) -> String {
    let one = |used: &Used| format!("{} {}", used.role.name(), words::tokens(used.tokens));
    let counts = used.iter().map(one).collect::<Vec<String>>().join(", ");
    format!("{counts} tokens{}", cost_of(used, " · "))
}

fn in_all(used: &[Used]) -> String {
    let tokens = used.iter().map(|used| used.tokens);
    let tokens = words::tokens(tokens.fold(0, u64::saturating_add));
    format!("{tokens} tokens{}", cost_of(used, " · "))
}

/// What was told of a cost, with what stands before it; empty where nothing was.
fn cost_of<'a>(used: impl IntoIterator<Item = &'a Used>, lead: &str) -> String {
    let costs = used.into_iter().filter_map(|used| used.cost);
    let cost = costs.reduce(u64::saturating_add);
    let cost = cost.filter(|micro| *micro >= CENT);
    cost.map_or(String::new(), |micro| {
        format!("{lead}{}", words::dollars(micro))
    })
}
