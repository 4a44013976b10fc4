//! Texts that a program runs besides what it does: a pager, a filter, a shell, named by one of its options.
//!
//! It refuses to judge the texts; they are read as any other.

use super::command::Command;
use super::files::behind;
use super::judge::Scene;

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
    (&["ag", "ack", "bat", "delta", "git"], &["--pager"]),
    (&["fzf"], &["--preview", "--bind"]),
    (&["strace", "ltrace"], &["-o", "--output"]),
    (&["tcpdump"], &["-z"]),
    (&["sqlite3"], &["-cmd"]),
    (&["ranger"], &["--cmd"]),
    (&["pm2"], &["start"]),
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
    "shell ",
];

/// Options that promise, of whatever program, to run their value.
const PROMISING: &[&str] = &[
    "--exec",
    "--run",
    "--shell-command",
    "--on-change",
    "--exec-cmd",
];

/// Pagers that run what stands behind `+!`.
const PAGERS: &[&str] = &["less", "more", "most", "pg"];

/// Variables of `make` whose value it runs.
const MAKE_VARIABLES: &[&str] = &[
    "SHELL", "MAKE", "CC", "CXX", "CPP", "LD", "AR", "PYTHON", "NODE",
];

/// Judges the texts that a command's options carry; `is_known` is whether its program is known.
pub fn judge(command: &Command<'_>, is_known: bool, scene: &Scene<'_>) {
    let span = &command.simple.span;
    let carrying = CARRYING.iter().find(|(programs, _)| command.is(programs));
    let options = match carrying {
        Some((_, options)) => *options,
        None if !is_known => PROMISING,
        None => &[],
    };
    if !options.is_empty() {
        for value in behind(command, options) {
            scene.note_text(bare(value), span);
        }
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
