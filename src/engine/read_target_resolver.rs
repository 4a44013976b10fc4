//! Finds on the disk what a call reads: paths with their links, patterns, and the files that a search visits.
//!
//! Whether a read is allowed is decided elsewhere; rules are used here only to select the paths to report.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::permission::call_reads::{
    CallReads, OpenedPath, ReadDepth, ReadTarget, SearchProgram, SearchScope,
};
use crate::permission::lexical_path::{is_inside, lexical_absolute};
use crate::permission::read_checks::evaluate_read_rules;
use crate::permission::read_only_prover::list_read_targets;
use crate::permission::rule::{CallFacts, TargetForm};
use crate::permission::{
    AgentToolCall, DecisionContext, PermissionAction, ResolvedPath, RuleSet, wildcard,
};

use super::call_paths::resolve_path;

/// How many files and folders are visited for one call.
const MAX_VISITED_ENTRIES: usize = 200_000;
/// How many paths are reported for one call.
const MAX_REPORTED_PATHS: usize = 1_000;

/// Adds the paths that a call reads to its decision context.
pub fn with_read_paths(call: &AgentToolCall, context: DecisionContext) -> DecisionContext {
    let mut finder = ReadTargetResolver::new(&context);
    match call {
        AgentToolCall::Command { line, cwd, .. } => {
            for opening in list_read_targets(line, cwd, &context.root) {
                finder.resolve_target(&opening);
            }
        }
        AgentToolCall::Read {
            search: Some(scope),
            ..
        } => {
            for path in &context.paths {
                finder.search_folder(&path.real, ReadDepth::Contents, scope);
            }
        }
        AgentToolCall::Read { .. } | AgentToolCall::Edit { .. } | AgentToolCall::Tool { .. } => {}
    }
    let reads = finder.reads;
    DecisionContext { reads, ..context }
}

/// Lists the files that the read rules deny, for a sandbox that can hide them. Git's folder is left out.
pub fn find_denied_files(root: &Path, rules: &RuleSet) -> Vec<PathBuf> {
    let literals = rules.denied_literals("read");
    if literals.is_empty() {
        return Vec::new();
    }
    let is_denied = |path: &Path| {
        let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
        let form = TargetForm {
            texts: vec![name.into_owned()],
            absolute_path: Some(path.to_string_lossy().into_owned()),
        };
        rules.evaluate("read", &form, CallFacts::default()).action == PermissionAction::Deny
    };
    let (mut found, mut n_seen) = (Vec::new(), 0_usize);
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            n_seen += 1;
            if n_seen > MAX_VISITED_ENTRIES || found.len() >= MAX_REPORTED_PATHS {
                tracing::warn!("there are too many files to hide all that rules deny to read");
                return found;
            }
            let path = entry.path();
            let text = path.to_string_lossy();
            let may_be = literals
                .iter()
                .any(|literal| text.contains(literal.as_str()));
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && entry.file_name() != ".git" => folders.push(path),
                Ok(kind) if kind.is_dir() => {}
                Ok(_) if may_be && is_denied(&path) => found.extend(path.canonicalize()),
                Ok(_) | Err(_) => {}
            }
        }
    }
    found.retain(|path| path.is_file());
    found
}

struct ReadTargetResolver<'a> {
    context: &'a DecisionContext,
    /// Parts of the names of the files that rules restrict; `None` if that is unknown.
    literals: Option<Vec<String>>,
    n_visited: usize,
    reads: CallReads,
}

impl<'a> ReadTargetResolver<'a> {
    fn new(context: &'a DecisionContext) -> Self {
        Self {
            context,
            literals: context.rules.restricted_literals("read"),
            n_visited: 0,
            reads: CallReads::default(),
        }
    }

    fn resolve_target(&mut self, opening: &ReadTarget) {
        for folder in &opening.folders {
            let mut named = vec![lexical_absolute(folder, Path::new(&opening.text))];
            // In quotes too: a variable of a loop stands for each path that the loop's pattern matches.
            if opening.text.contains(['*', '?', '[']) {
                named.extend(self.expand_pattern(folder, &opening.text));
            }
            for path in named {
                self.resolve_target_path(&path, opening);
            }
        }
    }

    fn resolve_target_path(&mut self, path: &Path, opening: &ReadTarget) {
        let is_there = path.symlink_metadata().is_ok();
        if !is_there && !opening.is_decided_by_name {
            return;
        }
        let resolved = resolve_path(&self.context.root, path);
        let real = resolved.real.clone();
        let is_folder = real.is_dir();
        self.record_path(OpenedPath {
            path: resolved,
            depth: if is_folder {
                ReadDepth::Names
            } else {
                opening.depth
            },
            search: None,
        });
        if let Some(scope) = opening.search.as_ref().filter(|_| is_folder) {
            self.search_folder(&real, opening.depth, scope);
        }
    }

    fn record_path(&mut self, opened: OpenedPath) {
        if self.reads.opened_paths.contains(&opened) {
            return;
        }
        if self.reads.opened_paths.len() < MAX_REPORTED_PATHS {
            self.reads.opened_paths.push(opened)
        } else {
            self.record_unresolved("it opens more files than can be looked at one by one")
        }
    }

    fn record_unresolved(&mut self, why: &str) {
        let why = format!("{why}; name a smaller folder, or fewer files");
        self.reads.unknown_reason.get_or_insert(why);
    }

    /// Expands a shell pattern to paths; links on the way are followed.
    fn expand_pattern(&mut self, folder: &Path, pattern: &str) -> Vec<PathBuf> {
        let mut found = vec![if pattern.starts_with('/') {
            PathBuf::from("/")
        } else {
            folder.to_owned()
        }];
        for part in pattern.split('/').filter(|part| !part.is_empty()) {
            let mut next = Vec::new();
            for path in found {
                match part {
                    "**" => next.extend(self.descendant_folders(&path)),
                    _ if part.contains(['*', '?', '[']) => {
                        let takes = |name: &str| {
                            let is_shown = part.starts_with(['.', '[']) || !name.starts_with('.');
                            is_shown && wildcard::matches(part, name)
                        };
                        let names = self.entry_names(&path);
                        let taken = names.into_iter().filter(|name| takes(name));
                        next.extend(taken.map(|name| path.join(name)));
                    }
                    _ => next.push(lexical_absolute(&path, Path::new(part))),
                }
            }
            found = next;
            if self.reads.unknown_reason.is_some() {
                return Vec::new();
            }
        }
        found
    }

    fn entry_names(&mut self, folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        self.n_visited += names.len();
        if self.n_visited > MAX_VISITED_ENTRIES {
            self.record_unresolved("there are too many files to look at");
            return Vec::new();
        }
        names
    }

    /// Returns a folder and all folders below it.
    fn descendant_folders(&mut self, folder: &Path) -> Vec<PathBuf> {
        let mut found = vec![folder.to_owned()];
        let mut at = 0;
        while let Some(folder) = found.get(at).cloned() {
            at += 1;
            for name in self.entry_names(&folder) {
                let path = folder.join(name);
                if path.symlink_metadata().is_ok_and(|data| data.is_dir()) {
                    found.push(path);
                }
            }
        }
        found
    }

    /// Walks a folder as the search does, and records what leads out of the root and what rules restrict.
    fn search_folder(&mut self, start: &Path, depth: ReadDepth, scope: &SearchScope) {
        let shows = depth == ReadDepth::Contents;
        let root = &self.context.root;
        if (!shows && !scope.follows) || !is_inside(start, root) {
            return;
        }
        if start.is_file() {
            return self.record_searched_file(start, scope);
        }
        let mut folders = vec![start.to_owned()];
        let mut visited = BTreeSet::new();
        while let Some(folder) = folders.pop() {
            if !visited.insert(folder.clone()) {
                continue;
            }
            let Ok(entries) = fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries.flatten() {
                self.n_visited += 1;
                if self.n_visited > MAX_VISITED_ENTRIES {
                    return self.record_unresolved("there are too many files to look at");
                }
                let path = entry.path();
                let below = path.strip_prefix(start).unwrap_or(&path);
                let below = below.to_string_lossy();
                let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                if scope.excludes_path(&below)
                    || entry.file_name() == ".git"
                    || (is_hidden
                        && !scope.hidden
                        && !scope.matches_include(&below)
                        && !self.may_be_reincluded(&path))
                {
                    continue;
                }
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_symlink() {
                    folders.extend(self.follow_link(
                        &path,
                        shows && scope.includes_file(&below),
                        scope,
                    ));
                } else if shows && scope.includes_file(&below) {
                    self.record_searched_file(&path, scope);
                }
            }
        }
    }

    /// Follows a link as the search does: records a target outside the root or a file, and returns a folder that is
    /// still to be walked.
    fn follow_link(&mut self, link: &Path, is_read: bool, scope: &SearchScope) -> Option<PathBuf> {
        let resolved = resolve_path(&self.context.root, link);
        let real = resolved.real.clone();
        let is_handed_on = scope.program == SearchProgram::Find && real.is_file();
        if !scope.follows && !is_handed_on {
            return None;
        }
        if !is_inside(&real, &self.context.root) {
            self.record_path(OpenedPath {
                path: resolved,
                depth: ReadDepth::Names,
                search: None,
            });
            return None;
        }
        if real.is_dir() {
            return Some(real);
        }
        if is_read {
            self.record_searched_file(link, scope);
        }
        None
    }

    /// Records a file that a search reads, if rules restrict it.
    fn record_searched_file(&mut self, path: &Path, scope: &SearchScope) {
        let resolved = if path.symlink_metadata().is_ok_and(|data| data.is_symlink()) {
            resolve_path(&self.context.root, path)
        } else {
            ResolvedPath {
                lexical: path.to_owned(),
                real: path.to_owned(),
            }
        };
        let may_be = |path: &Path| match &self.literals {
            None => true,
            Some(literals) => {
                let text = path.to_string_lossy();
                literals
                    .iter()
                    .any(|literal| text.contains(literal.as_str()))
            }
        };
        if !(may_be(&resolved.lexical) || may_be(&resolved.real))
            || evaluate_read_rules(self.context, &resolved) == PermissionAction::Allow
            || (scope.program == SearchProgram::Git && !self.is_tracked(path))
            || (scope.ignores && self.is_ignored(path))
        {
            return;
        }
        self.record_path(OpenedPath {
            path: resolved,
            depth: ReadDepth::Contents,
            search: Some(scope.clone()),
        });
    }

    /// Returns whether git's index contains a file; true if the index cannot be read in a simple way.
    fn is_tracked(&self, path: &Path) -> bool {
        let git = self.context.root.join(".git");
        let folder = match fs::read_to_string(&git) {
            Ok(pointer) => match pointer.trim().strip_prefix("gitdir: ") {
                Some(folder) => self.context.root.join(folder),
                None => return true,
            },
            Err(_) => git,
        };
        let Ok(index) = fs::read(folder.join("index")) else {
            return folder.join("index").exists();
        };
        // From version 4 on, names are compressed and cannot be searched as plain bytes.
        if index.get(4..8) != Some(&[0, 0, 0, 2]) && index.get(4..8) != Some(&[0, 0, 0, 3]) {
            return true;
        }
        let name = path.strip_prefix(&self.context.root).unwrap_or(path);
        let name = format!("{}\0", name.to_string_lossy());
        memchr::memmem::find(&index, name.as_bytes()).is_some()
    }

    /// Returns whether a simple line of the root's `.gitignore` ignores a file, and no line includes it again.
    fn is_ignored(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = fs::read_to_string(self.context.root.join(".gitignore")).unwrap_or_default();
        let takes = |line: &str| {
            let bare = line.trim().trim_start_matches("**/");
            !bare.is_empty() && !bare.contains('/') && wildcard::matches(bare, &name)
        };
        let is_at_root = path.parent() == Some(&self.context.root);
        let at_root = |line: &str| {
            let bare = line.trim().strip_prefix('/').filter(|_| is_at_root);
            bare.is_some_and(|bare| wildcard::matches(bare, &name))
        };
        text.lines().any(|line| takes(line) || at_root(line)) && !self.may_be_reincluded(path)
    }

    /// Returns whether an ignore file above a path may include the path again.
    fn may_be_reincluded(&self, path: &Path) -> bool {
        let above = path.ancestors().skip(1);
        let mut above = above.take_while(|folder| is_inside(folder, &self.context.root));
        above.any(|folder| {
            [".gitignore", ".ignore", ".rgignore"].iter().any(|file| {
                let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
                text.lines().any(|line| {
                    let back = line.trim().strip_prefix('!').unwrap_or_default();
                    let last = back.trim_end_matches('/').rsplit('/').next();
                    last.is_some_and(|last| {
                        !last.is_empty()
                            && path.components().any(|part| {
                                wildcard::matches(last, &part.as_os_str().to_string_lossy())
                            })
                    })
                })
            })
        })
    }
}

#[cfg(test)]
mod tests;
