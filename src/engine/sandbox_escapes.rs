//! Finds rules in a CLI's own rules files that let commands run outside its sandbox without asking.
//!
//! It reads the disk and the environment but never changes a rule: the rules are the user's, and only the CLI obeys
//! them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::adapter::{AgentSandbox, EscapeRuleFiles, SandboxEscapeRule};
use crate::config::config_model::AdapterConfig;
use crate::permission::{AgentToolCall, SandboxReach};

use super::named_adapter::NamedAdapter;

/// The largest rules file that is read, in bytes.
const MAX_RULES_FILE_BYTES: u64 = 1024 * 1024;
/// The number of rules that one notice names.
const MAX_RULES_IN_NOTICE: usize = 3;

/// A rule, or an unreadable rules file, that lets commands leave a CLI's own sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxEscape {
    file: PathBuf,
    kind: SandboxEscapeKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum SandboxEscapeKind {
    Rule(SandboxEscapeRule),
    /// It is unknown what the file allows.
    UnreadableFile(String),
}

impl SandboxEscape {
    /// Names the rule with its file and line.
    pub fn describe(&self) -> String {
        let file = self.file.display();
        match &self.kind {
            SandboxEscapeKind::Rule(rule) if rule.pattern_words.is_empty() => {
                format!("{file}:{} (unreadable rule)", rule.line)
            }
            SandboxEscapeKind::Rule(rule) => {
                format!("{file}:{} `{}`", rule.line, rule.pattern_words.join(" "))
            }
            SandboxEscapeKind::UnreadableFile(why) => {
                format!("{file} (it cannot be read: {why})")
            }
        }
    }

    fn may_match(&self, command: &str) -> bool {
        match &self.kind {
            SandboxEscapeKind::Rule(rule) => rule.may_apply_to(command),
            SandboxEscapeKind::UnreadableFile(_) => true,
        }
    }
}

/// Lists the sandbox escapes in the user's own rules files; returns none for a CLI that has no such files.
pub fn find_sandbox_escapes(adapter: &NamedAdapter) -> Vec<SandboxEscape> {
    let AgentSandbox::Cli {
        escape_rules: Some(rules),
        ..
    } = &adapter.traits().sandbox
    else {
        return Vec::new();
    };
    let Some(home) = cli_folder(&adapter.settings, rules) else {
        return Vec::new();
    };
    let folder = home.join(rules.rules_folder);
    let files = match list_rules_files(&folder, rules.extension) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => return vec![unreadable_file_escape(folder, &error)],
    };
    let load = |file| load_rules_file(file, rules);
    files.into_iter().flat_map(load).collect()
}

/// Marks a call whose command may leave the sandbox.
pub fn mark_possible_escape(call: &mut AgentToolCall, ways_out: &[SandboxEscape]) {
    if let AgentToolCall::Command { line, reach, .. } = call
        && *reach == SandboxReach::Contained
        && ways_out.iter().any(|way| way.may_match(line))
    {
        *reach = SandboxReach::LetOut;
    }
}

/// Returns a notice for the user about the escapes from a CLI's sandbox; `None` if there are none.
pub fn sandbox_escape_notice(cli: &str, ways_out: &[SandboxEscape]) -> Option<String> {
    let named: Vec<String> = ways_out
        .iter()
        .take(MAX_RULES_IN_NOTICE)
        .map(SandboxEscape::describe)
        .collect();
    let more = match ways_out.len().saturating_sub(MAX_RULES_IN_NOTICE) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| {
        format!(
            "{cli}'s own rules let commands leave its sandbox without asking: {}{more}; agent-collab asks you about each such \
             command (`agent-collab doctor` lists the rules)",
            named.join(", ")
        )
    })
}

fn cli_folder(adapter: &AdapterConfig, rules: &EscapeRuleFiles) -> Option<PathBuf> {
    let variable = |name: &str| match adapter.env.get(name) {
        Some(value) => Some(value.into()),
        None => std::env::var_os(name),
    };
    match variable(rules.folder_variable).filter(|folder| !folder.is_empty()) {
        Some(folder) => Some(folder.into()),
        None => variable("HOME").map(|home| PathBuf::from(home).join(rules.default_path_in_home)),
    }
}

fn list_rules_files(folder: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn load_rules_file(file: PathBuf, rules: &EscapeRuleFiles) -> Vec<SandboxEscape> {
    match read_rules_file(&file) {
        Ok(text) => {
            let rules = (rules.parse)(&text).into_iter();
            let way = |rule| SandboxEscape {
                file: file.clone(),
                kind: SandboxEscapeKind::Rule(rule),
            };
            rules.map(way).collect()
        }
        Err(error) => vec![unreadable_file_escape(file, &error)],
    }
}

fn read_rules_file(file: &Path) -> io::Result<String> {
    let opened = File::open(file)?;
    if !opened.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    opened
        .take(MAX_RULES_FILE_BYTES.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_RULES_FILE_BYTES) {
        return Err(io::Error::other(format!(
            "it is longer than {MAX_RULES_FILE_BYTES} bytes"
        )));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn unreadable_file_escape(file: PathBuf, error: &io::Error) -> SandboxEscape {
    SandboxEscape {
        file,
        kind: SandboxEscapeKind::UnreadableFile(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::domain::adapter_kind::AdapterKind;

    fn codex(home: &Path) -> NamedAdapter {
        let settings = AdapterConfig {
            kind: AdapterKind::Codex,
            program: "codex".to_owned(),
            args: Vec::new(),
            env: BTreeMap::from([("CODEX_HOME".to_owned(), home.display().to_string())]),
            model: None,
            writable: Vec::new(),
        };
        NamedAdapter::new("codex".to_owned(), settings)
    }

    fn contained(line: &str) -> AgentToolCall {
        AgentToolCall::Command {
            line: line.to_owned(),
            cwd: "/repo".into(),
            reach: SandboxReach::Contained,
        }
    }

    #[test]
    fn what_a_rule_lets_out_is_not_held_and_is_told_with_file_and_line() {
        let home = tempfile::tempdir().unwrap();
        let adapter = codex(home.path());
        assert_eq!(find_sandbox_escapes(&adapter), []);
        let rules = home.path().join("rules");
        fs::create_dir(&rules).unwrap();
        let text = "\nprefix_rule(pattern=[\"git\", \"push\"], decision=\"allow\")\nprefix_rule(pattern=[\"ls\"], decision=\"prompt\")\n";
        fs::write(rules.join("default.rules"), text).unwrap();
        fs::write(rules.join("notes.txt"), "prefix_rule(pattern=[\"ls\"])").unwrap();
        let found = find_sandbox_escapes(&adapter);
        let file = rules.join("default.rules");
        let told = sandbox_escape_notice("codex", &found).unwrap();
        assert!(
            told.contains(&format!("{}:2 `git push`", file.display())),
            "{told}"
        );
        let reach_of = |line: &str| {
            let mut call = contained(line);
            mark_possible_escape(&mut call, &found);
            call != contained(line)
        };
        assert_eq!(
            ["git push", "ls", "cat x"].map(reach_of),
            [true, false, false]
        );
        // A folder in place of a file: it is unknown what it would allow.
        fs::create_dir(rules.join("more.rules")).unwrap();
        let found = find_sandbox_escapes(&adapter);
        assert_eq!(found.len(), 2);
        let mut call = contained("cat x");
        mark_possible_escape(&mut call, &found);
        assert_ne!(call, contained("cat x"));
    }
}
