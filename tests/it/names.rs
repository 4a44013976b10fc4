//! How things are named: by what a stranger would search for, and once.
//!
//! The figures behind these rules were taken from code bases that are easy to find one's way in: there a type is a noun
//! of two words or more, no two types share a name, and parameters have names.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::sources::{self, Source, line_of};
use crate::{none, read};

/// Types of one word: the table of words in ARCHITECTURE.md, and three owners that an issue will divide.
const ONE_WORD: &[&str] = &[
    "Action",
    "Adapter",
    "Agent",
    "Approval",
    "Class",
    "Decision",
    "Effect",
    "Engine",
    "Event",
    "Finding",
    "Floor",
    "Gate",
    "Iteration",
    "Message",
    "Mode",
    "Phase",
    "Plan",
    "Question",
    "Receipt",
    "Role",
    "Round",
    "Rule",
    "Run",
    "Screen",
    "Session",
    "Step",
    "Surface",
    "Task",
    "Turn",
    "Verdict",
];

/// Participles that do not end in `ed`.
const IRREGULAR: &[&str] = &[
    "Told", "Kept", "Held", "Found", "Said", "Given", "Begun", "Shown", "Sent", "Written", "Known",
    "Seen", "Done", "Lost", "Left", "Meant", "Chosen", "Bound", "Taken", "Made", "Gone", "Torn",
    "Heard", "Met", "Drawn", "Stood",
];

/// Parameters that are tuples, at most. A tuple says nothing about what its two values are.
const MAX_TUPLE_PARAMETERS: usize = 20;

/// One type that is not compiled for tests only.
struct TypeName<'a> {
    name: String,
    source: &'a Source,
    line: usize,
    is_public: bool,
}

fn types() -> Vec<TypeName<'static>> {
    let definition =
        Regex::new(r"(?m)^ *(pub(?:\([^)]*\))? )?(?:struct|enum|trait) ([A-Z]\w+)").unwrap();
    let mut found = Vec::new();
    for source in sources::all() {
        for captures in definition.captures_iter(&source.code) {
            let line = line_of(&source.code, captures.get(2).unwrap().start());
            if !source.is_test(line) {
                found.push(TypeName {
                    name: captures[2].to_owned(),
                    source,
                    line: line + 1,
                    is_public: captures.get(1).is_some(),
                });
            }
        }
    }
    found
}

fn is_one_word(name: &str) -> bool {
    name.chars().skip(1).all(|c| c.is_lowercase())
}

fn is_participle(name: &str) -> bool {
    let is_regular = name.ends_with("ed") && !name.ends_with("eed") && !name.ends_with("Shed");
    is_one_word(name) && is_regular || IRREGULAR.contains(&name)
}

#[test]
fn a_type_is_a_noun_of_two_words_or_one_of_the_table() {
    let complaints: Vec<String> = types()
        .iter()
        .filter(|each| {
            is_participle(&each.name)
                || is_one_word(&each.name) && !ONE_WORD.contains(&each.name.as_str())
        })
        .map(|each| format!("{}:{}: {}", each.source.path, each.line, each.name))
        .collect();
    none(
        &complaints,
        "name it by two words that a stranger would search for: `InstanceLock`, not `Held`",
    );
}

#[test]
fn no_two_public_types_share_a_name() {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for each in types().iter().filter(|each| each.is_public) {
        let place = format!("{}:{}", each.source.path, each.line);
        places.entry(each.name.clone()).or_default().insert(place);
    }
    let complaints: Vec<String> = places
        .iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|(name, places)| {
            format!(
                "{name}: {}",
                places.iter().cloned().collect::<Vec<_>>().join(", ")
            )
        })
        .collect();
    none(
        &complaints,
        "put the area before the name: `ShellToken`, `CodexFrame`",
    );
}

#[test]
fn a_file_is_named_after_a_thing_and_not_after_an_activity() {
    // Nouns all the same.
    let nouns = [
        "event_wording",
        "finding",
        "key_binding",
        "runner_missing",
        "setting",
        "step_folding",
        "string",
        "tampering",
    ];
    let complaints: Vec<String> = sources::all()
        .iter()
        .filter(|source| {
            let path = source.path.trim_end_matches(".rs");
            let stem = path.rsplit('/').next().unwrap_or(path);
            stem.ends_with("ing") && !nouns.contains(&stem) && !source.is_test(0)
        })
        .map(|source| source.path.clone())
        .collect();
    none(&complaints, "name the file after the main thing in it");
}

/// The text between the parenthesis that opens before `start` and the one that closes it.
fn parameters(code: &str, start: usize) -> &str {
    let mut depth = 1_i32;
    for (at, c) in code[start..].char_indices() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth == 0 {
            return &code[start..start + at];
        }
    }
    &code[start..]
}

#[test]
fn parameters_are_no_tuples() {
    let function = Regex::new(r"\bfn (\w+)(?:<[^(]*>)?\(").unwrap();
    let tuple = Regex::new(r":\s*\(").unwrap();
    let mut found = Vec::new();
    for source in sources::all() {
        for captures in function.captures_iter(&source.code) {
            let whole = captures.get(0).unwrap();
            let line = line_of(&source.code, whole.start());
            let n = tuple
                .find_iter(parameters(&source.code, whole.end()))
                .count();
            if !source.is_test(line) && n > 0 {
                found.push(format!("{}:{}: {}", source.path, line + 1, &captures[1]));
            }
        }
    }
    assert!(
        found.len() <= MAX_TUPLE_PARAMETERS,
        "{} functions take tuples, {MAX_TUPLE_PARAMETERS} may:\n{}\nhint: give each value a parameter, or make a struct",
        found.len(),
        found.join("\n")
    );
}

/// Public functions and types whose name another layer uses, and that say nothing about themselves.
#[test]
fn what_another_layer_uses_says_what_it_is() {
    let definition =
        Regex::new(r"(?m)^( *)pub (?:async |const |unsafe )*(?:fn|struct|enum|trait) (\w+)")
            .unwrap();
    let word = Regex::new(r"\w+").unwrap();
    let mut used: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for source in sources::all() {
        let words = used.entry(source.layer()).or_default();
        words.extend(word.find_iter(&source.code).map(|found| found.as_str()));
    }
    let mut complaints = Vec::new();
    for source in sources::all() {
        let lines: Vec<&str> = source.text.lines().collect();
        for captures in definition.captures_iter(&source.code) {
            let name = captures.get(2).unwrap();
            let line = line_of(&source.code, name.start());
            let is_used = used
                .iter()
                .any(|(layer, words)| *layer != source.layer() && words.contains(name.as_str()));
            // Attributes may come between, over several lines.
            let says = lines[..line]
                .iter()
                .rev()
                .take_while(|line| !line.trim().is_empty() && **line != "}")
                .any(|line| line.trim_start().starts_with("///"));
            // A method of a trait or of a small type is told by its type and its name.
            let is_method = !captures[1].is_empty();
            if is_used && !is_method && !source.is_test(line) && !says {
                complaints.push(format!("{}:{}: {}", source.path, line + 1, name.as_str()));
            }
        }
    }
    none(
        &complaints,
        "say in one sentence what it is; other layers look here",
    );
}

#[test]
fn the_words_of_one_word_types_are_in_the_table_of_words() {
    let architecture = read("ARCHITECTURE.md");
    let missing: Vec<String> = ONE_WORD
        .iter()
        .filter(|word| !["Engine", "Screen", "Adapter"].contains(word))
        .filter(|word| !architecture.contains(**word))
        .map(|word| format!("ARCHITECTURE.md does not tell of {word}"))
        .collect();
    none(
        &missing,
        "add it to the table of words, or give the type two words",
    );
}
