//! Turns `[adapters.<name>]` into what is started: kind, program, arguments, environment.
//!
//! It does not check whether the program exists; the probe does that, together with the version.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::config_layers::LayeredValue;
use super::config_model::{AdapterConfig, AdapterKind};
use super::config_resolver::SettingsReader;
use super::diagnostic::{ConfigLocation, ConfigProblem};
use super::value_check::ConfigValue;

impl SettingsReader<'_> {
    pub(super) fn adapters(&mut self) -> BTreeMap<String, AdapterConfig> {
        let names = self.table_names("adapters.");
        names
            .into_iter()
            .filter_map(|name| self.adapter(&name).map(|adapter| (name, adapter)))
            .collect()
    }

    fn adapter(&mut self, name: &str) -> Option<AdapterConfig> {
        if self.is_broken(name) {
            return None;
        }
        let at = |key: &str| format!("adapters.{name}.{key}");
        let Some(kind) = self
            .optional_text(&at("kind"))
            .as_deref()
            .and_then(|kind| kind.parse().ok())
        else {
            let hint = "add `kind = \"codex\"`, \"claude\" or \"pipe\"";
            self.report_adapter_problem(name, format!("[adapters.{name}] has no `kind`"), hint);
            return None;
        };
        let (program, args) = self.program_and_args(name, kind)?;
        let env = match self.layered_value(&at("env")).map(|held| &held.value) {
            Some(ConfigValue::Environment(env)) => env.clone(),
            _ => BTreeMap::new(),
        };
        Some(AdapterConfig {
            kind,
            program: expand_home(&program, self.home),
            args,
            env,
            model: self.optional_text(&at("model")),
            writable: self
                .layered_value(&at("writable"))
                .map_or_else(Vec::new, |held| {
                    let named = text_list(held).into_iter();
                    let expanded = named.map(|path| expand_home(&path, self.home));
                    expanded.map(PathBuf::from).collect()
                }),
        })
    }

    /// Returns `program` with `args`, or `command`: the one from the later layer counts, so that a user's
    /// `command` replaces the shipped `program`.
    fn program_and_args(&mut self, name: &str, kind: AdapterKind) -> Option<(String, Vec<String>)> {
        let at = |key: &str| self.layered_value(&format!("adapters.{name}.{key}"));
        let (program, args, command) = (at("program"), at("args"), at("command"));
        match (program, command) {
            (Some(program), Some(command)) if program.layer == command.layer => {
                let hint = "keep one of them; `command` includes the program and its arguments";
                self.report_problem_at(
                    command,
                    format!("[adapters.{name}] has both `program` and `command`"),
                    hint,
                );
                None
            }
            (program, Some(command))
                if program.is_none_or(|program| program.layer < command.layer) =>
            {
                if let Some(args) = args.filter(|args| args.layer >= command.layer) {
                    let hint =
                        "move the arguments into `command`, or replace `command` by `program`";
                    self.report_problem_at(
                        args,
                        format!("[adapters.{name}] has both `args` and `command`"),
                        hint,
                    );
                }
                let words = text_list(command);
                words
                    .split_first()
                    .map(|(program, args)| (program.clone(), args.to_vec()))
            }
            (program, _) => {
                let program = program.and_then(|held| match &held.value {
                    ConfigValue::Text(program) => Some(program.clone()),
                    _ => None,
                });
                let own_program = (kind != AdapterKind::Pipe).then(|| kind.as_str().to_owned());
                let Some(program) = program.or(own_program) else {
                    let hint = "add `command = [\"mytool\", \"--stdin\"]`";
                    self.report_adapter_problem(
                        name,
                        format!("[adapters.{name}] has no `program` or `command`"),
                        hint,
                    );
                    return None;
                };
                Some((program, args.map(text_list).unwrap_or_default()))
            }
        }
    }

    /// Returns whether a problem of an adapter was already reported, so that its consequences are not.
    fn is_broken(&self, name: &str) -> bool {
        let table = format!("adapters.{name}.");
        self.settings
            .broken
            .iter()
            .any(|path| path.starts_with(&table))
    }

    /// Reports a problem of a whole adapter at the first of its keys.
    fn report_adapter_problem(&mut self, name: &str, what: String, hint: &str) {
        let table = format!("adapters.{name}.");
        let first = self
            .settings
            .values
            .iter()
            .filter(|(path, _)| path.starts_with(&table))
            .map(|(_, held)| &held.place)
            .min();
        let place = first
            .cloned()
            .unwrap_or_else(|| ConfigLocation::File(PathBuf::from("config.toml")));
        self.problems.push(ConfigProblem {
            place,
            what,
            text: String::new(),
            hint: hint.to_owned(),
        });
    }

    fn report_problem_at(&mut self, held: &LayeredValue, what: String, hint: &str) {
        self.problems.push(ConfigProblem {
            place: held.place.clone(),
            what,
            text: String::new(),
            hint: hint.to_owned(),
        });
    }
}

fn text_list(held: &LayeredValue) -> Vec<String> {
    match &held.value {
        ConfigValue::Texts(texts) => texts.clone(),
        _ => Vec::new(),
    }
}

pub(super) fn expand_home(program: &str, home: &Path) -> String {
    match program.strip_prefix("~/") {
        Some(rest) => home.join(rest).to_string_lossy().into_owned(),
        None => program.to_owned(),
    }
}
