//! Finds where the command begins in the words of a program that runs another command.
//!
//! What the commands do is not known here.

use super::UNKNOWN_PLACEHOLDER;
use super::abstract_value::{AbstractValue, ShellField};
use crate::permission::program_table::{CommandForm, WrapperKind, WrapperSpec};

/// Where a wrapper's command is.
#[derive(Debug)]
pub struct WrapperMatch {
    pub spec: &'static WrapperSpec,
    /// The index of the command's first word.
    pub command_index: usize,
    /// The shell texts in options.
    pub scripts: Vec<AbstractValue>,
    /// The variables set for this command only.
    pub assignments: Vec<(String, ShellField)>,
    /// Whether the word that makes it a wrapper may be an option's value.
    pub is_doubtful: bool,
}

/// Finds the command after a wrapper; the first word is the program.
pub fn match_wrapper(spec: &'static WrapperSpec, words: &[ShellField]) -> Option<WrapperMatch> {
    let mut found = WrapperMatch {
        spec,
        command_index: 1,
        scripts: Vec::new(),
        assignments: Vec::new(),
        is_doubtful: false,
    };
    (found.command_index, found.is_doubtful) = find_command_start(spec, words)?;
    let mut n_operands = spec.n_operands;
    while let Some(word) = words.get(found.command_index) {
        let text = word.text();
        if text == "--" {
            found.command_index += 1;
            // The operands may come before or after it.
            if words.len() <= found.command_index + n_operands
                || spec.kind == WrapperKind::Remote && n_operands < spec.n_operands
            {
                n_operands = 0;
            }
            found.command_index += n_operands;
            break;
        }
        if let Some(carried) = parse_option_script(spec, words, found.command_index) {
            found.scripts.push(carried.value.clone());
            found.command_index += carried.n_words;
            continue;
        }
        let is_option = text.len() > 1 && text.starts_with(['-', '+']);
        if is_option {
            found.command_index += 1 + usize::from(takes_next_word(spec, text));
        } else if let (true, Some((name, value))) = (
            // In a shell text an assignment may itself run something: x=`reboot`.
            matches!(
                spec.command_form,
                CommandForm::Words | CommandForm::OptionOnly
            ),
            parse_assignment(text),
        ) {
            let field = ShellField {
                value: word.value.with_text(value.to_owned()),
                ..ShellField::default()
            };
            found.assignments.push((name.to_owned(), field));
            found.command_index += 1;
        } else if n_operands > 0 {
            n_operands -= 1;
            found.command_index += 1;
        } else if spec.command_form == CommandForm::OptionOnly
            || may_be_unknown_options(
                word,
                words.get(found.command_index + 1..).unwrap_or_default(),
            )
        {
            // This is a user or a file before a text that may still follow, or options that may be empty.
            found.command_index += 1;
        } else {
            break;
        }
    }
    Some(found)
}

/// Returns where to look for the command, and whether the verb before it may be an option's value.
fn find_command_start(spec: &WrapperSpec, words: &[ShellField]) -> Option<(usize, bool)> {
    let mut at = 1;
    let mut is_doubtful = false;
    if !spec.verbs.is_empty() {
        let verb = words
            .iter()
            .position(|word| spec.verbs.iter().any(|verb| verb == word.text()))?;
        let before = words.get(..verb).unwrap_or_default();
        if !leads_to_verb(before) {
            return None;
        }
        let option = before.get(1..).and_then(|options| options.last());
        is_doubtful = option.is_some_and(|word| word.text().starts_with('-'));
        at = verb + 1;
    }
    // `mise x node@20 -- command`: the words before the dashes are tools.
    let behind = words.get(at..).unwrap_or_default();
    if spec.skips_to_dashes
        && let Some(dashes) = behind.iter().position(|word| word.text() == "--")
    {
        at += dashes;
    }
    Some((at, is_doubtful))
}

/// Returns whether only options, their values and verb groups follow the program.
fn leads_to_verb(words: &[ShellField]) -> bool {
    words.windows(2).all(|pair| match pair {
        [before, word] => {
            word.text().starts_with('-')
                || before.text().starts_with('-')
                || matches!(word.text(), "compose" | "container" | "ssh")
        }
        _ => true,
    })
}

/// Returns whether a word may be options or nothing, with a command after it.
fn may_be_unknown_options(word: &ShellField, behind: &[ShellField]) -> bool {
    word.may_split && word.text().chars().all(|c| c == UNKNOWN_PLACEHOLDER) && !behind.is_empty()
}

struct OptionScript {
    value: AbstractValue,
    n_words: usize,
}

/// Returns the shell text of an option, from its own word or the next.
fn parse_option_script(
    spec: &WrapperSpec,
    words: &[ShellField],
    at: usize,
) -> Option<OptionScript> {
    let word = words.get(at)?;
    let text = word.text();
    for option in &spec.script_options {
        if text == option {
            let value = words.get(at + 1)?.value.clone();
            return Some(OptionScript { value, n_words: 2 });
        }
        let attached = if option.starts_with("--") {
            text.strip_prefix(option.as_str())
                .and_then(|rest| rest.strip_prefix('='))
        } else {
            None
        };
        if let Some(attached) = attached {
            let value = word.value.with_text(attached.to_owned());
            return Some(OptionScript { value, n_words: 1 });
        }
        // `-lc text`, as in `su -lc` and `script -qc`.
        let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
        if let Some(letter) = letter
            && text.starts_with('-')
            && !text.starts_with("--")
            && text.len() > 2
        {
            let cluster = text.get(1..).unwrap_or_default();
            let flags = cluster.split(letter).next().unwrap_or_default();
            if cluster.contains(letter) && !flags.contains(|c| spec.short_values.contains(c)) {
                let attached = cluster.get(flags.len() + 1..).unwrap_or_default();
                if attached.is_empty() {
                    let value = words.get(at + 1)?.value.clone();
                    return Some(OptionScript { value, n_words: 2 });
                }
                let value = word.value.with_text(attached.to_owned());
                return Some(OptionScript { value, n_words: 1 });
            }
        }
    }
    None
}

/// Returns whether an option takes the next word as its value.
fn takes_next_word(spec: &WrapperSpec, text: &str) -> bool {
    if text.starts_with("--") {
        return spec.long_values.iter().any(|option| option == text);
    }
    // The first letter with a value takes the rest of the word, or the next word.
    let letters = text.get(1..).unwrap_or_default();
    letters
        .char_indices()
        .find(|(_, letter)| spec.short_values.contains(*letter))
        .is_some_and(|(at, letter)| at + letter.len_utf8() == letters.len())
}

/// Parses `NAME=value`.
pub fn parse_assignment(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    let is_name = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some((name, value))
}
