//! Programs that run the command behind them: where that command begins.
//!
//! It refuses to know what the commands do.

use super::value::{Field, Value};
use super::{UNKNOWN, WrapperKind};

mod table;

/// How a wrapper names its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// As words.
    Words,
    /// As words that are joined and read as shell text.
    Joined,
    /// Each operand is a shell text of its own.
    Texts,
    /// Only by an option that carries a text.
    Nothing,
}

/// One wrapper.
#[derive(Debug)]
pub struct Spec {
    names: &'static [&'static str],
    /// One of these words must come before the command (`docker exec`); none needed when empty.
    verbs: &'static [&'static str],
    pub kind: WrapperKind,
    /// Short options that take a value.
    short: &'static str,
    /// Long options that take the next word as their value.
    long: &'static [&'static str],
    /// Options whose value is a shell text.
    texts: &'static [&'static str],
    /// Operands before the command.
    n_operands: usize,
    pub rest: Rest,
}

/// Where a wrapper's command is.
#[derive(Debug)]
pub struct Found {
    pub spec: &'static Spec,
    /// The index of the command's first word.
    pub at: usize,
    /// The shell texts that options carry.
    pub texts: Vec<Value>,
    /// What is set for the command alone.
    pub assigned: Vec<(String, Field)>,
    /// Whether the word that makes it a wrapper may be an option's value.
    pub is_doubtful: bool,
}

/// Finds the wrapper that a program's name stands for.
pub fn find(name: &str) -> Option<&'static Spec> {
    table::SPECS.iter().find(|spec| spec.names.contains(&name))
}

/// Finds the command behind a wrapper, the program being the first word.
pub fn command_of(spec: &'static Spec, words: &[Field]) -> Option<Found> {
    let mut found = Found {
        spec,
        at: 1,
        texts: Vec::new(),
        assigned: Vec::new(),
        is_doubtful: false,
    };
    (found.at, found.is_doubtful) = beginning(spec, words)?;
    let mut n_operands = spec.n_operands;
    while let Some(word) = words.get(found.at) {
        let text = word.text();
        if text == "--" {
            found.at += 1;
            // The operands may stand before it or behind it.
            if words.len() <= found.at + n_operands
                || spec.kind == WrapperKind::Remote && n_operands < spec.n_operands
            {
                n_operands = 0;
            }
            found.at += n_operands;
            break;
        }
        if let Some(carried) = carried_text(spec, words, found.at) {
            found.texts.push(carried.value.clone());
            found.at += carried.n_words;
            continue;
        }
        let is_option = text.len() > 1 && text.starts_with(['-', '+']);
        if is_option {
            found.at += 1 + usize::from(takes_next(spec, text));
        } else if let (true, Some((name, value))) = (
            spec.rest != Rest::Joined || !text.contains(' '),
            assignment(text),
        ) {
            let field = Field {
                value: word.value.with_text(value.to_owned()),
                ..Field::default()
            };
            found.assigned.push((name.to_owned(), field));
            found.at += 1;
        } else if n_operands > 0 {
            n_operands -= 1;
            found.at += 1;
        } else if spec.rest == Rest::Nothing
            || is_unknown_options(word, words.get(found.at + 1..).unwrap_or_default())
        {
            // A user or a file before a text that may still follow, or options that may be nothing.
            found.at += 1;
        } else {
            break;
        }
    }
    Some(found)
}

/// Where to look for the command, and whether the verb before it may be an option's value.
fn beginning(spec: &Spec, words: &[Field]) -> Option<(usize, bool)> {
    let mut at = 1;
    let mut is_doubtful = false;
    if !spec.verbs.is_empty() {
        let verb = words
            .iter()
            .position(|word| spec.verbs.contains(&word.text()))?;
        let before = words.get(..verb).unwrap_or_default();
        if !leads_to_verb(before) {
            return None;
        }
        let option = before.get(1..).and_then(|options| options.last());
        is_doubtful = option.is_some_and(|word| word.text().starts_with('-'));
        at = verb + 1;
    }
    // `mise x node@20 -- command`: what stands before the dashes are tools.
    let behind = words.get(at..).unwrap_or_default();
    if spec.names.contains(&"mise")
        && let Some(dashes) = behind.iter().position(|word| word.text() == "--")
    {
        at += dashes;
    }
    Some((at, is_doubtful))
}

/// Whether only options, their values and words that group verbs stand behind the program.
fn leads_to_verb(words: &[Field]) -> bool {
    words.windows(2).all(|pair| match pair {
        [before, word] => {
            word.text().starts_with('-')
                || before.text().starts_with('-')
                || matches!(word.text(), "compose" | "container" | "ssh")
        }
        _ => true,
    })
}

/// Words that may be options as well as nothing, where a command follows.
fn is_unknown_options(word: &Field, behind: &[Field]) -> bool {
    word.may_split && word.text().chars().all(|c| c == UNKNOWN) && !behind.is_empty()
}

struct Carried {
    value: Value,
    n_words: usize,
}

/// The shell text that an option carries, in its own word or the next.
fn carried_text(spec: &Spec, words: &[Field], at: usize) -> Option<Carried> {
    let word = words.get(at)?;
    let text = word.text();
    for option in spec.texts {
        if text == *option {
            let value = words.get(at + 1)?.value.clone();
            return Some(Carried { value, n_words: 2 });
        }
        let attached = if option.starts_with("--") {
            text.strip_prefix(option)
                .and_then(|rest| rest.strip_prefix('='))
        } else {
            None
        };
        if let Some(attached) = attached {
            let value = word.value.with_text(attached.to_owned());
            return Some(Carried { value, n_words: 1 });
        }
        // `-lc text`, as `su -lc` and `script -qc`.
        let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
        if let Some(letter) = letter
            && text.starts_with('-')
            && !text.starts_with("--")
            && text.len() > 2
        {
            let cluster = text.get(1..).unwrap_or_default();
            let flags = cluster.split(letter).next().unwrap_or_default();
            if cluster.contains(letter) && !flags.contains(|c| spec.short.contains(c)) {
                let attached = cluster.get(flags.len() + 1..).unwrap_or_default();
                if attached.is_empty() {
                    let value = words.get(at + 1)?.value.clone();
                    return Some(Carried { value, n_words: 2 });
                }
                let value = word.value.with_text(attached.to_owned());
                return Some(Carried { value, n_words: 1 });
            }
        }
    }
    None
}

/// Whether an option takes the next word as its value.
fn takes_next(spec: &Spec, text: &str) -> bool {
    if text.starts_with("--") {
        return spec.long.contains(&text);
    }
    // The first letter that takes a value takes the rest of the word, or the next word.
    let letters = text.get(1..).unwrap_or_default();
    letters
        .char_indices()
        .find(|(_, letter)| spec.short.contains(*letter))
        .is_some_and(|(at, letter)| at + letter.len_utf8() == letters.len())
}

/// `NAME=value`.
pub fn assignment(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    let is_name = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some((name, value))
}
