//! Proves which git sub-commands only read, and with which options.
//!
//! Programs that git runs because of the user's own settings (a pager on a terminal, a
//! diff tool) are the user's choice.

use crate::permission::program_table::ReaderProgram;
use crate::permission::shell::ShellWord;
use crate::permission::word_list::is_in_word_list;

use super::RefusalReason;
use super::working_folders::WorkingFolders;

/// Proves that git with these arguments only reads.
pub fn prove_git(
    reader: &ReaderProgram,
    arguments: &[ShellWord],
    places: &WorkingFolders,
) -> Result<(), RefusalReason> {
    let mut rest = arguments;
    let mut within: Option<WorkingFolders> = None;
    loop {
        match rest {
            [first, behind @ ..] if reader.plain_options.contains(&first.text) => rest = behind,
            [first, folder, behind @ ..] if first.text == "-C" => {
                places.prove_path(folder)?;
                within = Some(within.as_ref().unwrap_or(places).with_folder(&folder.text));
                rest = behind;
            }
            _ => break,
        }
    }
    let places = within.as_ref().unwrap_or(places);
    let Some((sub, arguments)) = rest.split_first() else {
        return Err("`git` alone is not known to only read".to_owned());
    };
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    let is_listed = reader.subcommands.contains(&sub.text);
    if !is_reading_subcommand(&sub.text, &texts, is_listed) {
        return Err(format!(
            "`git {}` with these arguments is not known to only read",
            sub.text
        ));
    }
    prove_arguments(reader, &sub.text, arguments, places)
}

/// Options that make `git branch` and `git tag` list.
const LISTING_OPTIONS: &str = "--list --contains --no-contains --merged --no-merged --points-at";
/// Options with which `git branch` still lists.
const BRANCH_OPTIONS: &str = "-a -r -v -vv -av -avv -rv -va -vva -i --all --remotes --verbose --show-current --sort --format --column --no-column --color --no-color \
    --ignore-case --abbrev --no-abbrev";
/// Options with which `git tag` still lists.
const TAG_OPTIONS: &str = "-l -n -n1 -n3 -n5 -n9 -i --sort --format --column --no-column --color";

/// Sub-commands that only read with certain words.
fn is_reading_subcommand(sub: &str, texts: &[&str], is_listed: bool) -> bool {
    let name = |text: &str| text.split('=').next().unwrap_or_default().to_owned();
    let options = || {
        texts
            .iter()
            .filter(|text| text.starts_with('-'))
            .map(|text| name(text))
    };
    let n_operands = texts.iter().filter(|text| !text.starts_with('-')).count();
    let lists = |also: &'static str| {
        let is_known = options().all(|option| {
            is_in_word_list(also, &option) || is_in_word_list(LISTING_OPTIONS, &option)
        });
        is_known
            && (n_operands == 0
                || options().any(|option| {
                    is_in_word_list(LISTING_OPTIONS, &option) || (sub == "tag" && option == "-l")
                }))
    };
    match sub {
        "branch" => lists(BRANCH_OPTIONS),
        "tag" => lists(TAG_OPTIONS),
        "remote" => matches!(
            texts,
            [] | ["-v" | "--verbose"] | ["get-url", _] | ["get-url", "--all" | "--push", _]
        ),
        "stash" => matches!(texts, ["list" | "show", ..]),
        "worktree" => matches!(texts, ["list"] | ["list", "--porcelain"]),
        "notes" => matches!(texts, [] | ["list"] | ["show"] | ["show", _]),
        "submodule" => matches!(texts, [] | ["status"] | ["status", "--recursive"]),
        "reflog" => !matches!(
            texts,
            ["expire" | "delete" | "drop" | "exists" | "write", ..]
        ),
        "symbolic-ref" => {
            options().all(|option| is_in_word_list("--short -q --quiet", &option))
                && n_operands == 1
        }
        "config" => is_reading_config(texts),
        "bisect" => matches!(texts, ["log"]),
        "hash-object" => !options().any(|option| {
            option.starts_with("-w") || option.starts_with("--w") || option.starts_with("--stdin-p")
        }),
        _ => is_listed,
    }
}

fn is_reading_config(texts: &[&str]) -> bool {
    matches!(
        texts,
        ["--get" | "--get-all" | "--get-regexp" | "get", _]
            | ["--local", "--get", _]
            | ["--local", "--list" | "-l"]
            | ["--list" | "-l", "--local"]
    ) || matches!(texts, [name] | ["--global" | "--local", name] if is_setting_name(name))
}

/// `user.name`: a setting that is read; without a value nothing is written.
fn is_setting_name(text: &str) -> bool {
    text.contains('.')
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
}

fn prove_arguments(
    reader: &ReaderProgram,
    sub: &str,
    arguments: &[ShellWord],
    places: &WorkingFolders,
) -> Result<(), RefusalReason> {
    let mut rest = arguments.iter();
    let mut has_ended = false;
    let mut n_operands = 0;
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        if text == "--" && !has_ended {
            has_ended = true;
        } else if !has_ended && text.starts_with('-') && text.len() > 1 {
            if prove_option(reader, sub, text, places)?
                && let Some(value) = rest.next()
            {
                prove_option_text(sub, &value.text)?;
            }
        } else {
            n_operands += 1;
            let is_pattern = sub == "grep" && n_operands == 1;
            let is_text = is_pattern || matches!(sub, "config" | "remote" | "check-ref-format");
            // In `HEAD:src/a.rs` the path is after the colon.
            let path = text.rsplit_once(':').map_or(text, |(_, path)| path);
            if !is_text
                && (places.leaves_root(text, word.is_glob)
                    || places.leaves_root(path, word.is_glob))
            {
                return Err(format!(
                    "`{text}` may name something outside the repository"
                ));
            }
        }
    }
    Ok(())
}

/// Proves an option; returns whether the next word is the option's text.
fn prove_option(
    reader: &ReaderProgram,
    sub: &str,
    text: &str,
    places: &WorkingFolders,
) -> Result<bool, RefusalReason> {
    let refused = || Err(format!("`git {sub} {text}` is not known to only read"));
    let name = text.split('=').next().unwrap_or_default();
    let is_asked = matches!(
        (sub, text),
        ("rev-parse", "--git-dir") | ("diff", "--no-index")
    );
    if name.starts_with("--")
        && !is_asked
        && reader
            .refused_options
            .iter()
            .any(|option| option.starts_with(name) && (name.len() > 5 || option == name))
    {
        return refused();
    }
    // `git grep -O` opens a pager, `git grep -f` reads a pattern file, `git diff -O` reads an order file.
    if text.starts_with("-O")
        || (sub == "grep" && text.starts_with("-f"))
        || (sub == "blame" && text.starts_with("-S"))
    {
        return refused();
    }
    prove_option_text(sub, text)?;
    if reader.text_options.iter().any(|option| option == text) {
        return Ok(takes_next_word(sub, text));
    }
    let is_text = reader
        .text_options
        .iter()
        .any(|option| match option.strip_prefix("--") {
            Some(_) => name == option,
            None => text.starts_with(option.as_str()),
        });
    if !is_text && places.option_leaves_root(text) {
        Err(format!(
            "`{text}` may name something outside the repository"
        ))
    } else {
        Ok(false)
    }
}

/// An option that takes the next word only in other sub-commands would hide a path from the proof.
fn takes_next_word(sub: &str, option: &str) -> bool {
    match sub {
        "diff" | "diff-tree" | "diff-index" | "diff-files" => matches!(option, "-S" | "-G"),
        "grep" => matches!(
            option,
            "-e" | "-A" | "-B" | "-C" | "-m" | "--max-depth" | "--max-count"
        ),
        "branch" | "tag" | "for-each-ref" => {
            matches!(option, "--sort" | "--format" | "--points-at" | "--contains")
        }
        "log" | "show" | "rev-list" | "shortlog" | "whatchanged" | "reflog" => {
            matches!(
                option,
                "-S" | "-G"
                    | "-L"
                    | "-n"
                    | "--grep"
                    | "--author"
                    | "--committer"
                    | "--since"
                    | "--until"
                    | "--after"
                    | "--before"
                    | "--date"
                    | "--max-count"
                    | "--skip"
                    | "--glob"
                    | "--diff-filter"
            )
        }
        "blame" | "annotate" => matches!(option, "-L" | "--date"),
        "describe" => option == "--match",
        _ => false,
    }
}

/// `%G?` in a format runs gpg.
fn prove_option_text(sub: &str, text: &str) -> Result<(), RefusalReason> {
    let is_format = sub != "grep";
    if is_format && (text.contains("%G") || text.contains("signature")) {
        Err(format!("`{text}` asks another program about signatures"))
    } else {
        Ok(())
    }
}
