//! Texts that a program runs besides what it does: a pager, a filter, a shell, named by one of its options.
//!
//! It refuses to judge the texts; they are read as any other.

use crate::permission::shell::{Input, Word};
use crate::permission::word_list::is_in_word_list;

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
    (&["lldb"], &["-o", "-O", "--one-line"]),
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
    "--scripts",
    "--wrap",
];

/// Options whose value is a list of such texts.
const LISTING: &[&str] = &["--parameters", "--parameter", "--commands"];

/// Words behind which a program takes a command for elsewhere.
const LEADING: &str = "run run:detached exec ssh shell rsh enter x dlx foreach cmd.run develop console cmd sh unshare launch attach";

/// Words behind which a whole text is one.
const LEADING_TEXTS: &str = "exec ssh shell rsh cmd.run";

/// Programs that take words as data, but for those behind such a word.
const LEADING_PROGRAMS: &str =
    "rustup pyenv conda tox nox composer mix uv poetry pipenv screen tmux";

/// Of these `run` takes a name of their own and what follows is for it.
const OWN_RUN: &str = "npm pnpm yarn bun cargo go docker podman nerdctl git gradle mvn make just task mix rake rails dotnet deno \
    kubectl gh glab";

/// Programs of which every word may begin a command for elsewhere.
const ELSEWHERE: &str = "lima orb orbctl pdsh pssh parallel-ssh clush dsh pdcp salt salt-ssh";

/// Programs of which every argument with blanks is a text for a shell.
const TAKING_TEXTS: &str = "sops poop mispipe pee knife bolt i3-msg swaymsg hyprctl virsh sbatch start-server-and-test cross-env-shell rush heroku lerna nx watchman-make npm-watch run-s run-p salt lima pdsh pssh \
    parallel-ssh clush dsh fly flyctl yarn onchange wait-on dotenv env-cmd just-run supervisor forever honcho foreman";

/// Programs of which an option names another one, whose arguments stand behind.
const NAMING_PROGRAMS: &[&str] = &[
    "docker",
    "podman",
    "nerdctl",
    "flatpak",
    "start-stop-daemon",
];

/// These options.
const NAMING: &[&str] = &[
    "--entrypoint",
    "--command",
    "--exec",
    "--startas",
    "-a",
    "-x",
];

/// Clients whose statements may name a program.
const DATABASES: &[&str] = &["psql", "pgcli", "cockroach", "usql"];

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
        let values = values.filter(|value| !is_git || begins_with_program(value));
        for value in values.chain(attached(command, options)) {
            scene.note_text(bare(value), span);
        }
    }
    judge_named(command, scene);
    if command.is(DATABASES) {
        judge_programs(command, scene);
    }
    if !is_data || is_in_word_list(LEADING_PROGRAMS, &command.program) {
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

/// Values that stand in the word of a short option: `-oProxyCommand=…`, `-O'…'`.
fn attached<'a>(
    command: &Command<'a>,
    options: &'a [&'static str],
) -> impl Iterator<Item = &'a str> {
    let short = options.iter().filter(|option| option.len() == 2);
    let short: Vec<&str> = short.copied().collect();
    let words = command.rest().iter().map(|word| word.text.as_str());
    words.filter_map(move |word| {
        let value = short.iter().find_map(|option| word.strip_prefix(option))?;
        begins_with_program(value).then_some(value)
    })
}

/// An option that names the program alone; its arguments are among the words that follow.
fn judge_named(command: &Command<'_>, scene: &Scene<'_>) {
    if !command.is(NAMING_PROGRAMS) {
        return;
    }
    let mut words = command.rest().iter().map(|word| word.text.as_str());
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        if !NAMING.contains(&name) {
            continue;
        }
        let Some(program) = value.or_else(|| words.next()) else {
            return;
        };
        if begins_with_program(program) {
            let argv = std::iter::once(program).chain(words.filter(|word| *word != "--"));
            let argv: Vec<String> = argv.map(str::to_owned).collect();
            scene.note_argv(&argv, &command.simple.span);
        }
        return;
    }
}

/// `COPY t TO PROGRAM 'text'`: the texts that a database gives to a shell.
fn judge_programs(command: &Command<'_>, scene: &Scene<'_>) {
    let input = match &command.simple.input {
        Input::Text(text) => Some(text.as_str()),
        Input::Nothing | Input::Pipe(_) | Input::Unknown => None,
    };
    let words = command.rest().iter().map(|word| word.text.as_str());
    for text in words.chain(input) {
        let lower = text.to_ascii_lowercase();
        for (at, found) in lower.match_indices("program") {
            let behind = text.get(at + found.len()..).unwrap_or_default();
            let quoted = behind.trim_start().strip_prefix('\'');
            if let Some((inner, _)) = quoted.and_then(|quoted| quoted.split_once('\'')) {
                scene.note_text(inner, &command.simple.span);
            }
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
    if is_in_word_list(TAKING_TEXTS, &command.program) {
        let texts = command.rest().iter().map(|word| word.text.as_str());
        for text in texts.filter(|text| text.contains(' ') && begins_with_program(text)) {
            scene.note_text(text, span);
        }
    }
}

/// `knife ssh 'role:web' 'rm -rf x'`: a text behind a word that says that somebody runs it.
fn judge_text_behind(command: &Command<'_>, scene: &Scene<'_>) {
    let rest = command.rest();
    let leads = |word: &Word| is_in_word_list(LEADING_TEXTS, &word.text);
    let (false, Some(at)) = (
        is_in_word_list(OWN_RUN, &command.program) && command.program != "gh",
        rest.iter().position(leads),
    ) else {
        return;
    };
    for pair in rest.get(at..).unwrap_or_default().windows(2).take(BEHIND) {
        if let [before, word] = pair
            && !before.text.starts_with('-')
            && word.text.contains(' ')
            && begins_with_program(&word.text)
        {
            scene.note_text(bare(&word.text), &command.simple.span);
        }
    }
}

/// Judges the words behind one that leads to a command for elsewhere.
fn judge_behind(command: &Command<'_>, scene: &Scene<'_>) {
    let rest = command.rest();
    judge_text_behind(command, scene);
    let leads = |word: &Word| match word.text.as_str() {
        "--" | "run" => !is_in_word_list(OWN_RUN, &command.program),
        text => is_in_word_list(LEADING, text),
    };
    let from = match is_in_word_list(ELSEWHERE, &command.program) {
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
    is_in_word_list(WRAPPED, &plain_name(first))
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
        .find_map(|prefix| {
            let (start, rest) = value.split_at_checked(prefix.len())?;
            start.eq_ignore_ascii_case(prefix).then_some(rest)
        })
        .unwrap_or(value)
}
