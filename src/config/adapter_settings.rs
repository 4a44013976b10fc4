//! Checks `[adapters.<name>]` and completes what is started: the program and its arguments.
//!
//! It does not check whether the program exists; the probe does that, together with the version.

use strum::VariantNames;
use toml::{Table, Value};

use super::config_layers::{ConfigSetting, LayeredSettings};
use super::diagnostic::ConfigProblem;
use crate::domain::adapter_kind::AdapterKind;

/// Gives every adapter its `program` and `args`. Removes an adapter that cannot be completed, and reports why unless
/// one of its keys is reported already.
pub(super) fn complete_adapters(
    settings: &LayeredSettings,
    adapters: &mut Table,
) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    adapters.retain(|name, adapter| {
        let table = format!("adapters.{name}.");
        let is_broken = settings.broken.iter().any(|path| path.starts_with(&table));
        let Some(adapter) = adapter.as_table_mut().filter(|_| !is_broken) else {
            return false;
        };
        let completed = complete_adapter(settings, name, adapter);
        completed.map_err(|problem| problems.push(problem)).is_ok()
    });
    problems
}

/// Uses `program` with `args`, or `command`: the one from the later layer counts, so that a user's `command` replaces
/// the shipped `program`.
fn complete_adapter(
    settings: &LayeredSettings,
    name: &str,
    adapter: &mut Table,
) -> Result<(), ConfigProblem> {
    let at = |key: &str| settings.values.get(&format!("adapters.{name}.{key}"));
    let problem = |held: &ConfigSetting, what: &str, hint: &str| {
        let what = format!("[adapters.{name}] {what}");
        Err(ConfigProblem::new(held.place.clone(), what, hint))
    };
    // A problem of the whole adapter is at the first of its keys.
    let held = adapter.keys().filter_map(|key| at(key));
    let Some(first) = held.min_by_key(|held| &held.place) else {
        return Ok(());
    };
    let kind = at("kind").and_then(|held| held.value.as_str());
    let Some(kind) = kind.and_then(|kind| kind.parse::<AdapterKind>().ok()) else {
        return problem(first, "has no `kind`", &kind_hint());
    };
    match (at("program"), at("command")) {
        (Some(program), Some(command)) if program.layer == command.layer => {
            let hint = "keep one of them; `command` includes the program and its arguments";
            problem(command, "has both `program` and `command`", hint)
        }
        (program, Some(command)) if program.is_none_or(|held| held.layer < command.layer) => {
            if let Some(args) = at("args").filter(|args| args.layer >= command.layer) {
                let hint = "move the arguments into `command`, or replace `command` by `program`";
                return problem(args, "has both `args` and `command`", hint);
            }
            let words = command
                .value
                .as_array()
                .and_then(|words| words.split_first());
            if let Some((program, args)) = words {
                adapter.insert("program".to_owned(), program.clone());
                adapter.insert("args".to_owned(), Value::Array(args.to_vec()));
            }
            Ok(())
        }
        (None, _) => match kind.default_program() {
            None => {
                let hint = "add `command = [\"mytool\", \"--stdin\"]`";
                problem(first, "has no `program` or `command`", hint)
            }
            Some(program) => {
                adapter.insert("program".to_owned(), program.into());
                Ok(())
            }
        },
        (Some(_), _) => Ok(()),
    }
}

/// Formats a hint that names every kind.
fn kind_hint() -> String {
    let [first, others @ .., last] = AdapterKind::VARIANTS else {
        return String::new();
    };
    let others: String = others.iter().map(|kind| format!(", \"{kind}\"")).collect();
    format!("add `kind = \"{first}\"`{others} or \"{last}\"")
}
