//! Code from elsewhere: what is fetched or decoded and then run.
//!
//! It refuses to know whether an address can be trusted.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::permission::shell::{Doubt, Input, RedirectKind, Simple, UNKNOWN, WrapperKind};
use crate::permission::word_list::is_in_word_list;

use super::builtin::Builtin;
use super::command::{Command, plain_name, without_carrier};
use super::files::outputs;
use super::interpreters;
use super::judge::Scene;
use super::place::normal;

mod programs;

use programs::{COMPLETIONS, DECODERS, FETCHERS, FETCHING, HOOKED, SETTERS, SETTINGS};

static PIPED: Builtin = Builtin::dangerous(
    "remote.piped",
    "runs code that it fetches",
    &[
        "mshta|regsvr32|rundll32 **",
        "deno run http*",
        "iex|invoke-expression",
    ],
);
static DECODED: Builtin =
    Builtin::dangerous("remote.decoded", "runs code that it decodes first", &[]);
static DOWNLOADED: Builtin =
    Builtin::dangerous("remote.downloaded", "runs a file that it downloads", &[]);
static SHELL: Builtin = Builtin::dangerous(
    "remote.shell",
    "gives a shell to another machine",
    &[
        "nc|ncat|netcat -e|--exec|--sh-exec|--lua-exec",
        "ncat|nc.traditional -c",
    ],
);

/// What is known of code from elsewhere.
pub const RULES: &[&Builtin] = &[&PIPED, &DECODED, &DOWNLOADED, &SHELL];

/// Judges what reads its code from a pipe, and what hands a shell to the net.
pub fn judge(command: &Command<'_>, scene: &Scene<'_>) {
    let span = &command.simple.span;
    if command.program == "socat"
        && command.rest().iter().any(|word| {
            let word = word.text.to_lowercase();
            word.starts_with("exec:") || word.starts_with("system:")
        })
    {
        scene.note(&SHELL, span);
    }
    if command.is(&["nc", "ncat", "netcat"])
        && sources(command.simple, scene)
            .iter()
            .any(|source| interpreters::is_shell(&name_of(source)))
    {
        scene.note(&SHELL, span);
    }
    if interpreters::reads_code(command) {
        judge_source(command.simple, scene);
    }
}

/// Judges what commands do together: a file that one downloads and another runs, a fetched text that is run.
pub fn judge_together(scene: &Scene<'_>) {
    let mut downloaded: BTreeSet<String> = BTreeSet::new();
    let mut renamed: Vec<(String, String)> = Vec::new();
    let has_fetcher = scene.fetches();
    for simple in &scene.reading.commands {
        let words = without_carrier(&simple.words);
        let Some(command) = Command::of(&words, simple) else {
            continue;
        };
        judge_renamed(&command, &mut renamed, scene);
        if has_fetcher {
            if runs_one_of(&command, &downloaded) {
                scene.note(&DOWNLOADED, &simple.span);
            }
            follow_file(&command, scene, &mut downloaded);
        }
    }
    judge_decoded(scene);
    let fetches_for = |span: &Range<usize>| {
        let is_other = |simple: &Simple| !(simple.span == *span && name_of(simple) == "ssh");
        let mut commands = scene.reading.commands.iter();
        commands.any(|simple| is_fetcher(simple) && is_other(simple))
    };
    for doubt in &scene.reading.doubts {
        if let Doubt::DynamicText { span } = doubt
            && !is_own_text(scene, span)
        {
            let is_decoded = scene
                .reading
                .commands
                .iter()
                .any(|simple| is_related(&simple.span, span) && is_decoder(simple));
            match (has_fetcher && fetches_for(span), is_decoded) {
                (true, _) => scene.note(&PIPED, span),
                (false, true) => scene.note(&DECODED, span),
                (false, false) => {}
            }
        }
    }
}

/// Most programs under other names that are followed.
const RENAMED: usize = 64;

/// `cp /bin/rm x; ./x -rf y`: a program under another name.
fn judge_renamed(command: &Command<'_>, renamed: &mut Vec<(String, String)>, scene: &Scene<'_>) {
    let called = command
        .words
        .first()
        .map(|first| normal(&first.text))
        .unwrap_or_default();
    if let Some((_, program)) = renamed
        .iter()
        .take(RENAMED)
        .find(|(name, _)| *name == called)
    {
        let rest = command.rest().iter().map(|word| word.text.clone());
        let argv: Vec<String> = std::iter::once(program.clone()).chain(rest).collect();
        scene.note_argv(&argv, &command.simple.span);
    }
    if command.is(&["cp", "ln", "mv", "install"])
        && let Some((target, moved)) = command.arguments.texts().collect::<Vec<_>>().split_last()
    {
        let programs = moved
            .iter()
            .filter(|path| path.starts_with('/') && path.contains("bin/"));
        renamed.extend(programs.map(|path| (normal(target), (*path).to_owned())));
    }
}

/// What is decoded and then run may be known to the end, and is still hidden from who reads the line.
fn judge_decoded(scene: &Scene<'_>) {
    let commands = &scene.reading.commands;
    let hides = |simple: &&Simple| {
        let is_code = matches!(
            name_of(simple).as_str(),
            "base64" | "base32" | "basenc" | "xxd" | "openssl" | "uudecode" | "gbase64"
        );
        is_code
            && is_decoder(simple)
            && simple.via.is_empty()
            && !simple
                .redirects
                .iter()
                .any(|redirect| matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append))
    };
    let Some(decoder) = commands.iter().find(hides) else {
        return;
    };
    let runs = |simple: &&Simple| {
        simple.via.iter().any(|wrapper| {
            wrapper.kind == WrapperKind::Shell
                && (wrapper.name == "eval" || interpreters::is_shell(&wrapper.name))
        })
    };
    if let Some(run) = commands
        .iter()
        .find(runs)
        .filter(|run| run.span.end >= decoder.span.end)
    {
        scene.note(&DECODED, &run.span);
    }
}

/// Tells whether a text that is run is the project's own file, or what a program prints for its shell.
pub fn is_own_text(scene: &Scene<'_>, span: &Range<usize>) -> bool {
    let runners = scene
        .reading
        .commands
        .iter()
        .filter(|simple| simple.span == *span && runs_text(simple));
    let mut owned = runners.map(|simple| {
        let sources = sources(simple, scene);
        match sources.is_empty() {
            true => is_own_file(simple),
            false => sources.iter().all(|source| prints_settings(source)),
        }
    });
    owned
        .next()
        .is_some_and(|first| first && owned.all(|owned| owned))
}

fn runs_text(simple: &Simple) -> bool {
    let name = name_of(simple);
    matches!(name.as_str(), "source" | "." | "eval") || interpreters::is_shell(&name)
}

fn is_own_file(simple: &Simple) -> bool {
    let name = name_of(simple);
    if name == "eval" {
        return false;
    }
    let mut operands = simple
        .words
        .iter()
        .skip(1)
        .filter(|word| !word.text.starts_with('-'));
    let has_code = name != "source"
        && name != "."
        && simple.words.iter().any(|word| {
            word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('c')
        });
    operands.next().is_some_and(|file| {
        !has_code && !file.text.starts_with("/dev/") && file.text.chars().any(|c| c != UNKNOWN)
    })
}

fn prints_settings(simple: &Simple) -> bool {
    let name = name_of(simple);
    if is_fetcher(simple)
        || is_decoder(simple)
        || matches!(name.as_str(), "echo" | "printf" | "cat")
    {
        return false;
    }
    let has = |list: &'static str| {
        let mut words = simple.words.iter().skip(1);
        words.any(|word| is_in_word_list(list, word.text.as_str()))
    };
    is_in_word_list(SETTERS, name.as_str())
        || has(COMPLETIONS)
        || is_in_word_list(HOOKED, name.as_str()) && has(SETTINGS)
}

fn is_related(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    (inner.start >= outer.start && inner.end <= outer.end)
        || (outer.start >= inner.start && outer.end <= inner.end)
}

fn judge_source(simple: &Simple, scene: &Scene<'_>) {
    let fed = sources(simple, scene);
    let from_net = simple.redirects.iter().any(|redirect| {
        redirect.kind != RedirectKind::Write
            && (redirect.target.text.starts_with("/dev/tcp")
                || redirect.target.text.starts_with("/dev/udp"))
    });
    if from_net
        || fed
            .iter()
            .any(|source| is_fetcher(source) || reads_net(source))
    {
        return scene.note(&PIPED, &simple.span);
    }
    if fed.iter().any(|source| is_decoder(source)) {
        return scene.note(&DECODED, &simple.span);
    }
    let is_local = fed.iter().all(|source| {
        matches!(
            name_of(source).as_str(),
            "cat" | "head" | "tail" | "sed" | "grep"
        )
    });
    let only_checks = simple.words.iter().any(|word| word.text == "-n");
    if interpreters::is_shell(&name_of(simple)) && !only_checks {
        // `sed 's/^/rm -rf /' | sh`: what is put together may begin with any of the words.
        for word in fed.iter().flat_map(|source| source.words.iter().skip(1)) {
            scene.note_words(&word.text, &simple.span);
        }
    }
    if !fed.is_empty() && !is_local && !prints_settings(fed.first().copied().unwrap_or(simple)) {
        scene.note(&interpreters::UNKNOWN_CODE, &simple.span);
    }
}

fn reads_net(simple: &Simple) -> bool {
    simple
        .redirects
        .iter()
        .any(|redirect| redirect.target.text.starts_with("/dev/tcp/"))
}

/// Every command whose output reaches a command, through any number of pipes.
fn sources<'a>(simple: &'a Simple, scene: &'a Scene<'_>) -> Vec<&'a Simple> {
    let mut seen: Vec<usize> = Vec::new();
    let mut open: Vec<usize> = indices(&simple.input).to_vec();
    while let Some(at) = open.pop() {
        if seen.len() > 64 {
            break;
        }
        if seen.contains(&at) {
            continue;
        }
        seen.push(at);
        if let Some(source) = scene.reading.commands.get(at) {
            open.extend(indices(&source.input));
        }
    }
    seen.iter()
        .filter_map(|at| scene.reading.commands.get(*at))
        .collect()
}

fn indices(input: &Input) -> &[usize] {
    match input {
        Input::Pipe(from) => from,
        Input::Nothing | Input::Text(_) | Input::Unknown => &[],
    }
}

fn name_of(simple: &Simple) -> String {
    simple
        .words
        .first()
        .map(|word| plain_name(&word.text))
        .unwrap_or_default()
}

/// Tells whether a command brings bytes from another machine.
pub fn is_fetcher(simple: &Simple) -> bool {
    let name = name_of(simple);
    let fetching = FETCHING.iter().find(|(program, _)| *program == name);
    is_in_word_list(FETCHERS, name.as_str())
        || fetching.is_some_and(|(_, words)| {
            simple
                .words
                .iter()
                .any(|word| words.contains(&word.text.as_str()))
        })
}

fn is_decoder(simple: &Simple) -> bool {
    let name = name_of(simple);
    let decoder = DECODERS.iter().find(|(program, _)| *program == name);
    decoder.is_some_and(|(_, options)| {
        options.is_empty()
            || simple.words.iter().any(|word| {
                options.contains(&word.text.as_str())
                    || (word.text.starts_with('-')
                        && !word.text.starts_with("--")
                        && word.text.ends_with('d'))
            })
    })
}

/// Notes the files that hold what was fetched.
fn follow_file(command: &Command<'_>, scene: &Scene<'_>, downloaded: &mut BTreeSet<String>) {
    let simple = command.simple;
    let fetches = is_fetcher(simple)
        || sources(simple, scene)
            .iter()
            .any(|source| is_fetcher(source));
    if fetches {
        downloaded.extend(outputs(command).into_iter().map(normal));
        let written = simple
            .redirects
            .iter()
            .filter(|redirect| matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append));
        downloaded.extend(written.map(|redirect| normal(&redirect.target.text)));
        downloaded.extend(named_after_address(command));
    } else if command.is(&["mv", "cp", "ln", "install"]) {
        let texts: Vec<&str> = command.arguments.texts().collect();
        if let Some((target, moved)) = texts.split_last()
            && moved.iter().any(|path| downloaded.contains(&normal(path)))
        {
            downloaded.insert(normal(target));
        }
    }
}

/// `wget URL` and `curl -O URL` name the file after the address.
fn named_after_address(command: &Command<'_>) -> Vec<String> {
    let keeps_name = match command.program.as_str() {
        "wget" | "wget2" | "aria2c" | "axel" => true,
        "curl" => command
            .arguments
            .has(&["-O", "--remote-name", "--remote-name-all"]),
        _ => false,
    };
    if !keeps_name {
        return Vec::new();
    }
    let names = command.rest().iter().filter_map(|word| {
        let address = word.text.split(['?', '#']).next().unwrap_or_default();
        let name = address.rsplit('/').next().unwrap_or_default();
        (address.contains('/') && !name.is_empty() && !word.text.starts_with('-'))
            .then(|| name.to_owned())
    });
    names.collect()
}

fn runs_one_of(command: &Command<'_>, downloaded: &BTreeSet<String>) -> bool {
    let is_one = |text: &str| downloaded.contains(&normal(text));
    let by_name = command
        .words
        .first()
        .is_some_and(|first| first.text.contains('/') && is_one(&first.text));
    let runs_files = interpreters::is_interpreter(&command.program)
        || command.is(&[
            "source",
            ".",
            "installer",
            "dpkg",
            "rpm",
            "java",
            "msiexec",
            "open",
        ]);
    let mut operands = command
        .rest()
        .iter()
        .filter(|word| !word.text.starts_with('-'));
    let by_word = runs_files && operands.next().is_some_and(|word| is_one(&word.text));
    let by_redirect =
        runs_files
            && command.simple.redirects.iter().any(|redirect| {
                redirect.kind == RedirectKind::Read && is_one(&redirect.target.text)
            });
    by_name || by_word || by_redirect
}
