//! Judges commands that fetch or decode code and then run it.
//!
//! Whether an address can be trusted is not known.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::permission::program_table::{ProgramTrait, has_trait, program_facts};
use crate::permission::shell::{
    AnalysisDoubt, CommandInput, RedirectKind, SimpleCommand, UNKNOWN_PLACEHOLDER, WrapperKind,
};
use crate::permission::word_list::is_in_word_list;

use super::builtin_rules::RuleName;
use super::code_interpreters;
use super::command_invocation::{CommandInvocation, normalize_program_name, strip_carrier};
use super::command_scene::CommandScene;
use super::file_operations::output_paths;
use super::path_class::normalize_path;

mod shell_settings;

use shell_settings::{COMPLETION_WORDS, SHELL_SETTINGS_WORDS};

const PIPED: RuleName = RuleName::new("remote.piped");
const DECODED: RuleName = RuleName::new("remote.decoded");
const DOWNLOADED: RuleName = RuleName::new("remote.downloaded");
const SHELL: RuleName = RuleName::new("remote.shell");

/// Judges commands that read their code from a pipe or connect a shell to the network.
pub fn check_command(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let span = &command.simple.span;
    if command.program == "socat"
        && command.argument_words().iter().any(|word| {
            let word = word.text.to_lowercase();
            word.starts_with("exec:") || word.starts_with("system:")
        })
    {
        scene.record_rule(SHELL, span);
    }
    if command.has_trait(ProgramTrait::NetworkPipe)
        && input_sources(command.simple, scene)
            .iter()
            .any(|source| code_interpreters::is_shell(&program_name(source)))
    {
        scene.record_rule(SHELL, span);
    }
    if code_interpreters::reads_code_from_input(command) {
        check_code_source(command.simple, scene);
    }
}

/// Judges commands together: a file that one downloads and another runs, a fetched text that is run.
pub fn check_command_combinations(scene: &CommandScene<'_>) {
    let mut downloaded: BTreeSet<String> = BTreeSet::new();
    let mut renamed: Vec<(String, String)> = Vec::new();
    let has_fetcher = has_fetcher(scene);
    for simple in &scene.analysis.commands {
        let words = strip_carrier(&simple.words);
        let Some(command) = CommandInvocation::from_words(&words, simple) else {
            continue;
        };
        check_renamed_program(&command, &mut renamed, scene);
        if has_fetcher {
            if runs_downloaded_file(&command, &downloaded) {
                scene.record_rule(DOWNLOADED, &simple.span);
            }
            track_downloads(&command, scene, &mut downloaded);
        }
    }
    check_decoded_script(scene);
    let fetches_for = |span: &Range<usize>| {
        let is_other =
            |simple: &SimpleCommand| !(simple.span == *span && program_name(simple) == "ssh");
        let mut commands = scene.analysis.commands.iter();
        commands.any(|simple| is_fetcher(simple) && is_other(simple))
    };
    for doubt in &scene.analysis.doubts {
        if let AnalysisDoubt::DynamicScript { span } = doubt
            && !is_project_script(scene, span)
        {
            let is_decoded = scene
                .analysis
                .commands
                .iter()
                .any(|simple| is_nested_span(&simple.span, span) && is_decoder(simple));
            match (has_fetcher && fetches_for(span), is_decoded) {
                (true, _) => scene.record_rule(PIPED, span),
                (false, true) => scene.record_rule(DECODED, span),
                (false, false) => {}
            }
        }
    }
}

/// The most renamed programs that are followed.
const MAX_RENAMED_PROGRAMS: usize = 64;

/// `cp /bin/rm x; ./x -rf y`: a program under another name.
fn check_renamed_program(
    command: &CommandInvocation<'_>,
    renamed: &mut Vec<(String, String)>,
    scene: &CommandScene<'_>,
) {
    let called = command
        .words
        .first()
        .map(|first| normalize_path(&first.text))
        .unwrap_or_default();
    if let Some((_, program)) = renamed
        .iter()
        .take(MAX_RENAMED_PROGRAMS)
        .find(|(name, _)| *name == called)
    {
        let rest = command
            .argument_words()
            .iter()
            .map(|word| word.text.clone());
        let argv: Vec<String> = std::iter::once(program.clone()).chain(rest).collect();
        scene.classify_nested_argv(&argv, &command.simple.span);
    }
    if command.has_trait(ProgramTrait::CopiesFiles)
        && let Some((target, moved)) = command
            .arguments
            .operand_texts()
            .collect::<Vec<_>>()
            .split_last()
    {
        let programs = moved
            .iter()
            .filter(|path| path.starts_with('/') && path.contains("bin/"));
        renamed.extend(programs.map(|path| (normalize_path(target), (*path).to_owned())));
    }
}

/// A decoded script may be fully known, but the user who reads the line cannot see it.
fn check_decoded_script(scene: &CommandScene<'_>) {
    let commands = &scene.analysis.commands;
    let hides = |simple: &&SimpleCommand| {
        has_trait(&program_name(simple), ProgramTrait::HidesCode)
            && is_decoder(simple)
            && simple.wrappers.is_empty()
            && !simple
                .redirects
                .iter()
                .any(|redirect| matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append))
    };
    let Some(decoder) = commands.iter().find(hides) else {
        return;
    };
    let runs = |simple: &&SimpleCommand| {
        simple.wrappers.iter().any(|wrapper| {
            wrapper.kind == WrapperKind::Shell
                && (wrapper.name == "eval" || code_interpreters::is_shell(&wrapper.name))
        })
    };
    if let Some(run) = commands
        .iter()
        .find(runs)
        .filter(|run| run.span.end >= decoder.span.end)
    {
        scene.record_rule(DECODED, &run.span);
    }
}

/// Returns whether a text that is run is the project's own file, or settings that a program prints for its shell.
pub fn is_project_script(scene: &CommandScene<'_>, span: &Range<usize>) -> bool {
    let runners = scene
        .analysis
        .commands
        .iter()
        .filter(|simple| simple.span == *span && runs_shell_script(simple));
    let mut owned = runners.map(|simple| {
        let sources = input_sources(simple, scene);
        if sources.is_empty() {
            runs_project_file(simple)
        } else {
            sources.iter().all(|source| prints_shell_settings(source))
        }
    });
    owned
        .next()
        .is_some_and(|first| first && owned.all(|owned| owned))
}

fn runs_shell_script(simple: &SimpleCommand) -> bool {
    let name = program_name(simple);
    has_trait(&name, ProgramTrait::ScriptBuiltin) || code_interpreters::is_shell(&name)
}

fn runs_project_file(simple: &SimpleCommand) -> bool {
    let name = program_name(simple);
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
        !has_code
            && !file.text.starts_with("/dev/")
            && file.text.chars().any(|c| c != UNKNOWN_PLACEHOLDER)
    })
}

fn prints_shell_settings(simple: &SimpleCommand) -> bool {
    let name = program_name(simple);
    if is_fetcher(simple) || is_decoder(simple) || has_trait(&name, ProgramTrait::GivenOutput) {
        return false;
    }
    let has = |list: &'static str| {
        let mut words = simple.words.iter().skip(1);
        words.any(|word| is_in_word_list(list, word.text.as_str()))
    };
    has_trait(&name, ProgramTrait::ShellSettings)
        || has(COMPLETION_WORDS)
        || has_trait(&name, ProgramTrait::ShellHook) && has(SHELL_SETTINGS_WORDS)
}

fn is_nested_span(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    (inner.start >= outer.start && inner.end <= outer.end)
        || (outer.start >= inner.start && outer.end <= inner.end)
}

fn check_code_source(simple: &SimpleCommand, scene: &CommandScene<'_>) {
    let fed = input_sources(simple, scene);
    let from_net = simple.redirects.iter().any(|redirect| {
        redirect.kind != RedirectKind::Write
            && (redirect.target.text.starts_with("/dev/tcp")
                || redirect.target.text.starts_with("/dev/udp"))
    });
    if from_net
        || fed
            .iter()
            .any(|source| is_fetcher(source) || reads_network(source))
    {
        return scene.record_rule(PIPED, &simple.span);
    }
    if fed.iter().any(|source| is_decoder(source)) {
        return scene.record_rule(DECODED, &simple.span);
    }
    let is_local = fed
        .iter()
        .all(|source| has_trait(&program_name(source), ProgramTrait::LocalSource));
    let only_checks = simple.words.iter().any(|word| word.text == "-n");
    if code_interpreters::is_shell(&program_name(simple)) && !only_checks {
        // `sed 's/^/rm -rf /' | sh`: the text that is built may begin with any of the words.
        for word in fed.iter().flat_map(|source| source.words.iter().skip(1)) {
            scene.classify_rough_text(&word.text, &simple.span);
        }
    }
    if !fed.is_empty()
        && !is_local
        && !prints_shell_settings(fed.first().copied().unwrap_or(simple))
    {
        scene.record_rule(code_interpreters::UNKNOWN_CODE, &simple.span);
    }
}

fn reads_network(simple: &SimpleCommand) -> bool {
    simple
        .redirects
        .iter()
        .any(|redirect| redirect.target.text.starts_with("/dev/tcp/"))
}

/// Lists every command whose output reaches a command, through any number of pipes.
fn input_sources<'a>(
    simple: &'a SimpleCommand,
    scene: &'a CommandScene<'_>,
) -> Vec<&'a SimpleCommand> {
    let mut seen: Vec<usize> = Vec::new();
    let mut open: Vec<usize> = input_indices(&simple.input).to_vec();
    while let Some(at) = open.pop() {
        if seen.len() > 64 {
            break;
        }
        if seen.contains(&at) {
            continue;
        }
        seen.push(at);
        if let Some(source) = scene.analysis.commands.get(at) {
            open.extend(input_indices(&source.input));
        }
    }
    seen.iter()
        .filter_map(|at| scene.analysis.commands.get(*at))
        .collect()
}

fn input_indices(input: &CommandInput) -> &[usize] {
    match input {
        CommandInput::Pipe(from) => from,
        CommandInput::Nothing | CommandInput::KnownText(_) | CommandInput::Unknown => &[],
    }
}

fn program_name(simple: &SimpleCommand) -> String {
    simple
        .words
        .first()
        .map(|word| normalize_program_name(&word.text))
        .unwrap_or_default()
}

/// Returns whether some command of the text fetches bytes from another machine.
pub fn has_fetcher(scene: &CommandScene<'_>) -> bool {
    let is_any = || scene.analysis.commands.iter().any(is_fetcher);
    *scene.has_fetcher.get_or_init(is_any)
}

/// Returns whether a command fetches bytes from another machine.
fn is_fetcher(simple: &SimpleCommand) -> bool {
    let name = program_name(simple);
    let fetch_words = &program_facts(&name).fetch_words;
    has_trait(&name, ProgramTrait::Fetcher)
        || simple
            .words
            .iter()
            .any(|word| fetch_words.contains(&word.text))
}

fn is_decoder(simple: &SimpleCommand) -> bool {
    let name = program_name(simple);
    let options = program_facts(&name).decode_options.as_ref();
    options.is_some_and(|options| {
        options.is_empty()
            || simple.words.iter().any(|word| {
                options.contains(&word.text)
                    || (word.text.starts_with('-')
                        && !word.text.starts_with("--")
                        && word.text.ends_with('d'))
            })
    })
}

/// Records the files that contain fetched data.
fn track_downloads(
    command: &CommandInvocation<'_>,
    scene: &CommandScene<'_>,
    downloaded: &mut BTreeSet<String>,
) {
    let simple = command.simple;
    let fetches = is_fetcher(simple)
        || input_sources(simple, scene)
            .iter()
            .any(|source| is_fetcher(source));
    if fetches {
        downloaded.extend(output_paths(command).into_iter().map(normalize_path));
        let written = simple
            .redirects
            .iter()
            .filter(|redirect| matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append));
        downloaded.extend(written.map(|redirect| normalize_path(&redirect.target.text)));
        downloaded.extend(url_file_names(command));
    } else if command.has_trait(ProgramTrait::CopiesFiles) {
        let texts: Vec<&str> = command.arguments.operand_texts().collect();
        if let Some((target, moved)) = texts.split_last()
            && moved
                .iter()
                .any(|path| downloaded.contains(&normalize_path(path)))
        {
            downloaded.insert(normalize_path(target));
        }
    }
}

/// `wget URL` and `curl -O URL` name the file after the address.
fn url_file_names(command: &CommandInvocation<'_>) -> Vec<String> {
    let remote_name = ["-O", "--remote-name", "--remote-name-all"];
    let keeps_name = command.has_trait(ProgramTrait::NamesDownload)
        || command.program == "curl" && command.arguments.has_option(&remote_name);
    if !keeps_name {
        return Vec::new();
    }
    let names = command.argument_words().iter().filter_map(|word| {
        let address = word.text.split(['?', '#']).next().unwrap_or_default();
        let name = address.rsplit('/').next().unwrap_or_default();
        (address.contains('/') && !name.is_empty() && !word.text.starts_with('-'))
            .then(|| name.to_owned())
    });
    names.collect()
}

fn runs_downloaded_file(command: &CommandInvocation<'_>, downloaded: &BTreeSet<String>) -> bool {
    let is_one = |text: &str| downloaded.contains(&normalize_path(text));
    let by_name = command
        .words
        .first()
        .is_some_and(|first| first.text.contains('/') && is_one(&first.text));
    let runs_files = code_interpreters::is_interpreter(&command.program)
        || command.has_trait(ProgramTrait::RunsNamedFile);
    let mut operands = command
        .argument_words()
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
