//! `agent-collab config show|check|path`: prints the configuration, its problems, or its files.
//!
//! Does not write configuration files: those are the user's.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::app::log_setup;
use crate::app::terminal;
use crate::app::ui_config::{UiConfig, load_checked_config};
use crate::config::diagnostic::{escape_control_chars, format_notices};
use crate::config::effective_permissions::EffectivePermissions;
use crate::config::project_files::PROJECT_DIR;
use crate::config::{ConfigFlags, LoadedConfig, UserDirs, config_display};
use crate::prompts::{PromptLibrary, PromptSource};

/// A subcommand of `config`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigCommand {
    /// Prints every key with its value and where it comes from.
    Show(ConfigFormat),
    /// Prints everything that is wrong.
    Check,
    /// Prints which files are read, and whether they exist.
    Path,
}

/// The output format of `config show`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigFormat {
    /// TOML that parses as the same configuration.
    Toml,
    Json,
}

/// The context of a `config` subcommand.
#[derive(Debug, Clone)]
pub struct CliConfigContext {
    pub places: UserDirs,
    pub root: PathBuf,
    pub choices: ConfigFlags,
}

/// Runs the command; returns the exit code: 0, or 1 when the configuration is wrong.
pub fn run(command: ConfigCommand, here: &CliConfigContext, out: &mut dyn Write) -> u8 {
    let written = match command {
        ConfigCommand::Show(format) => run_show(here, format, out),
        ConfigCommand::Check => run_check(here, out),
        ConfigCommand::Path => run_path(here, out),
    };
    // The reader closed the output, as with `| head`.
    written.unwrap_or(1)
}

/// Converts the prompts of the configuration for the prompt library.
pub fn prompt_sources(loaded: &LoadedConfig) -> Vec<PromptSource> {
    let prompts = loaded.prompts().into_iter();
    prompts
        .map(|source| PromptSource {
            file: source.file.clone(),
            text: source.text.clone(),
        })
        .collect()
}

fn run_show(here: &CliConfigContext, format: ConfigFormat, out: &mut dyn Write) -> io::Result<u8> {
    let loaded = match load_checked_config(&here.places, &here.root, &here.choices) {
        Ok(loaded) => loaded,
        Err(problems) => {
            writeln!(out, "{problems}")?;
            return Ok(1);
        }
    };
    match format {
        ConfigFormat::Json => writeln!(out, "{:#}", config_display::to_json(&loaded))?,
        ConfigFormat::Toml => {
            write!(out, "{}", config_display::to_toml(&loaded))?;
            let notices = format_notices(&loaded.notices);
            let lines = notices.lines().map(|line| format!("# {line}"));
            for line in lines {
                writeln!(out, "{line}")?;
            }
        }
    }
    Ok(0)
}

fn run_check(here: &CliConfigContext, out: &mut dyn Write) -> io::Result<u8> {
    let loaded = match load_checked_config(&here.places, &here.root, &here.choices) {
        Ok(loaded) => loaded,
        Err(problems) => {
            return print_problems(out, &problems, problems.0.len(), "the configuration");
        }
    };
    let mut notices = loaded.notices.clone();
    notices.extend(EffectivePermissions::rules_denied_by_profiles(
        &loaded.config,
    ));
    if !notices.is_empty() {
        writeln!(out, "{}", format_notices(&notices))?;
    }
    if let Err(problems) = UiConfig::from_config(&loaded, terminal::detect_color_depth()) {
        return print_problems(out, &problems, problems.0.len(), "the configuration");
    }
    if let Err(problems) = log_setup::check_json_log_file(&loaded, &here.root) {
        return print_problems(out, &problems, problems.0.len(), "the configuration");
    }
    if let Err(problems) = PromptLibrary::load(&prompt_sources(&loaded)) {
        return print_problems(out, &problems, problems.0.len(), "the prompts");
    }
    if let Err(problems) = loaded.agent_prompts() {
        return print_problems(out, &problems, problems.0.len(), "the prompts");
    }
    writeln!(out, "the configuration and the prompts are valid")?;
    Ok(0)
}

/// Prints problems and their number; the exit code is 1.
fn print_problems(
    out: &mut dyn Write,
    problems: &dyn Display,
    n: usize,
    of: &str,
) -> io::Result<u8> {
    writeln!(out, "{problems}")?;
    writeln!(out, "{} in {of}", format_problem_count(n))?;
    Ok(1)
}

fn format_problem_count(n: usize) -> String {
    if n == 1 {
        "1 problem".to_owned()
    } else {
        format!("{n} problems")
    }
}

fn run_path(here: &CliConfigContext, out: &mut dyn Write) -> io::Result<u8> {
    let project = here.root.join(PROJECT_DIR);
    let mut files = vec![
        ("global", here.places.global_config()),
        ("global prompts", here.places.global_prompts()),
        ("global themes", here.places.global_themes()),
        ("project", project.join("config.toml")),
        ("project prompts", project.join("prompts")),
    ];
    files.extend(
        here.choices
            .file
            .iter()
            .map(|file| ("--config", file.clone())),
    );
    files.push(("trust", here.places.trust_file()));
    for (name, file) in files {
        writeln!(
            out,
            "{name:<16} {:<8} {}",
            presence_label(&file),
            escape_control_chars(&file.display().to_string())
        )?;
    }
    Ok(0)
}

fn presence_label(file: &Path) -> &'static str {
    if file.exists() { "exists" } else { "missing" }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes files below a scratch folder, runs a command in its `repository`, and returns the exit code and the
    /// output.
    fn check(files: &[(&str, &str)], command: ConfigCommand) -> String {
        let folder = tempfile::tempdir().expect("scratch folder");
        let path = folder.path().canonicalize().expect("real path");
        std::fs::create_dir_all(path.join("repository")).expect("repository");
        for (name, text) in files {
            let file = path.join(name);
            std::fs::create_dir_all(file.parent().expect("parent")).expect("folder");
            std::fs::write(file, text).expect("file");
        }
        let here = CliConfigContext {
            places: UserDirs::under(&path),
            root: path.join("repository"),
            choices: ConfigFlags::default(),
        };
        let mut out = Vec::new();
        let code = run(command, &here, &mut out);
        let text = String::from_utf8(out)
            .expect("text")
            .replace(&path.display().to_string(), "<scratch>");
        format!("exit {code}\n{text}")
    }

    const PROJECT: &str = "repository/.agent-collab/config.toml";

    #[test]
    fn a_right_configuration_passes_and_tells_what_is_ignored() {
        insta::assert_snapshot!(check(&[(PROJECT, "[roles]\nplanner = \"claude\"\n[workflow]\nmax_iterations = 3\n")], ConfigCommand::Check), @r#"
        exit 0
        .agent-collab/config.toml:2:11: `roles.planner = "claude"` is ignored because this repository is not trusted
          hint: run `agent-collab trust` if you trust the source of this repository
        the configuration and the prompts are valid
        "#);
    }

    #[test]
    fn a_wrong_configuration_fails_with_all_problems() {
        insta::assert_snapshot!(check(&[(PROJECT, "[roles]\nplaner = 1\n[worflow]\n")], ConfigCommand::Check), @"
        exit 1
        .agent-collab/config.toml:2:1: unknown key `roles.planer`
          | planer = 1
          hint: did you mean `roles.planner`?
        .agent-collab/config.toml:3:2: unknown key `worflow`
          | [worflow]
          hint: did you mean `workflow`?
        2 problems in the configuration
        ");
    }

    #[test]
    fn a_log_file_that_cannot_be_written_fails_the_check() {
        let global = "config/agent-collab/config.toml";
        insta::assert_snapshot!(check(&[(global, "[log]\njson_file = \"~/none/log.jsonl\"\n")], ConfigCommand::Check), @"
        exit 1
        <scratch>/config/agent-collab/config.toml:2:13: cannot write `log.json_file`: cannot access <scratch>/home/none: No such file or directory (os error 2)
          hint: name a file outside the repository, in an existing folder that you can write to
        1 problem in the configuration
        ");
    }

    #[test]
    fn a_wrong_prompt_fails_the_check_too() {
        let prompt = ("config/agent-collab/prompts/03_review.md", "{{ plann }}");
        insta::assert_snapshot!(check(&[prompt], ConfigCommand::Check), @"
        exit 1
        <scratch>/config/agent-collab/prompts/03_review.md:1: unknown variable `plann`
          | {{ plann }}
          hint: did you mean `plan`? known variables: bar, cap, delegating, goal, goal_title, highest_finding, iteration, new_conversation, open_findings, plan, plan_diff, plan_path, project_instructions, replanned, retry_reason, root, settled_findings, staging_comments, tools
        1 problem in the prompts
        ");
    }

    #[test]
    fn the_files_are_listed_with_whether_they_exist() {
        insta::assert_snapshot!(check(&[(PROJECT, "")], ConfigCommand::Path), @"
        exit 0
        global           missing  <scratch>/config/agent-collab/config.toml
        global prompts   missing  <scratch>/config/agent-collab/prompts
        global themes    missing  <scratch>/config/agent-collab/themes
        project          exists   <scratch>/repository/.agent-collab/config.toml
        project prompts  missing  <scratch>/repository/.agent-collab/prompts
        trust            missing  <scratch>/state/agent-collab/trust.json
        ");
    }

    #[test]
    fn what_is_shown_is_toml_or_json_and_a_wrong_configuration_is_an_error() {
        let ignored = (PROJECT, "[roles]\nplanner = \"claude\"\n");
        let toml = check(&[ignored], ConfigCommand::Show(ConfigFormat::Toml));
        let body = toml.strip_prefix("exit 0\n").expect("exit 0");
        assert!(
            body.parse::<toml::Table>().is_ok() && body.contains("is ignored"),
            "{toml}"
        );
        let json = check(&[ignored], ConfigCommand::Show(ConfigFormat::Json));
        let value: serde_json::Value =
            serde_json::from_str(json.strip_prefix("exit 0\n").expect("exit 0")).expect("json");
        assert_eq!(value["values"]["roles.planner"]["value"], "codex");
        assert!(
            check(&[(PROJECT, "x")], ConfigCommand::Show(ConfigFormat::Toml))
                .starts_with("exit 1\n")
        );
    }
}
