//! One simple command as the guard looks at it: program by its plain name, arguments taken apart.
//!
//! It refuses to judge.

use std::borrow::Cow;

use crate::permission::shell::{Simple, Word};

use super::options::Arguments;

/// Other names of programs: with a `g` before them on macOS, or one program's several.
const ALIASES: &[(&str, &str)] = &[
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
const VERSIONED: &[&str] = &[
    "python", "pypy", "perl", "ruby", "node", "php", "lua", "pip", "bash", "tclsh", "julia",
];

/// A simple command, its program first.
pub struct Command<'a> {
    /// Its plain name: no folder, no `.exe`, no version, lower case.
    pub program: String,
    /// All words, the program's first.
    pub words: &'a [Word],
    /// The words behind the program.
    pub arguments: Arguments<'a>,
    /// What the shell does with it.
    pub simple: &'a Simple,
}

impl<'a> Command<'a> {
    /// Looks at words; `None` when there is none.
    pub fn of(words: &'a [Word], simple: &'a Simple) -> Option<Self> {
        let (first, rest) = words.split_first()?;
        let program = plain_name(&first.text);
        let arguments = Arguments::of(&program, rest);
        Some(Self {
            program,
            words,
            arguments,
            simple,
        })
    }

    /// The texts of the words behind the program.
    pub(super) fn texts(&self) -> Vec<&str> {
        self.rest().iter().map(|word| word.text.as_str()).collect()
    }

    /// The words behind the program.
    pub fn rest(&self) -> &'a [Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// Tells whether the program is one of these.
    pub fn is(&self, programs: &[&str]) -> bool {
        programs.contains(&self.program.as_str())
    }

    /// Tells whether it only shows how it is used.
    pub fn only_helps(&self) -> bool {
        let plain: Vec<&str> = self.rest().iter().map(|word| word.text.as_str()).collect();
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
const PAIRS: &[(&str, &str, &str)] = &[
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
const RUN_BY_NAME: &[&str] = &[
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
const CARRIERS: &[(&str, &[&str])] = &[
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
    ("yarn", RUN_BY_NAME),
    ("pnpm", RUN_BY_NAME),
    ("npm", &["exec", "x"]),
    ("bun", &["x"]),
    ("deno", &["x"]),
    ("k3s", &["kubectl", "crictl", "ctr"]),
    ("microk8s", &["kubectl", "helm"]),
    ("minikube", &["kubectl"]),
    ("mix", &["do"]),
];

/// The words with the program that counts first, where another only carries it.
pub fn without_carrier(words: &[Word]) -> Cow<'_, [Word]> {
    let Some((first, rest)) = words.split_first() else {
        return Cow::Borrowed(words);
    };
    let name = first
        .text
        .rsplit('/')
        .next()
        .unwrap_or(&first.text)
        .to_lowercase();
    if let Some((_, program, word)) = PAIRS.iter().find(|(pair, _, _)| *pair == name) {
        let front = [program, word].into_iter().filter(|word| !word.is_empty());
        let front = front.map(|word| Word::new(*word));
        return front.chain(rest.iter().cloned()).collect::<Vec<_>>().into();
    }
    let program = plain_name(&first.text);
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
            match CARRIERS.iter().find(carries) {
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
pub fn plain_name(text: &str) -> String {
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
    let name = if VERSIONED.contains(&bare) {
        bare
    } else {
        name
    };
    ALIASES
        .iter()
        .find(|(other, _)| *other == name)
        .map_or(name, |(_, plain)| plain)
        .to_owned()
}
