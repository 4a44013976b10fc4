//! Observes what the approval of an execution is bound to: base commit, rule files, test command, environment of tests,
//! carried files, versions (TRUTH.md T31).
//!
//! What a change means is decided by the run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};
use strum::IntoEnumIterator;

use crate::adapter::adapter_entry;
use crate::adapter::cli_capabilities::CliVersion;
use crate::domain::adapter_kind::AdapterKind;
use crate::domain::bound_parts::{ApprovalBinding, BindingChange, BoundKind, BoundPart};
use crate::domain::event::Event;
use crate::domain::plan::file_hash;
use crate::domain::plan_execution::PlanExecution;
use crate::domain::run::RunState;
use crate::domain::test_command::{TestCommand, TestCommandSource};
use crate::domain::turn::Role;
use crate::engine::git::{CommitId, GitError, GitRepository, TreeId};
use crate::engine::run_context::RunContext;
use crate::engine::run_setup::RunSetup;
use crate::engine::warnings::failure_event;

use super::git_error_with_hint;
use super::test_commands::find_test_commands;
use super::tree_audit::path_from_event_text;

/// The settings that decide what agents may do, by the start of their keys.
const PERMISSION_KEYS: [&str; 2] = ["safety.", "agents."];
/// The size up to which the content of a carried folder is hashed, in bytes; above it sizes and times are.
const MAX_HASHED_BYTES: u64 = 64 * 1024 * 1024;
/// The value of a variable that the user's own environment sets.
const OWN_VALUE: &str = "your value";
/// The value of a carried path that does not exist.
const MISSING: &str = "missing";

/// Everything that an observation needs.
pub(super) struct BindingObserver {
    root: PathBuf,
    /// The repository for commits; `None` where commits are off.
    git: Option<GitRepository>,
    /// The repository that knows which files are the project's; `None` where there is none.
    trees: Option<GitRepository>,
    /// The base that is bound; `None` before the approval.
    base: Option<String>,
    rule_files: BTreeSet<String>,
    carry: Vec<String>,
    /// The parts that need neither files nor git.
    settings: Vec<BoundPart>,
}

impl BindingObserver {
    /// Returns the observer of a run; `None` where its approval is bound to nothing, because steps are not proven.
    pub(super) fn for_run(run: &RunContext) -> Option<Self> {
        let (setup, state) = (&run.setup, run.state());
        if !state.settings.proves_steps {
            return None;
        }
        let bound = state.execution.iter().find_map(|e| e.binding.as_ref());
        let base = bound.and_then(|bound| bound.value_of(BoundKind::Base, ""));
        let sent = setup.instructions.iter().map(|(path, _)| path.clone());
        // A file that no CLI of this run reads today may be read by the one that a role moves to.
        let known = AdapterKind::iter().flat_map(|kind| adapter_entry(kind).traits.rule_files);
        let known = known.map(|path| (*path).to_owned());
        let mut settings = permission_parts(&setup.origins);
        settings.extend(setup.config.test.env.iter().map(|entry| to_variable(entry)));
        settings.extend(version_parts(setup, state));
        Some(Self {
            root: setup.root.clone(),
            git: run.commit_repository().cloned(),
            trees: run.repository.clone(),
            base: base.map(str::to_owned),
            rule_files: sent.chain(known).collect(),
            carry: setup.config.test.carry.clone(),
            settings,
        })
    }

    /// Observes all parts.
    ///
    /// # Errors
    /// Git fails.
    pub(super) async fn observe(&self) -> Result<ApprovalBinding, GitError> {
        let mut parts = self.settings.clone();
        if let Some(git) = &self.git {
            let base = current_base(git, self.base.as_deref()).await?;
            parts.extend(base.map(|base| BoundPart::new(BoundKind::Base, "", base)));
        }
        let nested = match &self.trees {
            Some(git) => self.list_nested_rule_files(git).await?,
            None => Vec::new(),
        };
        let files = self.rule_files.iter().chain(&nested).filter_map(|path| {
            let hash = hash_file(&self.root.join(path_from_event_text(path)))?;
            Some(BoundPart::new(BoundKind::RuleFile, path, hash))
        });
        parts.extend(files);
        let carried = self.carry.iter().map(|path| {
            let hash = hash_carried(&self.root.join(path));
            BoundPart::new(BoundKind::CarriedPath, path, hash)
        });
        parts.extend(carried);
        Ok(ApprovalBinding::new(parts))
    }

    /// Lists the instruction files of folders, for the files below them; ignored files are left out.
    async fn list_nested_rule_files(&self, git: &GitRepository) -> Result<Vec<String>, GitError> {
        let is_instruction = |path: &String| {
            let name = path.rsplit('/').next().unwrap_or_default();
            name.ends_with(".md") && self.rule_files.contains(name)
        };
        let mut files = git.status().list_files().await?;
        files.retain(|path| is_instruction(path) && !git.is_excluded(Path::new(path)));
        Ok(files)
    }
}

/// Compares what the approval is bound to with what is there now.
pub(in crate::engine) fn check_approval(run: &mut RunContext, step: u32) {
    let execution = run.state().execution.as_ref();
    let bound = execution.and_then(|execution| Some((execution, execution.binding.clone()?)));
    let Some(((execution, binding), observer)) = bound.zip(BindingObserver::for_run(run)) else {
        let changes = Vec::new();
        let event = Event::ApprovalChecked { step, changes };
        return run.spawn_event_task(std::future::ready(event));
    };
    let command = changed_command(run, execution);
    let reader = StepRuleFiles::of_execution(execution);
    let repository = run.repository.clone();
    run.spawn_event_task(async move {
        let observed = observer.observe().await;
        let changes = match observed {
            Ok(now) => {
                let mut changes = binding.changes_to(&now);
                changes.extend(command);
                reader.attribute(changes, repository.as_ref()).await
            }
            Err(error) => Err(error),
        };
        match changes {
            Ok(changes) => Event::ApprovalChecked { step, changes },
            Err(error) => failure_event(
                "check what the execution was approved for",
                git_error_with_hint(&error),
            ),
        }
    });
}

/// Returns the change of the test command, where the user configured another one since. What is detected in a tree that
/// the steps change does not count: the approved command keeps running.
fn changed_command(run: &RunContext, execution: &PlanExecution) -> Option<BindingChange> {
    let now = find_test_commands(run);
    let approved = execution.test.as_ref();
    let line = |test: Option<&TestCommand>| test.map(|test| test.command.clone());
    let offered = [line(now.selected.as_ref()), line(now.alternative.as_ref())];
    let mut named = now.selected.iter().chain(approved);
    let is_configured = named.any(|test| test.origin.source == TestCommandSource::Configured);
    (is_configured && !offered.contains(&line(approved))).then(|| BindingChange {
        kind: BoundKind::TestCommand,
        name: String::new(),
        before: line(approved),
        now: line(now.selected.as_ref()),
        by_step: false,
    })
}

/// The rule files that steps of the execution changed, or that the undo of a step put back.
struct StepRuleFiles {
    /// Changed by the current step, whose audit asks about each of them that the plan does not name.
    current: BTreeSet<String>,
    /// The paths that ended steps changed, each with the tree after the last of them; for undone steps the tree before
    /// the first of them, which was checked before that step.
    left: BTreeMap<String, TreeId>,
}

impl StepRuleFiles {
    fn of_execution(execution: &PlanExecution) -> Self {
        let current = execution.current.iter();
        let current = current.flat_map(|current| {
            let allowed = current.allowed_entry_points.iter();
            let allowed = allowed.map(|point| &point.path);
            current.changed.iter().chain(allowed).cloned()
        });
        let mut left = BTreeMap::new();
        let mut add = |changed: &[String], tree: &Option<String>| {
            if let Some(tree) = tree {
                let tree = TreeId(tree.clone());
                left.extend(changed.iter().map(|path| (path.clone(), tree.clone())));
            }
        };
        for record in &execution.done {
            add(&record.changed, &record.tree_after);
        }
        for undone in &execution.undone {
            if let Some(current) = &undone.current {
                let allowed = current.allowed_entry_points.iter();
                let allowed: Vec<String> = allowed.map(|point| point.path.clone()).collect();
                add(&current.changed, &current.tree_before);
                add(&allowed, &current.tree_before);
            }
            // The undo restores what was there before the first of the steps, so that one counts.
            for record in undone.records.iter().rev() {
                add(&record.changed, &record.tree_before);
            }
        }
        Self {
            current: current.collect(),
            left,
        }
    }

    /// Leaves out what the current step changed, and marks what is as an ended step or an undo left it.
    async fn attribute(
        &self,
        changes: Vec<BindingChange>,
        repository: Option<&GitRepository>,
    ) -> Result<Vec<BindingChange>, GitError> {
        let mut found = Vec::new();
        for change in changes {
            let is_file = change.kind == BoundKind::RuleFile;
            if is_file && self.current.contains(&change.name) {
                continue;
            }
            let tree = self.left.get(&change.name).filter(|_| is_file);
            let by_step = match repository.zip(tree) {
                Some((git, tree)) => {
                    let path = path_from_event_text(&change.name);
                    let content = git.trees().read_file_in_tree(tree, &path).await?;
                    let left = content.map(|content| file_hash(&content).as_str().to_owned());
                    left == change.now
                }
                None => false,
            };
            found.push(BindingChange { by_step, ..change });
        }
        Ok(found)
    }
}

/// Returns the bound base as long as HEAD contains it, otherwise the commit that is checked out.
async fn current_base(git: &GitRepository, base: Option<&str>) -> Result<Option<String>, GitError> {
    if let Some(base) = base
        && git
            .history()
            .contains_commit(&CommitId(base.to_owned()))
            .await?
    {
        return Ok(Some(base.to_owned()));
    }
    let head = git.branches().head().await?;
    Ok(head.commit().map(|head| head.0.clone()))
}

/// Returns one part for each file or flag that sets permissions, with a hash over what it sets.
fn permission_parts(origins: &Value) -> Vec<BoundPart> {
    let lists = ["rules", "restrictions"].into_iter();
    let rules = lists.flat_map(|list| origins[list].as_array().into_iter().flatten());
    let values = origins["values"].as_object().into_iter().flatten();
    let values =
        values.filter(|(key, _)| PERMISSION_KEYS.iter().any(|start| key.starts_with(start)));
    let named = rules.map(|rule| ("rule", rule));
    let named = named.chain(values.map(|(key, value)| (key.as_str(), value)));
    let mut by_place = BTreeMap::<String, Sha256>::new();
    for (key, entry) in named {
        let file = entry["file"].as_str().map(|file| {
            let path = Path::new(file);
            let name = path.file_name().filter(|_| path.is_absolute());
            name.map_or(file.to_owned(), |name| name.to_string_lossy().into_owned())
        });
        let flag = entry["flag"].as_str().map(str::to_owned);
        let Some(place) = file.or(flag) else {
            continue;
        };
        let mut set = entry.clone();
        if let Some(set) = set.as_object_mut() {
            // The same rule on another line is the same rule.
            set.remove("line");
        }
        by_place
            .entry(place)
            .or_default()
            .update(format!("{key}\0{set}\0"));
    }
    let parts = by_place.into_iter().map(|(place, hash)| {
        let name = format!("permissions of {place}");
        BoundPart::new(BoundKind::RuleFile, name, to_hex(&hash.finalize()))
    });
    parts.collect()
}

/// Reads an entry of `test.env`.
fn to_variable(entry: &str) -> BoundPart {
    let (name, value) = match entry.split_once('=') {
        Some((name, value)) => (name, to_hex(&Sha256::digest(value))),
        None => (entry, OWN_VALUE.to_owned()),
    };
    BoundPart::new(BoundKind::TestVariable, name, value)
}

/// Returns the versions of this program and of the CLIs: as they were probed at the start, otherwise as the sessions
/// report them.
fn version_parts(setup: &RunSetup, state: &RunState) -> Vec<BoundPart> {
    let part = |name: &str, version: String| BoundPart::new(BoundKind::Version, name, version);
    let own = part("agent-collab", env!("CARGO_PKG_VERSION").to_owned());
    let sessions = [Role::Planner, Role::Reviewer].into_iter();
    let sessions = sessions.filter_map(|role| state.session(role));
    let clis = sessions.filter_map(|session| {
        let reported = session.version.as_deref().and_then(CliVersion::parse);
        let probed = setup.cli_versions.get(&session.adapter).cloned();
        let version = probed.or(reported.map(|version| version.to_string()))?;
        Some(part(&session.adapter, version))
    });
    std::iter::once(own).chain(clis).collect()
}

/// Hashes a file; `None` where there is none that can be read.
fn hash_file(path: &Path) -> Option<String> {
    let is_file = path.metadata().is_ok_and(|found| found.is_file());
    let content = is_file.then(|| fs::read(path).ok())??;
    Some(file_hash(&content).as_str().to_owned())
}

/// Hashes a file or folder with everything in it.
fn hash_carried(path: &Path) -> String {
    let mut hash = Sha256::new();
    let mut left = MAX_HASHED_BYTES;
    match add_to_hash(path, &mut hash, &mut left) {
        Ok(()) => to_hex(&hash.finalize()),
        Err(_gone) => MISSING.to_owned(),
    }
}

fn add_to_hash(path: &Path, hash: &mut Sha256, left: &mut u64) -> io::Result<()> {
    let found = path.symlink_metadata()?;
    hash.update(path.file_name().unwrap_or_default().as_bytes());
    if found.is_dir() {
        let mut entries: Vec<_> = fs::read_dir(path)?.collect::<io::Result<_>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        hash.update(entries.len().to_le_bytes());
        for entry in entries {
            add_to_hash(&entry.path(), hash, left)?;
        }
    } else if found.is_symlink() {
        hash.update(fs::read_link(path)?.as_os_str().as_bytes());
    } else if found.is_file() && found.len() <= *left {
        *left -= found.len();
        hash.update(found.len().to_le_bytes());
        hash.update(fs::read(path)?);
    } else {
        let time = found.modified()?.duration_since(std::time::UNIX_EPOCH);
        let nanos = time.map_or(0, |time| time.as_nanos());
        hash.update(found.len().to_le_bytes());
        hash.update(nanos.to_le_bytes());
    }
    Ok(())
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn permissions_are_bound_by_the_place_that_sets_them() {
        let origins = |pattern: &str, line: u32, theme: &str| {
            json!({
                "rules": [{ "file": "/home/u/config.toml", "line": line, "pattern": pattern }],
                "restrictions": [{ "file": ".agent-collab/config.toml", "line": 1, "pattern": "a" }],
                "values": {
                    "safety.contain_tests": { "layer": "flag", "flag": "--set x", "value": "false" },
                    "safety.contain_agents": { "layer": "default", "value": "true" },
                    "ui.theme": { "file": "/home/u/config.toml", "value": theme },
                },
            })
        };
        let first = permission_parts(&origins("git *", 3, "dark"));
        let names: Vec<&str> = first.iter().map(|part| &*part.name).collect();
        assert_eq!(
            names,
            [
                "permissions of --set x",
                "permissions of .agent-collab/config.toml",
                "permissions of config.toml"
            ]
        );
        assert_eq!(permission_parts(&origins("git *", 4, "light")), first);
        let other = permission_parts(&origins("*", 3, "dark"));
        assert_eq!(
            (other[..2] == first[..2], other[2] == first[2]),
            (true, false)
        );
    }

    #[test]
    fn values_of_variables_are_bound_as_hashes() {
        let part = to_variable("KEY=secret");
        assert_eq!((&*part.name, part.value.contains("secret")), ("KEY", false));
        assert_ne!(to_variable("KEY=other"), part);
        assert_eq!(to_variable("KEY").value, OWN_VALUE);
    }

    #[test]
    fn a_carried_folder_is_bound_by_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("data");
        assert_eq!(hash_carried(&root), MISSING);
        fs::create_dir_all(root.join("a")).unwrap();
        fs::write(root.join("a/b"), "1").unwrap();
        let first = hash_carried(&root);
        fs::write(root.join("a/b"), "1").unwrap();
        assert_eq!(hash_carried(&root), first);
        fs::write(root.join("a/b"), "2").unwrap();
        assert_ne!(hash_carried(&root), first);
    }
}
