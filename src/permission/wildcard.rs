//! The wildcard patterns of permission rules.
//!
//! Matches plain texts: commands, paths and names are all the same here.

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternElement {
    /// `*`: any run of characters.
    AnyRun,
    /// `?`: any one character.
    AnyChar,
    /// `[seq]` or `[!seq]`.
    Class {
        ranges: Vec<(char, char)>,
        sense: ClassPolarity,
    },
    Literal(char),
}

/// Whether a class lists the characters that match or those that do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClassPolarity {
    Include,
    Exclude,
}

/// Returns whether a pattern matches the whole target, case-sensitively.
///
/// `*` and `?` match every character, including `/` and newlines; `[seq]` and `[!seq]` are classes with
/// ranges; a bracket that is never closed is literal, and `[[]` is a literal bracket. A pattern that ends in `
/// *` also matches without arguments: `ls *` matches `ls` and `ls -la`, not `lsof`. Takes at most pattern
/// length times target length steps.
pub fn matches(pattern: &str, target: &str) -> bool {
    // Most patterns are plain names, and every start of the program matches some thousands of them.
    if !pattern.contains(['*', '?', '[']) {
        return pattern == target;
    }
    let target: Vec<char> = target.chars().collect();
    let is_it = |pattern: &str| {
        match_sequence(
            &parse_pattern(pattern),
            &target,
            is_any_run,
            |element, c| element_matches(element, *c),
        )
    };
    pattern.strip_suffix(" *").is_some_and(is_it) || is_it(pattern)
}

/// Escapes a text, so that the pattern matches only this text.
pub fn escape(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '*' | '?' | '[' => pattern.extend(['[', c, ']']),
            _ => pattern.push(c),
        }
    }
    // The optional end of a pattern is a space and a star; an escaped star is not one.
    pattern
}

/// Returns whether one pattern matches everything that another one matches; false where that is hard to prove.
pub fn covers(wide: &str, narrow: &str) -> bool {
    let alternatives = |pattern: &str| {
        let bare = pattern.strip_suffix(" *").map(parse_pattern);
        bare.into_iter()
            .chain([parse_pattern(pattern)])
            .collect::<Vec<_>>()
    };
    let wide = alternatives(wide);
    alternatives(narrow).iter().all(|narrow| {
        wide.iter()
            .any(|wide| match_sequence(wide, narrow, is_any_run, element_covers))
    })
}

/// Returns whether one element, not `*`, matches each character that another element matches.
fn element_covers(taker: &PatternElement, element: &PatternElement) -> bool {
    match (taker, element) {
        (_, PatternElement::AnyRun) => false,
        (PatternElement::AnyChar, _) => true,
        (taker, PatternElement::Literal(c)) => element_matches(taker, *c),
        (taker, element) => taker == element,
    }
}

fn is_any_run(element: &PatternElement) -> bool {
    *element == PatternElement::AnyRun
}

/// Returns whether a pattern matches a whole list: of characters, of another pattern's elements or of a path's names.
/// An element for which `is_run` is true takes any number of items, every other one takes one.
///
/// On a mismatch only the last run takes one more item; earlier ones never need to.
pub fn match_sequence<P, T>(
    pattern: &[P],
    target: &[T],
    is_run: impl Fn(&P) -> bool,
    takes: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut at, mut next) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(one) = target.get(next) {
        match pattern.get(at) {
            Some(element) if is_run(element) => {
                retry = Some((at + 1, next));
                at += 1;
            }
            Some(element) if takes(element, one) => {
                at += 1;
                next += 1;
            }
            Some(_) | None => match retry {
                Some((after_run, from)) => {
                    retry = Some((after_run, from + 1));
                    (at, next) = (after_run, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(at).all(is_run)
}

fn element_matches(element: &PatternElement, c: char) -> bool {
    match element {
        PatternElement::AnyRun | PatternElement::AnyChar => true,
        PatternElement::Literal(literal) => *literal == c,
        PatternElement::Class { ranges, sense } => {
            let named = ranges.iter().any(|(low, high)| (*low..=*high).contains(&c));
            named == (*sense == ClassPolarity::Include)
        }
    }
}

fn parse_pattern(pattern: &str) -> Vec<PatternElement> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut elements = Vec::with_capacity(chars.len());
    let mut at = 0;
    while let Some(c) = chars.get(at) {
        at += 1;
        match c {
            '*' if elements.last() == Some(&PatternElement::AnyRun) => {}
            '*' => elements.push(PatternElement::AnyRun),
            '?' => elements.push(PatternElement::AnyChar),
            '[' => match parse_class(&chars[at..]) {
                Some((class, len)) => {
                    elements.push(class);
                    at += len;
                }
                None => elements.push(PatternElement::Literal('[')),
            },
            literal => elements.push(PatternElement::Literal(*literal)),
        }
    }
    elements
}

/// Parses a class after its opening bracket; returns it with its length, including the closing bracket.
fn parse_class(chars: &[char]) -> Option<(PatternElement, usize)> {
    let negated = usize::from(chars.first() == Some(&'!'));
    // A closing bracket in first position is a member of the class.
    let members = chars.get(negated + 1..)?;
    let end = negated + 1 + members.iter().position(|c| *c == ']')?;
    let sense = if negated == 1 {
        ClassPolarity::Exclude
    } else {
        ClassPolarity::Include
    };
    let ranges = parse_ranges(&chars[negated..end]);
    Some((PatternElement::Class { ranges, sense }, end + 1))
}

fn parse_ranges(members: &[char]) -> Vec<(char, char)> {
    let mut ranges = Vec::new();
    let mut rest = members;
    loop {
        match rest {
            [low, '-', high, after @ ..] => {
                ranges.push((*low, *high));
                rest = after;
            }
            [member, after @ ..] => {
                ranges.push((*member, *member));
                rest = after;
            }
            [] => return ranges,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(pattern: &str, yes: &[&str], no: &[&str]) {
        for target in yes {
            assert!(
                matches(pattern, target),
                "{pattern} should match {target:?}"
            );
        }
        for target in no {
            assert!(
                !matches(pattern, target),
                "{pattern} should not match {target:?}"
            );
        }
    }

    #[test]
    fn the_whole_target_is_matched() {
        check("ls", &["ls"], &["ls ", "als", "LS", ""]);
        check("", &[""], &["a"]);
    }

    #[test]
    fn stars_and_question_marks_match_every_character() {
        check(
            "src/*",
            &["src/a", "src/a/b.rs", "src/", "src/a\nb"],
            &["src", "xsrc/a"],
        );
        check("*.md", &["x.md", "docs/x.md", ".md"], &["x.mdx"]);
        check("a?c", &["abc", "a/c", "a\nc", "a漢c"], &["ac", "abbc"]);
        check("ls*", &["ls", "lsof"], &["al"]);
        check("*", &["", "a", "a\n/b"], &[]);
    }

    #[test]
    fn arguments_are_optional_at_the_end() {
        check("ls *", &["ls", "ls -la", "ls "], &["lsof", "l", "xls"]);
        check(
            "git log *",
            &["git log", "git log -1"],
            &["git", "git logs"],
        );
        check("* *", &["ls", "ls -la", ""], &[]);
    }

    #[test]
    fn classes_take_members_and_ranges() {
        check("[abc]x", &["ax", "cx"], &["dx", "x"]);
        check("[a-c0-9]", &["b", "7"], &["d", "-"]);
        check("[!a-c]", &["d", "!"], &["a"]);
        check("[]a]", &["]", "a"], &["[]a]"]);
        check("[!]a]", &["b"], &["]", "a"]);
        check("[a-]", &["a", "-"], &["b"]);
        check("[c-a]", &[], &["a", "b", "c"]);
        check("[[]id]", &["[id]"], &["id"]);
        check("[^a]", &["^", "a"], &["b"]);
    }

    #[test]
    fn an_unclosed_bracket_is_literal() {
        check("a[b", &["a[b"], &["ab"]);
        check("[", &["["], &["a"]);
        check("[]", &["[]"], &["]"]);
        check("[!", &["[!"], &[""]);
    }

    #[test]
    fn hostile_patterns_end_soon() {
        let target = "a".repeat(5_000);
        assert!(!matches(
            &"a*".repeat(200),
            &format!("{target}b").replace('a', "b")
        ));
        assert!(!matches(&format!("{}c", "*a".repeat(200)), &target));
    }

    /// A simple table over pattern and target, as the reference.
    fn by_table(pattern: &[PatternElement], target: &[char]) -> bool {
        let mut reached = vec![false; target.len() + 1];
        reached[0] = true;
        for element in pattern {
            let mut next = vec![false; target.len() + 1];
            for at in 0..=target.len() {
                next[at] = match element {
                    PatternElement::AnyRun => reached[at] || at > 0 && next[at - 1],
                    PatternElement::AnyChar => at > 0 && reached[at - 1],
                    PatternElement::Literal(c) => at > 0 && reached[at - 1] && target[at - 1] == *c,
                    PatternElement::Class { ranges, sense } => {
                        at > 0 && reached[at - 1] && {
                            let c = target[at - 1];
                            let named = ranges.iter().any(|(low, high)| *low <= c && c <= *high);
                            if *sense == ClassPolarity::Include {
                                named
                            } else {
                                !named
                            }
                        }
                    }
                };
            }
            reached = next;
        }
        reached[target.len()]
    }

    proptest! {
        #[test]
        fn a_match_is_what_the_table_says(pattern in "[ab*? \\[\\]!-]{0,10}", target in "[ab \\[\\]]{0,12}") {
            let chars: Vec<char> = target.chars().collect();
            let mut expected = by_table(&parse_pattern(&pattern), &chars);
            if let Some(program) = pattern.strip_suffix(" *") {
                expected |= by_table(&parse_pattern(program), &chars);
            }
            prop_assert_eq!(matches(&pattern, &target), expected);
        }

        #[test]
        fn an_optional_end_adds_nothing_else(program in "[a-z]{1,4}", rest in "[a-z -]{0,6}") {
            let expected = rest.is_empty() || rest.starts_with(' ');
            prop_assert_eq!(matches(&format!("{program} *"), &format!("{program}{rest}")), expected);
        }
    }

    #[test]
    fn an_escaped_text_is_matched_by_itself_alone() {
        assert_eq!(escape("a[i]*?"), "a[[]i][*][?]");
        assert!(matches(&escape("rm build/*"), "rm build/*"));
        assert!(!matches(&escape("rm build/*"), "rm build/x"));
        assert!(!matches(&escape("ls *"), "ls"));
    }

    proptest! {
        #[test]
        fn escaped_texts_match_themselves(text in any::<String>(), other in any::<String>()) {
            prop_assert!(matches(&escape(&text), &text));
            prop_assert_eq!(matches(&escape(&text), &other), text == other);
        }

        #[test]
        fn a_covered_pattern_matches_nothing_that_the_wider_one_does_not(wide in "[ab*? \\[\\]]{0,5}", narrow in "[ab*? \\[\\]]{0,5}", target in "[ab \\[]{0,5}") {
            if covers(&wide, &narrow) && matches(&narrow, &target) {
                prop_assert!(matches(&wide, &target));
            }
            prop_assert!(covers("*", &narrow) && covers(&narrow, &narrow));
        }
    }
}
