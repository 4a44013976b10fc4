//! Judges commands that administer the machine: power, processes, services, scheduled jobs,
//! firewall, users, kernel, packages.
//!
//! Files and disks have their own files.

use crate::permission::program_table::{ProgramTrait, has_trait};
use crate::permission::shell::{
    CommandInput, CommandWrapper, SimpleCommand, UNKNOWN_PLACEHOLDER, WrapperKind,
};

use super::builtin_rules::RuleName;
use super::command_invocation::{CommandInvocation, is_run_for_each_argument};
use super::command_scene::CommandScene;

pub const FORK_BOMB: RuleName = RuleName::new("system.fork-bomb");
const PRIVILEGE: RuleName = RuleName::new("system.privilege");
const MASS_KILL: RuleName = RuleName::new("system.mass-kill");
const SCHEDULE: RuleName = RuleName::new("system.schedule");
const SCHEDULED: RuleName = RuleName::new("system.scheduled");

/// Judges wrappers that change the rights of their command.
pub fn check_wrapper(
    wrapper: &CommandWrapper,
    command: &CommandInvocation<'_>,
    scene: &CommandScene<'_>,
) {
    if wrapper.kind == WrapperKind::Privilege && command.program != "sudo" {
        scene.record_rule(PRIVILEGE, &command.simple.span);
    }
}

/// Judges programs that end processes.
pub fn check_command(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    // `nft 'flush ruleset'`: several words in one.
    if let (true, [only]) = (command.program == "nft", command.argument_words())
        && only.text.contains(' ')
    {
        let words = only.text.split_whitespace().map(str::to_owned);
        let argv: Vec<String> = std::iter::once("nft".to_owned()).chain(words).collect();
        scene.classify_nested_argv(&argv, &command.simple.span);
    }
    match command.program.as_str() {
        "kill" => check_kill(command, scene),
        "pkill" | "killall" | "skill" => check_kill_by_name(command, scene),
        "crontab" => check_crontab(command, scene),
        _ => {}
    }
}

/// The most commands before a `kill` that are checked.
const MAX_PROCESS_LISTERS: usize = 64;

/// `kill -9 -1` ends every process; `-1` as the first word is a signal.
fn check_kill(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let words = command.argument_texts();
    let mut rest = words.as_slice();
    match rest {
        ["-l" | "-L" | "--list" | "--table", ..] => return,
        ["-s" | "-n" | "--signal" | "-q", _, behind @ ..] => rest = behind,
        [first, behind @ ..] if first.starts_with('-') && *first != "--" => rest = behind,
        _ => {}
    }
    let rest = rest.strip_prefix(&["--"]).unwrap_or(rest);
    if rest.iter().any(|word| matches!(*word, "-1" | "1")) || (words == ["-1"]) {
        return scene.record_rule(MASS_KILL, &command.simple.span);
    }
    let is_all = match rest.iter().any(|word| word.contains(UNKNOWN_PLACEHOLDER)) {
        _ if is_run_for_each_argument(command.simple) => is_fed_every_process(command, scene),
        true => kills_listed_processes(command, scene),
        false => false,
    };
    if is_all {
        scene.record_rule(MASS_KILL, &command.simple.span);
    }
}

/// Returns whether the commands before this one, or those inside its own words if there are any, list every process.
fn kills_listed_processes(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) -> bool {
    let span = &command.simple.span;
    let others = || {
        let commands = scene.analysis.commands.iter();
        commands
            .take_while(|simple| !std::ptr::eq(*simple, command.simple))
            .take(MAX_PROCESS_LISTERS)
    };
    let is_inside =
        |simple: &&SimpleCommand| simple.span.start >= span.start && simple.span.end <= span.end;
    let is_all = |listers: &[&SimpleCommand]| {
        listers.iter().any(|simple| lists_every_process(simple))
            && !listers.iter().any(|simple| filters_processes(simple))
    };
    let inside: Vec<&SimpleCommand> = others().filter(is_inside).collect();
    // The content of a variable comes from a command on another line; only `pgrep` can be its source.
    let is_pgrep = |simple: &&SimpleCommand| {
        simple
            .words
            .first()
            .is_some_and(|first| first.text == "pgrep")
    };
    if inside.is_empty() {
        is_all(&others().filter(is_pgrep).collect::<Vec<_>>())
    } else {
        is_all(&inside)
    }
}

/// Returns whether a command lists all processes, or all processes of a user.
fn lists_every_process(simple: &SimpleCommand) -> bool {
    let texts: Vec<&str> = simple.words.iter().map(|word| word.text.as_str()).collect();
    match texts.first().copied() {
        Some("ps") => !texts.iter().any(|text| {
            matches!(*text, "-p" | "-C" | "-q" | "--pid" | "--ppid" | "p")
                || text.starts_with("--ppid=")
        }),
        Some("pgrep") => CommandInvocation::from_words(&simple.words, simple)
            .is_some_and(|command| kills_every_process(&command)),
        _ => false,
    }
}

/// Returns whether a command selects some of the listed processes.
fn filters_processes(simple: &SimpleCommand) -> bool {
    let texts: Vec<&str> = simple.words.iter().map(|word| word.text.as_str()).collect();
    match texts.first().copied() {
        Some("tail") => true,
        Some(name) if has_trait(name, ProgramTrait::ProcessFilter) => true,
        Some("awk" | "sed") => texts.iter().any(|text| text.contains(['/', '~'])),
        Some("pgrep") => !lists_every_process(simple),
        _ => false,
    }
}

/// Returns whether the arguments come from a list of all processes.
fn is_fed_every_process(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) -> bool {
    // The arguments of `xargs` are the output of the command before it.
    let commands = &scene.analysis.commands;
    let own = commands
        .iter()
        .position(|simple| std::ptr::eq(simple, command.simple));
    let before = own
        .and_then(|own| own.checked_sub(1))
        .map(|before| CommandInput::Pipe(vec![before]));
    let first = before.unwrap_or(CommandInput::Nothing);
    let mut next = vec![&first];
    let mut is_all = false;
    for _ in 0..8 {
        let Some(CommandInput::Pipe(from)) = next.pop() else {
            break;
        };
        for source in from
            .iter()
            .filter_map(|at| scene.analysis.commands.get(*at))
        {
            let texts: Vec<&str> = source.words.iter().map(|word| word.text.as_str()).collect();
            match texts.first().copied() {
                Some("pgrep") if lists_every_process(source) => is_all = true,
                Some("pgrep") => return false,
                Some(name) if has_trait(name, ProgramTrait::ProcessFilter) => return false,
                Some("awk") if texts.iter().any(|text| text.contains('/')) => return false,
                Some("ps") => {
                    is_all = texts
                        .iter()
                        .skip(1)
                        .any(|text| text.contains(['a', 'e', 'A', 'x']))
                }
                _ => {}
            }
            next.push(&source.input);
        }
    }
    is_all
}

fn check_kill_by_name(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    if kills_every_process(command) {
        scene.record_rule(MASS_KILL, &command.simple.span);
    }
}

/// Returns whether the command names all processes, or all processes of a user.
fn kills_every_process(command: &CommandInvocation<'_>) -> bool {
    let operands: Vec<&str> = command.arguments.operand_texts().collect();
    let is_everything = |text: &&str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| matches!(c, '.' | '*' | '+' | '^' | '$' | '?'))
            || text.is_empty()
    };
    let by_user = command.arguments.options.iter().any(|given| {
        matches!(
            given.name.as_str(),
            "-u" | "-U" | "--euid" | "--uid" | "--user" | "-v" | "--inverse"
        )
    });
    let has_name = operands.iter().enumerate().any(|(at, _)| {
        !(command
            .arguments
            .operands
            .get(at)
            .is_some_and(|operand| operand.may_be_value)
            && by_user
            && at == 0)
    });
    operands.iter().any(is_everything)
        || (by_user && !has_name)
        || command.arguments.has_option(&["--inverse"])
}

fn check_crontab(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let span = &command.simple.span;
    let words = command.argument_texts();
    if words
        .iter()
        .any(|word| word.starts_with('-') && word.contains('r') && !word.starts_with("--"))
    {
        return scene.record_rule(SCHEDULE, span);
    }
    let reads = matches!(
        command.simple.input,
        CommandInput::Pipe(_) | CommandInput::KnownText(_) | CommandInput::Unknown
    ) || command
        .simple
        .redirects
        .iter()
        .any(|redirect| redirect.target.text == "/dev/null");
    if words == ["-"] || (words.is_empty() && reads) || words.contains(&"/dev/null") {
        scene.record_rule(SCHEDULED, span);
    }
    if words.contains(&"/dev/null")
        || (words == ["-"]
            && command
                .simple
                .redirects
                .iter()
                .any(|redirect| redirect.target.text == "/dev/null"))
    {
        scene.record_rule(SCHEDULE, span);
    }
}
