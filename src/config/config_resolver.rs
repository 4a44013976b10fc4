//! Reads the effective settings into the plain [`AppConfig`], with the checks that need more than one key.
//!
//! It sees only effective settings; files and trust are handled before.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::adapter_settings;
use super::agent_profiles;
use super::builtin_rule_overrides;
use super::config_key::ValueKind;
use super::config_layers::LayeredSettings;
use super::config_model::{
    AppConfig, PathsConfig, PermissionConfig, TestCommandChoice, TestConfig,
};
use super::defaults;
use super::diagnostic::{ConfigLocation, ConfigProblem};
use super::word_similarity::suggest_name;

/// The table with the budget values that differ for one adapter.
const ADAPTER_BUDGET_TABLE: &str = "discuss.budget.adapter.";

/// Builds the configuration, or reports everything that does not fit together.
pub(super) fn resolve_config(
    settings: &LayeredSettings,
    home: &Path,
) -> Result<AppConfig, Vec<ConfigProblem>> {
    let mut table = settings.to_table();
    let mut problems = Vec::new();
    if let Some(Value::Table(adapters)) = table.get_mut("adapters") {
        problems = adapter_settings::complete_adapters(settings, adapters);
    }
    if let Some(Value::Table(discuss)) = table.get_mut("discuss") {
        complete_adapter_budgets(discuss);
    }
    // The settings are checked one by one, so only an incomplete shipped file can fail here.
    let mut config: AppConfig = table.try_into().map_err(|error: toml::de::Error| {
        let place = ConfigLocation::File(PathBuf::from(defaults::DEFAULTS_NAME));
        let hint = "this is a bug in agent-collab; please report it";
        vec![ConfigProblem::new(place, error.message().to_owned(), hint)]
    })?;
    config.roles.reviewer = config.roles.reviewer.filter(|name| name != "none");
    config.safety.builtin = builtin_rule_overrides::rule_overrides(settings, &mut problems);
    config.permission = PermissionConfig {
        rules: settings.rules.clone(),
        restrictions: settings.restrictions.clone(),
    };
    // An agent with only wrong values exists too, so that what names it is not reported as well.
    for name in settings.table_names("agents") {
        let agent = config.agents.entry(name.to_owned()).or_default();
        agent.rules = agent_profiles::agent_rules(settings, name);
    }
    expand_home(&mut config, home);
    problems.extend(check_adapter_names(settings));
    problems.extend(check_file_names(settings, &config.paths));
    problems.extend(check_test_commands(settings, &config.test));
    problems.extend(agent_profiles::check_preset_agents(settings, &config));
    problems.sort();
    problems.dedup();
    if problems.is_empty() {
        Ok(config)
    } else {
        Err(problems)
    }
}

/// Completes the budgets of adapters from the general one.
fn complete_adapter_budgets(discuss: &mut Table) {
    let Some(Value::Table(budget)) = discuss.get_mut("budget") else {
        return;
    };
    let Some(Value::Table(adapters)) = budget.remove("adapter") else {
        return;
    };
    let complete = |(name, own): (String, Value)| {
        let mut all = budget.clone();
        all.extend(own.as_table().cloned().unwrap_or_default());
        (name, Value::Table(all))
    };
    let completed: Table = adapters.into_iter().map(complete).collect();
    discuss.insert("adapter_budgets".to_owned(), completed.into());
}

/// Replaces `~/` in paths by the user's home.
fn expand_home(config: &mut AppConfig, home: &Path) {
    let expand = |path: &mut PathBuf| {
        if let Ok(rest) = path.strip_prefix("~")
            && path.as_path() != Path::new("~")
        {
            *path = home.join(rest);
        }
    };
    config.test.sockets.iter_mut().for_each(expand);
    config.log.json_file.iter_mut().for_each(expand);
    for adapter in config.adapters.values_mut() {
        adapter.writable.iter_mut().for_each(expand);
        if let Some(rest) = adapter.program.strip_prefix("~/") {
            adapter.program = home.join(rest).to_string_lossy().into_owned();
        }
    }
}

/// Checks that every adapter that is named somewhere exists.
fn check_adapter_names(settings: &LayeredSettings) -> Vec<ConfigProblem> {
    let known: Vec<&str> = settings.table_names("adapters").into_iter().collect();
    let mut problems = Vec::new();
    for (path, held) in &settings.values {
        let (name, may_be_none) = match held.key.kind {
            ValueKind::Adapter => (held.value.as_str(), false),
            ValueKind::AdapterOrNone => (held.value.as_str(), true),
            _ => {
                let rest = path.strip_prefix(ADAPTER_BUDGET_TABLE);
                (rest.and_then(|rest| rest.split('.').next()), false)
            }
        };
        let Some(name) = name.filter(|name| !known.contains(name)) else {
            continue;
        };
        let known_adapters = format!("known adapters: {}", known.join(", "));
        let (what, hint) = match name {
            "none" if may_be_none => continue,
            "none" => (format!("`{path}` cannot be \"none\""), known_adapters),
            _ => (
                format!("`{path}` names the adapter \"{name}\", which is not configured"),
                format!(
                    "{}{known_adapters}; add [adapters.{name}] for another",
                    suggest_name(name, &known)
                ),
            ),
        };
        problems.push(ConfigProblem::new(held.place.clone(), what, hint));
    }
    problems
}

/// Checks that either one test command is set or several.
fn check_test_commands(settings: &LayeredSettings, test: &TestConfig) -> Option<ConfigProblem> {
    if test.commands.is_empty() || test.command == TestCommandChoice::Detect {
        return None;
    }
    let places = ["test.default_command", "test.command"].map(|path| settings.values.get(path));
    let last = places.into_iter().flatten().max_by_key(|held| held.layer)?;
    Some(ConfigProblem::new(
        last.place.clone(),
        "`test.default_command` and `[[test.command]]` are both set".to_owned(),
        "keep one of them: remove `[[test.command]]`, or set `test.default_command = \"auto\"`",
    ))
}

/// Checks that no two files of the work directory have the same name.
fn check_file_names(settings: &LayeredSettings, paths: &PathsConfig) -> Vec<ConfigProblem> {
    let named = [
        ("paths.plan", &paths.plan),
        ("paths.comments", &paths.comments),
        ("paths.log", &paths.log),
        ("paths.debug_log", &paths.debug_log),
    ];
    let mut problems = Vec::new();
    for (index, (path, name)) in named.iter().enumerate() {
        let Some((other, _)) = named[..index]
            .iter()
            .find(|(_, earlier)| earlier.eq_ignore_ascii_case(name))
        else {
            continue;
        };
        let places = [other, path].map(|path| settings.values.get(*path));
        if let Some(held) = places.into_iter().flatten().max_by_key(|held| held.layer) {
            problems.push(ConfigProblem::new(
                held.place.clone(),
                format!("`{other}` and `{path}` both name the file \"{name}\""),
                "give each its own name",
            ));
        }
    }
    problems
}
