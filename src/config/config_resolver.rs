//! Turns settings into the plain [`AppConfig`], with the checks that need more than one key.
//!
//! It sees only effective settings; files and trust are handled before.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::adapter_settings::expand_home;
use super::agent_profiles;
use super::builtin_rule_overrides;
use super::config_layers::{LayeredSettings, LayeredValue};
use super::config_model::{
    AgentConfig, AppConfig, ConfiguredTestNetwork, LimitsConfig, LogConfig, MotionLevel,
    PathsConfig, PermissionConfig, ReviewerSession, RolesConfig, SafetyConfig, ScreenConfig,
    TestCommandChoice, TestConfig, WorkflowConfig,
};
use super::diagnostic::{ConfigLocation, ConfigProblem};
use super::discussion_config;
use super::key_suggestions::closest_match;
use super::value_check::ConfigValue;

/// Builds the configuration, or reports everything that does not fit together.
pub fn resolve_config(
    settings: &LayeredSettings,
    home: &Path,
) -> Result<AppConfig, Vec<ConfigProblem>> {
    let mut reader = SettingsReader {
        settings,
        home,
        problems: Vec::new(),
    };
    let config = AppConfig {
        adapters: reader.adapters(),
        roles: reader.roles(),
        workflow: reader.workflow(),
        safety: reader.safety(),
        paths: reader.paths(),
        test: reader.test(),
        limits: reader.limits(),
        permission: PermissionConfig {
            rules: settings.rules.clone(),
            restrictions: settings.restrictions.clone(),
        },
        agents: reader.agents(),
        discuss: reader.discussion(),
        screen: reader.screen(),
        keys: settings.key_bindings(),
        themes: settings.themes(),
        log: reader.log(),
    };
    let adapters = reader.table_names("adapters.");
    let mut problems = reader.problems;
    problems.extend(check_adapter_names(settings, &adapters));
    problems.extend(check_file_names(settings, &config.paths));
    problems.extend(agent_profiles::check_preset_agents(settings, &config));
    problems.extend(discussion_config::check_budget_adapters(
        settings, &adapters,
    ));
    problems.sort();
    problems.dedup();
    if problems.is_empty() {
        Ok(config)
    } else {
        Err(problems)
    }
}

/// Reads settings by path; a missing one is a problem of the shipped configuration.
pub(super) struct SettingsReader<'a> {
    pub(super) settings: &'a LayeredSettings,
    pub(super) home: &'a Path,
    pub(super) problems: Vec<ConfigProblem>,
}

impl<'a> SettingsReader<'a> {
    fn roles(&mut self) -> RolesConfig {
        let reviewer = self.required_text("roles.reviewer");
        RolesConfig {
            planner: self.required_text("roles.planner"),
            reviewer: (reviewer != "none").then_some(reviewer),
        }
    }

    fn workflow(&mut self) -> WorkflowConfig {
        let session = self.required_text("workflow.reviewer_session");
        WorkflowConfig {
            max_iterations: self.required_count("workflow.max_iterations"),
            auto_approve: self.required_flag("workflow.auto_approve"),
            confirm_enter: self.required_flag("workflow.confirm_enter"),
            stall_limit: self.required_count("workflow.stall_limit"),
            reviewer_session: if session == "fresh" {
                ReviewerSession::Fresh
            } else {
                ReviewerSession::Resume
            },
        }
    }

    fn safety(&mut self) -> SafetyConfig {
        let (changes, problems) = builtin_rule_overrides::rule_overrides(self.settings);
        self.problems.extend(problems);
        SafetyConfig {
            builtin: changes.into_iter().collect(),
            blocked_commands: self.required_texts("safety.blocked_commands"),
            require_confirm_for: self.required_texts("safety.require_confirm_for"),
            contain_agents: self.required_flag("safety.contain_agents"),
            contain_tests: self.required_flag("safety.contain_tests"),
        }
    }

    fn paths(&mut self) -> PathsConfig {
        PathsConfig {
            workdir: PathBuf::from(self.required_text("paths.workdir")),
            plan: self.required_text("paths.plan"),
            comments: self.required_text("paths.comments"),
            log: self.required_text("paths.log"),
            debug_log: self.required_text("paths.debug_log"),
            debug_log_max_bytes: self.required_size("paths.debug_log_max_size"),
        }
    }

    fn test(&mut self) -> TestConfig {
        let line = self.required_text("test.default_command");
        TestConfig {
            command: if line == "auto" {
                TestCommandChoice::Detect
            } else {
                TestCommandChoice::Line(line)
            },
            fallback_to_agent: self.required_flag("test.fallback_to_agent"),
            baseline: self.required_flag("test.baseline"),
            max_fix_turns: self.required_count("test.max_fix_turns"),
            timeout: self.required_duration("test.timeout"),
            network: match self.required_text("test.network").as_str() {
                "host" => ConfiguredTestNetwork::Host,
                "loopback" => ConfiguredTestNetwork::Loopback,
                _ => ConfiguredTestNetwork::Ask,
            },
            sockets: self
                .required_texts("test.sockets")
                .into_iter()
                .map(|path| PathBuf::from(expand_home(&path, self.home)))
                .collect(),
        }
    }

    fn limits(&mut self) -> LimitsConfig {
        LimitsConfig {
            max_children: self.required_count("limits.max_children"),
            tasks_per_call: self.required_count("limits.tasks_per_call"),
            per_adapter: self.required_count("limits.per_adapter"),
            task_timeout: self.required_duration("limits.task_timeout"),
            task_retries: self.required_count("limits.task_retries"),
            turn_timeout: self.required_duration("limits.turn_timeout"),
            silence: self.required_duration("limits.silence"),
            tool_patience: self.required_duration("limits.tool_patience"),
            drain: self.required_duration("limits.drain"),
            keep_sessions_days: self.required_count("limits.keep_sessions_days"),
        }
    }

    fn screen(&mut self) -> ScreenConfig {
        let notify = self.required_text("screen.notify");
        ScreenConfig {
            theme: self.required_text("screen.theme"),
            mouse: self.required_flag("screen.mouse"),
            motion: match self.required_text("screen.motion").as_str() {
                "reduced" => MotionLevel::Reduced,
                _ => MotionLevel::Full,
            },
            notify: notify.parse().unwrap_or_default(),
        }
    }

    fn log(&mut self) -> LogConfig {
        LogConfig {
            level: self.required_text("log.level"),
            file: self.required_flag("log.file"),
            json_file: self
                .optional_text("log.json_file")
                .map(|path| PathBuf::from(expand_home(&path, self.home))),
            console: self.required_flag("log.console"),
            metadata: self.required_flag("log.metadata"),
            log_prompts: self.required_flag("log.log_prompts"),
        }
    }

    fn agents(&self) -> BTreeMap<String, AgentConfig> {
        let profile = |name: &String| {
            let at = |key: &str| format!("agents.{name}.{key}");
            AgentConfig {
                mode: self.optional_text(&at("mode")),
                hidden: matches!(
                    self.find_value(&at("hidden")),
                    Some(ConfigValue::Flag(true))
                ),
                description: self.optional_text(&at("description")),
                prompt: self.optional_text(&at("prompt")),
                rules: agent_profiles::agent_rules(|key| self.layered_value(&at(key))),
                adapter: self.optional_text(&at("adapter")),
                model: self.optional_text(&at("model")),
            }
        };
        self.table_names("agents.")
            .iter()
            .map(|name| (name.clone(), profile(name)))
            .collect()
    }

    /// Lists the chosen names below a table, such as all `x` of `adapters.x.kind`.
    pub(super) fn table_names(&self, table: &str) -> BTreeSet<String> {
        let paths = self.settings.values.keys().chain(&self.settings.broken);
        let rest = paths.filter_map(|path| path.strip_prefix(table));
        rest.filter_map(|rest| rest.split('.').next())
            .map(str::to_owned)
            .collect()
    }

    pub(super) fn layered_value(&self, path: &str) -> Option<&'a LayeredValue> {
        self.settings.values.get(path)
    }

    pub(super) fn find_value(&self, path: &str) -> Option<&'a ConfigValue> {
        self.layered_value(path).map(|held| &held.value)
    }

    pub(super) fn optional_text(&self, path: &str) -> Option<String> {
        match self.find_value(path) {
            Some(ConfigValue::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }

    pub(super) fn required_text(&mut self, path: &str) -> String {
        self.optional_text(path)
            .unwrap_or_else(|| self.report_missing(path))
    }

    fn required_texts(&mut self, path: &str) -> Vec<String> {
        match self.find_value(path) {
            Some(ConfigValue::Texts(texts)) => texts.clone(),
            _ => self.report_missing(path),
        }
    }

    fn required_flag(&mut self, path: &str) -> bool {
        match self.find_value(path) {
            Some(ConfigValue::Flag(flag)) => *flag,
            _ => self.report_missing(path),
        }
    }

    pub(super) fn required_number(&mut self, path: &str) -> u64 {
        match self.find_value(path) {
            Some(ConfigValue::Number(number)) => *number,
            _ => self.report_missing(path),
        }
    }

    fn required_count(&mut self, path: &str) -> u32 {
        u32::try_from(self.required_number(path)).unwrap_or(u32::MAX)
    }

    fn required_size(&mut self, path: &str) -> u64 {
        match self.find_value(path) {
            Some(ConfigValue::Size(bytes)) => *bytes,
            _ => self.report_missing(path),
        }
    }

    fn required_duration(&mut self, path: &str) -> Duration {
        match self.find_value(path) {
            Some(ConfigValue::Duration(time)) => *time,
            _ => self.report_missing(path),
        }
    }

    fn report_missing<T: Default>(&mut self, path: &str) -> T {
        self.problems.push(ConfigProblem {
            place: ConfigLocation::File(PathBuf::from("the default config.toml")),
            what: format!("has no `{path}`"),
            text: String::new(),
            hint: "this is a bug in agent-collab; please report it".to_owned(),
        });
        T::default()
    }
}

/// Checks that every adapter that is named somewhere exists.
fn check_adapter_names(
    settings: &LayeredSettings,
    adapters: &BTreeSet<String>,
) -> Vec<ConfigProblem> {
    let known: Vec<&str> = adapters.iter().map(String::as_str).collect();
    let mut problems = Vec::new();
    for (path, held) in &settings.values {
        let names_adapter = path.starts_with("roles.")
            || (path.starts_with("agents.") && path.ends_with(".adapter"));
        let ConfigValue::Text(name) = &held.value else {
            continue;
        };
        if !names_adapter
            || known.contains(&name.as_str())
            || (path == "roles.reviewer" && name == "none")
        {
            continue;
        }
        let (what, hint) = match name.as_str() {
            "none" => (
                format!("`{path}` cannot be \"none\""),
                format!("known adapters: {}", known.join(", ")),
            ),
            _ => {
                let near = closest_match(name, &known)
                    .map(|near| format!("did you mean \"{near}\"? "))
                    .unwrap_or_default();
                let hint = format!(
                    "{near}known adapters: {}; add [adapters.{name}] for another",
                    known.join(", ")
                );
                (
                    format!("`{path}` names the adapter \"{name}\", which is not configured"),
                    hint,
                )
            }
        };
        problems.push(ConfigProblem {
            place: held.place.clone(),
            what,
            text: String::new(),
            hint,
        });
    }
    problems
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
        let place = [other, path]
            .iter()
            .filter_map(|path| settings.values.get(**path))
            .max_by_key(|held| held.layer);
        problems.push(ConfigProblem {
            place: place.map_or_else(
                || ConfigLocation::File(PathBuf::from("config.toml")),
                |held| held.place.clone(),
            ),
            what: format!("`{other}` and `{path}` both name the file \"{name}\""),
            text: String::new(),
            hint: "give each its own name".to_owned(),
        });
    }
    problems
}
