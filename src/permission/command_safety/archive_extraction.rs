//! Judges commands that unpack archives or copy trees into a folder, by where the files are written.
//!
//! What is inside the archives is not known.

use crate::permission::shell::RedirectKind;
use crate::permission::word_list::is_in_word_list;

use super::builtin_rules::RuleName;
use super::classifier::CommandClassifier;
use super::command_invocation::CommandInvocation;
use super::file_operations::check_written_path;

const ABSOLUTE: RuleName = RuleName::new("unpacked.absolute");

/// A program that writes many files into a folder that its arguments name.
struct ArchiveExtractor {
    programs: &'static str,
    /// Its first word, if only that sub-command writes; empty if there is none.
    verbs: &'static str,
    /// Options whose value, in the next word or attached, is the folder.
    folder_options: &'static [&'static str],
    /// Whether the last of several operands may be the folder.
    folder_may_be_last: bool,
    /// Whether it writes into the working folder when no folder is named.
    defaults_to_working_folder: bool,
}

const ARCHIVE_EXTRACTORS: &[ArchiveExtractor] = &[
    ArchiveExtractor {
        programs: "tar bsdtar gtar star",
        verbs: "",
        folder_options: &["-C", "--directory", "--cd", "--one-top-level"],
        folder_may_be_last: false,
        defaults_to_working_folder: true,
    },
    ArchiveExtractor {
        programs: "unzip",
        verbs: "",
        folder_options: &["-d"],
        folder_may_be_last: false,
        defaults_to_working_folder: true,
    },
    ArchiveExtractor {
        programs: "7z 7za 7zr 7zz p7zip",
        verbs: "x e",
        folder_options: &["-o"],
        folder_may_be_last: false,
        defaults_to_working_folder: true,
    },
    ArchiveExtractor {
        programs: "unrar rar",
        verbs: "x e",
        folder_options: &["-op"],
        folder_may_be_last: true,
        defaults_to_working_folder: true,
    },
    ArchiveExtractor {
        programs: "cpio",
        verbs: "",
        folder_options: &["-D", "--directory"],
        folder_may_be_last: false,
        defaults_to_working_folder: true,
    },
    ArchiveExtractor {
        programs: "patch",
        verbs: "",
        folder_options: &["-d", "--directory"],
        folder_may_be_last: false,
        defaults_to_working_folder: true,
    },
    ArchiveExtractor {
        programs: "wget",
        verbs: "",
        folder_options: &["-P", "--directory-prefix"],
        folder_may_be_last: false,
        defaults_to_working_folder: false,
    },
    ArchiveExtractor {
        programs: "curl",
        verbs: "",
        folder_options: &["--output-dir"],
        folder_may_be_last: false,
        defaults_to_working_folder: false,
    },
    ArchiveExtractor {
        programs: "git",
        verbs: "clone",
        folder_options: &[],
        folder_may_be_last: true,
        defaults_to_working_folder: false,
    },
    ArchiveExtractor {
        programs: "dpkg dpkg-deb",
        verbs: "-x -X --extract --vextract",
        folder_options: &[],
        folder_may_be_last: true,
        defaults_to_working_folder: false,
    },
    ArchiveExtractor {
        programs: "unar",
        verbs: "",
        folder_options: &["-o", "-output-directory"],
        folder_may_be_last: false,
        defaults_to_working_folder: true,
    },
    ArchiveExtractor {
        programs: "unsquashfs",
        verbs: "",
        folder_options: &["-d", "-dest"],
        folder_may_be_last: false,
        defaults_to_working_folder: true,
    },
];

/// Judges where a program unpacks to.
pub fn check_command(command: &CommandInvocation<'_>, scene: &CommandClassifier<'_>) {
    let unpacker = ARCHIVE_EXTRACTORS
        .iter()
        .find(|unpacker| is_in_word_list(unpacker.programs, &command.program));
    let Some(unpacker) = unpacker.filter(|unpacker| extracts_files(command, unpacker)) else {
        return;
    };
    let simple = command.simple;
    let mut folders = folder_option_values(command, unpacker.folder_options);
    if unpacker.folder_may_be_last && folders.is_empty() {
        let operands: Vec<&str> = command.arguments.operand_texts().collect();
        let n_least = if unpacker.verbs.contains('-') { 1 } else { 2 };
        folders.extend(operands.last().filter(|_| operands.len() > n_least));
    }
    if folders.is_empty() && unpacker.defaults_to_working_folder {
        folders.push(".");
    }
    for folder in folders {
        check_written_path(
            &scene.resolve_path(folder),
            RedirectKind::Append,
            simple,
            scene,
        );
    }
    let is_tar = is_in_word_list(ARCHIVE_EXTRACTORS[0].programs, &command.program);
    if is_tar
        && (has_option_letter(command, 'P')
            || has_argument(command, &["--absolute-names", "--absolute-paths"]))
    {
        scene.record_rule(ABSOLUTE, &simple.span);
    }
}

/// Returns whether the command writes files at all.
fn extracts_files(command: &CommandInvocation<'_>, unpacker: &ArchiveExtractor) -> bool {
    let first = command
        .argument_words()
        .first()
        .map_or("", |word| word.text.as_str());
    match command.program.as_str() {
        "tar" | "bsdtar" | "gtar" | "star" => {
            has_option_letter(command, 'x') || has_argument(command, &["--extract", "--get"])
        }
        "cpio" => {
            has_option_letter(command, 'i')
                || has_option_letter(command, 'p')
                || has_argument(command, &["--extract"])
        }
        "unzip" => !["-l", "-v", "-t", "-Z", "-p", "-z"].contains(&first),
        "git" => command.argument_texts().contains(&"clone"),
        _ => unpacker.verbs.is_empty() || is_in_word_list(unpacker.verbs, first),
    }
}

/// Returns whether a cluster of options contains a letter; tar's old style without a dash counts too.
fn has_option_letter(command: &CommandInvocation<'_>, letter: char) -> bool {
    command
        .argument_texts()
        .iter()
        .enumerate()
        .any(|(at, text)| {
            let is_long = text.starts_with("--");
            let is_old = at == 0
                && command.program != "cpio"
                && text.len() < 8
                && text.chars().all(|c| c.is_ascii_alphabetic());
            let cluster = text.strip_prefix('-').unwrap_or_default();
            // In `-Cetc/x` the text after such a letter is its value, not more letters.
            let letters = cluster
                .split(['C', 'D', 'I', 'T'])
                .next()
                .unwrap_or_default();
            !is_long && (letters.contains(letter) || is_old && text.contains(letter))
        })
}

fn has_argument(command: &CommandInvocation<'_>, names: &[&str]) -> bool {
    command
        .argument_texts()
        .iter()
        .any(|text| names.contains(text))
}

/// Returns the values of options: the next word, the text after `=`, or the text attached to a short option.
fn folder_option_values<'a>(command: &CommandInvocation<'a>, options: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut words = command
        .argument_words()
        .iter()
        .map(|word| word.text.as_str());
    while let Some(word) = words.next() {
        let value = options.iter().find_map(|option| word.strip_prefix(option));
        let is_short = options
            .iter()
            .any(|option| !option.starts_with("--") && word.starts_with(option));
        match value {
            Some("") => found.extend(words.next()),
            Some(value) if word.starts_with("--") => found.extend(value.strip_prefix('=')),
            Some(value) if is_short => found.push(value),
            _ => {}
        }
    }
    found
}
