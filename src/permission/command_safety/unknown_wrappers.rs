//! Judges unknown programs that seem to run the words after them: `rtk git push`, `./with-env rm -rf x`.
//!
//! For known programs the words are data and are not judged here.

use crate::permission::shell::{CommandWrapper, ShellWord, SimpleCommand, WrapperKind};
use crate::permission::word_list::is_in_word_list;

use super::builtin_rules::PATTERNS_BY_PROGRAM;
use super::classifier::CommandClassifier;
use super::code_interpreters;
use super::command_invocation::{CommandInvocation, normalize_program_name};
use super::embedded_commands;

/// Programs that are looked for after an unknown one.
pub const WRAPPED_PROGRAMS: &str = "rm sudo doas chmod dd git npm shred kubectl terraform aws docker bash sh zsh find xargs env python node perl \
    ruby curl wget mkfs.ext4 wipefs cargo yarn pnpm gh dropdb psql helm";

/// Programs whose words are data, in addition to those with built-in rules.
const DATA_PROGRAMS: &str = "echo printf cat grep egrep fgrep rg ag ack sed awk jq yq cut sort uniq tr wc head tail tee less more man info tldr whatis apropos help which type whereis command hash file stat ls dir tree du df find fd \
    locate test [ [[ true false : read export declare local typeset readonly set unset alias unalias cd pushd popd pwd let expr seq sleep date cal yes logger wall write say figlet cowsay notify-send mail sendmail \
    cp mv ln mkdir rmdir touch install diff cmp comm patch paste join column fold fmt nl tac rev basename dirname realpath readlink md5sum sha1sum sha256sum sha512sum cksum base64 xxd od hexdump strings \
    tar zip unzip gzip gunzip xz bzip2 zstd 7z rar ar cpio pip pip3 uv poetry pipenv conda pyenv go gofmt rustc rustup gcc g++ clang clang++ cc c++ ld make cmake ninja meson bazel buck javac java kotlinc scalac \
    tsc eslint prettier jest vitest mocha pytest tox nox ruff black mypy flake8 pylint isort rubocop rspec phpunit composer bundle gem rake rails mix elixir dotnet swift xcodebuild pod flutter dart gradle mvn ant sbt lein \
    vim vi nvim nano emacs code subl open xdg-open start bat exa eza shellcheck shfmt hadolint actionlint ps pgrep top htop lsof netstat ss ip ifconfig ping dig nslookup host traceroute nc telnet ssh-keygen ssh-add scp sftp \
    rsync apt apt-get apt-cache dpkg yum dnf rpm pacman brew port snap flatpak apk zypper nix-env systemctl journalctl service crontab at id whoami groups uname hostname uptime free env printenv tput stty clear history jobs \
    fg bg wait kill pkill killall trap exit return source . eval exec xargs screen tmux trans column base32 openssl gpg pass dircolors getopt getopts shift times umask ulimit bind complete compgen shopt readarray mapfile coproc \
    agent-collab codex claude cargo-nextest lldb gdb perf hugo jekyll mkdocs sphinx-build pandoc ffmpeg convert magick exiftool sqlite3 psql mysql redis-cli mongosh createdb pg_dump mysqldump swapon mount umount lsblk blkid fdisk";

/// Data programs that run a project's programs by words of their own: what looks like a removal after them is one.
const PROJECT_RUNNERS: &str = "sbt gradle mvn ant lein snap flatpak bazel buck pod flutter dart dotnet swift rake rails mix bundle composer gem \
    conda pyenv pipenv poetry uv tox nox make cmake ninja meson apk nix-env lldb gdb perf brew port pytest jest vitest mocha rustup screen tmux at";

/// Programs that remove or overwrite; an option or a mode must follow.
const REMOVAL_PROGRAMS: &str = "rm shred dd wipefs chmod rmdir unlink mkfs srm";

/// How many words of a command are checked.
const MAX_WORDS: usize = 24;

/// Judges the words of a known wrapper, if a program was taken for an option's value.
pub fn check_wrapper(
    wrapper: &CommandWrapper,
    simple: &SimpleCommand,
    scene: &CommandClassifier<'_>,
) {
    if wrapper.kind != WrapperKind::Known {
        return;
    }
    let is_wrapped = |word: &ShellWord| {
        word.is_fully_known
            && is_in_word_list(WRAPPED_PROGRAMS, &normalize_program_name(&word.text))
    };
    if let Some(at) = wrapper.words.iter().skip(1).position(is_wrapped) {
        let words = wrapper.words.iter().skip(at + 1).chain(&simple.words);
        let argv: Vec<String> = words.map(|word| word.text.clone()).collect();
        scene.classify_nested_argv(&argv, &simple.span);
    }
}

/// Judges the words after an unknown program, and a text for another machine that no other check covers.
pub fn check_command(command: &CommandInvocation<'_>, scene: &CommandClassifier<'_>) {
    let name = command.program.as_str();
    let is_known = is_in_word_list(DATA_PROGRAMS, name)
        || PATTERNS_BY_PROGRAM.contains_key(name)
        || code_interpreters::is_interpreter(name);
    let is_data = is_in_word_list(DATA_PROGRAMS, name) || code_interpreters::is_interpreter(name);
    embedded_commands::check_command(command, is_data, scene);
    if command.program == "ssh" {
        let texts = command
            .argument_words()
            .iter()
            .map(|word| word.text.as_str());
        return texts
            .filter(|text| text.contains(' '))
            .for_each(|text| scene.classify_nested_script(text, &command.simple.span));
    }
    let has_folder = command
        .words
        .first()
        .is_some_and(|first| first.text.contains('/'));
    if is_in_word_list(PROJECT_RUNNERS, name) {
        check_project_runner(command, scene);
    }
    if is_known
        && !(has_folder && name.contains('.'))
        && !matches!(name, "wsl" | "nix" | "chrt" | "taskset")
    {
        return;
    }
    let rest = command.argument_words();
    for (at, word) in rest.iter().enumerate().take(MAX_WORDS) {
        let behind = rest.get(at..).unwrap_or_default();
        let is_wrapped = word.is_fully_known
            && behind.len() > 1
            && is_in_word_list(WRAPPED_PROGRAMS, &normalize_program_name(&word.text));
        if is_wrapped {
            let argv: Vec<String> = behind.iter().map(|word| word.text.clone()).collect();
            return scene.classify_nested_argv(&argv, &command.simple.span);
        }
    }
}

/// Judges what looks like a removal among the words of a program that runs others.
fn check_project_runner(command: &CommandInvocation<'_>, scene: &CommandClassifier<'_>) {
    let span = &command.simple.span;
    let rest = command.argument_words();
    for (at, word) in rest.iter().enumerate().take(MAX_WORDS) {
        // `sbt '!rm -rf x'`.
        if let Some(text) = word
            .text
            .strip_prefix('!')
            .filter(|text| text.contains(' '))
        {
            scene.classify_nested_script(text, span);
        }
        let behind = rest.get(at..).unwrap_or_default();
        let is_option = behind
            .get(1)
            .is_some_and(|next| next.text.starts_with('-') || next.text.contains("of=/dev/"));
        if is_option
            && word.is_fully_known
            && is_in_word_list(REMOVAL_PROGRAMS, &normalize_program_name(&word.text))
        {
            let argv: Vec<String> = behind.iter().map(|word| word.text.clone()).collect();
            return scene.classify_nested_argv(&argv, span);
        }
    }
}
