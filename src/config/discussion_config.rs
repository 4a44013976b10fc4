//! Turns `[discuss]` with its budget and presets into plain fields.
//!
//! A preset is not merged with the defaults here; that happens when a discussion starts, together with its arguments.

use std::collections::BTreeSet;
use std::time::Duration;

use super::config_layers::LayeredSettings;
use super::config_model::{
    AdapterBudgetConfig, DiscussionBudgetConfig, DiscussionConfig, DiscussionPreset,
};
use super::config_resolver::SettingsReader;
use super::diagnostic::ConfigProblem;
use super::key_suggestions::closest_match;
use super::value_check::ConfigValue;

/// The table with the budget values that differ for one adapter.
const ADAPTER_BUDGET_TABLE: &str = "discuss.budget.adapter.";

impl SettingsReader<'_> {
    pub(super) fn discussion(&mut self) -> DiscussionConfig {
        let presets = self.table_names("discuss.preset.");
        let preset = |name: &String| {
            let table = format!("discuss.preset.{name}");
            (name.clone(), self.discussion_preset(&table))
        };
        DiscussionConfig {
            defaults: self.discussion_preset("discuss"),
            presets: presets.iter().map(preset).collect(),
            budget: self.budget(),
        }
    }

    fn budget(&mut self) -> DiscussionBudgetConfig {
        let of_adapter = |name: String| {
            let tokens =
                |key: &str| self.optional_number(&format!("{ADAPTER_BUDGET_TABLE}{name}.{key}"));
            let other = AdapterBudgetConfig {
                input_tokens: tokens("input_tokens"),
                chars_per_token: tokens("chars_per_token"),
            };
            (name, other)
        };
        DiscussionBudgetConfig {
            adapters: self
                .table_names(ADAPTER_BUDGET_TABLE)
                .into_iter()
                .map(of_adapter)
                .collect(),
            profile: self.required_text("discuss.budget.profile"),
            input_tokens: self.required_number("discuss.budget.input_tokens"),
            min_output_tokens: self.required_number("discuss.budget.min_output_tokens"),
            reasoning_headroom_tokens: self
                .required_number("discuss.budget.reasoning_headroom_tokens"),
            chars_per_token: self.required_number("discuss.budget.chars_per_token"),
        }
    }

    fn discussion_preset(&self, table: &str) -> DiscussionPreset {
        let path = |key: &str| format!("{table}.{key}");
        let count = |key: &str| {
            let number = self.optional_number(&path(key))?;
            u32::try_from(number).ok()
        };
        DiscussionPreset {
            agents: match self.find_value(&path("agents")) {
                Some(ConfigValue::Texts(agents)) => Some(agents.clone()),
                _ => None,
            },
            mode: self.optional_text(&path("mode")),
            order: self.optional_text(&path("order")),
            context: self.optional_text(&path("context")),
            rounds: count("rounds"),
            stalemate_rounds: count("stalemate_rounds"),
            concurrency: count("concurrency"),
            timeout: self.optional_duration(&path("timeout")),
            deadline: self.optional_duration(&path("deadline")),
            max_retries: count("max_retries"),
            keep_sessions: match self.find_value(&path("keep_sessions")) {
                Some(ConfigValue::Flag(keep)) => Some(*keep),
                _ => None,
            },
        }
    }

    fn optional_number(&self, path: &str) -> Option<u64> {
        match self.find_value(path) {
            Some(ConfigValue::Number(number)) => Some(*number),
            _ => None,
        }
    }

    fn optional_duration(&self, path: &str) -> Option<Duration> {
        match self.find_value(path) {
            Some(ConfigValue::Duration(time)) => Some(*time),
            _ => None,
        }
    }
}

/// Checks that every adapter with its own budget exists.
pub(super) fn check_budget_adapters(
    settings: &LayeredSettings,
    adapters: &BTreeSet<String>,
) -> Vec<ConfigProblem> {
    let known: Vec<&str> = adapters.iter().map(String::as_str).collect();
    let named = settings.values.iter().filter_map(|(path, held)| {
        let (name, _) = path.strip_prefix(ADAPTER_BUDGET_TABLE)?.split_once('.')?;
        (!adapters.contains(name)).then_some((path, name, held))
    });
    let problem = |(path, name, held): (&String, &str, &super::config_layers::LayeredValue)| {
        let near = closest_match(name, &known)
            .map(|near| format!("did you mean {near:?}? "))
            .unwrap_or_default();
        ConfigProblem {
            place: held.place.clone(),
            what: format!("`{path}` names the adapter {name:?}, which is not configured"),
            text: String::new(),
            hint: format!("{near}known adapters: {}", known.join(", ")),
        }
    };
    named.map(problem).collect()
}
