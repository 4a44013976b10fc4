//! Reads and renders the threads about the plan as a section of `comments.md`.
//!
//! The section is written by the program, and everybody may add to it: a list item below a thread's heading is an answer,
//! and a heading with a place in place of a number opens a thread there.

use crate::domain::findings::plan_blocks::parse_step_number;
use crate::domain::plan;
use crate::domain::plan::CodeFenceTracker;
use crate::domain::plan_thread::{
    MAX_SAID_AT_ONCE, PlanThread, PlanThreads, ThreadAuthor, ThreadEntry,
};
use crate::text::word_similarity::collapse_white_space;

/// The heading under which the threads are kept.
pub const THREADS_HEADING: &str = "## Threads";

/// A heading with more words and nothing below it is a message itself.
const MAX_PLACE_WORDS: usize = 3;

/// Splits a document into its text without the section of threads, and that section.
pub fn split_threads(text: &str) -> (String, String) {
    let (mut rest, mut section) = (String::new(), String::new());
    let mut fence = CodeFenceTracker::default();
    let mut is_in_section = false;
    for line in text.split_inclusive('\n') {
        // What the program writes in the section is indented, so that no code block of a message hides its end.
        let is_fenced = !is_in_section && fence.consume_line(line.trim_end());
        if !is_fenced && (line.starts_with("## ") || line.starts_with("# ")) {
            is_in_section = line.trim_end() == THREADS_HEADING;
        }
        if is_in_section {
            section.push_str(line)
        } else {
            rest.push_str(line)
        }
    }
    (rest, section)
}

/// Renders the section; empty without a thread.
pub fn render_threads(threads: &PlanThreads) -> String {
    let all: String = threads.all().iter().map(render_thread).collect();
    if all.is_empty() {
        all
    } else {
        format!("{THREADS_HEADING}\n{all}")
    }
}

/// Renders one thread with its messages.
pub fn render_thread(thread: &PlanThread) -> String {
    let resolved = if thread.is_resolved {
        " · resolved"
    } else {
        ""
    };
    let mut text = format!("\n### {}. {}{resolved}\n", thread.n, describe_place(thread));
    for (author, said) in thread.messages() {
        let author: &str = author.into();
        let said = said.replace('\n', "\n  ");
        text.push_str(&format!("- {author}: {said}\n"));
    }
    text
}

/// Describes what a thread is about.
pub fn describe_place(thread: &PlanThread) -> String {
    // An agent wrote the line; it must not end its quotation and appear as the user's text.
    let quote = collapse_white_space(&thread.quote.replace('`', "'"));
    match (thread.finding, thread.line, thread.is_stale) {
        (Some(n), ..) => format!("finding {n}"),
        (None, 0, _) => "the whole plan".to_owned(),
        (None, _, true) => format!("no longer in the plan: `{quote}`"),
        (None, line, false) => format!("line {line}: `{quote}`"),
    }
}

/// One thread as the section has it.
struct SectionThread {
    place: String,
    messages: Vec<(Option<ThreadAuthor>, String)>,
}

/// Returns what the section of threads in a document says beyond what is known. Of an agent only what is not under the
/// name of another counts; `plan` is the text on which places are looked up.
pub fn parse_thread_entries(
    section: &str,
    known: &PlanThreads,
    plan: &str,
    by: ThreadAuthor,
) -> Vec<ThreadEntry> {
    let mut entries = Vec::new();
    for read in parse_section(section) {
        let thread = parse_thread_number(&read.place).and_then(|n| known.get(n));
        let is_own = |author: &Option<ThreadAuthor>| {
            by == ThreadAuthor::User || author.is_none_or(|author| author == by)
        };
        let messages = read.messages.iter().filter(|(author, _)| is_own(author));
        let messages = messages.map(|(_, text)| text);
        if let Some(thread) = thread {
            let news = messages.filter(|text| !thread.has_message(text));
            entries.extend(news.map(|text| ThreadEntry {
                thread: Some(thread.n),
                author: by,
                text: text.clone(),
                ..ThreadEntry::default()
            }));
            continue;
        }
        let is_known = |text: &str| known.all().iter().any(|thread| thread.has_message(text));
        let mut said: Vec<&str> = messages.map(String::as_str).collect();
        if read.messages.is_empty() && is_sentence(&read.place) {
            said.push(&read.place);
        }
        let text = said.join("\n");
        if !text.is_empty() && !is_known(&text) {
            let mut entry = place_entry(&read.place, plan);
            (entry.author, entry.text) = (by, text);
            entries.push(entry);
        }
    }
    if by != ThreadAuthor::User {
        entries.truncate(MAX_SAID_AT_ONCE);
    }
    entries
}

/// Returns an entry without a text at a place that is named for certain: a thread's number, `line 9`, `step 2` or
/// `finding 3`; `None` for anything else, and for what does not exist.
pub fn named_entry(place: &str, known: &PlanThreads, plan: &str) -> Option<ThreadEntry> {
    if let Some(n) = parse_thread_number(place.trim()) {
        return known.get(n).map(|thread| ThreadEntry {
            thread: Some(thread.n),
            ..ThreadEntry::default()
        });
    }
    let entry = names_place(place).then(|| place_entry(place, plan))?;
    (entry.line > 0 || entry.finding.is_some()).then_some(entry)
}

/// Returns whether words name a line, a step or a finding by its number, whether it exists or not.
pub fn names_place(words: &str) -> bool {
    let words: Vec<&str> = words.split_whitespace().collect();
    let [kind, number] = words.as_slice() else {
        return false;
    };
    let kinds = ["line", "step", "finding"];
    number.parse::<u32>().is_ok() && kinds.iter().any(|known| kind.eq_ignore_ascii_case(known))
}

fn parse_section(section: &str) -> Vec<SectionThread> {
    let mut threads: Vec<SectionThread> = Vec::new();
    for line in section.lines() {
        if let Some(place) = line.strip_prefix("### ") {
            threads.push(SectionThread {
                place: place.trim().to_owned(),
                messages: Vec::new(),
            });
            continue;
        }
        // What stands above the first heading is about the whole plan.
        if threads.is_empty() && is_text(line) {
            threads.push(SectionThread {
                place: String::new(),
                messages: Vec::new(),
            });
        }
        let Some(thread) = threads.last_mut() else {
            continue;
        };
        if let Some(item) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
            let by = item.split_once(':');
            let by = by.and_then(|(name, text)| Some((name.trim().parse().ok()?, text)));
            thread.messages.push(match by {
                Some((author, text)) => (Some(author), text.trim().to_owned()),
                None => (None, item.trim().to_owned()),
            });
        } else if let Some((_, said)) = thread.messages.last_mut().filter(|_| is_text(line)) {
            said.push('\n');
            said.push_str(line.trim());
        } else if is_text(line) {
            thread.messages.push((None, line.trim().to_owned()));
        }
    }
    threads
}

fn is_text(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with('#')
}

/// Returns whether a heading says more than a place does.
fn is_sentence(place: &str) -> bool {
    place.split_whitespace().count() > MAX_PLACE_WORDS && !place.starts_with('`')
}

/// Parses `3`, `3.` and `3. line 9: …`.
fn parse_thread_number(place: &str) -> Option<u32> {
    let end = place.find(|c: char| !c.is_ascii_digit());
    let (digits, rest) = place.split_at(end.unwrap_or(place.len()));
    let is_whole = rest.trim().is_empty() || rest.starts_with(['.', ')', ':']);
    digits.parse().ok().filter(|_| is_whole)
}

/// Returns an entry at the place that a heading names: `line 9`, `step 2`, `finding 3`, or words of a line. A place that is
/// not found is the whole plan, with its words kept.
fn place_entry(place: &str, plan: &str) -> ThreadEntry {
    let lines: Vec<&str> = plan.lines().collect();
    let words: Vec<&str> = place.split_whitespace().collect();
    if let [kind, n, ..] = words.as_slice()
        && kind.eq_ignore_ascii_case("finding")
        && let Ok(n) = n.trim_end_matches([':', '.']).parse()
    {
        return ThreadEntry {
            finding: Some(n),
            ..ThreadEntry::default()
        };
    }
    let by_line = || match words.as_slice() {
        [kind, n, ..] if kind.eq_ignore_ascii_case("line") => {
            let n: usize = n.trim_end_matches([':', '.']).parse().ok()?;
            n.checked_sub(1).filter(|at| *at < lines.len())
        }
        _ => None,
    };
    let by_step = || {
        let n = parse_step_number(place)?;
        let is_step = |line: &&str| plan::parse_step(line).is_some_and(|step| step.n == n);
        lines.iter().position(is_step)
    };
    let by_words = || {
        let words = collapse_white_space(place.trim_matches(['`', '"', ' ']));
        let has = |line: &&str| collapse_white_space(line).contains(&words);
        lines.iter().position(has).filter(|_| !words.is_empty())
    };
    let at = by_line().or_else(by_step).or_else(by_words);
    let found = at.and_then(|at| Some((u32::try_from(at + 1).ok()?, lines.get(at)?)));
    let (line, quote) = found.map_or((0, place), |(line, quote)| (line, *quote));
    ThreadEntry {
        line,
        quote: quote.trim().to_owned(),
        ..ThreadEntry::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "# T\n\n1. [ ] Cache the index\n2. [ ] Test it\n";

    fn say(threads: &mut PlanThreads, line: u32, quote: &str, text: &str) {
        let entry = ThreadEntry {
            line,
            quote: quote.to_owned(),
            text: text.to_owned(),
            ..ThreadEntry::default()
        };
        assert!(threads.say(&entry));
    }

    fn texts(entries: &[ThreadEntry]) -> Vec<(Option<u32>, u32, Option<u32>, &str)> {
        let row = |entry: &ThreadEntry| (entry.thread, entry.line, entry.finding);
        let rows = entries.iter();
        rows.map(|entry| {
            let (thread, line, finding) = row(entry);
            (thread, line, finding, entry.text.as_str())
        })
        .collect()
    }

    #[test]
    fn what_is_written_reads_back_as_nothing_new() {
        let mut threads = PlanThreads::default();
        say(
            &mut threads,
            3,
            "1. [ ] Cache `the` index",
            "why?\n\nin memory: too large",
        );
        say(&mut threads, 4, "2. [ ] Test it", "reviewer: odd");
        let text = render_threads(&threads);
        assert!(
            text.contains("### 1. line 3: `1. [ ] Cache 'the' index`\n- user: why?"),
            "{text}"
        );
        let (rest, section) = split_threads(&format!("[APPROVED]\n\n{text}\n## Notes\nx\n"));
        assert_eq!(rest, "[APPROVED]\n\n## Notes\nx\n");
        for by in [ThreadAuthor::User, ThreadAuthor::Planner] {
            assert_eq!(parse_thread_entries(&section, &threads, PLAN, by), []);
        }
    }

    #[test]
    fn each_author_may_answer_and_open_threads_but_only_under_their_own_name() {
        let mut threads = PlanThreads::default();
        say(&mut threads, 3, "1. [ ] Cache the index", "why?");
        let section = "## Threads\n### 1\n- because it is slow\n- user: I agree with myself\n\n### step 2\n- planner: \
            with cargo\n  and twice\n### `Cache the`\nhow large?\n### finding 3\n- see there\n### 9. nowhere\n- what?\n";
        let of = |by| parse_thread_entries(section, &threads, PLAN, by);
        let planner = of(ThreadAuthor::Planner);
        assert_eq!(
            texts(&planner),
            [
                (Some(1), 0, None, "because it is slow"),
                (None, 4, None, "with cargo\nand twice"),
                (None, 3, None, "how large?"),
                (None, 0, Some(3), "see there"),
                (None, 0, None, "what?"),
            ]
        );
        assert_eq!(
            texts(&of(ThreadAuthor::Reviewer)).len(),
            4,
            "not the planner's"
        );
        let user = of(ThreadAuthor::User);
        assert_eq!(texts(&user)[1], (Some(1), 0, None, "I agree with myself"));
        assert!(user.iter().all(|entry| entry.author == ThreadAuthor::User));
    }

    #[test]
    fn nothing_that_the_user_writes_in_the_section_is_left_out() {
        let mut threads = PlanThreads::default();
        say(&mut threads, 3, "1. [ ] Cache the index", "so?\n```\nx");
        let text =
            render_threads(&threads).replace("## Threads\n", "## Threads\nIn general: too long.\n");
        let text = format!(
            "{text}\n### step 2\n- one\n- two\n\n### And who pays for all this?\n\n### line 3\n## Mine\nx\n"
        );
        let (rest, section) = split_threads(&text);
        assert_eq!(rest, "## Mine\nx\n");
        let said = parse_thread_entries(&section, &threads, PLAN, ThreadAuthor::User);
        assert_eq!(
            texts(&said),
            [
                (None, 0, None, "In general: too long."),
                (None, 4, None, "one\ntwo"),
                (None, 0, None, "And who pays for all this?"),
            ]
        );
        for entry in &said {
            assert!(threads.say(entry));
        }
        let known = parse_thread_entries(&section, &threads, PLAN, ThreadAuthor::User);
        assert_eq!(known, []);
    }

    #[test]
    fn a_place_is_named_by_its_kind_and_number() {
        let mut threads = PlanThreads::default();
        say(&mut threads, 3, "1. [ ] Cache the index", "why?");
        let named = |place| {
            let entry = named_entry(place, &threads, PLAN)?;
            Some((entry.thread, entry.line, entry.finding))
        };
        assert_eq!(named("1"), Some((Some(1), 0, None)));
        assert_eq!(named("Step 2"), Some((None, 4, None)));
        assert_eq!(named("line 3"), Some((None, 3, None)));
        assert_eq!(named("finding 5"), Some((None, 0, Some(5))));
        for other in [
            "",
            "2",
            "step 9",
            "line 99",
            "step two",
            "see line 3",
            "why",
        ] {
            assert_eq!(named(other), None, "{other}");
        }
    }

    #[test]
    fn a_heading_in_a_code_block_starts_no_section() {
        let text = "a\n```\n## Threads\n### 1\n- x\n```\nb\n";
        assert_eq!(split_threads(text), (text.to_owned(), String::new()));
    }
}
