//! `agent-collab trust`: shows what a repository's files would change, then trusts it; revokes and lists trust.
//!
//! Trust is bound to exactly the files that were shown.

use std::io::{self, BufRead, Write};

use super::config::CliConfigContext;
use crate::config::diagnostic::escape_control_chars;
use crate::config::{
    ConfigFlags, ConfigLayer, ConfigSource, LoadedConfig, ProjectFiles, TrustState, TrustStore,
    load_with_trust,
};

/// A subcommand or flag of `trust`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustCommand {
    /// Trusts this repository.
    Grant(TrustConsent),
    /// Revokes the trust in this repository.
    Revoke,
    /// Lists all trusted repositories.
    List,
}

/// How the user consents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustConsent {
    /// The user already did, with `--yes`.
    Given,
    /// Ask on the terminal.
    Ask,
    /// There is no terminal to ask on.
    Nobody,
}

/// The exit code for an open question without a terminal to ask on.
const NEEDS_USER: u8 = 3;

/// Runs the command; returns the exit code: 0 done, 1 error or declined, 3 needs the user.
pub fn run(
    command: TrustCommand,
    here: &CliConfigContext,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> u8 {
    let store = TrustStore::new(&here.places);
    let written = match command {
        TrustCommand::Grant(consent) => run_grant(&store, here, consent, input, out),
        TrustCommand::Revoke => run_revoke(&store, here, out),
        TrustCommand::List => run_list(&store, out),
    };
    written.unwrap_or(1)
}

fn run_grant(
    store: &TrustStore,
    here: &CliConfigContext,
    consent: TrustConsent,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> io::Result<u8> {
    let project = match ProjectFiles::load(&here.root) {
        Ok(project) => project,
        Err(problems) => return print_failure(out, &problems),
    };
    let root = escape_control_chars(&project.root.display().to_string());
    let status = match store.status(&project) {
        Ok(status) => status,
        Err(error) => return print_failure(out, &format!("failed to {error}")),
    };
    if status == TrustState::Trusted {
        writeln!(out, "{root} is already trusted")?;
        return Ok(0);
    }
    // Other layers do not matter for what this repository changes.
    let load = |trust| {
        load_with_trust(
            &here.places,
            project.clone(),
            trust,
            &ConfigFlags::default(),
        )
    };
    let (before, after) = match (load(status), load(TrustState::Trusted)) {
        (Ok(before), Ok(after)) => (before, after),
        (Err(problems), _) | (_, Err(problems)) => return print_failure(out, &problems),
    };
    match status {
        TrustState::Changed => writeln!(
            out,
            "{root} was trusted, but its settings or prompts changed."
        )?,
        TrustState::Untrusted | TrustState::Trusted => writeln!(out, "{root} is not trusted.")?,
    }
    for line in describe_gains(&before, &after) {
        writeln!(out, "{}", escape_control_chars(&line))?;
    }
    if !ask_consent(consent, input, out)? {
        let (line, code) = match consent {
            TrustConsent::Nobody => (
                "no terminal to ask on; run `agent-collab trust --yes` to agree",
                NEEDS_USER,
            ),
            TrustConsent::Ask | TrustConsent::Given => ("nothing was changed", 1),
        };
        writeln!(out, "{line}")?;
        return Ok(code);
    }
    // Grants trust for the files as shown, even if they have changed on disk since.
    match store.grant(&project) {
        Ok(_) => writeln!(
            out,
            "{root} is trusted until its .agent-collab/config.toml or prompts change"
        )?,
        Err(error) => return print_failure(out, &format!("failed to {error}")),
    }
    Ok(0)
}

fn ask_consent(
    consent: TrustConsent,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> io::Result<bool> {
    match consent {
        TrustConsent::Given => Ok(true),
        TrustConsent::Nobody => Ok(false),
        TrustConsent::Ask => {
            write!(out, "Trust this repository? [y/N] ")?;
            out.flush()?;
            let mut answer = String::new();
            input.read_line(&mut answer)?;
            Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
        }
    }
}

/// Lists what trust changes, by comparing the configuration without and with it.
fn describe_gains(before: &LoadedConfig, after: &LoadedConfig) -> Vec<String> {
    let heading = "Files sent to agents with every prompt (they can change without ending trust):";
    let sections = [
        ("Programs it selects:", changed_programs(before, after)),
        (
            "Settings that take effect:",
            changed_settings(before, after),
        ),
        ("Permission rules added to yours:", project_rules(after)),
        (
            "Prompts that replace yours:",
            file_paths(&after.project.prompts),
        ),
        (heading, file_paths(&after.project.instructions)),
    ];
    let mut lines = Vec::new();
    for (heading, entries) in sections
        .into_iter()
        .filter(|(_, entries)| !entries.is_empty())
    {
        lines.push(heading.to_owned());
        lines.extend(entries.into_iter().map(|entry| format!("  {entry}")));
    }
    if lines.is_empty() {
        lines
            .push("It has no settings, prompts or instructions that would take effect.".to_owned());
    }
    lines
}

fn changed_programs(before: &LoadedConfig, after: &LoadedConfig) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, adapter) in &after.config.adapters {
        if before.config.adapters.get(name) != Some(adapter) {
            let words: Vec<&str> = [&adapter.program]
                .into_iter()
                .chain(&adapter.args)
                .map(String::as_str)
                .collect();
            lines.push(format!("adapter {name} starts: {}", words.join(" ")));
        }
    }
    lines
}

/// A project's values are shown unmasked: they are not secrets of the user's, and one of them may be the trap.
fn changed_settings(before: &LoadedConfig, after: &LoadedConfig) -> Vec<String> {
    let mut lines = Vec::new();
    for (path, held) in &after.settings.values {
        let now = before.settings.values.get(path);
        if now.map(|now| &now.value) != Some(&held.value) {
            let now = now.map_or_else(|| "not set".to_owned(), |now| now.shown_value().to_string());
            let written = held.written_value();
            lines.push(format!("{path} = {written} (now: {now}), {}", held.place));
        }
    }
    lines
}

fn project_rules(after: &LoadedConfig) -> Vec<String> {
    let rules = after
        .config
        .permission
        .rules
        .iter()
        .filter(|rule| rule.layer == ConfigLayer::Project);
    rules
        .map(|rule| {
            format!(
                "{} {} {:?}, {}",
                rule.action.name(),
                rule.permission,
                rule.pattern,
                rule.place
            )
        })
        .collect()
}

fn file_paths(sources: &[ConfigSource]) -> Vec<String> {
    sources
        .iter()
        .map(|source| source.file.display().to_string())
        .collect()
}

fn run_revoke(store: &TrustStore, here: &CliConfigContext, out: &mut dyn Write) -> io::Result<u8> {
    let root = match here.root.canonicalize() {
        Ok(root) => root,
        Err(error) => {
            return print_failure(
                out,
                &format!("failed to find {}: {error}", here.root.display()),
            );
        }
    };
    let shown = escape_control_chars(&root.display().to_string());
    match store.revoke(&root) {
        Ok(true) => writeln!(out, "{shown} is no longer trusted")?,
        Ok(false) => writeln!(out, "{shown} was not trusted")?,
        Err(error) => return print_failure(out, &format!("failed to {error}")),
    }
    Ok(0)
}

fn run_list(store: &TrustStore, out: &mut dyn Write) -> io::Result<u8> {
    let entries = match store.list() {
        Ok(entries) => entries,
        Err(error) => return print_failure(out, &format!("failed to {error}")),
    };
    if entries.is_empty() {
        writeln!(out, "no trusted repositories")?;
    }
    for entry in entries {
        // An unreadable repository is listed as changed.
        let state = ProjectFiles::load(&entry.root)
            .ok()
            .and_then(|project| store.status(&project).ok());
        let state = if state == Some(TrustState::Trusted) {
            "trusted"
        } else {
            "changed"
        };
        writeln!(
            out,
            "{state}  {}  {}",
            entry.granted_at,
            escape_control_chars(&entry.root.display().to_string())
        )?;
    }
    Ok(0)
}

fn print_failure(out: &mut dyn Write, problem: &dyn std::fmt::Display) -> io::Result<u8> {
    writeln!(out, "{problem}")?;
    Ok(1)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::config::UserDirs;

    struct TrustFixture {
        _folder: tempfile::TempDir,
        path: PathBuf,
    }

    impl TrustFixture {
        fn new(files: &[(&str, &str)]) -> Self {
            let folder = tempfile::tempdir().expect("scratch folder");
            let path = folder.path().canonicalize().expect("real path");
            std::fs::create_dir_all(path.join("repository")).expect("repository");
            for (name, text) in files {
                let file = path.join("repository").join(name);
                std::fs::create_dir_all(file.parent().expect("parent")).expect("folder");
                std::fs::write(file, text).expect("file");
            }
            Self {
                _folder: folder,
                path,
            }
        }

        /// Runs a command with a typed answer; returns the exit code and the output.
        fn check(&self, command: TrustCommand, typed: &str) -> String {
            let here = CliConfigContext {
                places: UserDirs::under(&self.path),
                root: self.path.join("repository"),
                choices: ConfigFlags::default(),
            };
            let mut out = Vec::new();
            let code = run(command, &here, &mut typed.as_bytes(), &mut out);
            let text = String::from_utf8(out)
                .expect("text")
                .replace(&self.path.display().to_string(), "<scratch>");
            format!("exit {code}\n{text}")
        }
    }

    const CONFIG: &str = "[test]\ndefault_command = \"make check\"\n[workflow]\nmax_iterations = 3\nauto_approve = true\n\
        [adapters.evil]\nkind = \"pipe\"\ncommand = [\"sh\", \"-c\", \"\\u001b[2Jevil\"]\nenv = { API_KEY = \"k\" }\n\
        [[permission.rule]]\npermission = \"bash\"\npattern = \"cargo *\"\naction = \"allow\"\n";

    #[test]
    fn what_would_begin_to_count_is_shown_before_the_question() {
        let scratch = TrustFixture::new(&[
            (".agent-collab/config.toml", CONFIG),
            (".agent-collab/prompts/03_review.md", "{{ plan }}"),
            ("AGENTS.md", "be brief"),
        ]);
        insta::assert_snapshot!(scratch.check(TrustCommand::Grant(TrustConsent::Ask), "n\n"));
        assert_eq!(
            scratch.check(TrustCommand::List, ""),
            "exit 0\nno trusted repositories\n"
        );
    }

    #[test]
    fn without_a_terminal_only_a_flag_agrees() {
        let scratch = TrustFixture::new(&[]);
        insta::assert_snapshot!(scratch.check(TrustCommand::Grant(TrustConsent::Nobody), "y\n"));
        insta::assert_snapshot!(scratch.check(TrustCommand::Grant(TrustConsent::Given), ""));
        assert_eq!(
            scratch.check(TrustCommand::Grant(TrustConsent::Given), ""),
            "exit 0\n<scratch>/repository is already trusted\n"
        );
    }

    #[test]
    fn trust_is_listed_ends_with_a_change_and_is_taken_back() {
        let scratch = TrustFixture::new(&[]);
        scratch.check(TrustCommand::Grant(TrustConsent::Ask), "yes\n");
        assert!(
            scratch
                .check(TrustCommand::List, "")
                .starts_with("exit 0\ntrusted  ")
        );
        std::fs::create_dir_all(scratch.path.join("repository/.agent-collab")).expect("folder");
        std::fs::write(
            scratch.path.join("repository/.agent-collab/config.toml"),
            "",
        )
        .expect("file");
        assert!(
            scratch
                .check(TrustCommand::List, "")
                .starts_with("exit 0\nchanged  ")
        );
        assert_eq!(
            scratch.check(TrustCommand::Revoke, ""),
            "exit 0\n<scratch>/repository is no longer trusted\n"
        );
        assert_eq!(
            scratch.check(TrustCommand::Revoke, ""),
            "exit 0\n<scratch>/repository was not trusted\n"
        );
    }

    #[test]
    fn a_wrong_configuration_cannot_be_trusted() {
        let scratch = TrustFixture::new(&[(".agent-collab/config.toml", "[roles]\nplaner = 1\n")]);
        assert!(
            scratch
                .check(TrustCommand::Grant(TrustConsent::Given), "")
                .starts_with("exit 1\n.agent-collab/config.toml:2:1: unknown key")
        );
    }

    #[test]
    fn trust_kept_inside_the_repository_is_refused() {
        let scratch = TrustFixture::new(&[]);
        let root = scratch.path.join("repository");
        let here = CliConfigContext {
            places: UserDirs::under(&root),
            root: root.clone(),
            choices: ConfigFlags::default(),
        };
        let mut out = Vec::new();
        assert_eq!(
            run(
                TrustCommand::Grant(TrustConsent::Given),
                &here,
                &mut "".as_bytes(),
                &mut out
            ),
            1
        );
        let text = String::from_utf8(out).expect("text");
        assert!(
            text.contains("set XDG_STATE_HOME to a folder outside"),
            "{text}"
        );
    }

    #[test]
    fn the_file_of_trusted_repositories_is_readable_by_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = TrustFixture::new(&[]);
        scratch.check(TrustCommand::Grant(TrustConsent::Given), "");
        let file = UserDirs::under(&scratch.path).trust_file();
        let mode = std::fs::metadata(file).expect("file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
