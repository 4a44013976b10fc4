//! What simple programs write, when it can be told without running them.
//!
//! Any other output is unknown. It refuses to know where output goes.

use super::reader::Feed;
use super::value::{Field, Texts, Value};
use super::{UNKNOWN, escapes};
use crate::text::base64;

/// The most text that one program's output is followed to, in bytes.
const LONGEST: usize = 1 << 18;

/// What a program writes; `None` when only a run would show.
pub fn of(
    name: &str,
    arguments: &[Field],
    feed: &Feed,
    file: impl Fn(&Field) -> Option<Texts>,
) -> Option<Texts> {
    match name {
        "echo" => Some(Texts::one(echo(arguments))),
        "printf" => printf(arguments).map(Texts::one),
        "cat" | "tac" | "tee" | "head" | "tail" | "sort" | "uniq" | "nl" | "pv" | "sponge" => {
            passed(name, arguments, feed, file)
        }
        "true" | "false" | ":" | "cd" | "export" | "set" | "unset" | "shift" | "local"
        | "declare" | "readonly" | "typeset" | "mkdir" | "touch" | "chmod" | "rm" | "mv" | "cp"
        | "sleep" | "test" | "[" | "trap" | "alias" | "exit" | "return" | "wait" | "shopt"
        | "umask" => Some(Texts::nothing()),
        // Only where it lies is known of the name, which is enough.
        "mktemp"
            if arguments
                .iter()
                .all(|word| matches!(word.text(), "-d" | "-q" | "-u" | "-t")) =>
        {
            Some(Texts::one(Value::known("/tmp/tmp.XXXXXXXXXX\n")))
        }
        "pwd" => Some(Texts::one(Value::known(".\n"))),
        "which" | "command" | "type" | "basename" => named(arguments),
        "base64" if decodes(arguments) => decoded(feed, from_base64),
        "xxd" if arguments.iter().any(|word| word.text().contains('r')) => decoded(feed, from_hex),
        "rev" => decoded(feed, |text| {
            Some(
                text.lines()
                    .map(|line| line.chars().rev().collect::<String>() + "\n")
                    .collect(),
            )
        }),
        _ => None,
    }
}

fn echo(arguments: &[Field]) -> Value {
    let is_option = |word: &&Field| {
        let letters = word.text().strip_prefix('-').unwrap_or_default();
        !letters.is_empty() && letters.bytes().all(|byte| b"neE".contains(&byte))
    };
    let n_options = arguments.iter().take_while(is_option).count();
    let (options, words) = arguments.split_at(n_options);
    let has = |letter: char| options.iter().any(|option| option.text().contains(letter));
    let mut value = joined(words);
    if has('e') {
        value.text = escapes::echoed(&value.text);
    }
    if !has('n') {
        value.push(&Value::known("\n"));
    }
    value
}

/// Words with blanks between them.
pub fn joined(words: &[Field]) -> Value {
    let mut value = Value::default();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            value.push(&Value::known(" "));
        }
        value.push(&word.value);
    }
    value
}

/// The format again and again until there are no more arguments.
fn printf(arguments: &[Field]) -> Option<Value> {
    let mut words = arguments.iter().peekable();
    words.next_if(|word| word.text() == "--");
    let format = words.next()?;
    let format = format.value.with_text(escapes::format(format.text()));
    let mut value = Value::default();
    loop {
        let mut used = false;
        let mut rest = format.text.as_str();
        value.take_sources(&format.from);
        while let Some((before, after)) = rest.split_once('%') {
            value.push(&Value::known(before));
            let n_flags = after
                .bytes()
                .take_while(|byte| b"-+ #0123456789.*".contains(byte))
                .count();
            let letter = after.get(n_flags..)?.chars().next();
            rest = after
                .get(n_flags + letter.map_or(0, char::len_utf8)..)
                .unwrap_or_default();
            match letter {
                Some('%') => value.push(&Value::known("%")),
                Some('s' | 'b' | 'q') => {
                    used = true;
                    if let Some(word) = words.next() {
                        let text = if letter == Some('b') {
                            escapes::echoed(word.text())
                        } else {
                            word.text().to_owned()
                        };
                        value.push(&word.value.with_text(text));
                    }
                }
                Some(_) => {
                    used = true;
                    words.next();
                    value.push(&Value::unknown());
                }
                None => value.push(&Value::known("%")),
            }
        }
        value.push(&Value::known(rest));
        if !used || words.peek().is_none() || value.text.len() > LONGEST {
            return (value.text.len() <= LONGEST).then_some(value);
        }
    }
}

/// What goes through from the files, or from the input.
fn passed(
    name: &str,
    arguments: &[Field],
    feed: &Feed,
    file: impl Fn(&Field) -> Option<Texts>,
) -> Option<Texts> {
    let operands: Vec<&Field> = arguments
        .iter()
        .filter(|word| !word.text().starts_with('-') || word.text() == "-")
        .filter(|word| name == "cat" || word.text().bytes().any(|byte| !byte.is_ascii_digit()))
        .collect();
    if operands.is_empty() || matches!(name, "tee" | "sponge") {
        return match feed {
            Feed::Texts(texts) => Some(texts.clone()),
            Feed::Nothing => Some(Texts::nothing()),
            Feed::Unknown => None,
        };
    }
    let mut out = Texts::nothing();
    for operand in operands {
        out = match (operand.text(), feed) {
            ("-" | "/dev/stdin", Feed::Texts(texts)) => out.then(texts),
            _ => out.then(&file(operand)?),
        };
    }
    Some(out)
}

/// `which rm` names `rm`.
fn named(arguments: &[Field]) -> Option<Texts> {
    let mut names = arguments
        .iter()
        .filter(|word| !word.text().starts_with('-'));
    let name = names.next()?;
    let base = name.text().rsplit('/').next().unwrap_or_default();
    Some(Texts::one(name.value.with_text(format!("{base}\n"))))
}

fn decodes(arguments: &[Field]) -> bool {
    let mut options = arguments.iter().map(Field::text);
    let has_operand = arguments.iter().any(|word| !word.text().starts_with('-'));
    !has_operand
        && options.any(|text| {
            text.starts_with("--d") || text.starts_with('-') && text.contains(['d', 'D'])
        })
}

fn decoded(feed: &Feed, decode: impl Fn(&str) -> Option<String>) -> Option<Texts> {
    let Feed::Texts(texts) = feed else {
        return None;
    };
    let mut values = Vec::new();
    for value in texts.iter() {
        if !value.is_sure() || value.text.len() > LONGEST {
            return None;
        }
        values.push(Value::known(decode(&value.text)?));
    }
    Some(Texts::any(values))
}

fn from_base64(text: &str) -> Option<String> {
    let digits = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=');
    let bytes = base64::decode(digits)?;
    Some(String::from_utf8_lossy(&bytes).replace(UNKNOWN, ""))
}

fn from_hex(text: &str) -> Option<String> {
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
    Some(String::from_utf8_lossy(&bytes).replace(UNKNOWN, ""))
}
