//! Removes the front matter, which the program writes, from the diff of a document. It works on diff lines
//! alone and does not read files.

use crate::text::front_matter;

/// Returns the diff without lines that are front matter in the old or in the new text.
pub fn without_front_matter(diff: &str) -> String {
    let (head, rest) = match diff.split_once('\n') {
        Some((head, rest)) if head.starts_with("@@ ") => (Some(head), rest),
        _ => (None, diff),
    };
    if head.is_some_and(|head| !starts_at_first_line(head)) {
        return diff.to_owned();
    }
    // Only the first hunk can start at the top of the file.
    let n_first = rest
        .lines()
        .take_while(|line| !line.starts_with("@@ "))
        .count();
    let first: Vec<&str> = rest.lines().take(n_first).collect();
    let (mut old, mut new) = (
        front_matter_length(&first, '-'),
        front_matter_length(&first, '+'),
    );
    let mut kept: Vec<&str> = head.into_iter().collect();
    for line in first {
        let is_front = match line.chars().next() {
            Some('-') => count_down(&mut old),
            Some('+') => count_down(&mut new),
            // A context line counts in both texts.
            _ => count_down(&mut old) & count_down(&mut new),
        };
        if !is_front {
            kept.push(line);
        }
    }
    kept.extend(rest.lines().skip(n_first));
    kept.join("\n")
}

fn count_down(left: &mut usize) -> bool {
    let is_one = *left > 0;
    *left = left.saturating_sub(1);
    is_one
}

/// Returns whether a hunk, given by a header such as `@@ -1,9 +1,3 @@`, starts at the first line.
fn starts_at_first_line(head: &str) -> bool {
    let mut starts = head.split_whitespace().filter_map(|word| {
        let range = word.strip_prefix(['-', '+'])?;
        let (first, _) = range.split_once(',').unwrap_or((range, ""));
        first.parse::<u32>().ok()
    });
    starts.all(|first| first <= 1)
}

/// Returns how many lines at the top are front matter, in the text whose own lines have this sign.
fn front_matter_length(lines: &[&str], sign: char) -> usize {
    let of_it = lines.iter().filter_map(|line| {
        let text = line.strip_prefix([sign, ' ']);
        text.or_else(|| line.is_empty().then_some(""))
    });
    let text: Vec<&str> = of_it.collect();
    let whole = text.join("\n");
    let document = front_matter::parse_document(&whole);
    if document.fields.is_empty() {
        0
    } else {
        text.len() - document.body.lines().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(diff: &str, wanted: &str) {
        assert_eq!(without_front_matter(diff), wanted);
    }

    #[test]
    fn front_matter_that_goes_or_comes_is_left_out() {
        check(
            "@@ -1,7 +1,3 @@\n----\n-plan: 1\n-hash: abc\n----\n-\n # Goal\n-old\n+new",
            "@@ -1,7 +1,3 @@\n-\n # Goal\n-old\n+new",
        );
        check("+---\n+plan: 1\n+---\n+# Goal", "+# Goal");
        check(
            "@@ -1,5 +1,5 @@\n ---\n-plan: 1\n+plan: 2\n ---\n # Goal\n-a\n+b",
            "@@ -1,5 +1,5 @@\n # Goal\n-a\n+b",
        );
    }

    #[test]
    fn all_else_stays() {
        for diff in [
            "",
            "@@ -1,2 +1,2 @@\n ---\n-a rule, no front matter\n+another",
            "@@ -9,4 +9,4 @@\n ---\n-plan: 1\n+plan: 2\n ---",
            "@@ -1,2 +1,2 @@\n # a\n-b\n+c\n@@ -9,4 +9,4 @@\n ---\n-plan: 1\n ---",
            "+# 日本\n+---\n+a: b\n+---",
        ] {
            check(diff, diff);
        }
    }
}
