//! Checks the evidence of a finding or an answer: quotes of the plan or a file, places such as `src/a.rs:12`, and what
//! a command printed.
//!
//! What it cannot check it says so of: a claim in plain words is neither true nor false here.

use serde::{Deserialize, Serialize};

use super::plan_blocks::looks_like_path;
use crate::domain::plan::parse_step;
use crate::text::front_matter;
use crate::text::truncate;
use crate::text::word_similarity::{collapse_white_space, split_words};

/// How many lines a quoted line may lie above or below the line that is named.
const LINE_TOLERANCE: usize = 3;
/// How many words a quote of the plan has at least, so that it is not there by chance.
const MIN_QUOTE_WORDS: usize = 3;
/// A quote of the plan with fewer words counts from this many characters.
const MIN_QUOTE_CHARS: usize = 12;
/// How much of a text is told as what was found.
const MAX_FOUND_CHARS: usize = 160;

/// The result of checking evidence.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "evidence", rename_all = "snake_case")]
pub enum EvidenceCheck {
    /// There is nothing that a program can check.
    #[default]
    Uncheckable,
    /// It is as the evidence says.
    Verified {
        /// Where it was found, such as `src/a.rs:12` or `the plan`.
        found: String,
    },
    /// It is not as the evidence says.
    Refuted {
        /// What was found instead.
        found: String,
    },
}

impl EvidenceCheck {
    /// Returns whether it was checked and is true.
    pub fn is_verified(&self) -> bool {
        matches!(self, Self::Verified { .. })
    }
}

/// What evidence is checked against. Performs the reads that the checks need.
pub trait EvidenceSource {
    /// Returns the text of a file below the project; `None` when there is none or it may not be read.
    fn read_file(&self, path: &str) -> Option<String>;

    /// Returns what a command printed that the agent ran in this turn and that only reads; `None` when it ran none.
    fn command_output(&self, command: &str) -> Option<String>;
}

/// Checks a piece of evidence. `topic` is the sentence that it is to support, whose words are looked for where the
/// evidence names a line and quotes nothing.
pub fn check_evidence(
    evidence: &str,
    topic: &str,
    plan: &str,
    source: &dyn EvidenceSource,
) -> EvidenceCheck {
    let quotes = find_quotes(evidence);
    let mut checks = Vec::new();
    // A command that was run is no line of the file whose lines it printed.
    let mut lines = quotes.clone();
    lines.retain(|quote| {
        !quote.is_code || source.command_output(bare_command(&quote.text)).is_none()
    });
    for place in find_line_places(evidence) {
        checks.push(check_line_place(&place, &lines, evidence, topic, source));
    }
    if checks.is_empty() {
        checks.extend(check_commands(&quotes, evidence, source));
        checks.extend(check_file_quotes(&quotes, evidence, source));
    }
    if checks.is_empty() {
        checks.extend(check_plan_quotes(&quotes, plan));
    }
    let verified = checks.iter().position(EvidenceCheck::is_verified);
    if checks.is_empty() {
        return EvidenceCheck::Uncheckable;
    }
    checks.swap_remove(verified.unwrap_or(0))
}

/// Checks the quote of what stands in the way of a step. `commands` are those of its turn with what each printed.
pub fn check_obstacle<'a>(
    said: &str,
    step: &str,
    plan: &str,
    source: &dyn EvidenceSource,
    commands: impl Iterator<Item = (&'a str, &'a str)>,
) -> EvidenceCheck {
    let check = check_evidence(said, step, plan, source);
    if check.is_verified() {
        return check;
    }
    let mut quotes = find_quotes(said);
    quotes.retain(|quote| is_substantial(&quote.text));
    for (command, output) in commands {
        let output = normalize(output);
        if quotes
            .iter()
            .any(|quote| output.contains(&normalize(&quote.text)))
        {
            let found = format!("the output of `{}`", shorten(command));
            return EvidenceCheck::Verified { found };
        }
    }
    check
}

/// Checks that a verdict names text that changed between two versions of the plan: words that only one of them has.
/// Front matter, and the numbers and boxes of steps, are no words of the plan.
pub fn check_changed_quote(claim: &str, earlier: &str, now: &str) -> EvidenceCheck {
    let (earlier, now) = (normalize_plan(earlier), normalize_plan(now));
    let mut quotes: Vec<String> = find_quotes(claim).into_iter().map(|q| q.text).collect();
    if quotes.is_empty() {
        quotes.push(claim.to_owned());
    }
    let quotes: Vec<String> = quotes
        .iter()
        .map(|quote| normalize(strip_step_number(quote)))
        .collect();
    let mut usable = quotes.iter().filter(|quote| quote.chars().count() >= 3);
    if quotes.iter().all(|quote| quote.chars().count() < 3) {
        return EvidenceCheck::Uncheckable;
    }
    match usable.find(|quote| now.contains(*quote) != earlier.contains(*quote)) {
        Some(quote) if now.contains(quote) => EvidenceCheck::Verified {
            found: format!("new in the plan: {}", shorten(quote)),
        },
        Some(quote) => EvidenceCheck::Verified {
            found: format!("no longer in the plan: {}", shorten(quote)),
        },
        None if quotes.iter().any(|quote| now.contains(quote)) => EvidenceCheck::Refuted {
            found: "the quoted text is in the plan as it was when the finding was raised"
                .to_owned(),
        },
        None => EvidenceCheck::Refuted {
            found: "the plan does not contain the quoted text".to_owned(),
        },
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct EvidenceQuote {
    text: String,
    /// Whether it stands in backticks, as names and commands do.
    is_code: bool,
}

/// Returns what stands in backticks or quotation marks, in order.
fn find_quotes(text: &str) -> Vec<EvidenceQuote> {
    let mut quotes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '"', '\u{201c}', '\u{300c}', '\u{ab}']) {
        let open = rest[at..].chars().next().unwrap_or('`');
        let close = match open {
            '\u{201c}' => '\u{201d}',
            '\u{300c}' => '\u{300d}',
            '\u{ab}' => '\u{bb}',
            same => same,
        };
        let inside = rest[at..].trim_start_matches(open);
        let Some(end) = inside.find(close) else {
            rest = &rest[at + open.len_utf8()..];
            continue;
        };
        let quote = inside[..end].trim();
        if quote.chars().count() >= 3 {
            quotes.push(EvidenceQuote {
                text: quote.to_owned(),
                is_code: open == '`',
            });
        }
        rest = inside[end..].trim_start_matches(close);
    }
    quotes
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct LinePlace {
    path: String,
    first: usize,
    last: usize,
}

/// Returns the places `path:12` and `path:12-20`, and `path, line 12`.
fn find_line_places(text: &str) -> Vec<LinePlace> {
    let mut places: Vec<LinePlace> = Vec::new();
    let is_edge = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '`' | '"' | '\'' | '(' | ')' | ',' | ';' | '[' | ']' | '\u{201c}' | '\u{201d}'
            )
    };
    let words: Vec<&str> = text
        .split(is_edge)
        .filter(|word| !word.is_empty())
        .collect();
    for (at, word) in words.iter().enumerate() {
        let named = word.split_once(':').and_then(|(path, lines)| {
            looks_like_path(path)
                .then(|| parse_lines(lines.trim_start_matches('L')))?
                .map(|(first, last)| (path, first, last))
        });
        let spelled = || {
            let path = word.trim_end_matches(':');
            let word = words.get(at + 1)?.to_lowercase();
            let is_line = looks_like_path(path) && matches!(word.as_str(), "line" | "lines");
            let (first, last) = is_line
                .then(|| words.get(at + 2))?
                .and_then(|lines| parse_lines(lines))?;
            Some((path, first, last))
        };
        if let Some((path, first, last)) = named.or_else(spelled) {
            places.push(LinePlace {
                path: path.trim_start_matches("./").to_owned(),
                first,
                last,
            });
        }
    }
    places
}

fn parse_lines(text: &str) -> Option<(usize, usize)> {
    let text = text.trim_end_matches(['.', ':', ',', ')']);
    let (first, last) = match text.split_once(['-', '\u{2013}', ':']) {
        Some((first, last)) => (first, last.trim_start_matches('L').parse().ok()),
        None => (text, None),
    };
    let first: usize = first.parse().ok().filter(|line| *line > 0)?;
    Some((first, last.filter(|last| *last >= first).unwrap_or(first)))
}

fn check_line_place(
    place: &LinePlace,
    quotes: &[EvidenceQuote],
    evidence: &str,
    topic: &str,
    source: &dyn EvidenceSource,
) -> EvidenceCheck {
    let path = &place.path;
    let Some(text) = source.read_file(path) else {
        return EvidenceCheck::Refuted {
            found: format!("there is no file {path}"),
        };
    };
    let lines: Vec<&str> = text.lines().collect();
    if place.first > lines.len() {
        return EvidenceCheck::Refuted {
            found: format!("{path} has {} lines", lines.len()),
        };
    }
    let from = place.first.saturating_sub(LINE_TOLERANCE + 1);
    let to = place.last.saturating_add(LINE_TOLERANCE).min(lines.len());
    let window = normalize(&lines[from..to].join(" "));
    let is_place = |quote: &EvidenceQuote| quote.text.contains(path.as_str());
    let quoted: Vec<&EvidenceQuote> = quotes.iter().filter(|quote| !is_place(quote)).collect();
    let is_there = if quoted.is_empty() {
        let of_both = format!("{topic} {}", evidence.replace(path.as_str(), " "));
        shares_words(&of_both, &window)
    } else {
        quoted
            .iter()
            .any(|quote| window.contains(&normalize(&quote.text)))
    };
    let line = lines[place.first - 1].trim();
    if is_there {
        EvidenceCheck::Verified {
            found: format!("{path}:{}", place.first),
        }
    } else {
        EvidenceCheck::Refuted {
            found: format!("{path}:{} is: {}", place.first, shorten(line)),
        }
    }
}

/// Returns whether a name, or two words, of a sentence occur in lines of a file.
fn shares_words(sentence: &str, window: &str) -> bool {
    let words = split_words(window);
    let is_name = |word: &str| word.len() >= 6;
    let shared: std::collections::BTreeSet<String> = split_words(sentence)
        .into_iter()
        .filter(|word| word.chars().count() >= 4 && words.contains(word))
        .collect();
    shared.len() >= 2 || shared.iter().any(|word| is_name(word))
}

/// Returns a quoted command without its prompt.
fn bare_command(quote: &str) -> &str {
    quote.trim_start_matches("$ ")
}

fn check_commands(
    quotes: &[EvidenceQuote],
    evidence: &str,
    source: &dyn EvidenceSource,
) -> Vec<EvidenceCheck> {
    let mut checks = Vec::new();
    for command in quotes.iter().filter(|quote| quote.is_code) {
        let bare = bare_command(&command.text);
        let Some(output) = source.command_output(bare) else {
            continue;
        };
        let output = normalize(&output);
        let lower = evidence.to_lowercase();
        let says_nothing = ["nothing", "no output", "no match", "empty"]
            .iter()
            .any(|word| lower.contains(word));
        let others = quotes.iter().filter(|quote| *quote != command);
        let mut printed = others.filter(|quote| output.contains(&normalize(&quote.text)));
        let is_true = if output.is_empty() {
            says_nothing
        } else {
            printed.next().is_some()
        };
        checks.push(if is_true {
            EvidenceCheck::Verified {
                found: format!("`{}`", shorten(bare)),
            }
        } else {
            let found = match output.as_str() {
                "" => format!("`{}` printed nothing", shorten(bare)),
                printed => format!("`{}` printed: {}", shorten(bare), shorten(printed)),
            };
            EvidenceCheck::Refuted { found }
        });
    }
    checks
}

/// Checks quotes beside a path without a line.
fn check_file_quotes(
    quotes: &[EvidenceQuote],
    evidence: &str,
    source: &dyn EvidenceSource,
) -> Vec<EvidenceCheck> {
    let is_edge = |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '(' | ')' | ',' | ';');
    // A path inside a longer quote is a part of what is quoted, and does not say where that is.
    let longer = quotes.iter().map(|quote| quote.text.as_str());
    let longer = longer.filter(|quote| quote.contains(char::is_whitespace));
    let prose = longer.fold(evidence.to_owned(), |prose, quote| {
        prose.replace(quote, " ")
    });
    let words = prose
        .split(is_edge)
        .map(|word| word.trim_end_matches([':', '.']));
    let paths = words.filter(|word| looks_like_path(word));
    let files = paths.filter_map(|path| Some((path, normalize(&source.read_file(path)?))));
    let check = |(path, text): (&str, String)| {
        let quoted = quotes.iter();
        let quoted = quoted.filter(|quote| quote.text != path && is_substantial(&quote.text));
        let check = quoted.map(|quote| {
            if text.contains(&normalize(&quote.text)) {
                return EvidenceCheck::Verified {
                    found: path.to_owned(),
                };
            }
            EvidenceCheck::Refuted {
                found: format!("{path} does not contain {}", shorten(&quote.text)),
            }
        });
        check.collect::<Vec<_>>()
    };
    // Evidence may name several files; the quote is in one of them.
    files.flat_map(check).collect()
}

fn check_plan_quotes(quotes: &[EvidenceQuote], plan: &str) -> Vec<EvidenceCheck> {
    let plan = normalize(plan);
    let quoted = quotes.iter().filter(|quote| is_substantial(&quote.text));
    let mut checks = Vec::new();
    for quote in quoted {
        if plan.contains(&normalize(&quote.text)) {
            checks.push(EvidenceCheck::Verified {
                found: "the plan".to_owned(),
            });
        } else if !quote.is_code {
            checks.push(EvidenceCheck::Refuted {
                found: format!(
                    "neither the plan nor a named file contains {}",
                    shorten(&quote.text)
                ),
            });
        }
    }
    checks
}

fn is_substantial(quote: &str) -> bool {
    split_words(quote).len() >= MIN_QUOTE_WORDS || quote.chars().count() >= MIN_QUOTE_CHARS
}

fn normalize(text: &str) -> String {
    let plain: String = text.chars().filter(|c| !matches!(c, '`' | '*')).collect();
    collapse_white_space(&plain).to_lowercase()
}

/// Returns the text of a plan without front matter, numbers and boxes, so that renumbered steps are unchanged.
fn normalize_plan(plan: &str) -> String {
    let lines = front_matter::parse_document(plan).body.lines();
    let words: Vec<String> = lines
        .map(|line| parse_step(line).map_or_else(|| line.to_owned(), |step| step.text))
        .collect();
    normalize(&words.join("\n"))
}

/// Removes `2. [ ] ` from the start of a quote.
fn strip_step_number(quote: &str) -> &str {
    let bare = quote.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = bare.strip_prefix(['.', ')']).filter(|_| bare != quote);
    let rest = rest.map_or(quote, str::trim_start);
    let boxed = ["[ ]", "[x]", "[X]"];
    let unboxed = boxed.iter().find_map(|mark| rest.strip_prefix(mark));
    unboxed.unwrap_or(rest).trim_start()
}

fn shorten(text: &str) -> String {
    truncate::to_chars(&collapse_white_space(text), MAX_FOUND_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct TestFiles;

    impl EvidenceSource for TestFiles {
        fn read_file(&self, path: &str) -> Option<String> {
            let lines: String = (1..=30)
                .map(|n| format!("fn handler_{n}() {{}}\n"))
                .collect();
            match path {
                "src/a.rs" => Some(lines),
                "src/b.md" => Some("Nothing here.\n".to_owned()),
                _ => None,
            }
        }

        fn command_output(&self, command: &str) -> Option<String> {
            match command {
                "rg -n handler_3 src" => Some("src/a.rs:3:fn handler_3() {}\n".to_owned()),
                "rg absent src" => Some(String::new()),
                _ => None,
            }
        }
    }

    fn check(evidence: &str) -> String {
        let plan = "1. [ ] Parse the header of each file\n2. [ ] Call handler_7 of src/a.rs\n";
        match check_evidence(evidence, "the handler_12 is never called", plan, &TestFiles) {
            EvidenceCheck::Uncheckable => "-".to_owned(),
            EvidenceCheck::Verified { found } => format!("yes: {found}"),
            EvidenceCheck::Refuted { found } => format!("no: {found}"),
        }
    }

    #[test]
    fn evidence_is_compared_with_files_the_plan_and_what_commands_printed() {
        for (evidence, expected) in [
            ("src/a.rs:12 `fn handler_12()`", "yes: src/a.rs:12"),
            (
                "`src/a.rs:10-11`: \"fn handler_13() {}\"",
                "yes: src/a.rs:10",
            ),
            ("in src/a.rs, line 12", "yes: src/a.rs:12"),
            (
                "src/a.rs:12 `fn handler_20()`",
                "no: src/a.rs:12 is: fn handler_12() {}",
            ),
            ("src/a.rs:99", "no: src/a.rs has 30 lines"),
            ("src/b.rs:1 `x`", "no: there is no file src/b.rs"),
            ("src/a.rs has \"fn handler_7() {}\"", "yes: src/a.rs"),
            (
                "src/b.md repeats it; src/a.rs has \"fn handler_7() {}\"",
                "yes: src/a.rs",
            ),
            (
                "src/a.rs has \"fn nothing_like_it() {}\"",
                "no: src/a.rs does not contain fn nothing_like_it() {}",
            ),
            (
                "`rg -n handler_3 src` printed `src/a.rs:3`",
                "yes: src/a.rs:3",
            ),
            ("`rg absent src` prints nothing", "yes: `rg absent src`"),
            (
                "`rg absent src` prints `found here`",
                "no: `rg absent src` printed nothing",
            ),
            (
                "the step says \"parse the HEADER of each\"",
                "yes: the plan",
            ),
            (
                "the step says \"parse the footer of each\"",
                "no: neither the plan nor a named file contains parse the footer of each",
            ),
            (
                "the plan says \"call handler_7 of src/a.rs\"",
                "yes: the plan",
            ),
            (
                "src/a.rs says \"call handler_7 of src/a.rs\"",
                "no: src/a.rs does not contain call handler_7 of src/a.rs",
            ),
            ("it is obvious", "-"),
            ("`some_name` is odd", "-"),
            ("", "-"),
        ] {
            assert_eq!(check(evidence), expected, "{evidence}");
        }
    }

    #[test]
    fn a_fix_is_shown_by_words_that_only_one_version_has() {
        let (earlier, now) = (
            "1. [ ] read the file\n",
            "1. [ ] read the file and close it\n",
        );
        let is = |claim: &str| check_changed_quote(claim, earlier, now);
        assert!(is("step 1 says \u{201c}and  CLOSE it\u{201d}").is_verified());
        assert!(is("and close it").is_verified());
        assert!(check_changed_quote("`and close it` is gone", now, earlier).is_verified());
        assert!(matches!(
            is("\"read the file\""),
            EvidenceCheck::Refuted { .. }
        ));
        assert!(matches!(
            is("\"open the door\""),
            EvidenceCheck::Refuted { .. }
        ));
        assert_eq!(is(""), EvidenceCheck::Uncheckable);
        // A number, a box or front matter is no change of the text.
        let (earlier, now) = (
            "---\nversion: 1\n---\n1. [ ] read the file\n2. [ ] close it\n",
            "---\nversion: 2\n---\n1. [ ] open the file\n2. [x] read the file\n3. [ ] close it\n",
        );
        for (quote, is_changed) in [
            ("version: 2", false),
            ("2. [x] read the file", false),
            ("3. [ ] close it", false),
            ("3. close it", false),
            ("1. [ ] open the file", true),
            ("1. open the file", true),
        ] {
            let check = check_changed_quote(&format!("\u{201c}{quote}\u{201d}"), earlier, now);
            assert_eq!(check.is_verified(), is_changed, "{quote}");
        }
    }

    #[test]
    fn an_obstacle_is_found_in_files_and_in_what_commands_printed() {
        let plan = "1. [ ] Parse the header of each file\n";
        let commands = [("cargo build", "error: linker `cc` not found\n")];
        for (said, expected) in [
            ("src/a.rs:12 says \"fn handler_12()\"", Some("src/a.rs:12")),
            (
                "`cargo build`: \"error: linker cc not found\"",
                Some("the output of `cargo build`"),
            ),
            (
                "\"Linker cc NOT found\"",
                Some("the output of `cargo build`"),
            ),
            ("\"permission denied by the registry\"", None),
            ("src/a.rs:12 says \"fn handler_20()\"", None),
        ] {
            let check = check_obstacle(said, "step", plan, &TestFiles, commands.into_iter());
            let found = match check {
                EvidenceCheck::Verified { found } => Some(found),
                EvidenceCheck::Refuted { .. } => None,
                EvidenceCheck::Uncheckable => panic!("{said} can be checked"),
            };
            assert_eq!(found.as_deref(), expected, "{said}");
        }
        let said = "it is locked";
        let check = check_obstacle(said, "step", plan, &TestFiles, commands.into_iter());
        assert_eq!(check, EvidenceCheck::Uncheckable);
    }

    proptest::proptest! {
        #[test]
        fn checks_are_total(evidence in "[a-z./:0-9`\" \u{201c}\u{201d}-]{0,60}", now in "[a-z `]{0,40}") {
            let _ = check_evidence(&evidence, "topic", &now, &TestFiles);
            proptest::prop_assert!(!check_changed_quote(&evidence, &now, &now).is_verified());
        }
    }
}
