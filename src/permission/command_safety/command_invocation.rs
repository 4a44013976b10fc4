//! One simple command as the classifier sees it: the program by its plain name, and its arguments split.
//!
//! Nothing is judged here.

use std::borrow::Cow;

use crate::permission::shell::{ShellWord, SimpleCommand};

use super::command_arguments::CommandArguments;

/// Other names of programs: with a `g` prefix on macOS, or several names of one program.
const PROGRAM_ALIASES: &[(&str, &str)] = &[
    ("grm", "rm"),
    ("gchmod", "chmod"),
    ("gchown", "chown"),
    ("gdd", "dd"),
    ("gshred", "shred"),
    ("gtee", "tee"),
    ("gtruncate", "truncate"),
    ("gunlink", "unlink"),
    ("gfind", "find"),
    ("gsed", "sed"),
    ("gawk", "awk"),
    ("mawk", "awk"),
    ("nawk", "awk"),
    ("gmv", "mv"),
    ("gcp", "cp"),
    ("gmake", "make"),
    ("nodejs", "node"),
    ("pypy", "python"),
    ("py", "python"),
    ("ipython", "python"),
    ("luajit", "lua"),
    ("powershell", "pwsh"),
    ("rbash", "bash"),
    ("ash", "sh"),
    ("oc", "kubectl"),
    ("k", "kubectl"),
    ("mariadb", "mysql"),
    ("mongo", "mongosh"),
    ("valkey-cli", "redis-cli"),
    ("keydb-cli", "redis-cli"),
    ("tf", "terraform"),
    ("opentofu", "tofu"),
    ("aws-cdk", "cdk"),
];

/// Programs whose name contains their version.
const VERSIONED_PROGRAMS: &[&str] = &[
    "python", "pypy", "perl", "ruby", "node", "php", "lua", "pip", "bash", "tclsh", "julia",
];

/// A simple command with its program and split arguments.
pub struct CommandInvocation<'a> {
    /// Its plain name: no folder, no `.exe`, no version, lower case.
    pub program: String,
    /// All words, the program first.
    pub words: &'a [ShellWord],
    /// The words after the program, split.
    pub arguments: CommandArguments<'a>,
    /// The command as the shell analysis found it.
    pub simple: &'a SimpleCommand,
}

impl<'a> CommandInvocation<'a> {
    /// Makes an invocation from words; `None` when there are none.
    pub fn from_words(words: &'a [ShellWord], simple: &'a SimpleCommand) -> Option<Self> {
        let (first, rest) = words.split_first()?;
        let program = normalize_program_name(&first.text);
        let arguments = CommandArguments::parse(&program, rest);
        Some(Self {
            program,
            words,
            arguments,
            simple,
        })
    }

    /// Returns the texts of the words after the program.
    pub(super) fn argument_texts(&self) -> Vec<&str> {
        self.argument_words()
            .iter()
            .map(|word| word.text.as_str())
            .collect()
    }

    /// Returns the words after the program.
    pub fn argument_words(&self) -> &'a [ShellWord] {
        self.words.get(1..).unwrap_or_default()
    }

    /// Returns whether the program is one of these.
    pub fn is_one_of(&self, programs: &[&str]) -> bool {
        programs.contains(&self.program.as_str())
    }

    /// Returns whether the command only shows its usage.
    pub fn only_shows_help(&self) -> bool {
        let plain: Vec<&str> = self
            .argument_words()
            .iter()
            .map(|word| word.text.as_str())
            .collect();
        let is_help = |word: &&str| matches!(*word, "--help" | "-help");
        match plain.as_slice() {
            ["-h" | "-V" | "--version" | "-version" | "help" | "version" | "-?"] => true,
            [.., "-h"] => {
                plain.len() <= 3
                    && !plain
                        .iter()
                        .any(|word| word.len() > 2 && word.starts_with('-'))
            }
            words => words.iter().take_while(|word| **word != "--").any(is_help),
        }
    }
}

/// Programs that mean another program and its first word.
const COMBINED_PROGRAM_NAMES: &[(&str, &str, &str)] = &[
    ("docker-compose", "docker", "compose"),
    ("podman-compose", "podman", "compose"),
    ("git-push", "git", "push"),
    ("git-clean", "git", "clean"),
    ("git-reset", "git", "reset"),
    ("git-lfs", "git", "lfs"),
    ("git-filter-repo", "git", "filter-repo"),
    ("cargo-publish", "cargo", "publish"),
    ("cargo-release", "cargo", "release"),
    ("gradlew", "gradle", ""),
    ("mvnw", "mvn", ""),
];

/// Words after yarn and pnpm that run an installed package, and programs that a project brings.
const PACKAGE_RUN_WORDS: &[&str] = &[
    "exec",
    "dlx",
    "rimraf",
    "del-cli",
    "changeset",
    "lerna",
    "semantic-release",
    "release-it",
    "np",
    "vsce",
];

/// Programs whose first operand is the program that matters: `php artisan`, `bundle exec rake`.
const CARRIER_PROGRAMS: &[(&str, &[&str])] = &[
    ("php", &["artisan", "bin/console", "wp"]),
    (
        "python",
        &["manage.py", "./manage.py", "setup.py", "./setup.py"],
    ),
    ("bundle", &["exec"]),
    ("poetry", &["run"]),
    ("pipenv", &["run"]),
    ("uv", &["run"]),
    ("pdm", &["run"]),
    ("hatch", &["run"]),
    ("rye", &["run"]),
    ("yarn", PACKAGE_RUN_WORDS),
    ("pnpm", PACKAGE_RUN_WORDS),
    ("npm", &["exec", "x"]),
    ("bun", &["x"]),
    ("deno", &["x"]),
    ("k3s", &["kubectl", "crictl", "ctr"]),
    ("microk8s", &["kubectl", "helm"]),
    ("minikube", &["kubectl"]),
    ("mix", &["do"]),
];

/// Returns the words starting with the program that matters, without a program that only runs it.
pub fn strip_carrier(words: &[ShellWord]) -> Cow<'_, [ShellWord]> {
    let Some((first, rest)) = words.split_first() else {
        return Cow::Borrowed(words);
    };
    let name = first
        .text
        .rsplit('/')
        .next()
        .unwrap_or(&first.text)
        .to_lowercase();
    if let Some((_, program, word)) = COMBINED_PROGRAM_NAMES
        .iter()
        .find(|(pair, _, _)| *pair == name)
    {
        let front = [program, word].into_iter().filter(|word| !word.is_empty());
        let front = front.map(|word| ShellWord::new(*word));
        return front.chain(rest.iter().cloned()).collect::<Vec<_>>().into();
    }
    let program = normalize_program_name(&first.text);
    if program == "cargo"
        && let [toolchain, behind @ ..] = rest
        && toolchain.text.starts_with('+')
    {
        return std::iter::once(first)
            .chain(behind)
            .cloned()
            .collect::<Vec<_>>()
            .into();
    }
    let behind = match (program.as_str(), rest) {
        ("python", [flag, ..]) if flag.text == "-m" => &rest[1..],
        (program, [carried, behind @ ..]) => {
            let carries = |(carrier, carried_words): &&(&str, &[&str])| {
                *carrier == program && carried_words.contains(&carried.text.as_str())
            };
            match CARRIER_PROGRAMS.iter().find(carries) {
                Some(_) if matches!(carried.text.as_str(), "exec" | "x" | "dlx" | "run" | "do") => {
                    let options = behind
                        .iter()
                        .take_while(|word| word.text.starts_with('-'))
                        .count();
                    &behind[options..]
                }
                Some(_) => rest,
                None => return Cow::Borrowed(words),
            }
        }
        (_, []) => return Cow::Borrowed(words),
    };
    if behind.is_empty() {
        Cow::Borrowed(words)
    } else {
        Cow::Borrowed(behind)
    }
}

/// Returns a program's name without folder, extension and version, in lower case.
pub fn normalize_program_name(text: &str) -> String {
    let name = text
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or(text)
        .to_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    // `npx npm@9`.
    let name = name
        .split('@')
        .next()
        .filter(|name| !name.is_empty())
        .unwrap_or(name);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let name = if VERSIONED_PROGRAMS.contains(&bare) {
        bare
    } else {
        name
    };
    PROGRAM_ALIASES
        .iter()
        .find(|(other, _)| *other == name)
        .map_or(name, |(_, plain)| plain)
        .to_owned()
}
