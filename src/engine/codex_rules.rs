//! codex's own rules files: which of the user's rules let commands out of codex's sandbox unasked.
//!
//! Looks at the disk and the environment. Refuses to change a rule: it is the user's, and codex alone obeys it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::adapter::codex::execpolicy_rules::{SandboxEscapeRule, parse_sandbox_escape_rules};
use crate::config::config_model::{AdapterConfig, AdapterKind};
use crate::permission::{AgentToolCall, SandboxReach};

/// The longest rules file that is read, in bytes.
const LONGEST: u64 = 1024 * 1024;
/// How many rules one notice names.
const NAMED: usize = 3;

/// A way out of codex's sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WayOut {
    file: PathBuf,
    found: Found,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Found {
    Rule(SandboxEscapeRule),
    /// Nobody knows what the file allows.
    Unreadable(String),
}

impl WayOut {
    /// Names the rule with its file and line.
    pub fn in_words(&self) -> String {
        let file = self.file.display();
        match &self.found {
            Found::Rule(rule) if rule.pattern_words.is_empty() => {
                format!("{file}:{} (a rule that cannot be read)", rule.line)
            }
            Found::Rule(rule) => format!("{file}:{} `{}`", rule.line, rule.pattern_words.join(" ")),
            Found::Unreadable(why) => format!("{file} (it cannot be read: {why})"),
        }
    }

    fn may_meet(&self, command: &str) -> bool {
        match &self.found {
            Found::Rule(rule) => rule.may_apply_to(command),
            Found::Unreadable(_) => true,
        }
    }
}

/// Lists the ways out of an adapter's sandbox that the user's own rules files open; none for what is not codex.
pub fn ways_out(adapter: &AdapterConfig) -> Vec<WayOut> {
    let (AdapterKind::Codex, Some(home)) = (adapter.kind, home(adapter)) else {
        return Vec::new();
    };
    let folder = home.join("rules");
    let files = match files(&folder) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => return vec![unreadable(folder, &error)],
    };
    files.into_iter().flat_map(ways_out_of).collect()
}

/// Says of a call that its command may leave the sandbox, where it does.
pub fn mark(call: &mut AgentToolCall, ways_out: &[WayOut]) {
    if let AgentToolCall::Command { line, reach, .. } = call
        && *reach == SandboxReach::Contained
        && ways_out.iter().any(|way| way.may_meet(line))
    {
        *reach = SandboxReach::LetOut;
    }
}

/// What the user should know of the ways out; `None` where there are none.
pub fn notice(ways_out: &[WayOut]) -> Option<String> {
    let named: Vec<String> = ways_out.iter().take(NAMED).map(WayOut::in_words).collect();
    let more = match ways_out.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| {
        format!(
            "codex's own rules let commands out of its sandbox without asking: {}{more}; here such commands are asked \
             about each time (`agent-collab doctor` lists the rules)",
            named.join(", ")
        )
    })
}

fn home(adapter: &AdapterConfig) -> Option<PathBuf> {
    let variable = |name: &str| match adapter.env.get(name) {
        Some(value) => Some(value.into()),
        None => std::env::var_os(name),
    };
    match variable("CODEX_HOME").filter(|folder| !folder.is_empty()) {
        Some(folder) => Some(folder.into()),
        None => variable("HOME").map(|home| PathBuf::from(home).join(".codex")),
    }
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "rules") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn ways_out_of(file: PathBuf) -> Vec<WayOut> {
    match read(&file) {
        Ok(text) => {
            let rules = parse_sandbox_escape_rules(&text).into_iter();
            let way = |rule| WayOut {
                file: file.clone(),
                found: Found::Rule(rule),
            };
            rules.map(way).collect()
        }
        Err(error) => vec![unreadable(file, &error)],
    }
}

fn read(file: &Path) -> io::Result<String> {
    let opened = File::open(file)?;
    if !opened.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    opened
        .take(LONGEST.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > LONGEST) {
        return Err(io::Error::other(format!(
            "it is longer than {LONGEST} bytes"
        )));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn unreadable(file: PathBuf, error: &io::Error) -> WayOut {
    WayOut {
        file,
        found: Found::Unreadable(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn codex(home: &Path) -> AdapterConfig {
        AdapterConfig {
            kind: AdapterKind::Codex,
            program: "codex".to_owned(),
            args: Vec::new(),
            env: BTreeMap::from([("CODEX_HOME".to_owned(), home.display().to_string())]),
            model: None,
            writable: Vec::new(),
        }
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
        assert_eq!(ways_out(&adapter), []);
        let rules = home.path().join("rules");
        fs::create_dir(&rules).unwrap();
        let text = "\nprefix_rule(pattern=[\"git\", \"push\"], decision=\"allow\")\nprefix_rule(pattern=[\"ls\"], decision=\"prompt\")\n";
        fs::write(rules.join("default.rules"), text).unwrap();
        fs::write(rules.join("notes.txt"), "prefix_rule(pattern=[\"ls\"])").unwrap();
        let found = ways_out(&adapter);
        let file = rules.join("default.rules");
        let told = notice(&found).unwrap();
        assert!(
            told.contains(&format!("{}:2 `git push`", file.display())),
            "{told}"
        );
        let reach_of = |line: &str| {
            let mut call = contained(line);
            mark(&mut call, &found);
            call != contained(line)
        };
        assert_eq!(
            ["git push", "ls", "cat x"].map(reach_of),
            [true, false, false]
        );
        // A folder in a file's place: nobody knows what it would allow.
        fs::create_dir(rules.join("more.rules")).unwrap();
        let found = ways_out(&adapter);
        assert_eq!(found.len(), 2);
        let mut call = contained("cat x");
        mark(&mut call, &found);
        assert_ne!(call, contained("cat x"));
    }
}
