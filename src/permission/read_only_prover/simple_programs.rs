//! Proves find, and the programs that need only a line or two each.
//!
//! Which options they may have is in their rows of the table of programs.

use crate::permission::program_table::ReaderProgram;
use crate::permission::shell::ShellWord;
use crate::permission::word_list::is_in_word_list;

use super::RefusalReason;
use super::working_folders::WorkingFolders;

/// Proves that find or fd only lists.
pub fn prove_find(
    reader: &ReaderProgram,
    program: &str,
    arguments: &[ShellWord],
    places: &WorkingFolders,
) -> Result<(), RefusalReason> {
    let is_listed = |list: &[String], text: &str| list.iter().any(|option| option == text);
    let mut rest = arguments.iter();
    let mut n_operands = 0;
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        let name = text.split('=').next().unwrap_or_default();
        if is_listed(&reader.text_options, text) {
            rest.next();
        } else if program == "find" && text == "-exec" {
            // The command that it runs is proven by itself.
            if !rest.any(|word| matches!(word.text.as_str(), ";" | "+")) {
                return Err("`find -exec` has no end".to_owned());
            }
        } else if is_listed(&reader.plain_options, text)
            || (text.starts_with("--") && is_listed(&reader.text_options, name))
        {
            continue;
        } else if text.starts_with("-newer") || text == "-samefile" {
            places.prove_path(rest.next().unwrap_or(word))?;
        } else if text.starts_with('-') {
            let short = text.get(..2).unwrap_or_default();
            if program != "find"
                && !text.starts_with("--")
                && matches!(short, "-e" | "-t" | "-E" | "-d")
            {
                continue;
            }
            return Err(format!("`{program} {text}` is not known to only read"));
        } else {
            n_operands += 1;
            // fd takes a pattern first.
            if program == "find" || n_operands > 1 {
                places.prove_path(word)?;
            }
        }
    }
    Ok(())
}

/// Proves the other simple programs.
pub fn prove_simple_program(
    reader: &ReaderProgram,
    program: &str,
    arguments: &[ShellWord],
    places: &WorkingFolders,
) -> Result<(), RefusalReason> {
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    let is_plain = |text: &&str| reader.plain_options.iter().any(|option| option == text);
    let (paths, is_known) = match program {
        "test" | "[" | "[[" => (arguments, true),
        "((" | "let" => (&[][..], true),
        "date" => (&[][..], is_date_display(&texts, is_plain)),
        "hostname" => (
            &[][..],
            texts.is_empty() || texts == ["-s"] || texts == ["-f"],
        ),
        "cd" => (cd_folder(arguments), is_plain_cd(&texts, places)),
        "read" => (&[][..], is_plain_read(&texts)),
        "tee" => (
            &[][..],
            matches!(
                texts.as_slice(),
                ["/dev/null" | "/dev/stderr" | "/dev/stdout"]
            ),
        ),
        "gzip" | "gunzip" => (
            arguments.get(1..).unwrap_or_default(),
            prints_compressed(program, &texts),
        ),
        "set" | "shopt" => (&[][..], texts.iter().all(is_plain)),
        "command" => (&[][..], matches!(texts.as_slice(), ["-v" | "-V", ..])),
        "tar" => return prove_tar(arguments, places),
        "unzip" => (
            arguments,
            matches!(texts.as_slice(), ["-l" | "-v" | "-lv" | "-Z", _]),
        ),
        "zipinfo" => (arguments, matches!(texts.as_slice(), [_])),
        _ => (&[][..], false),
    };
    if !is_known {
        return Err(format!(
            "`{program} {}` is not known to only read",
            texts.join(" ")
        ));
    }
    let may_be_text = matches!(program, "test" | "[" | "[[");
    let is_path = |word: &&ShellWord| {
        !may_be_text || (word.is_fully_known && word.text.starts_with(['/', '~', '.']))
    };
    paths
        .iter()
        .filter(is_path)
        .try_for_each(|word| places.prove_path(word))
}

/// Returns the folder of a `cd`; `-` returns to an earlier folder.
fn cd_folder(arguments: &[ShellWord]) -> &[ShellWord] {
    match arguments {
        [word] if word.text == "-" => &[],
        _ => arguments,
    }
}

fn is_plain_cd(texts: &[&str], places: &WorkingFolders) -> bool {
    match texts {
        ["-"] => places.has_changed_folder(),
        [folder] | ["--", folder] => !folder.starts_with('-'),
        _ => false,
    }
}

/// Returns whether gzip or gunzip only prints, with these options and files.
fn prints_compressed(program: &str, texts: &[&str]) -> bool {
    let options = match program {
        "gzip" => "-dc -cd -l -lv -vl",
        _ => "-c -l",
    };
    texts.split_first().is_some_and(|(flags, files)| {
        is_in_word_list(options, flags) && !files.iter().any(|file| file.starts_with('-'))
    })
}

/// Accepts only lower case names: programs do not depend on such variables.
fn is_plain_read(texts: &[&str]) -> bool {
    let mut rest = texts;
    loop {
        rest = match rest {
            ["-r", behind @ ..] => behind,
            ["-d", "" | ":" | ",", behind @ ..] => behind,
            names => {
                let is_own = |name: &&str| {
                    !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_')
                };
                return !names.is_empty() && names.iter().all(is_own);
            }
        };
    }
}

/// Accepts a format and a time to display; a bare number would set the clock.
fn is_date_display(texts: &[&str], is_plain: impl Fn(&&str) -> bool) -> bool {
    match texts {
        ["-d" | "--date", _, rest @ ..] | ["-u", "-d" | "--date", _, rest @ ..] => {
            rest.iter().all(|text| text.starts_with('+'))
        }
        texts => texts
            .iter()
            .all(|text| text.starts_with('+') || is_plain(text)),
    }
}

/// Accepts only listing an archive.
fn prove_tar(arguments: &[ShellWord], places: &WorkingFolders) -> Result<(), RefusalReason> {
    let Some((flags, rest)) = arguments.split_first() else {
        return Err("`tar` is not known to only read".to_owned());
    };
    let letters = flags.text.trim_start_matches('-');
    let lists = letters.contains('t')
        && letters.ends_with('f')
        && letters
            .chars()
            .all(|c| matches!(c, 't' | 'v' | 'f' | 'z' | 'j' | 'J'));
    let is_plain = rest.len() == 1
        && rest
            .iter()
            .all(|word| !word.text.starts_with('-') && !word.text.contains(':'));
    if !lists || !is_plain {
        return Err("`tar` reads only with -tf and one archive".to_owned());
    }
    rest.iter().try_for_each(|word| places.prove_path(word))
}
