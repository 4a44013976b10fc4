//! Previews a discussion: settings, participants and budgets, from the request and the configuration.
//!
//! Does not start anything.

use serde_json::{Map, Value, json};

use super::discussion_planner::{DiscussionPlan, DiscussionPlanner};
use crate::config::AppConfig;
use crate::domain::discussion::{ContextBudget, DiscussionSettings};
use crate::engine::discussion_runner::discussion_planner::build_planner;
use crate::engine::run_context::RunContext;
use crate::mcp::tools::group_discuss::PLACEHOLDER_TOPIC;
use crate::text::pluralize;

/// The preview of a discussion, as one JSON object.
#[derive(Debug, Clone, PartialEq)]
pub struct DiscussionPreview(pub Value);

/// Previews a planned discussion.
pub(in crate::engine) fn preview_discussion(
    run: &RunContext,
    planned: &DiscussionPlan,
) -> DiscussionPreview {
    build_discussion_preview(&build_planner(run), planned)
}

/// Builds the preview of a planned discussion.
pub fn build_discussion_preview(
    means: &DiscussionPlanner<'_>,
    planned: &DiscussionPlan,
) -> DiscussionPreview {
    let order = &planned.order;
    let budgets: Map<String, Value> = order
        .participants
        .iter()
        .map(|each| {
            let budget = order.terms.budget_for_adapter(&each.adapter);
            (each.adapter.clone(), budget_to_json(&budget))
        })
        .collect();
    let chars = |text: &str| text.chars().count();
    DiscussionPreview(json!({
        "terms": order.terms,
        "participants": order.participants,
        "budgets": budgets,
        "given": {
            "topic_chars": Some(&order.topic).filter(|topic| *topic != PLACEHOLDER_TOPIC).map(|topic| chars(topic)),
            "context_chars": chars(&order.context),
            "files": planned
                .attachments
                .iter()
                .map(|source| json!({ "path": source.name, "chars": chars(&source.text) }))
                .collect::<Vec<_>>(),
            "cut": planned.describe_truncation(),
        },
        "presets": means.config.discuss.presets.keys().collect::<Vec<_>>(),
    }))
}

/// Returns what follows from the budgets of a configuration, for each adapter.
pub(in crate::engine) fn preview_budgets(config: &AppConfig) -> Value {
    let terms = config.discuss.default_settings();
    let of = |name: &String| {
        (
            name.clone(),
            budget_to_json(&terms.budget_for_adapter(name)),
        )
    };
    Value::Object(config.adapters.keys().map(of).collect())
}

fn budget_to_json(budget: &ContextBudget) -> Value {
    json!(budget)
}

impl DiscussionPreview {
    /// Describes the preview for people.
    pub fn describe(&self) -> String {
        let told = &self.0;
        let terms = &told["terms"];
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let minutes = |value: &Value| {
            let seconds = value.as_u64().unwrap_or(0) / 1000;
            match seconds {
                0..120 => format!("{seconds} s"),
                _ => format!("{} min", seconds / 60),
            }
        };
        let rounds = DiscussionSettings {
            mode: word(&terms["mode"]).parse().unwrap_or_default(),
            rounds: u32::try_from(terms["rounds"].as_u64().unwrap_or(0)).unwrap_or(u32::MAX),
            ..DiscussionSettings::default()
        };
        let rounds = usize::try_from(rounds.max_rounds()).unwrap_or(usize::MAX);
        let mut lines = vec![format!(
            "{}, {}: at most {}, {} at a time, {} per answer, {} in total",
            word(&terms["mode"]),
            word(&terms["order"]),
            pluralize(rounds, "round"),
            terms["concurrency"],
            minutes(&terms["timeout_ms"]),
            minutes(&terms["deadline_ms"]),
        )];
        for each in told["participants"].as_array().into_iter().flatten() {
            let (name, agent) = (word(&each["name"]), word(&each["agent"]));
            lines.push(format!("- {name}: {agent} on {}", word(&each["adapter"])));
        }
        lines.extend(budget_lines(&told["budgets"]));
        let given = &told["given"];
        let sizes = [("topic", "topic_chars"), ("context", "context_chars")];
        let sizes = sizes.map(|(name, key)| (name, given[key].as_u64().unwrap_or(0)));
        let sizes = sizes.into_iter().filter(|(_, n_chars)| *n_chars > 0);
        let sizes: Vec<String> = sizes.map(|(name, n)| format!("{name} {n}")).collect();
        if !sizes.is_empty() {
            lines.push(format!("given: {} characters", sizes.join(", ")));
        }
        lines.extend(given["cut"].as_str().map(str::to_owned));
        for file in given["files"].as_array().into_iter().flatten() {
            lines.push(format!(
                "- {}: {} characters",
                word(&file["path"]),
                file["chars"]
            ));
        }
        let presets = told["presets"].as_array().into_iter().flatten();
        let presets: Vec<&str> = presets.filter_map(Value::as_str).collect();
        if !presets.is_empty() {
            lines.push(format!("presets: {}", presets.join(", ")));
        }
        lines.join("\n")
    }
}

/// Describes the budgets of adapters; equal ones once.
fn budget_lines(budgets: &Value) -> Vec<String> {
    let mut lines: Vec<(String, String)> = Vec::new();
    for (adapter, budget) in budgets.as_object().into_iter().flatten() {
        let text = describe_budget(budget);
        match lines.iter_mut().find(|(_, known)| *known == text) {
            Some((names, _)) => names.push_str(&format!(", {adapter}")),
            None => lines.push((adapter.clone(), text)),
        }
    }
    let lines = lines.into_iter();
    lines
        .map(|(names, text)| format!("{names}: {text}"))
        .collect()
}

/// Describes a budget in one line.
pub(in crate::engine) fn describe_budget(budget: &Value) -> String {
    format!(
        "a prompt has room for {} characters, {} per message; earlier rounds are summarized from {}",
        budget["context_chars"], budget["message_chars"], budget["compact_at_chars"]
    )
}
