//! Archives and trees that are unpacked into a folder: where their files are written.
//!
//! It refuses to know what is in them.

use crate::permission::shell::RedirectKind;
use crate::permission::word_list::is_in_word_list;

use super::builtin::Builtin;
use super::command::Command;
use super::files::judge_written;
use super::judge::Scene;

static ABSOLUTE: Builtin = Builtin::confirm(
    "unpacked.absolute",
    "unpacks an archive to wherever the names in it lead",
    &[],
);

/// What is known of unpacking.
pub const RULES: &[&Builtin] = &[&ABSOLUTE];

/// A program that writes many files into a folder that it is named.
struct Unpacker {
    programs: &'static str,
    /// Its first word, where only that one writes; empty when there is none.
    verbs: &'static str,
    /// Options whose value, the next word or attached, is the folder.
    options: &'static [&'static str],
    /// Whether the folder may be the last of several operands.
    is_last: bool,
    /// Whether it writes into the working folder when it is named none.
    is_here: bool,
}

const UNPACKERS: &[Unpacker] = &[
    Unpacker {
        programs: "tar bsdtar gtar star",
        verbs: "",
        options: &["-C", "--directory", "--cd", "--one-top-level"],
        is_last: false,
        is_here: true,
    },
    Unpacker {
        programs: "unzip",
        verbs: "",
        options: &["-d"],
        is_last: false,
        is_here: true,
    },
    Unpacker {
        programs: "7z 7za 7zr 7zz p7zip",
        verbs: "x e",
        options: &["-o"],
        is_last: false,
        is_here: true,
    },
    Unpacker {
        programs: "unrar rar",
        verbs: "x e",
        options: &["-op"],
        is_last: true,
        is_here: true,
    },
    Unpacker {
        programs: "cpio",
        verbs: "",
        options: &["-D", "--directory"],
        is_last: false,
        is_here: true,
    },
    Unpacker {
        programs: "patch",
        verbs: "",
        options: &["-d", "--directory"],
        is_last: false,
        is_here: true,
    },
    Unpacker {
        programs: "wget",
        verbs: "",
        options: &["-P", "--directory-prefix"],
        is_last: false,
        is_here: false,
    },
    Unpacker {
        programs: "curl",
        verbs: "",
        options: &["--output-dir"],
        is_last: false,
        is_here: false,
    },
    Unpacker {
        programs: "git",
        verbs: "clone",
        options: &[],
        is_last: true,
        is_here: false,
    },
    Unpacker {
        programs: "dpkg dpkg-deb",
        verbs: "-x -X --extract --vextract",
        options: &[],
        is_last: true,
        is_here: false,
    },
    Unpacker {
        programs: "unar",
        verbs: "",
        options: &["-o", "-output-directory"],
        is_last: false,
        is_here: true,
    },
    Unpacker {
        programs: "unsquashfs",
        verbs: "",
        options: &["-d", "-dest"],
        is_last: false,
        is_here: true,
    },
];

/// Judges where a program unpacks to.
pub fn judge(command: &Command<'_>, scene: &Scene<'_>) {
    let unpacker = UNPACKERS
        .iter()
        .find(|unpacker| is_in_word_list(unpacker.programs, &command.program));
    let Some(unpacker) = unpacker.filter(|unpacker| unpacks(command, unpacker)) else {
        return;
    };
    let simple = command.simple;
    let mut folders = values(command, unpacker.options);
    if unpacker.is_last && folders.is_empty() {
        let operands: Vec<&str> = command.arguments.texts().collect();
        let n_least = if unpacker.verbs.contains('-') { 1 } else { 2 };
        folders.extend(operands.last().filter(|_| operands.len() > n_least));
    }
    if folders.is_empty() && unpacker.is_here {
        folders.push(".");
    }
    for folder in folders {
        judge_written(&scene.path(folder), RedirectKind::Append, simple, scene);
    }
    let is_tar = is_in_word_list(UNPACKERS[0].programs, &command.program);
    if is_tar && (takes(command, 'P') || has(command, &["--absolute-names", "--absolute-paths"])) {
        scene.note(&ABSOLUTE, &simple.span);
    }
}

/// Tells whether the command writes files at all.
fn unpacks(command: &Command<'_>, unpacker: &Unpacker) -> bool {
    let first = command.rest().first().map_or("", |word| word.text.as_str());
    match command.program.as_str() {
        "tar" | "bsdtar" | "gtar" | "star" => {
            takes(command, 'x') || has(command, &["--extract", "--get"])
        }
        "cpio" => takes(command, 'i') || takes(command, 'p') || has(command, &["--extract"]),
        "unzip" => !["-l", "-v", "-t", "-Z", "-p", "-z"].contains(&first),
        "git" => command.texts().contains(&"clone"),
        _ => unpacker.verbs.is_empty() || is_in_word_list(unpacker.verbs, first),
    }
}

/// Tells whether a letter stands in a cluster of options, or in the first word of tar's old way.
fn takes(command: &Command<'_>, letter: char) -> bool {
    command.texts().iter().enumerate().any(|(at, text)| {
        let is_long = text.starts_with("--");
        let is_old = at == 0
            && command.program != "cpio"
            && text.len() < 8
            && text.chars().all(|c| c.is_ascii_alphabetic());
        let cluster = text.strip_prefix('-').unwrap_or_default();
        // `-Cetc/x`: what stands behind such a letter is no letter.
        let letters = cluster
            .split(['C', 'D', 'I', 'T'])
            .next()
            .unwrap_or_default();
        !is_long && (letters.contains(letter) || is_old && text.contains(letter))
    })
}

fn has(command: &Command<'_>, names: &[&str]) -> bool {
    command.texts().iter().any(|text| names.contains(text))
}

/// The values of options: the next word, behind `=`, or attached to a short one.
fn values<'a>(command: &Command<'a>, options: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut words = command.rest().iter().map(|word| word.text.as_str());
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
