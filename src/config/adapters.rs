//! `[adapters.<name>]` turned into what is started: kind, program, arguments, environment.
//!
//! Refuses to look whether the program exists; the probe does, with its version.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::layers::Held;
use super::problem::{Place, Problem};
use super::resolve::Reader;
use super::types::{AdapterKind, AdapterSettings};
use super::value::Value;

impl Reader<'_> {
    pub(super) fn adapters(&mut self) -> BTreeMap<String, AdapterSettings> {
        let names = self.names("adapters.");
        names
            .into_iter()
            .filter_map(|name| self.adapter(&name).map(|adapter| (name, adapter)))
            .collect()
    }

    fn adapter(&mut self, name: &str) -> Option<AdapterSettings> {
        if self.is_broken(name) {
            return None;
        }
        let at = |key: &str| format!("adapters.{name}.{key}");
        let Some(kind) = self.text_at(&at("kind")).as_deref().and_then(parse_kind) else {
            let hint = "add `kind = \"codex\"`, \"claude\" or \"pipe\"";
            self.adapter_problem(name, format!("[adapters.{name}] lacks `kind`"), hint);
            return None;
        };
        let (program, args) = self.launch_words(name, kind)?;
        let env = match self.held(&at("env")).map(|held| &held.value) {
            Some(Value::Environment(env)) => env.clone(),
            _ => BTreeMap::new(),
        };
        Some(AdapterSettings {
            kind,
            program: expand_home(&program, self.home),
            args,
            env,
            model: self.text_at(&at("model")),
            writable: self.held(&at("writable")).map_or_else(Vec::new, |held| {
                let named = texts(held).into_iter();
                let expanded = named.map(|path| expand_home(&path, self.home));
                expanded.map(PathBuf::from).collect()
            }),
        })
    }

    /// `program` with `args`, or `command`: of the two the later layer counts, so that a user's
    /// `command` replaces the shipped `program`.
    fn launch_words(&mut self, name: &str, kind: AdapterKind) -> Option<(String, Vec<String>)> {
        let at = |key: &str| self.held(&format!("adapters.{name}.{key}"));
        let (program, args, command) = (at("program"), at("args"), at("command"));
        match (program, command) {
            (Some(program), Some(command)) if program.layer == command.layer => {
                let hint = "keep one of them; `command` is program and arguments in one";
                self.problem_at(
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
                    let hint = "write the arguments into `command`, or use `program` instead of it";
                    self.problem_at(
                        args,
                        format!("[adapters.{name}] has both `args` and `command`"),
                        hint,
                    );
                }
                let words = texts(command);
                words
                    .split_first()
                    .map(|(program, args)| (program.clone(), args.to_vec()))
            }
            (program, _) => {
                let program = program.and_then(|held| match &held.value {
                    Value::Text(program) => Some(program.clone()),
                    _ => None,
                });
                let own_program = (kind != AdapterKind::Pipe).then(|| kind.name().to_owned());
                let Some(program) = program.or(own_program) else {
                    let hint = "add `command = [\"mytool\", \"--stdin\"]`";
                    self.adapter_problem(
                        name,
                        format!("[adapters.{name}] lacks `program` or `command`"),
                        hint,
                    );
                    return None;
                };
                Some((program, args.map(texts).unwrap_or_default()))
            }
        }
    }

    /// Tells whether something wrong was already reported of an adapter, so that what follows from it is not.
    fn is_broken(&self, name: &str) -> bool {
        let table = format!("adapters.{name}.");
        self.settings
            .broken
            .iter()
            .any(|path| path.starts_with(&table))
    }

    /// Reports a problem of a whole adapter at the first of its keys.
    fn adapter_problem(&mut self, name: &str, what: String, hint: &str) {
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
            .unwrap_or_else(|| Place::File(PathBuf::from("config.toml")));
        self.problems.push(Problem {
            place,
            what,
            text: String::new(),
            hint: hint.to_owned(),
        });
    }

    fn problem_at(&mut self, held: &Held, what: String, hint: &str) {
        self.problems.push(Problem {
            place: held.place.clone(),
            what,
            text: String::new(),
            hint: hint.to_owned(),
        });
    }
}

fn texts(held: &Held) -> Vec<String> {
    match &held.value {
        Value::Texts(texts) => texts.clone(),
        _ => Vec::new(),
    }
}

fn parse_kind(text: &str) -> Option<AdapterKind> {
    [AdapterKind::Codex, AdapterKind::Claude, AdapterKind::Pipe]
        .into_iter()
        .find(|kind| kind.name() == text)
}

pub(super) fn expand_home(program: &str, home: &Path) -> String {
    match program.strip_prefix("~/") {
        Some(rest) => home.join(rest).to_string_lossy().into_owned(),
        None => program.to_owned(),
    }
}
