//! One simple command as the guard looks at it: program by its plain name, arguments taken apart.
//!
//! It refuses to judge.

use std::borrow::Cow;

use crate::permission::shell::{ShellWord, SimpleCommand};

use super::command_arguments::CommandArguments;

/// Other names of programs: with a `g` before them on macOS, or one program's several.
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

/// Programs that carry their version in their name.
const VERSIONED_PROGRAMS: &[&str] = &[
    "python", "pypy", "perl", "ruby", "node", "php", "lua", "pip", "bash", "tclsh", "julia",
];

/// A simple command, its program first.
pub struct CommandInvocation<'a> {
    /// Its plain name: no folder, no `.exe`, no version, lower case.
    pub program: String,
    /// All words, the program's first.
    pub words: &'a [ShellWord],
    /// The words behind the program.
    pub arguments: CommandArguments<'a>,
    /// What the shell does with it.
    pub simple: &'a SimpleCommand,
}

impl<'a> CommandInvocation<'a> {
    /// Looks at words; `None` when there is none.
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

    /// The texts of the words behind the program.
    pub(super) fn argument_texts(&self) -> Vec<&str> {
        self.argument_words()
            .iter()
            .map(|word| word.text.as_str())
            .collect()
    }

    /// The words behind the program.
    pub fn argument_words(&self) -> &'a [ShellWord] {
        self.words.get(1..).unwrap_or_default()
    }

    /// Tells whether the program is one of these.
    pub fn is_one_of(&self, programs: &[&str]) -> bool {
        programs.contains(&self.program.as_str())
    }

    /// Tells whether it only shows how it is used.
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

/// Programs that stand for another and its first word.
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

/// What yarn and pnpm run from the packages at hand: words that run another, and programs that a project brings.
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

/// Programs whose first operand is the program that counts: `php artisan`, `bundle exec rake`.
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

/// The words with the program that counts first, where another only carries it.
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

/// A program's name without folder, ending and version, in small letters.
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
