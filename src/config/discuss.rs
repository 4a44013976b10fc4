//! `[discuss]` with its budget and presets, turned into plain fields.
//!
//! Refuses to lay a preset over the defaults: whoever begins a discussion does, with what was said there.

use std::collections::BTreeSet;
use std::time::Duration;

use super::layers::Settings;
use super::problem::Problem;
use super::resolve::Reader;
use super::suggest::nearest;
use super::types::{AdapterBudget, Budget, Discuss, DiscussPreset};
use super::value::Value;

/// Where what is other for an adapter's participants stands.
const OF_ADAPTERS: &str = "discuss.budget.adapter.";

impl Reader<'_> {
    pub(super) fn discuss(&mut self) -> Discuss {
        let presets = self.names("discuss.preset.");
        let preset = |name: &String| {
            let table = format!("discuss.preset.{name}");
            (name.clone(), self.discuss_preset(&table))
        };
        Discuss {
            defaults: self.discuss_preset("discuss"),
            presets: presets.iter().map(preset).collect(),
            budget: self.budget(),
        }
    }

    fn budget(&mut self) -> Budget {
        let of_adapter = |name: String| {
            let tokens = |key: &str| self.number_at(&format!("{OF_ADAPTERS}{name}.{key}"));
            let other = AdapterBudget {
                input_tokens: tokens("input_tokens"),
                chars_per_token: tokens("chars_per_token"),
            };
            (name, other)
        };
        Budget {
            adapters: self
                .names(OF_ADAPTERS)
                .into_iter()
                .map(of_adapter)
                .collect(),
            profile: self.text("discuss.budget.profile"),
            input_tokens: self.number("discuss.budget.input_tokens"),
            min_output_tokens: self.number("discuss.budget.min_output_tokens"),
            reasoning_headroom_tokens: self.number("discuss.budget.reasoning_headroom_tokens"),
            chars_per_token: self.number("discuss.budget.chars_per_token"),
        }
    }

    fn discuss_preset(&self, table: &str) -> DiscussPreset {
        let path = |key: &str| format!("{table}.{key}");
        let count = |key: &str| {
            let number = self.number_at(&path(key))?;
            u32::try_from(number).ok()
        };
        DiscussPreset {
            agents: match self.value(&path("agents")) {
                Some(Value::Texts(agents)) => Some(agents.clone()),
                _ => None,
            },
            mode: self.text_at(&path("mode")),
            order: self.text_at(&path("order")),
            context: self.text_at(&path("context")),
            rounds: count("rounds"),
            stalemate_rounds: count("stalemate_rounds"),
            concurrency: count("concurrency"),
            timeout: self.time_at(&path("timeout")),
            deadline: self.time_at(&path("deadline")),
            max_retries: count("max_retries"),
            keep_sessions: match self.value(&path("keep_sessions")) {
                Some(Value::Flag(keep)) => Some(*keep),
                _ => None,
            },
        }
    }

    fn number_at(&self, path: &str) -> Option<u64> {
        match self.value(path) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    fn time_at(&self, path: &str) -> Option<Duration> {
        match self.value(path) {
            Some(Value::Time(time)) => Some(*time),
            _ => None,
        }
    }
}

/// Every adapter that has a budget of its own must be there.
pub(super) fn check_adapters(settings: &Settings, adapters: &BTreeSet<String>) -> Vec<Problem> {
    let known: Vec<&str> = adapters.iter().map(String::as_str).collect();
    let named = settings.values.iter().filter_map(|(path, held)| {
        let (name, _) = path.strip_prefix(OF_ADAPTERS)?.split_once('.')?;
        (!adapters.contains(name)).then_some((path, name, held))
    });
    let problem = |(path, name, held): (&String, &str, &super::layers::Held)| {
        let near = nearest(name, &known)
            .map(|near| format!("did you mean {near:?}? "))
            .unwrap_or_default();
        Problem {
            place: held.place.clone(),
            what: format!("`{path}` names the adapter {name:?}, which is not configured"),
            text: String::new(),
            hint: format!("{near}known adapters: {}", known.join(", ")),
        }
    };
    named.map(problem).collect()
}
