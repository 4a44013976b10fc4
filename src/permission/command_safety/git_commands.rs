//! Judges git commands: what loses work, what leaves the machine, and the commands that git settings run.
//!
//! The state of the repository is not known.

use crate::permission::shell::{ShellWord, SimpleCommand};
use crate::permission::word_list::is_in_word_list;

use super::builtin_rules::RuleName;
use super::command_invocation::CommandInvocation;
use super::command_scene::CommandScene;
use super::file_operations::raw_option_values;

const PUSH_LEASE: RuleName = RuleName::new("git.push-lease");
const PUSH_FORCE: RuleName = RuleName::new("git.push-force");
const CHECKOUT: RuleName = RuleName::new("git.checkout");
const RESTORE: RuleName = RuleName::new("git.restore");
const CLEAN: RuleName = RuleName::new("git.clean");
const CLEAN_ASKING: RuleName = RuleName::new("git.clean-asking");

/// Settings whose value git runs.
const COMMAND_SETTINGS: &str = "core.pager core.editor core.sshcommand core.fsmonitor core.askpass core.gitproxy sequence.editor diff.external \
    credential.helper gpg.program ssh.variant uploadpack.packobjectshook web.browser pager.log pager.diff \
    interactive.difffilter";

/// Variables whose value git and other programs run.
const COMMAND_VARIABLES: &str = "GIT_SSH_COMMAND GIT_SSH GIT_PAGER PAGER GIT_EDITOR EDITOR VISUAL GIT_SEQUENCE_EDITOR GIT_EXTERNAL_DIFF \
    GIT_PROXY_COMMAND GIT_ASKPASS SSH_ASKPASS MANPAGER LESSOPEN LESSCLOSE PROMPT_COMMAND BROWSER FCEDIT";

/// Extensions of source files: `git checkout main.rs` is a file, `git checkout v1.2` is not.
const SOURCE_FILE_EXTENSIONS: &str = "rs py js ts tsx jsx mjs cjs go c h cc cpp hpp java kt rb php swift scala cs md txt json toml yaml yml lock \
    html css scss sh sql xml ini cfg conf env vue svelte lua ex exs hs ml";

/// Judges a git command by its subcommand and options.
pub fn check_command(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    if command.program != "git" {
        return;
    }
    check_settings(command, scene);
    let span = &command.simple.span;
    let Some(sub) = command.arguments.operand_text(0) else {
        return;
    };
    match sub {
        "push" => check_push(command, scene),
        "checkout" => check_checkout(command, scene),
        "restore" => {
            let takes_away = !command.arguments.has_option(&["-S", "--staged"])
                || command.arguments.has_option(&["-W", "--worktree"]);
            if takes_away && command.arguments.operands.len() + command.arguments.options.len() > 1
            {
                scene.record_rule(RESTORE, span);
            }
        }
        "clean" => check_clean(command, scene),
        "rebase" => {
            for text in raw_option_values(command, &["-x", "--exec"]) {
                scene.classify_nested_script(text, span);
            }
        }
        "bisect" | "submodule" | "for-each-repo" => check_nested_command(command, scene),
        "config" => check_config(command, scene),
        "difftool" | "mergetool" => {
            for text in raw_option_values(command, &["-x", "--extcmd"]) {
                scene.classify_nested_script(text, span);
            }
        }
        sub => check_alias(sub, command, scene),
    }
}

/// Judges variables set before a command, if their text is run.
pub fn check_assignments(simple: &SimpleCommand, scene: &CommandScene<'_>) {
    for (name, value) in &simple.assignments {
        if is_in_word_list(COMMAND_VARIABLES, name.as_str()) {
            scene.classify_nested_script(&value.text, &simple.span);
        }
    }
}

fn check_push(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let span = &command.simple.span;
    let options = &command.arguments.options;
    let is_dry = options.iter().any(|given| {
        given.name == "-n" || (given.name.len() >= 5 && "--dry-run".starts_with(&given.name))
    });
    if is_dry {
        return;
    }
    let is_lease = |name: &str| {
        name.len() > "--force".len()
            && ("--force-with-lease".starts_with(name) || "--force-if-includes".starts_with(name))
    };
    let is_force = |name: &str| {
        matches!(name, "-f" | "-d" | "--mirror" | "--prune")
            || (name.len() >= 4 && "--force".starts_with(name))
            || (name.len() >= 4 && "--delete".starts_with(name))
            || (name.len() >= 4 && "--mirror".starts_with(name))
            || (name.len() >= 5 && "--prune".starts_with(name))
    };
    let names = || options.iter().map(|given| given.name.as_str());
    let has_force_reference = command
        .arguments
        .operand_texts()
        .skip(2)
        .any(|reference| reference.starts_with(['+', ':']) && reference.len() > 1);
    if names().any(is_force) || has_force_reference {
        return scene.record_rule(PUSH_FORCE, span);
    }
    if names().any(is_lease) {
        scene.record_rule(PUSH_LEASE, span);
    }
}

fn check_checkout(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let span = &command.simple.span;
    if command
        .arguments
        .has_option(&["-b", "-B", "--orphan", "--track", "-t", "--detach"])
    {
        return;
    }
    let words: Vec<&ShellWord> = command.argument_words().iter().collect();
    let has_paths = words
        .iter()
        .position(|word| word.text == "--")
        .is_some_and(|at| at + 1 < words.len());
    if has_paths || command.arguments.has_option(&["--pathspec-from-file"]) {
        return scene.record_rule(CHECKOUT, span);
    }
    let operands: Vec<&str> = command.arguments.operand_texts().skip(1).collect();
    let is_file = |text: &&str| {
        let ending = text.rsplit_once('.').map(|(_, ending)| ending);
        matches!(*text, "." | "./" | ":/" | "*" | "..")
            || text.starts_with("./")
            || text.starts_with(':')
            || text.starts_with("*.")
            || text.ends_with('/')
            || ending.is_some_and(|ending| is_in_word_list(SOURCE_FILE_EXTENSIONS, ending))
    };
    let takes_side = command
        .arguments
        .options
        .iter()
        .any(|given| matches!(given.name.as_str(), "--ours" | "--theirs"));
    if !takes_side && (operands.len() > 1 || operands.iter().any(is_file)) {
        scene.record_rule(CHECKOUT, span);
    }
}

fn check_clean(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let span = &command.simple.span;
    let arguments = &command.arguments;
    if arguments.options.iter().any(|given| {
        given.name == "-n" || (given.name.len() >= 4 && "--dry-run".starts_with(&given.name))
    }) {
        return;
    }
    let is_free = arguments.option_values(&["-c"]).any(|setting| {
        setting.to_lowercase().starts_with("clean.requireforce=")
            && !setting.to_lowercase().ends_with("true")
    });
    if arguments.has_option(&["-f", "--force"]) || is_free {
        return scene.record_rule(CLEAN, span);
    }
    if arguments.has_option(&["-i", "--interactive"]) {
        scene.record_rule(CLEAN_ASKING, span);
    }
}

/// `git bisect run CMD`, `git submodule foreach CMD`: the words after them are a command.
fn check_nested_command(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let words = command.argument_words();
    let Some(at) = words
        .iter()
        .position(|word| matches!(word.text.as_str(), "run" | "foreach"))
    else {
        return;
    };
    let behind: Vec<String> = words
        .iter()
        .skip(at + 1)
        .map(|word| word.text.clone())
        .collect();
    let behind: Vec<String> = behind
        .into_iter()
        .skip_while(|word| matches!(word.as_str(), "--recursive" | "--quiet" | "-q"))
        .collect();
    match behind.as_slice() {
        [] => {}
        [text] => scene.classify_nested_script(text, &command.simple.span),
        words => scene.classify_nested_argv(words, &command.simple.span),
    }
}

fn check_settings(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    for setting in command.arguments.option_values(&["-c"]) {
        if let Some((name, value)) = setting.split_once('=') {
            check_setting(name, value, command, scene);
        }
    }
}

fn check_setting(
    name: &str,
    value: &str,
    command: &CommandInvocation<'_>,
    scene: &CommandScene<'_>,
) {
    let name = name.to_lowercase();
    let span = &command.simple.span;
    if name.starts_with("alias.") {
        match value.strip_prefix('!') {
            Some(text) => scene.classify_nested_script(text, span),
            None => scene.classify_nested_script(&format!("git {value}"), span),
        }
    } else if is_in_word_list(COMMAND_SETTINGS, name.as_str())
        || name.ends_with(".command")
        || name.ends_with(".cmd")
        || name.ends_with(".textconv")
    {
        scene.classify_nested_script(value.trim_start_matches('!'), span);
    }
}

fn check_config(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let operands: Vec<&str> = command
        .arguments
        .operand_texts()
        .skip(1)
        .filter(|word| !matches!(*word, "set" | "--add"))
        .collect();
    if let [name, value, ..] = operands.as_slice() {
        // An alias is only defined here, unless the same text also uses it.
        let is_used = |alias: &str| {
            let commands = &scene.analysis.commands;
            let mut words = commands.iter().flat_map(|other| &other.words);
            !scene.spend_steps(1 + commands.len(), &command.simple.span)
                || words.any(|word| word.text.eq_ignore_ascii_case(alias))
        };
        let alias = name
            .split_once('.')
            .filter(|(section, _)| section.eq_ignore_ascii_case("alias"));
        if alias.is_some_and(|(_, alias)| !value.starts_with('!') && !is_used(alias)) {
            return;
        }
        check_setting(name, value, command, scene);
    }
}

/// Replaces an alias that the same command line defines by its definition.
fn check_alias(sub: &str, command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let own = format!("alias.{}=", sub.to_lowercase());
    for setting in command.arguments.option_values(&["-c"]) {
        let Some(value) = setting
            .to_lowercase()
            .starts_with(&own)
            .then(|| setting.get(own.len()..))
            .flatten()
        else {
            continue;
        };
        let rest: Vec<&str> = command.arguments.operand_texts().skip(1).collect();
        let text = match value.strip_prefix('!') {
            Some(text) => format!("{text} {}", rest.join(" ")),
            None => format!("git {value} {}", rest.join(" ")),
        };
        scene.classify_nested_script(&text, &command.simple.span);
    }
}
