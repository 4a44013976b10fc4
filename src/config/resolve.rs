//! Settings turned into the plain [`Config`], with the checks that need more than one key.
//!
//! Refuses to know files and trust: what is not in force does not arrive here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::adapters::expand_home;
use super::agents;
use super::builtin;
use super::discuss;
use super::layers::{Held, Settings};
use super::problem::{Place, Problem};
use super::suggest::nearest;
use super::types::{
    AgentProfile, Config, Limits, Log, Motion, NotifyBy, Paths, Permission, ReviewerSession, Roles,
    Safety, ScreenSettings, Test, TestCommand, TestNetwork, Workflow,
};
use super::value::Value;

/// Builds the configuration, or tells everything that does not fit together.
pub fn resolve(settings: &Settings, home: &Path) -> Result<Config, Vec<Problem>> {
    let mut reader = Reader {
        settings,
        home,
        problems: Vec::new(),
    };
    let config = Config {
        adapters: reader.adapters(),
        roles: reader.roles(),
        workflow: reader.workflow(),
        safety: reader.safety(),
        paths: reader.paths(),
        test: reader.test(),
        limits: reader.limits(),
        permission: Permission {
            rules: settings.rules.clone(),
            restrictions: settings.restrictions.clone(),
        },
        agents: reader.agents(),
        discuss: reader.discuss(),
        screen: reader.screen(),
        keys: settings.keys(),
        themes: settings.themes(),
        log: reader.log(),
    };
    let adapters = reader.names("adapters.");
    let mut problems = reader.problems;
    problems.extend(check_roles(settings, &adapters));
    problems.extend(check_names(settings, &config.paths));
    problems.extend(agents::check_presets(settings, &config));
    problems.extend(discuss::check_adapters(settings, &adapters));
    problems.sort();
    problems.dedup();
    if problems.is_empty() {
        Ok(config)
    } else {
        Err(problems)
    }
}

/// Reads settings by path; a missing one is a problem of the shipped configuration.
pub(super) struct Reader<'a> {
    pub(super) settings: &'a Settings,
    pub(super) home: &'a Path,
    pub(super) problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    fn roles(&mut self) -> Roles {
        let reviewer = self.text("roles.reviewer");
        Roles {
            planner: self.text("roles.planner"),
            reviewer: (reviewer != "none").then_some(reviewer),
        }
    }

    fn workflow(&mut self) -> Workflow {
        let session = self.text("workflow.reviewer_session");
        Workflow {
            max_iterations: self.count("workflow.max_iterations"),
            auto_approve: self.flag("workflow.auto_approve"),
            confirm_enter: self.flag("workflow.confirm_enter"),
            stall_limit: self.count("workflow.stall_limit"),
            reviewer_session: if session == "fresh" {
                ReviewerSession::Fresh
            } else {
                ReviewerSession::Resume
            },
        }
    }

    fn safety(&mut self) -> Safety {
        let (changes, problems) = builtin::changes(self.settings);
        self.problems.extend(problems);
        Safety {
            builtin: changes.into_iter().collect(),
            blocked_commands: self.texts("safety.blocked_commands"),
            require_confirm_for: self.texts("safety.require_confirm_for"),
            contain_agents: self.flag("safety.contain_agents"),
            contain_tests: self.flag("safety.contain_tests"),
        }
    }

    fn paths(&mut self) -> Paths {
        Paths {
            workdir: PathBuf::from(self.text("paths.workdir")),
            plan: self.text("paths.plan"),
            comments: self.text("paths.comments"),
            log: self.text("paths.log"),
            debug_log: self.text("paths.debug_log"),
            debug_log_max_bytes: self.size("paths.debug_log_max_size"),
        }
    }

    fn test(&mut self) -> Test {
        let line = self.text("test.default_command");
        Test {
            command: if line == "auto" {
                TestCommand::Detect
            } else {
                TestCommand::Line(line)
            },
            fallback_to_agent: self.flag("test.fallback_to_agent"),
            baseline: self.flag("test.baseline"),
            max_fix_turns: self.count("test.max_fix_turns"),
            timeout: self.time("test.timeout"),
            network: match self.text("test.network").as_str() {
                "host" => TestNetwork::Host,
                "loopback" => TestNetwork::Loopback,
                _ => TestNetwork::Ask,
            },
            sockets: self
                .texts("test.sockets")
                .into_iter()
                .map(|path| PathBuf::from(expand_home(&path, self.home)))
                .collect(),
        }
    }

    fn limits(&mut self) -> Limits {
        Limits {
            max_children: self.count("limits.max_children"),
            tasks_per_call: self.count("limits.tasks_per_call"),
            per_adapter: self.count("limits.per_adapter"),
            task_timeout: self.time("limits.task_timeout"),
            task_retries: self.count("limits.task_retries"),
            turn_timeout: self.time("limits.turn_timeout"),
            silence: self.time("limits.silence"),
            tool_patience: self.time("limits.tool_patience"),
            drain: self.time("limits.drain"),
            keep_sessions_days: self.count("limits.keep_sessions_days"),
        }
    }

    fn screen(&mut self) -> ScreenSettings {
        let notify = self.text("screen.notify");
        ScreenSettings {
            theme: self.text("screen.theme"),
            mouse: self.flag("screen.mouse"),
            motion: match self.text("screen.motion").as_str() {
                "reduced" => Motion::Reduced,
                _ => Motion::Full,
            },
            notify: match notify.as_str() {
                "message" => NotifyBy::Message,
                "osc9" => NotifyBy::Osc9,
                "osc777" => NotifyBy::Osc777,
                "off" => NotifyBy::Off,
                _ => NotifyBy::Bell,
            },
        }
    }

    fn log(&mut self) -> Log {
        Log {
            level: self.text("log.level"),
            file: self.flag("log.file"),
            json_file: self
                .text_at("log.json_file")
                .map(|path| PathBuf::from(expand_home(&path, self.home))),
            console: self.flag("log.console"),
            metadata: self.flag("log.metadata"),
            log_prompts: self.flag("log.log_prompts"),
        }
    }

    fn agents(&self) -> BTreeMap<String, AgentProfile> {
        let profile = |name: &String| {
            let at = |key: &str| format!("agents.{name}.{key}");
            AgentProfile {
                mode: self.text_at(&at("mode")),
                hidden: matches!(self.value(&at("hidden")), Some(Value::Flag(true))),
                description: self.text_at(&at("description")),
                prompt: self.text_at(&at("prompt")),
                rules: agents::rules(|key| self.held(&at(key))),
                adapter: self.text_at(&at("adapter")),
                model: self.text_at(&at("model")),
            }
        };
        self.names("agents.")
            .iter()
            .map(|name| (name.clone(), profile(name)))
            .collect()
    }

    /// Lists the chosen names below a table, such as all `x` of `adapters.x.kind`.
    pub(super) fn names(&self, table: &str) -> BTreeSet<String> {
        let paths = self.settings.values.keys().chain(&self.settings.broken);
        let rest = paths.filter_map(|path| path.strip_prefix(table));
        rest.filter_map(|rest| rest.split('.').next())
            .map(str::to_owned)
            .collect()
    }

    pub(super) fn held(&self, path: &str) -> Option<&'a Held> {
        self.settings.values.get(path)
    }

    pub(super) fn value(&self, path: &str) -> Option<&'a Value> {
        self.held(path).map(|held| &held.value)
    }

    pub(super) fn text_at(&self, path: &str) -> Option<String> {
        match self.value(path) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }

    pub(super) fn text(&mut self, path: &str) -> String {
        self.text_at(path).unwrap_or_else(|| self.missing(path))
    }

    fn texts(&mut self, path: &str) -> Vec<String> {
        match self.value(path) {
            Some(Value::Texts(texts)) => texts.clone(),
            _ => self.missing(path),
        }
    }

    fn flag(&mut self, path: &str) -> bool {
        match self.value(path) {
            Some(Value::Flag(flag)) => *flag,
            _ => self.missing(path),
        }
    }

    pub(super) fn number(&mut self, path: &str) -> u64 {
        match self.value(path) {
            Some(Value::Number(number)) => *number,
            _ => self.missing(path),
        }
    }

    fn count(&mut self, path: &str) -> u32 {
        u32::try_from(self.number(path)).unwrap_or(u32::MAX)
    }

    fn size(&mut self, path: &str) -> u64 {
        match self.value(path) {
            Some(Value::Size(bytes)) => *bytes,
            _ => self.missing(path),
        }
    }

    fn time(&mut self, path: &str) -> Duration {
        match self.value(path) {
            Some(Value::Time(time)) => *time,
            _ => self.missing(path),
        }
    }

    fn missing<T: Default>(&mut self, path: &str) -> T {
        self.problems.push(Problem {
            place: Place::File(PathBuf::from("the shipped config.toml")),
            what: format!("lacks `{path}`"),
            text: String::new(),
            hint: "this is a defect of agent-collab; please report it".to_owned(),
        });
        T::default()
    }
}

/// Every adapter that is named must be there.
fn check_roles(settings: &Settings, adapters: &BTreeSet<String>) -> Vec<Problem> {
    let known: Vec<&str> = adapters.iter().map(String::as_str).collect();
    let mut problems = Vec::new();
    for (path, held) in &settings.values {
        let names_adapter = path.starts_with("roles.")
            || (path.starts_with("agents.") && path.ends_with(".adapter"));
        let Value::Text(name) = &held.value else {
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
                let near = nearest(name, &known)
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
        problems.push(Problem {
            place: held.place.clone(),
            what,
            text: String::new(),
            hint,
        });
    }
    problems
}

/// No two files of the work directory may have one name.
fn check_names(settings: &Settings, paths: &Paths) -> Vec<Problem> {
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
        problems.push(Problem {
            place: place.map_or_else(
                || Place::File(PathBuf::from("config.toml")),
                |held| held.place.clone(),
            ),
            what: format!("`{other}` and `{path}` both name the file \"{name}\""),
            text: String::new(),
            hint: "give each its own name".to_owned(),
        });
    }
    problems
}
