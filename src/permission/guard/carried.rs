//! Texts that a program runs besides what it does: a pager, a filter, a shell, named by one of its options.
//!
//! It refuses to judge the texts; they are read as any other.

use crate::permission::shell::Word;
use crate::permission::words::listed;

use super::command::{Command, plain_name};
use super::files::behind;
use super::judge::Scene;
use super::wrapped::WRAPPED;

/// Programs and their options whose value is run.
const CARRYING: &[(&[&str], &[&str])] = &[
    (
        &["tar", "gtar", "bsdtar"],
        &[
            "--to-command",
            "--checkpoint-action",
            "-I",
            "--use-compress-program",
            "-F",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "--rmt-command",
        ],
    ),
    (&["rsync"], &["-e", "--rsh", "--rsync-path"]),
    (&["ssh", "scp", "sftp"], &["-o", "-S"]),
    (&["man"], &["-P", "--pager", "-H", "--html"]),
    (&["zip"], &["-TT", "--unzip-command"]),
    (&["sort"], &["--compress-program"]),
    (&["split"], &["--filter"]),
    (&["rg"], &["--pre", "--hostname-bin"]),
    (&["ag", "ack", "bat", "delta"], &["--pager"]),
    (&["fzf"], &["--preview", "--bind"]),
    (&["strace", "ltrace"], &["-o", "--output"]),
    (&["tcpdump"], &["-z"]),
    (&["sqlite3"], &["-cmd"]),
    (&["ranger"], &["--cmd"]),
    (&["pm2"], &["start"]),
    (&["mapfile", "readarray", "complete"], &["-C"]),
    (&["bind"], &["-x"]),
    (
        &["git"],
        &[
            "--upload-pack",
            "--receive-pack",
            "--exec",
            "-u",
            "-O",
            "--open-files-in-pager",
            "--extcmd",
            "-x",
        ],
    ),
];

/// Words in front of the text in such a value.
const PREFIXES: &[&str] = &[
    "exec=",
    "ProxyCommand=",
    "ProxyCommand ",
    "LocalCommand=",
    "LocalCommand ",
    "KnownHostsCommand=",
    "|",
    "!",
    ".shell ",
    ".system ",
    "platform shell ",
    "shell ",
];

/// Options by which programs, whatever they are, run their value. It must begin with a program that is looked for.
const PROMISING: &[&str] = &[
    "-c",
    "-C",
    "-e",
    "-x",
    "-ex",
    "-o",
    "--exec",
    "--command",
    "--cmd",
    "--run",
    "--eval",
    "--shell",
    "--execute",
    "--entrypoint",
    "--on-change",
    "--exec-cmd",
    "--shell-command",
];

/// Options whose value is a list of such texts.
const LISTING: &[&str] = &["--parameters", "--parameter", "--commands"];

/// Words behind which a program takes a command for elsewhere.
const LEADING: &str =
    "run run:detached exec ssh shell rsh enter x dlx foreach cmd.run develop console cmd";

/// Programs that take words as data, but for those behind such a word.
const LEADING_PROGRAMS: &str =
    "rustup pyenv conda tox nox composer mix uv poetry pipenv screen tmux";

/// Of these `run` takes a name of their own and what follows is for it.
const OWN_RUN: &str = "npm pnpm yarn bun cargo go docker podman nerdctl git gradle mvn make just task mix rake rails dotnet deno \
    kubectl gh glab";

/// Programs of which every word may begin a command for elsewhere.
const ELSEWHERE: &str = "lima pdsh pssh parallel-ssh clush dsh pdcp salt salt-ssh";

/// Programs of which every argument with blanks is a text for a shell.
const TAKING_TEXTS: &str = "start-server-and-test cross-env-shell rush heroku lerna nx watchman-make npm-watch run-s run-p salt lima pdsh pssh \
    parallel-ssh clush dsh fly flyctl yarn onchange wait-on dotenv env-cmd just-run supervisor forever honcho foreman";

/// How many words behind a leading one are looked at.
const BEHIND: usize = 12;

/// Pagers that run what stands behind `+!`.
const PAGERS: &[&str] = &["less", "more", "most", "pg"];

/// Variables of `make` whose value it runs.
const MAKE_VARIABLES: &[&str] = &[
    "SHELL", "MAKE", "CC", "CXX", "CPP", "LD", "AR", "PYTHON", "NODE",
];

/// Judges the texts that a command's options and words carry; `is_data` is whether its program takes words as data.
pub fn judge(command: &Command<'_>, is_data: bool, scene: &Scene<'_>) {
    let span = &command.simple.span;
    let carrying = CARRYING.iter().find(|(programs, _)| command.is(programs));
    if let Some((_, options)) = carrying {
        // `git push -u origin`: only what begins as a command is one.
        let is_git = command.is(&["git"]);
        let values = behind(command, options).into_iter();
        for value in values.filter(|value| !is_git || begins_with_program(value)) {
            scene.note_text(bare(value), span);
        }
    }
    if !is_data || listed(LEADING_PROGRAMS, &command.program) {
        judge_promised(command, scene);
        judge_behind(command, scene);
    }
    let texts = command.rest().iter().map(|word| word.text.as_str());
    if command.is(PAGERS) {
        for text in texts.filter_map(|text| text.strip_prefix("+!")) {
            scene.note_text(text, span);
        }
    } else if command.is(&["make"]) {
        let assigned = texts.filter_map(|text| text.split_once('='));
        for (_, value) in assigned.filter(|(name, _)| MAKE_VARIABLES.contains(name)) {
            scene.note_text(value, span);
        }
    }
}

fn judge_promised(command: &Command<'_>, scene: &Scene<'_>) {
    let span = &command.simple.span;
    // `commands=["rm -rf x"]` of a cloud's own shell.
    let listed_texts = behind(command, LISTING)
        .into_iter()
        .flat_map(|value| value.split(['"', '[', ']', '\'']));
    for text in behind(command, PROMISING).into_iter().chain(listed_texts) {
        if text.contains(' ') && begins_with_program(text) {
            scene.note_text(bare(text), span);
        }
    }
    if listed(TAKING_TEXTS, &command.program) {
        let texts = command.rest().iter().map(|word| word.text.as_str());
        for text in texts.filter(|text| text.contains(' ') && begins_with_program(text)) {
            scene.note_text(text, span);
        }
    }
}

/// Judges the words behind one that leads to a command for elsewhere.
fn judge_behind(command: &Command<'_>, scene: &Scene<'_>) {
    let rest = command.rest();
    let leads = |word: &Word| match word.text.as_str() {
        "--" | "run" => !listed(OWN_RUN, &command.program),
        text => listed(LEADING, text),
    };
    let from = match listed(ELSEWHERE, &command.program) {
        true => Some(0),
        false => rest.iter().position(leads).map(|at| at + 1),
    };
    let Some(from) = from else {
        return;
    };
    let words = rest.get(from..).unwrap_or_default();
    for at in 0..words.len().min(BEHIND) {
        let behind = words.get(at..).unwrap_or_default();
        let begins = behind
            .first()
            .is_some_and(|first| first.is_sure && begins_with_program(&first.text));
        if begins && behind.len() > 1 {
            let argv: Vec<String> = behind.iter().map(|word| word.text.clone()).collect();
            return scene.note_argv(&argv, &command.simple.span);
        }
    }
}

/// Tells whether a text begins with a program that is worth looking for.
fn begins_with_program(text: &str) -> bool {
    let first = bare(text).split_whitespace().next().unwrap_or_default();
    listed(WRAPPED, &plain_name(first))
}

/// The text without the words that say what it is; of `enter:execute(…)` what the brackets hold.
fn bare(value: &str) -> &str {
    if let Some((_, inner)) = value
        .split_once("execute(")
        .or_else(|| value.split_once("execute-silent("))
    {
        return inner.rsplit_once(')').map_or(inner, |(inner, _)| inner);
    }
    let value = value.trim_start();
    PREFIXES
        .iter()
        .find_map(|prefix| value.strip_prefix(prefix))
        .unwrap_or(value)
}
