//! Files and folders: what removes, empties, moves away or overwrites them.
//!
//! It refuses to know devices and rights; where a path lies is [`super::place`]'s.

use crate::permission::shell::{RedirectKind, Simple, Word};

use super::builtin::Builtin;
use super::command::Command;
use super::judge::{Scene, WORDS, is_each};
use super::place::{Place, place_of};

static TREE: Builtin = Builtin::confirm(
    "files.tree",
    "removes a folder with all that is in it",
    &[
        "rimraf",
        "del-cli",
        "trash-empty",
        "cargo clean --doc",
        "gio trash --empty",
        "yarn|pnpm|bun run rimraf|del-cli",
        "remove_directory",
    ],
);
static CRITICAL: Builtin = Builtin::dangerous(
    "files.critical",
    "removes a whole project, repository, home or system folder",
    &[],
);
static OUTSIDE: Builtin = Builtin::dangerous(
    "files.outside",
    "removes files of the system or of a user's own settings and keys",
    &[],
);
static ELSEWHERE: Builtin = Builtin::confirm(
    "files.elsewhere",
    "removes files outside of the working folder",
    &[],
);
static ALL: Builtin = Builtin::confirm("files.all", "removes every file of a folder", &[]);
static MANY: Builtin = Builtin::confirm(
    "files.many",
    "removes every file that is found or listed",
    &[],
);
static FOUND: Builtin = Builtin::dangerous("files.found", "removes everything below a folder", &[]);
static SHREDDED: Builtin = Builtin::dangerous(
    "files.shredded",
    "overwrites files so that nothing brings them back",
    &["shred", "scrub", "srm", "wipe", "sfill"],
);
static EMPTIED: Builtin = Builtin::confirm("files.emptied", "empties a file", &[]);
static GONE: Builtin = Builtin::dangerous("files.gone", "moves files to where they are lost", &[]);
static MIRRORED: Builtin = Builtin::dangerous(
    "files.mirrored",
    "removes what the source of a copy lacks",
    &[
        "rsync --delete|--delete-before|--delete-after|--delete-during|--delete-delay|--delete-excluded|--delete-missing-args|--del !-n|--dry-run|--list-only",
        "rclone purge|delete|sync|cleanup|rmdirs !-n|--dry-run",
        "robocopy ** /mir|/purge",
        "unison -force",
    ],
);
static TAKEN: Builtin = Builtin::confirm(
    "files.taken",
    "removes the files that it copies",
    &[
        "rsync --remove-source-files !-n|--dry-run",
        "tar --remove-files",
        "zip -m",
        "rclone move !--dry-run",
    ],
);
static SYSTEM_WRITE: Builtin = Builtin::dangerous(
    "files.system-write",
    "writes a file of the system or a user's keys",
    &[],
);
static HOME_WRITE: Builtin =
    Builtin::confirm("files.home-write", "overwrites a user's own settings", &[]);
static BACKUPS: Builtin = Builtin::dangerous(
    "files.backups",
    "removes backups",
    &[
        "restic forget|prune !--dry-run|-n",
        "borg delete|prune|compact !--dry-run|-n",
        "duplicity remove-all-but-n-full|remove-older-than|remove-all-inc-of-but-n-full --force",
        "tmutil delete|deletelocalsnapshots|disable",
        "timeshift --delete|--delete-all",
        "kopia snapshot|repository|policy delete",
        "velero backup|restore|schedule delete",
        "snapper delete",
    ],
);
/// Options of a forced removal behind a program that is not known.
pub static UNKNOWN_TREE: Builtin = Builtin::dangerous(
    "files.unknown-tree",
    "looks like a forced removal by a program that only a run would show",
    &[],
);

/// What is known of files.
pub const RULES: &[&Builtin] = &[
    &TREE,
    &CRITICAL,
    &OUTSIDE,
    &ELSEWHERE,
    &ALL,
    &MANY,
    &FOUND,
    &SHREDDED,
    &EMPTIED,
    &GONE,
    &MIRRORED,
    &TAKEN,
    &SYSTEM_WRITE,
    &HOME_WRITE,
    &BACKUPS,
    &UNKNOWN_TREE,
];

/// Programs that are judged even where a word asks for help: other systems take it for a file.
pub const TREE_REMOVERS: &[&str] = &["rm"];

/// Places whose files a system or a login rests on.
const KEYS: &[&str] = &[
    "/etc", "/boot", "/efi", "/bin", "/sbin", "/lib", "/lib64", "/sys", "/proc", "/root", "/usr",
    "~/.ssh", "~/.gnupg", "~/.aws", "~/.kube", "/System", "/Library",
];

/// Parts of [`KEYS`] that may be written, or only with a question.
const OPEN: &[&str] = &["/proc/self/fd", "/proc/self/oom_score_adj"];
const ASKED: &[&str] = &["/usr/local", "/usr/share", "/usr/src"];

/// Judges programs that remove, move and write files.
pub fn judge(command: &Command<'_>, scene: &Scene<'_>) {
    match command.program.as_str() {
        "rm" => judge_rm(command, scene),
        "unlink" | "rmdir" => judge_single(command, scene),
        "find" | "fd" | "fdfind" | "bfs" => judge_find(command, scene),
        "truncate" => judge_truncate(command, scene),
        "mv" => judge_mv(command, scene),
        "del" | "erase" | "rd" | "remove-item" | "ri" => judge_windows(command, scene),
        _ => {}
    }
    let appends = command.is(&["touch", "mkdir"])
        || command.is(&["tee"]) && command.arguments.has(&["-a", "--append"]);
    let kind = match appends {
        true => RedirectKind::Append,
        false => RedirectKind::Write,
    };
    for target in outputs(command) {
        judge_write(target, kind, command.simple, scene);
    }
}

/// Judges redirects to files of the system.
pub fn judge_redirects(simple: &Simple, scene: &Scene<'_>) {
    for redirect in &simple.redirects {
        if matches!(
            redirect.kind,
            RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite
        ) {
            judge_write(&redirect.target.text, redirect.kind, simple, scene);
        }
    }
}

/// Tells whether a word looks like `-rf`.
pub fn is_tree_flag(text: &str) -> bool {
    matches!(
        text,
        "-rf" | "-fr" | "-Rf" | "-fR" | "-rfv" | "-rvf" | "-vrf" | "-frv"
    )
}

fn judge_rm(command: &Command<'_>, scene: &Scene<'_>) {
    let span = &command.simple.span;
    if let Some(first) = command.rest().first()
        && matches!(first.text.as_str(), "--help" | "--version")
    {
        return;
    }
    let is_tree = command.arguments.has(&["-r", "-R", "--recursive"]);
    if command
        .arguments
        .options
        .iter()
        .any(|given| given.name == "--no-preserve-root")
    {
        scene.note(&CRITICAL, span);
    }
    if is_tree {
        scene.note(&TREE, span);
    }
    for operand in &command.arguments.operands {
        match is_tree {
            true => judge_tree(operand.word, command, scene),
            false => judge_file(operand.word, command, scene),
        }
    }
    if is_each(command.simple) {
        scene.note(&MANY, span);
    }
}

fn judge_tree(word: &Word, command: &Command<'_>, scene: &Scene<'_>) {
    let span = &command.simple.span;
    match place_of(&word.text, scene.cwd.as_deref(), scene.settings) {
        Place::Whole => scene.note(&CRITICAL, span),
        Place::Guarded => scene.note(&OUTSIDE, span),
        Place::Project | Place::Temporary | Place::Above | Place::Elsewhere | Place::Unknown => {}
    }
}

fn judge_file(word: &Word, command: &Command<'_>, scene: &Scene<'_>) {
    let span = &command.simple.span;
    if !word.is_sure && word.may_split && !is_each(command.simple) {
        return scene.note(&WORDS, span);
    }
    match place_of(&word.text, scene.cwd.as_deref(), scene.settings) {
        Place::Whole if word.glob && !word.text.starts_with(['/', '~', '.']) => {
            scene.note(&ALL, span)
        }
        Place::Whole | Place::Guarded => scene.note(&OUTSIDE, span),
        Place::Above => scene.note(&ELSEWHERE, span),
        // A `cd` to the project's own absolute path comes before many commands of agents.
        Place::Elsewhere if word.text.starts_with(['/', '~']) => scene.note(&ELSEWHERE, span),
        Place::Elsewhere | Place::Project | Place::Temporary | Place::Unknown => {}
    }
}

fn judge_single(command: &Command<'_>, scene: &Scene<'_>) {
    for operand in &command.arguments.operands {
        judge_file(operand.word, command, scene);
    }
    if is_each(command.simple) && command.program == "unlink" {
        scene.note(&MANY, &command.simple.span);
    }
}

fn judge_find(command: &Command<'_>, scene: &Scene<'_>) {
    let span = &command.simple.span;
    let words = command.texts();
    if !words.contains(&"-delete") {
        return;
    }
    let filters = [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-regex",
        "-iregex",
        "-mtime",
        "-mmin",
        "-newer",
        "-empty",
        "-size",
        "-wholename",
        "-atime",
        "-ctime",
        "-lname",
    ];
    let is_filtered = words.iter().any(|word| filters.contains(word));
    let begins = words
        .iter()
        .take_while(|word| !word.starts_with(['-', '(', '!']));
    let is_far = begins.into_iter().any(|start| {
        let place = place_of(start, scene.cwd.as_deref(), scene.settings);
        matches!(place, Place::Guarded | Place::Elsewhere | Place::Unknown)
            || (place == Place::Whole && *start != "." && *start != "./")
    });
    if is_filtered && !is_far {
        return scene.note(&MANY, span);
    }
    scene.note(&FOUND, span);
}

fn judge_truncate(command: &Command<'_>, scene: &Scene<'_>) {
    let empties = command.arguments.values(&["-s", "--size"]).any(|size| {
        size.trim_start_matches(['=', '<', '-', '/', '%'])
            .starts_with('0')
    });
    // A single file of the project goes as with `> file`.
    let is_single = command.arguments.operands.iter().all(|operand| {
        let place = place_of(&operand.word.text, scene.cwd.as_deref(), scene.settings);
        !operand.word.glob && matches!(place, Place::Project | Place::Temporary)
    });
    if empties && (!is_single || is_each(command.simple)) {
        scene.note(&EMPTIED, &command.simple.span);
    }
}

fn judge_mv(command: &Command<'_>, scene: &Scene<'_>) {
    let span = &command.simple.span;
    let texts: Vec<&str> = command.arguments.texts().collect();
    let named = command
        .arguments
        .values(&["-t", "--target-directory"])
        .next();
    let (target, moved) = match (named, texts.split_last()) {
        (Some(target), _) => (target, texts.as_slice()),
        (None, Some((target, moved))) => (*target, moved),
        (None, None) => return,
    };
    if scene.path(target) == "/dev/null" {
        return scene.note(&GONE, span);
    }
    for path in moved {
        let place = place_of(path, scene.cwd.as_deref(), scene.settings);
        match place {
            Place::Guarded => scene.note(&OUTSIDE, span),
            Place::Whole if path.starts_with(['/', '~']) || scene.path(path).ends_with(".git") => {
                scene.note(&CRITICAL, span)
            }
            _ => {}
        }
    }
}

fn judge_windows(command: &Command<'_>, scene: &Scene<'_>) {
    let is_tree = command.rest().iter().any(|word| {
        let word = word.text.to_lowercase();
        matches!(word.as_str(), "/s" | "-recurse" | "-r")
    });
    if is_tree {
        scene.note(&FOUND, &command.simple.span);
    }
}

fn judge_write(target: &str, kind: RedirectKind, simple: &Simple, scene: &Scene<'_>) {
    judge_written(&scene.path(target), kind, simple, scene);
}

/// Judges that something is written at a path or, when it is a folder, into it.
pub fn judge_written(path: &str, kind: RedirectKind, simple: &Simple, scene: &Scene<'_>) {
    let below = |folder: &&str| {
        path.strip_prefix(*folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if OPEN.iter().any(below) {
        return;
    }
    if ASKED.iter().any(below) {
        return scene.note(&HOME_WRITE, &simple.span);
    }
    if path == "/" || KEYS.iter().any(below) {
        return scene.note(&SYSTEM_WRITE, &simple.span);
    }
    let is_home = path.starts_with('~') && place_of(path, None, scene.settings) == Place::Guarded;
    if is_home && kind == RedirectKind::Write && path.starts_with("~/.") {
        scene.note(&HOME_WRITE, &simple.span);
    }
}

/// The files that a program writes because a word names them.
pub fn outputs<'a>(command: &'a Command<'_>) -> Vec<&'a str> {
    let arguments = &command.arguments;
    let operands: Vec<&str> = arguments.texts().collect();
    let last = || {
        operands
            .last()
            .copied()
            .filter(|_| operands.len() > 1)
            .into_iter()
            .collect()
    };
    let valued = |names: &[&'static str]| valued(command, names);
    match command.program.as_str() {
        "tee" | "sponge" => operands,
        "touch" | "mkdir" => {
            let is_far = |path: &&str| path.starts_with('/');
            operands.into_iter().filter(is_far).collect()
        }
        "cp" | "mv" | "install" | "ln" | "rsync" | "scp" | "xxd" | "ditto" => {
            let named: Vec<&str> = valued(&["-t", "--target-directory"]);
            if named.is_empty() { last() } else { named }
        }
        "ddrescue" => operands.get(1).copied().into_iter().collect(),
        "dd" | "dcfldd" | "dc3dd" => operands
            .iter()
            .filter_map(|word| word.strip_prefix("of="))
            .collect(),
        "truncate" | "shred" | "fallocate" | "mkswap" => operands,
        _ => other_outputs(command, &operands),
    }
}

/// The values of options by their names.
fn valued<'a>(command: &'a Command<'_>, names: &[&'static str]) -> Vec<&'a str> {
    let options = command.arguments.options.iter();
    options
        .filter(|given| names.contains(&given.name.as_str()))
        .filter_map(|given| given.value)
        .collect()
}

/// The files that are named by an option, or by operands behind one.
fn other_outputs<'a>(command: &'a Command<'_>, operands: &[&'a str]) -> Vec<&'a str> {
    let arguments = &command.arguments;
    let last = || {
        let last = operands.last().copied().filter(|_| operands.len() > 1);
        last.into_iter().collect()
    };
    let valued = |names: &[&'static str]| valued(command, names);
    match command.program.as_str() {
        "curl" => valued(&["-o", "--output"]),
        "aria2c" | "axel" | "fetch" | "http" | "xh" => {
            behind(command, &["-o", "--out", "--output"])
        }
        "wget" => valued(&["-O", "--output-document"]),
        "sort" => behind(command, &["-o", "--output"]),
        "sed"
            if arguments.has(&["-i", "--in-place"])
                || arguments
                    .options
                    .iter()
                    .any(|given| given.name.starts_with("-i")) =>
        {
            operands.iter().copied().skip(1).collect()
        }
        "openssl" | "gpg" => behind(command, &["-out", "-o", "--output"]),
        "perl" | "ruby"
            if arguments
                .options
                .iter()
                .any(|given| given.name.starts_with("-i")) =>
        {
            operands.to_vec()
        }
        "tar" | "bsdtar" => {
            let archive = operands
                .first()
                .copied()
                .filter(|first| !first.contains('/') && first.contains('c') && first.contains('f'));
            let named = archive.and_then(|_| operands.get(1)).copied();
            let cluster = behind_cluster(command);
            if !cluster.is_empty() {
                return cluster;
            }
            let creates = arguments.has(&["-c", "--create", "-r", "-u", "--append", "--update"]);
            match creates {
                true => valued(&["-f", "--file"]),
                false => named.into_iter().collect(),
            }
        }
        "qemu-img" if operands.first() == Some(&"convert") => last(),
        "bmaptool" | "pv" => {
            if command.is(&["bmaptool"]) {
                last()
            } else {
                behind(command, &["-o", "--output"])
            }
        }
        _ => Vec::new(),
    }
}

/// `tar -czf archive`: what stands behind letters that create and end with `f`.
fn behind_cluster<'a>(command: &Command<'a>) -> Vec<&'a str> {
    let mut words = command.rest().iter().map(|word| word.text.as_str());
    let is_creating = |word: &str| {
        word.starts_with('-')
            && !word.starts_with("--")
            && word.contains('c')
            && word.ends_with('f')
    };
    while let Some(word) = words.next() {
        if is_creating(word) {
            return words.next().into_iter().collect();
        }
    }
    Vec::new()
}

/// The values of options that a program's own list does not name.
pub fn behind<'a>(command: &Command<'a>, names: &[&str]) -> Vec<&'a str> {
    let mut words = command.rest().iter().map(|word| word.text.as_str());
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        if names.contains(&word) {
            found.extend(words.next());
        } else if let Some((name, value)) = word.split_once('=')
            && names.contains(&name)
        {
            found.push(value);
        }
    }
    found
}
