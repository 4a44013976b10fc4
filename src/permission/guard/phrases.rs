//! The user's phrases: `rm -rf`, `git push`, `> /etc/`, each with the whole analysis by itself.
//!
//! A phrase that names no command is looked for as words among the words that are executed, never in
//! the raw text. It refuses to know the built-in set.

use std::ops::Range;

use crate::permission::shell::{Input, RedirectKind, Simple};
use crate::permission::word_list::is_in_word_list;

use super::command::{Command, plain_name};
use super::devices::is_harmless_device;
use super::judge::Scene;
use super::pattern::Match;
use super::permissions::granted;
use super::place::normal;
use super::{Class, Settings, Verdict};

/// Where the phrases stand in the configuration.
pub const SECTION: &str = "safety.";

/// Options that mean the same, program by program.
const SAME: &[(&str, &[&[&str]])] = &[
    ("rm", &[&["-r", "-R", "--recursive"], &["-f", "--force"]]),
    (
        "cp",
        &[
            &["-r", "-R", "-a", "--recursive", "--archive"],
            &["-f", "--force"],
        ],
    ),
    ("mv", &[&["-f", "--force"]]),
    ("ln", &[&["-f", "--force"], &["-s", "--symbolic"]]),
    ("chmod", &[&["-R", "--recursive"]]),
    ("chown", &[&["-R", "--recursive"]]),
    ("chgrp", &[&["-R", "--recursive"]]),
    ("grep", &[&["-r", "-R", "--recursive"]]),
    (
        "git",
        &[
            &["-f", "--force"],
            &["-d", "--delete"],
            &["-n", "--dry-run"],
            &["-a", "--all"],
            &["-u", "--set-upstream"],
        ],
    ),
    (
        "docker",
        &[&["-f", "--force"], &["-a", "--all"], &["-v", "--volumes"]],
    ),
    (
        "podman",
        &[&["-f", "--force"], &["-a", "--all"], &["-v", "--volumes"]],
    ),
    ("npm", &[&["-g", "--global"], &["-f", "--force"]]),
    (
        "kill",
        &[&["-9", "-KILL", "-SIGKILL"], &["-1", "-HUP", "-SIGHUP"]],
    ),
    ("pkill", &[&["-9", "-KILL", "-SIGKILL"]]),
    ("killall", &[&["-9", "-KILL", "-SIGKILL"]]),
    ("tar", &[&["-x", "--extract"], &["-c", "--create"]]),
    ("curl", &[&["-k", "--insecure"], &["-L", "--location"]]),
];

/// Programs that can be told only to say what they would do.
const DRY: &[(&str, &[&str])] = &[
    ("git", &["--dry-run", "-n"]),
    ("npm", &["--dry-run"]),
    ("pnpm", &["--dry-run"]),
    ("yarn", &["--dry-run"]),
    ("bun", &["--dry-run"]),
    ("cargo", &["--dry-run", "-n"]),
    ("kubectl", &["--dry-run"]),
    ("helm", &["--dry-run"]),
    ("aws", &["--dryrun", "--dry-run"]),
    ("rsync", &["--dry-run", "-n"]),
    ("poetry", &["--dry-run"]),
];

/// Programs whose arguments are only text.
const TALKERS: &str = "echo printf grep egrep fgrep rg ag ack git cat man which type sed awk jq gh logger say notify-send test [ \
    export true : read";

/// One phrase, ready to be compared.
#[derive(Debug)]
pub struct Phrase {
    text: String,
    class: Class,
    form: Form,
}

#[derive(Debug)]
enum Form {
    /// Writing to a path or below it.
    Redirect(String),
    /// Commands joined by pipes, the last first.
    Commands(Vec<Described>),
    /// Words next to each other among executed words.
    Words(Vec<String>),
}

#[derive(Debug)]
struct Described {
    program: String,
    options: Vec<Vec<String>>,
    operands: Vec<String>,
}

impl Phrase {
    /// All phrases of the settings.
    pub fn all(settings: &Settings) -> Vec<Self> {
        let of = |phrases: &[String], class| {
            let read = phrases.iter().map(move |text| Self::read(text, class));
            read.flatten().collect::<Vec<_>>()
        };
        let mut all = of(&settings.blocked, Class::Dangerous);
        all.extend(of(&settings.confirm, Class::Confirm));
        all
    }

    fn read(text: &str, class: Class) -> Option<Self> {
        let trimmed = text.trim();
        let redirected = trimmed.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
        let form = if let Some(target) = redirected.strip_prefix('>') {
            Form::Redirect(target.trim_start_matches(['>', '|']).trim().to_owned())
        } else {
            let parts: Option<Vec<Described>> =
                trimmed.split('|').rev().map(Described::read).collect();
            match parts {
                Some(commands) => Form::Commands(commands),
                None => Form::Words(trimmed.split_whitespace().map(str::to_lowercase).collect()),
            }
        };
        (!trimmed.is_empty()).then(|| Self {
            text: trimmed.to_owned(),
            class,
            form,
        })
    }

    /// Tells whether the phrase begins with a program of this plain name.
    pub fn begins_with(&self, program: &str) -> bool {
        match &self.form {
            Form::Commands(commands) => commands
                .iter()
                .any(|described| described.program == program),
            Form::Redirect(_) => false,
            Form::Words(words) => words.first().is_some_and(|word| word == program),
        }
    }

    /// The verdict where the phrase holds.
    pub fn verdict(&self, span: &Range<usize>) -> Verdict {
        let list = match self.class {
            Class::Dangerous => "blocked_commands",
            Class::Confirm | Class::Safe => "require_confirm_for",
        };
        Verdict {
            class: self.class,
            rule: format!("{SECTION}{list}: {}", self.text),
            reason: format!("it is `{}`, which {SECTION}{list} stops", self.text),
            span: span.clone(),
        }
    }

    /// Compares a command.
    pub fn find(&self, command: &Command<'_>, scene: &Scene<'_>) -> Match {
        match &self.form {
            Form::Redirect(_) => Match::No,
            Form::Commands(commands) => find_piped(commands, command, scene),
            Form::Words(words) => match holds_words(command, words) {
                true => Match::Yes,
                false => Match::No,
            },
        }
    }
}

/// Notes the redirects of a command that phrases speak of.
pub fn judge_redirects(simple: &Simple, phrases: &[Phrase], scene: &Scene<'_>) {
    let writes = simple.redirects.iter().filter(|redirect| {
        matches!(
            redirect.kind,
            RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite
        )
    });
    for redirect in writes {
        for phrase in phrases {
            if phrase.holds_target(&redirect.target.text, scene) {
                scene.note_phrase(phrase, &simple.span);
            }
        }
    }
}

/// Tells whether writing to a path is what a phrase speaks of.
pub fn is_blocked_target(target: &str, phrases: &[Phrase], scene: &Scene<'_>) -> bool {
    let dangerous = phrases
        .iter()
        .filter(|phrase| phrase.class == Class::Dangerous);
    dangerous
        .into_iter()
        .any(|phrase| phrase.holds_target(target, scene))
}

impl Phrase {
    fn holds_target(&self, target: &str, scene: &Scene<'_>) -> bool {
        let Form::Redirect(prefix) = &self.form else {
            return false;
        };
        let path = scene.path(target);
        if is_harmless_device(&path) {
            return false;
        }
        let is_below = |path: &str| match path.strip_prefix(&normal(prefix)) {
            Some(rest) => {
                prefix.is_empty()
                    || prefix == "/"
                    || rest.starts_with('/')
                    || (rest.is_empty() && !prefix.ends_with('/'))
            }
            None => false,
        };
        is_below(&path) || is_below(&normal(target))
    }
}

fn find_piped(commands: &[Described], command: &Command<'_>, scene: &Scene<'_>) -> Match {
    let Some((last, before)) = commands.split_first() else {
        return Match::No;
    };
    let found = last.find(command);
    if before.is_empty() || found == Match::No {
        return found;
    }
    let Input::Pipe(from) = &command.simple.input else {
        return Match::No;
    };
    let sources = from.iter().filter_map(|at| scene.reading.commands.get(*at));
    sources
        .filter_map(|source| Command::of(&source.words, source))
        .map(|source| find_piped(before, &source, scene))
        .max()
        .unwrap_or(Match::No)
        .min(found)
}

fn holds_words(command: &Command<'_>, words: &[String]) -> bool {
    if is_in_word_list(TALKERS, &command.program) {
        return false;
    }
    let executed = command.words.iter().flat_map(|word| {
        word.text
            .split(|c: char| c.is_whitespace() || matches!(c, ';' | '(' | ')' | ','))
    });
    let executed: Vec<String> = executed.map(str::to_lowercase).collect();
    executed.windows(words.len()).any(|window| window == words)
}

impl Described {
    /// Reads a command; `None` when its first word can be no program's name.
    fn read(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let first = words.next()?;
        let is_name = |c: char| {
            c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-' | '/' | '+')
        };
        if !first.chars().all(is_name) || first.starts_with('-') {
            return None;
        }
        let program = plain_name(first);
        let (mut options, mut operands) = (Vec::new(), Vec::new());
        for word in words {
            match word.strip_prefix('-') {
                Some(cluster)
                    if cluster.len() > 1
                        && !cluster.starts_with('-')
                        && is_cluster(&program, cluster) =>
                {
                    options.extend(
                        cluster
                            .chars()
                            .map(|letter| same(&program, &format!("-{letter}"))),
                    );
                }
                Some(rest) if !rest.is_empty() => options.push(same(&program, word)),
                _ => operands.push(word.to_owned()),
            }
        }
        Some(Self {
            program,
            options,
            operands,
        })
    }

    fn find(&self, command: &Command<'_>) -> Match {
        if self.program != command.program || command.only_helps() {
            return Match::No;
        }
        let dry = DRY.iter().find(|(program, _)| *program == self.program);
        if dry.is_some_and(|(_, names)| {
            !self.operands.is_empty() && names.iter().any(|name| is_written(command, name))
        }) {
            return Match::No;
        }
        let found = self.find_operands(command);
        if found == Match::No || self.has_options(command) {
            return found;
        }
        let may_hide = command
            .rest()
            .iter()
            .any(|word| !word.is_sure && word.may_split);
        if may_hide { Match::Maybe } else { Match::No }
    }

    fn has_options(&self, command: &Command<'_>) -> bool {
        self.options.iter().all(|names| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            command.arguments.has(&names)
        })
    }

    fn find_operands(&self, command: &Command<'_>) -> Match {
        let mut at = 0;
        let mut found = Match::Yes;
        for (place, described) in self.operands.iter().enumerate() {
            match self.next(command, at, described, place) {
                (Match::No, _) => return Match::No,
                (some, next) => {
                    found = found.min(some);
                    at = next;
                }
            }
        }
        found
    }

    fn next(
        &self,
        command: &Command<'_>,
        from: usize,
        described: &str,
        place: usize,
    ) -> (Match, usize) {
        // A sub-command stands first, a path anywhere.
        let anywhere = place > 0 || described.contains(['/', '.', '~']);
        for (at, operand) in command.arguments.operands.iter().enumerate().skip(from) {
            let text = operand.word.text.as_str();
            if self.is_same(described, text) {
                return (Match::Yes, at + 1);
            }
            if !operand.word.is_sure {
                return (Match::Maybe, at + 1);
            }
            if !anywhere && !operand.may_be_value {
                return (Match::No, at);
            }
        }
        (Match::No, command.arguments.operands.len())
    }

    fn is_same(&self, described: &str, text: &str) -> bool {
        match (self.program.as_str(), granted(described)) {
            ("chmod", Some(wanted)) => {
                granted(text).is_some_and(|granted| granted & wanted == wanted)
            }
            _ if described.contains('/') => normal(described) == normal(text),
            ("npm" | "pnpm", _) => {
                text == described || (text.len() > 2 && described.starts_with(text))
            }
            _ => described == text,
        }
    }
}

fn is_written(command: &Command<'_>, name: &str) -> bool {
    command
        .arguments
        .given(name)
        .is_some_and(|given| given.name.len() == 2 || given.name.len() >= 5)
}

/// In `-rf` each letter is an option; in terraform's `-auto-approve` none is.
fn is_cluster(program: &str, letters: &str) -> bool {
    letters.len() <= 3
        && letters.chars().all(|c| c.is_ascii_alphabetic())
        && !matches!(program, "terraform" | "tofu" | "find" | "java")
}

fn same(program: &str, name: &str) -> Vec<String> {
    let known = SAME.iter().find(|(known, _)| *known == program);
    let group = known.and_then(|(_, groups)| groups.iter().find(|group| group.contains(&name)));
    match group {
        Some(group) => group.iter().map(|name| (*name).to_owned()).collect(),
        None => vec![name.to_owned()],
    }
}
