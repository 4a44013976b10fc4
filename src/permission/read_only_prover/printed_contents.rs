//! Proves that a command prints nothing but what it opens, so that its output says something about the files.
//!
//! `echo` and the like only read, too, but print what the caller wrote. This is an allow list: a program or option that
//! is not listed here is not proven.

use std::path::Path;

use super::{list_read_targets, prove_read_only};
use crate::permission::program_table::{ProgramTrait, has_trait};
use crate::permission::shell::{self, AnalysisLimits, CommandInput, SimpleCommand};
use crate::permission::word_list::is_in_word_list;

/// Options with which `rg`, `find` and git print a text of the caller's.
const OWN_TEXT_OPTIONS: &[&str] = &[
    "-r",
    "--replace",
    "-printf",
    "--format",
    "--pretty",
    "--label",
    "--src-prefix",
    "--dst-prefix",
    "--line-prefix",
    "--output-indicator",
    "--field-",
    "--context-separator",
    "--path-separator",
];

/// The subcommands of git that print what is in the repository.
const GIT_COMMANDS: &str = "grep show diff log blame annotate ls-files cat-file status";

/// Returns whether a command only reads, opens something, and prints nothing else.
pub fn prints_only_what_it_opens(text: &str, cwd: &Path, root: &Path) -> bool {
    if prove_read_only(text, cwd, root).is_err() || list_read_targets(text, cwd, root).is_empty() {
        return false;
    }
    let analysis = shell::analyze_script(text, &AnalysisLimits::default());
    analysis.doubts.is_empty() && analysis.commands.iter().all(prints_what_it_opens)
}

fn prints_what_it_opens(simple: &SimpleCommand) -> bool {
    let takes_own_text = matches!(simple.input, CommandInput::KnownText(_));
    let words: Vec<&str> = simple.words.iter().map(|word| word.text.as_str()).collect();
    let Some((program, arguments)) = words.split_first() else {
        return !takes_own_text;
    };
    let has_own_text = arguments.iter().any(|argument| {
        let mut options = OWN_TEXT_OPTIONS.iter();
        options.any(|option| argument.starts_with(option))
    });
    let is_printing = match *program {
        "rg" | "find" | "fd" => !has_own_text,
        "git" => {
            let command = arguments.iter().find(|argument| !argument.starts_with('-'));
            let is_listed = command.is_some_and(|name| is_in_word_list(GIT_COMMANDS, name));
            is_listed && !has_own_text
        }
        "sed" => prints_lines(arguments),
        "grep" | "egrep" | "fgrep" => !arguments.iter().any(|option| option.starts_with("--label")),
        name => has_trait(name, ProgramTrait::PrintsContents),
    };
    is_printing && !takes_own_text && simple.wrappers.is_empty()
}

/// Returns whether `sed` prints lines by their numbers: `sed -n 10,20p file`.
fn prints_lines(arguments: &[&str]) -> bool {
    let ["-n", script, files @ ..] = arguments else {
        return false;
    };
    let is_line_range = |part: &str| {
        let lines = part.strip_suffix('p');
        lines.is_some_and(|lines| {
            lines
                .chars()
                .all(|c| c.is_ascii_digit() || matches!(c, ',' | '$'))
        })
    };
    script.split(';').all(is_line_range) && files.iter().all(|file| !file.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_that_the_caller_could_have_written_proves_nothing() {
        let root = Path::new("/r");
        for (text, expected) in [
            ("rg -n handler src", true),
            ("grep -rn handler src | head -20", true),
            ("sed -n '1,40p' src/a.rs", true),
            ("cd src && cat a.rs", true),
            ("git grep handler", true),
            ("ls src", true),
            ("echo handler", false),
            ("printf 'src/a.rs:3: handler' && cat src/a.rs", false),
            ("cat src/a.rs; echo handler", false),
            ("cat <<< handler", false),
            ("rg -r forged handler src", false),
            ("rg --replace=forged handler src", false),
            ("sed 's/a/forged/' src/a.rs", false),
            ("find . -printf forged", false),
            ("git log --format=forged", false),
            ("awk '{print \"forged\"}' src/a.rs", false),
            ("pwd", false),
            ("cargo test", false),
            ("cat /etc/passwd", false),
        ] {
            assert_eq!(
                prints_only_what_it_opens(text, root, root),
                expected,
                "{text}"
            );
        }
    }
}
