//! `--config` and `--set`: the flags that choose the configuration, before or after the name of a command.
//!
//! A flag in front of a command that does not use it is a usage error.

use std::path::PathBuf;

use clap::error::{Error, ErrorKind};
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches};

use super::permissions::PermissionsSubcommand;
use super::{CliCommand, CommandLine};
use crate::app::startup::StartError;
use crate::config::{ConfigFlags, ConfigOverride};

/// Flags by which the configuration is chosen.
#[derive(Debug, Clone, Default, Args)]
pub struct ConfigFlagArguments {
    /// Read this configuration file on top of yours and the repository's
    #[arg(id = CONFIG, long = "config", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Set one key for this start, such as `-s workflow.max_iterations=3`
    #[arg(id = SET, short = 's', long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

const CONFIG: &str = "choice_of_file";
const SET: &str = "choice_of_keys";

impl ConfigFlagArguments {
    /// Converts the flags for the configuration.
    ///
    /// # Errors
    /// A `--set` without `=`.
    pub fn to_config_flags(&self) -> Result<ConfigFlags, StartError> {
        let overrides = self.set.iter().map(|given| match given.split_once('=') {
            Some((key, value)) => {
                let flag = format!("--set {given}");
                Ok(ConfigOverride {
                    flag,
                    key: key.trim().to_owned(),
                    value: value.trim().to_owned(),
                })
            }
            None => Err(StartError {
                problem: format!("`--set {given}` has no `=`"),
                hint: "write it as KEY=VALUE, such as `-s test.max_fix_turns=1`".to_owned(),
                code: 2,
            }),
        });
        Ok(ConfigFlags {
            file: self.file.clone(),
            overrides: overrides.collect::<Result<_, _>>()?,
            instructions: None,
        })
    }
}

/// Builds the command line with these flags on every command that uses them, and on the names above and below it.
pub(super) fn command_definition() -> clap::Command {
    CommandLine::command().mut_subcommands(|below| propagate_flags(below, false))
}

fn propagate_flags(command: clap::Command, inherits: bool) -> clap::Command {
    let has = has_config_flags(&command);
    let leads_to = command.get_subcommands().any(has_config_flags);
    let command = if !has && (inherits || leads_to) {
        // `augment_args` replaces the command's help text, so set it again.
        let about = command.get_about().cloned().unwrap_or_default();
        let long = command.get_long_about().unwrap_or(&about).clone();
        ConfigFlagArguments::augment_args(command)
            .about(about)
            .long_about(long)
    } else {
        command
    };
    command.mut_subcommands(|below| propagate_flags(below, inherits || has))
}

fn has_config_flags(command: &clap::Command) -> bool {
    command.get_arguments().any(|each| each.get_id() == CONFIG)
}

/// Parses the arguments; flags before a command's name go to the command.
///
/// # Errors
/// They are not a valid command line, or a flag is given to a command that does not use it.
pub(super) fn parse_command_line(
    arguments: impl IntoIterator<Item = impl Into<std::ffi::OsString> + Clone>,
) -> Result<CommandLine, Error> {
    let matches = command_definition().try_get_matches_from(arguments)?;
    let mut cli = CommandLine::from_arg_matches(&matches)
        .map_err(|error| error.format(&mut command_definition()))?;
    let Some(command) = &mut cli.command else {
        return Ok(cli);
    };
    let given = collect_config_flags(&matches)?;
    let of_the_screen = [
        (cli.screen.new, "--new"),
        (cli.screen.resume, "--resume"),
        (cli.screen.view, "--view"),
    ];
    if let Some((_, flag)) = of_the_screen.iter().find(|(is_given, _)| *is_given) {
        return Err(misplaced_flag_error(flag, &matches));
    }
    match command.config_flags_mut() {
        Some(choices) => *choices = given,
        None if given.file.is_some() => {
            return Err(misplaced_flag_error("--config <FILE>", &matches));
        }
        None if !given.set.is_empty() => {
            return Err(misplaced_flag_error("--set <KEY=VALUE>", &matches));
        }
        None => {}
    }
    Ok(cli)
}

/// Collects the flags from all levels, outermost first.
fn collect_config_flags(matches: &ArgMatches) -> Result<ConfigFlagArguments, Error> {
    let mut given = ConfigFlagArguments::default();
    let mut level = Some(matches);
    while let Some(here) = level {
        // A command that does not use the configuration has no such flags.
        if let Ok(Some(file)) = here.try_get_one::<PathBuf>(CONFIG) {
            let before = given.file.replace(file.clone());
            if before.is_some() {
                let problem = "the argument '--config <FILE>' cannot be used multiple times\n";
                return Err(command_definition().error(ErrorKind::ArgumentConflict, problem));
            }
        }
        if let Ok(Some(set)) = here.try_get_many::<String>(SET) {
            given.set.extend(set.cloned());
        }
        level = here.subcommand().map(|(_, below)| below);
    }
    Ok(given)
}

fn misplaced_flag_error(flag: &str, matches: &ArgMatches) -> Error {
    let mut names = Vec::new();
    let mut level = matches.subcommand();
    while let Some((name, below)) = level {
        names.push(name);
        level = below.subcommand();
    }
    let problem = format!(
        "the subcommand '{}' cannot be used with '{flag}'",
        names.join(" ")
    );
    command_definition().error(ErrorKind::ArgumentConflict, problem)
}

impl CliCommand {
    /// Returns the configuration flags of the command; `None` if it has none.
    fn config_flags_mut(&mut self) -> Option<&mut ConfigFlagArguments> {
        Some(match self {
            Self::Run(args) => &mut args.conduct.choices,
            Self::Resume(args) => &mut args.conduct.choices,
            Self::Status(args) => &mut args.choices,
            Self::Diff(args) => &mut args.choices,
            Self::Prompt(args) => &mut args.choices,
            Self::History(args) => &mut args.choices,
            Self::Export(args) => &mut args.choices,
            Self::Verify(args) => &mut args.choices,
            Self::Undo(args) => &mut args.choices,
            Self::Sessions(args) => &mut args.choices,
            Self::Task(args) => &mut args.choices,
            Self::Discuss(args) => &mut args.choices,
            Self::Send(args) => &mut args.choices,
            Self::Doctor(args) => &mut args.choices,
            Self::Config { choices, .. } | Self::Keys(choices) => choices,
            Self::Agents(args) => &mut args.choices,
            Self::Tools(args) => &mut args.choices,
            Self::Permissions { command } => match command {
                PermissionsSubcommand::Check(args) => &mut args.choices,
                PermissionsSubcommand::Explain(args) => &mut args.choices,
                PermissionsSubcommand::List(args) => &mut args.choices,
                PermissionsSubcommand::Replay(args) => &mut args.choices,
                PermissionsSubcommand::Revoke(_) => return None,
            },
            Self::Demo(_)
            | Self::Trust(_)
            | Self::Scrub(_)
            | Self::Completions { .. }
            | Self::Hook(_)
            | Self::Mcp(_)
            | Self::Man(_)
            | Self::ScriptedAgent(_) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flags of a command line, or the first line of its error.
    fn check(line: &str) -> String {
        let mut cli = match parse_command_line(line.split(' ')) {
            Ok(cli) => cli,
            Err(error) => {
                return error
                    .to_string()
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .to_owned();
            }
        };
        let chosen = match &mut cli.command {
            Some(command) => command
                .config_flags_mut()
                .expect("it reads the configuration"),
            None => &mut cli.screen.choices,
        };
        let file = chosen.file.as_deref().unwrap_or("-".as_ref()).display();
        format!("{file} {}", chosen.set.join(","))
    }

    #[test]
    fn the_command_line_is_well_formed() {
        command_definition().debug_assert();
    }

    #[test]
    fn every_command_says_what_it_does_and_no_two_say_the_same() {
        fn gather(command: &clap::Command, path: &str, found: &mut Vec<(String, String)>) {
            for below in command.get_subcommands().filter(|each| !each.is_hide_set()) {
                let path = format!("{path} {}", below.get_name());
                let about = below.get_about().map(ToString::to_string);
                gather(below, &path, found);
                found.push((about.unwrap_or_default(), path));
            }
        }
        let mut found = Vec::new();
        gather(&command_definition(), "", &mut found);
        found.sort();
        assert!(found.len() > 30, "{found:?}");
        for (about, path) in &found {
            assert!(!about.is_empty(), "{path} does not say what it does");
        }
        for pair in found.windows(2) {
            assert_ne!(pair[0].0, pair[1].0, "{} and {}", pair[0].1, pair[1].1);
        }
    }

    #[test]
    fn the_flags_count_wherever_they_stand() {
        for name in [
            "",
            "status",
            "sessions list",
            "config check",
            "permissions explain bash ls",
            "run --goal A",
            "resume",
            "history 1",
            "task --agent explore look",
            "send go",
            "keys",
            "tools",
            "permissions list --builtin",
        ] {
            let words: Vec<&str> = name.split(' ').filter(|word| !word.is_empty()).collect();
            let names = words
                .iter()
                .take_while(|word| !word.starts_with('-'))
                .count();
            for at in 0..=names.min(2) {
                let mut line = vec!["agent-collab"];
                line.extend(words.iter().take(at));
                line.extend(["--config", "F", "-s", "a=1"]);
                line.extend(words.iter().skip(at));
                let line = line.join(" ");
                assert_eq!(check(&line), "F a=1", "{line}");
            }
        }
        assert_eq!(
            check("agent-collab -s a=1 sessions -s b=2 list -s c=3 --config F"),
            "F a=1,b=2,c=3"
        );
    }

    #[test]
    fn a_flag_that_nobody_reads_is_refused() {
        for (line, told) in [
            (
                "agent-collab --config F scrub",
                "error: the subcommand 'scrub' cannot be used with '--config <FILE>'",
            ),
            (
                "agent-collab permissions -s a=1 revoke 3",
                "error: the subcommand 'permissions revoke' cannot be used with '--set <KEY=VALUE>'",
            ),
            (
                "agent-collab --new status",
                "error: the subcommand 'status' cannot be used with '--new'",
            ),
            (
                "agent-collab --config F status --config G",
                "error: the argument '--config <FILE>' cannot be used multiple times",
            ),
            (
                "agent-collab trust --config F",
                "error: unexpected argument '--config' found",
            ),
        ] {
            assert_eq!(check(line), told, "{line}");
        }
    }
}
