//! Commands that only read: which programs, and which of their options and arguments.
//!
//! It judges words and refuses to know shells; it looks at no disk, so that links are not its concern.

use std::path::Path;

use super::path::{absolute, is_inside};

/// Programs that write nothing and run nothing, whatever their options.
const READERS: [&str; 6] = ["ls", "cat", "head", "tail", "wc", "grep"];

/// Options of `git status` that run no program (`-v` would: it shows a diff).
const STATUS_OPTIONS: [&str; 17] = [
    "-s",
    "--short",
    "-b",
    "--branch",
    "-sb",
    "-bs",
    "--porcelain",
    "--long",
    "-u",
    "--untracked-files",
    "--ignored",
    "-z",
    "--no-column",
    "--show-stash",
    "--ahead-behind",
    "--no-ahead-behind",
    "--no-renames",
];

/// As [`STATUS_OPTIONS`], with any value.
const STATUS_VALUES: [&str; 6] = [
    "--porcelain=",
    "-u",
    "--untracked-files=",
    "--ignored=",
    "--ignore-submodules",
    "--find-renames=",
];

/// The longest word that is looked into.
const WORD_LIMIT: usize = 4_096;

/// Tells why a command of these words does more than read, or does not end; `None` when it only reads.
pub fn refusal(words: &[String]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    match program.as_str() {
        "git" => status_refusal(arguments),
        "tail" => tail_refusal(arguments),
        name if READERS.contains(&name) => None,
        name => Some(format!(
            "`{name}` is not one of ls, cat, head, tail, wc, grep and git status, which may run before EXECUTE"
        )),
    }
}

/// Tells whether a command of these words only reads, and ends.
pub fn reads_only(words: &[String]) -> bool {
    !words.is_empty() && refusal(words).is_none()
}

/// Finds an argument that names something outside the root: an absolute path elsewhere, `..` past
/// the root, or `..` after a folder that could be a link. Every part of an option that could be a
/// path is taken for one.
pub fn escaping_argument<'a>(words: &'a [String], cwd: &Path, root: &Path) -> Option<&'a str> {
    let arguments = words.iter().skip(1).map(String::as_str);
    arguments.into_iter().find(|word| escapes(word, cwd, root))
}

fn status_refusal(arguments: &[String]) -> Option<String> {
    if arguments.first().is_none_or(|first| first != "status") {
        return Some("of git only `git status` may run before EXECUTE".to_owned());
    }
    let options = arguments.iter().skip(1).take_while(|word| *word != "--");
    options
        .filter(|word| word.starts_with('-'))
        .find(|word| {
            let valued = STATUS_VALUES.iter().any(|option| word.starts_with(option));
            !STATUS_OPTIONS.contains(&word.as_str()) && !valued
        })
        .map(|word| format!("`git status {word}` is not known to read only"))
}

/// `tail` may follow a file for ever: by `-f`, `-F`, `+5f`, `--follow`, `--retry` and their abbreviations.
fn tail_refusal(arguments: &[String]) -> Option<String> {
    arguments
        .iter()
        .find(|word| match word.strip_prefix("--") {
            Some(long) => ["f", "r", "p", "s"]
                .iter()
                .any(|letter| long.starts_with(letter)),
            None => word.starts_with(['-', '+']) && word.contains(['f', 'F']),
        })
        .map(|word| format!("`tail {word}` may never end"))
}

fn escapes(word: &str, cwd: &Path, root: &Path) -> bool {
    if word.len() > WORD_LIMIT {
        return true;
    }
    if !word.starts_with('-') {
        return is_outside(word, cwd, root);
    }
    if let Some((_, value)) = word.split_once('=')
        && word.starts_with("--")
    {
        return is_outside(value, cwd, root);
    }
    // In `-rf../x` nothing tells where the option ends and the path begins.
    word.char_indices()
        .skip(1)
        .any(|(at, _)| is_outside(&word[at..], cwd, root))
}

fn is_outside(path: &str, cwd: &Path, root: &Path) -> bool {
    let mut after_folder = false;
    for part in path.split('/') {
        if part == ".." && after_folder {
            return true;
        }
        after_folder |= !matches!(part, "" | "." | "..");
    }
    !is_inside(&absolute(cwd, Path::new(path)), root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn check(line: &str, expected: bool) {
        assert_eq!(reads_only(&words(line)), expected, "{line}");
    }

    fn check_inside(line: &str, expected: bool) {
        let words = words(line);
        let found = escaping_argument(&words, Path::new("/repo/sub"), Path::new("/repo"));
        assert_eq!(found.is_none(), expected, "{line}: {found:?}");
    }

    #[test]
    fn readers_read() {
        for line in [
            "ls -la src",
            "cat a",
            "head -n 5 a",
            "tail -5 a",
            "tail -n 20 a",
            "wc -l a",
            "grep -rn x .",
            "git status",
            "git status -s -- a -v",
            "git status --porcelain=v2 -uall",
        ] {
            check(line, true);
        }
    }

    #[test]
    fn everything_else_does_not() {
        for line in [
            "rm a",
            "/bin/ls",
            "./ls",
            "LS",
            "lsof",
            "git log",
            "git",
            "git -c core.fsmonitor=x status",
            "git -C .. status",
            "git --git-dir=x status",
            "git status -v",
            "git status --verbose",
            "sed -n p",
            "find .",
        ] {
            check(line, false);
        }
        assert!(!reads_only(&[]));
    }

    #[test]
    fn tail_must_end() {
        for line in [
            "tail -f a",
            "tail -F a",
            "tail -5f a",
            "tail -qf a",
            "tail +5f a",
            "tail --follow=name a",
            "tail --fol a",
            "tail --retry a",
        ] {
            check(line, false);
        }
    }

    #[test]
    fn arguments_inside_the_root_pass() {
        for line in [
            "cat a /repo/b ../c ./d",
            "ls ..",
            "grep -e x --include=src/a -n5",
            "ls /repo",
            "cat .git/HEAD",
            "grep a..b x",
        ] {
            check_inside(line, true);
        }
    }

    #[test]
    fn arguments_that_leave_the_root_are_found() {
        for line in [
            "cat /etc/passwd",
            "cat ../../x",
            "cat /repo/../x",
            "cat /repository/x",
            "cat a/../../../x",
            "cat link/../x",
            "grep -f/etc/passwd x",
            "grep -rf../../x y",
            "grep --file=/etc/passwd x",
            "wc --files0-from=../../x",
            "ls /",
        ] {
            check_inside(line, false);
        }
    }
}
