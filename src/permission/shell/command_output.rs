//! Predicts what simple programs write, where that is possible without running them.
//!
//! Any other output is unknown.

use super::abstract_value::{AbstractValue, PossibleValues, ShellField};
use super::interpreter::StandardInput;
use super::{UNKNOWN_PLACEHOLDER, backslash_escapes};
use crate::permission::program_table::{PrintedOutput, ProgramTrait, has_trait, program_facts};
use crate::text::base64;

/// The most output of one program that is followed, in bytes.
const MAX_OUTPUT_BYTES: usize = 1 << 18;

/// Returns what a program writes; `None` when only a run would show.
pub fn predict_output(
    name: &str,
    arguments: &[ShellField],
    feed: &StandardInput,
    file: impl Fn(&ShellField) -> Option<PossibleValues>,
) -> Option<PossibleValues> {
    match program_facts(name).prints {
        Some(PrintedOutput::Nothing) => return Some(PossibleValues::empty_string()),
        Some(PrintedOutput::Contents) => return pass_through_output(name, arguments, feed, file),
        Some(PrintedOutput::BaseName) => return program_lookup_output(arguments),
        None => {}
    }
    match name {
        "echo" => Some(PossibleValues::single(echo_output(arguments))),
        "printf" => printf_output(arguments).map(PossibleValues::single),
        // Of the name only its folder is known, which is enough.
        "mktemp"
            if arguments
                .iter()
                .all(|word| matches!(word.text(), "-d" | "-q" | "-u" | "-t")) =>
        {
            Some(PossibleValues::single(AbstractValue::known(
                "/tmp/tmp.XXXXXXXXXX\n",
            )))
        }
        "pwd" => Some(PossibleValues::single(AbstractValue::known(".\n"))),
        "base64" if has_decode_option(arguments) => decode_stdin(feed, decode_base64),
        "xxd" if arguments.iter().any(|word| word.text().contains('r')) => {
            decode_stdin(feed, decode_hex)
        }
        "rev" => decode_stdin(feed, |text| {
            Some(
                text.lines()
                    .map(|line| line.chars().rev().collect::<String>() + "\n")
                    .collect(),
            )
        }),
        _ => None,
    }
}

fn echo_output(arguments: &[ShellField]) -> AbstractValue {
    let is_option = |word: &&ShellField| {
        let letters = word.text().strip_prefix('-').unwrap_or_default();
        !letters.is_empty() && letters.bytes().all(|byte| b"neE".contains(&byte))
    };
    let n_options = arguments.iter().take_while(is_option).count();
    let (options, words) = arguments.split_at(n_options);
    let has = |letter: char| options.iter().any(|option| option.text().contains(letter));
    let mut value = join_words(words);
    if has('e') {
        value.text = backslash_escapes::decode_echo(&value.text);
    }
    if !has('n') {
        value.append(&AbstractValue::known("\n"));
    }
    value
}

/// Joins words with spaces.
pub fn join_words(words: &[ShellField]) -> AbstractValue {
    let mut value = AbstractValue::default();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            value.append(&AbstractValue::known(" "));
        }
        value.append(&word.value);
    }
    value
}

/// Applies the format again until no arguments are left.
fn printf_output(arguments: &[ShellField]) -> Option<AbstractValue> {
    let mut words = arguments.iter().peekable();
    words.next_if(|word| word.text() == "--");
    let format = words.next()?;
    let format = format
        .value
        .with_text(backslash_escapes::decode_printf_format(format.text()));
    let mut value = AbstractValue::default();
    loop {
        let mut used = false;
        let mut rest = format.text.as_str();
        value.add_sources(&format.sources);
        while let Some((before, after)) = rest.split_once('%') {
            value.append(&AbstractValue::known(before));
            let n_flags = after
                .bytes()
                .take_while(|byte| b"-+ #0123456789.*".contains(byte))
                .count();
            let letter = after.get(n_flags..)?.chars().next();
            rest = after
                .get(n_flags + letter.map_or(0, char::len_utf8)..)
                .unwrap_or_default();
            match letter {
                Some('%') => value.append(&AbstractValue::known("%")),
                Some('s' | 'b' | 'q') => {
                    used = true;
                    if let Some(word) = words.next() {
                        let text = if letter == Some('b') {
                            backslash_escapes::decode_echo(word.text())
                        } else {
                            word.text().to_owned()
                        };
                        value.append(&word.value.with_text(text));
                    }
                }
                Some(_) => {
                    used = true;
                    words.next();
                    value.append(&AbstractValue::unknown());
                }
                None => value.append(&AbstractValue::known("%")),
            }
        }
        value.append(&AbstractValue::known(rest));
        if !used || words.peek().is_none() || value.text.len() > MAX_OUTPUT_BYTES {
            return (value.text.len() <= MAX_OUTPUT_BYTES).then_some(value);
        }
    }
}

/// Returns the content of the files, or of the input, unchanged.
fn pass_through_output(
    name: &str,
    arguments: &[ShellField],
    feed: &StandardInput,
    file: impl Fn(&ShellField) -> Option<PossibleValues>,
) -> Option<PossibleValues> {
    let operands: Vec<&ShellField> = arguments
        .iter()
        .filter(|word| !word.text().starts_with('-') || word.text() == "-")
        .filter(|word| name == "cat" || word.text().bytes().any(|byte| !byte.is_ascii_digit()))
        .collect();
    if operands.is_empty() || has_trait(name, ProgramTrait::CopiesInput) {
        return match feed {
            StandardInput::Values(texts) => Some(texts.clone()),
            StandardInput::Nothing => Some(PossibleValues::empty_string()),
            StandardInput::Unknown => None,
        };
    }
    let mut out = PossibleValues::empty_string();
    for operand in operands {
        out = match (operand.text(), feed) {
            ("-" | "/dev/stdin", StandardInput::Values(texts)) => out.concat(texts),
            _ => out.concat(&file(operand)?),
        };
    }
    Some(out)
}

/// `which rm` names `rm`.
fn program_lookup_output(arguments: &[ShellField]) -> Option<PossibleValues> {
    let mut names = arguments
        .iter()
        .filter(|word| !word.text().starts_with('-'));
    let name = names.next()?;
    let base = name.text().rsplit('/').next().unwrap_or_default();
    Some(PossibleValues::single(
        name.value.with_text(format!("{base}\n")),
    ))
}

fn has_decode_option(arguments: &[ShellField]) -> bool {
    let mut options = arguments.iter().map(ShellField::text);
    let has_operand = arguments.iter().any(|word| !word.text().starts_with('-'));
    !has_operand
        && options.any(|text| {
            text.starts_with("--d") || text.starts_with('-') && text.contains(['d', 'D'])
        })
}

fn decode_stdin(
    feed: &StandardInput,
    decode: impl Fn(&str) -> Option<String>,
) -> Option<PossibleValues> {
    let StandardInput::Values(texts) = feed else {
        return None;
    };
    let mut values = Vec::new();
    for value in texts.iter() {
        if !value.is_fully_known() || value.text.len() > MAX_OUTPUT_BYTES {
            return None;
        }
        values.push(AbstractValue::known(decode(&value.text)?));
    }
    Some(PossibleValues::from_values(values))
}

fn decode_base64(text: &str) -> Option<String> {
    let digits = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=');
    let bytes = base64::decode(digits)?;
    Some(String::from_utf8_lossy(&bytes).replace(UNKNOWN_PLACEHOLDER, ""))
}

fn decode_hex(text: &str) -> Option<String> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16))
        .collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits
        .chunks_exact(2)
        .filter_map(|pair| {
            u8::try_from(pair.iter().fold(0, |value, digit| value * 16 + digit)).ok()
        })
        .collect();
    Some(String::from_utf8_lossy(&bytes).replace(UNKNOWN_PLACEHOLDER, ""))
}
