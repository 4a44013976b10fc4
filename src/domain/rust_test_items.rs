//! Tells the test items of a Rust file from its code, and puts the tests of one version into another (TRUTH.md T22).
//!
//! A test item is compiled for tests only: `#[cfg(test)]`, `#[test]` and their kind, on items of the file, of its inline
//! modules and of its `impl` and `trait` blocks. Doc tests stay with the item that they document, and a `#[cfg(test)]` on
//! a field, a variant or a statement is part of the code around it. Reads token trees, so that neither strings nor
//! comments are taken for code, and no expression is parsed: bodies of any depth and of a later edition are fine.

use std::ops::Range;

mod item_parser;
mod token_reader;

use item_parser::{ItemContainer, ItemKind, RustItem};

/// A Rust file divided into items.
#[derive(Debug, Clone)]
pub struct RustItems<'a> {
    source: &'a str,
    items: Vec<RustItem>,
    /// Whether `#![cfg(test)]` makes the whole file a test.
    is_test_file: bool,
    /// The place of each token, doc comments included, in the order of the text.
    tokens: Vec<Range<usize>>,
}

impl<'a> RustItems<'a> {
    /// Divides a file; `None` where it is no Rust as far as its tokens and items go.
    pub fn split(source: &'a str) -> Option<Self> {
        let (stream, tokens) = token_reader::read_tokens(source)?;
        let container = item_parser::parse_items(&stream, 0);
        drop(stream);
        token_reader::forget_tokens();
        let container = container?;
        Some(Self {
            source,
            items: container.items,
            is_test_file: container.is_test,
            tokens,
        })
    }

    /// Returns whether the file has any test item.
    pub fn has_tests(&self) -> bool {
        self.is_test_file || has_tests(&self.items)
    }

    /// Returns the tokens of the code, without white space, comments and test items.
    fn code_tokens(&self) -> Vec<&str> {
        let tests = self.test_ranges();
        let is_code = |token: &&Range<usize>| {
            let at = tests.partition_point(|test| test.end <= token.start);
            tests.get(at).is_none_or(|test| test.start > token.start)
        };
        self.tokens
            .iter()
            .filter(is_code)
            .filter_map(|token| self.source.get(token.clone()))
            .collect()
    }

    /// Returns the tokens of the test items, each item after the modules and blocks around it.
    fn test_tokens(&self) -> Vec<&str> {
        if self.is_test_file {
            return self
                .tokens
                .iter()
                .filter_map(|token| self.source.get(token.clone()))
                .collect();
        }
        let mut found = Vec::new();
        self.collect_test_tokens(&self.items, &mut found);
        found
    }

    fn collect_test_tokens<'b>(&'b self, items: &'b [RustItem], found: &mut Vec<&'b str>) {
        for item in items.iter().filter(|item| item.is_test()) {
            let start = self
                .tokens
                .partition_point(|token| token.start < item.range.start);
            let inside = self
                .tokens
                .iter()
                .skip(start)
                .take_while(|token| token.start < item.range.end);
            found.extend(inside.filter_map(|token| self.source.get(token.clone())));
        }
        // The order of the places says nothing.
        let mut containers: Vec<&ItemContainer> =
            items.iter().filter_map(RustItem::container).collect();
        containers.retain(|container| has_tests(&container.items));
        containers.sort_by_key(|container| &container.header);
        for container in containers {
            found.push(&container.header);
            self.collect_test_tokens(&container.items, found);
            found.push("}");
        }
    }

    /// Returns the places of the test items, in the order of the text.
    fn test_ranges(&self) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        if self.is_test_file {
            found.push(0..self.source.len());
        } else {
            collect_test_ranges(&self.items, &mut found);
        }
        found
    }
}

fn has_tests(items: &[RustItem]) -> bool {
    items.iter().any(|item| match &item.kind {
        ItemKind::Test { .. } => true,
        ItemKind::Container(container) => has_tests(&container.items),
        ItemKind::Code => false,
    })
}

fn collect_test_ranges(items: &[RustItem], found: &mut Vec<Range<usize>>) {
    for item in items {
        match &item.kind {
            ItemKind::Test { .. } => found.push(item.range.clone()),
            ItemKind::Container(container) => collect_test_ranges(&container.items, found),
            ItemKind::Code => {}
        }
    }
}

/// Returns whether the code of two versions of a file differs, apart from white space, comments other than doc comments,
/// and test items. Files that cannot be divided differ where their texts do.
pub fn code_differs(old: &str, new: &str) -> bool {
    match (RustItems::split(old), RustItems::split(new)) {
        (Some(old), Some(new)) => old.code_tokens() != new.code_tokens(),
        _ => old != new,
    }
}

/// Returns whether the test items of two versions of a file differ, apart from white space and comments. Files that
/// cannot be divided differ where their texts do.
pub fn tests_differ(old: &str, new: &str) -> bool {
    match (RustItems::split(old), RustItems::split(new)) {
        (Some(old), Some(new)) => old.test_tokens() != new.test_tokens(),
        _ => old != new,
    }
}

/// Returns the code items of one version of a file with the test items of another one. Outside of the replaced items the
/// text is that of `code`, byte for byte.
///
/// `None` where one of them cannot be divided, or where a test item would have no safe place: its module or block is not
/// there, or the order of macros would change.
pub fn with_tests_of(code: &str, tests: &str) -> Option<String> {
    let (base, donor) = (RustItems::split(code)?, RustItems::split(tests)?);
    if base.is_test_file || donor.is_test_file {
        return (base.is_test_file && donor.is_test_file).then(|| tests.to_owned());
    }
    let newline = if code.contains("\r\n") { "\r\n" } else { "\n" };
    let mut merge = ItemMerge {
        donor: tests,
        newline,
        edits: Vec::new(),
    };
    merge.replace_tests(&base.items, &donor.items, code.len())?;
    let merged = merge.apply_to(code)?;
    // What was put together must read as what it was made of.
    let is_whole = RustItems::split(&merged).is_some_and(|merged| {
        merged.code_tokens() == base.code_tokens() && merged.test_tokens() == donor.test_tokens()
    });
    is_whole.then_some(merged)
}

/// Collects the replacements that put the tests of one file into another.
struct ItemMerge<'a> {
    donor: &'a str,
    newline: &'static str,
    edits: Vec<TextEdit>,
}

struct TextEdit {
    range: Range<usize>,
    text: String,
}

impl ItemMerge<'_> {
    /// Replaces the tests among some items by those of another version of the same place, which ends at `end`.
    fn replace_tests(&mut self, base: &[RustItem], donor: &[RustItem], end: usize) -> Option<()> {
        let old: Vec<&RustItem> = base.iter().filter(|item| item.is_test()).collect();
        let new: Vec<&RustItem> = donor.iter().filter(|item| item.is_test()).collect();
        let has_macros = old.iter().chain(&new).any(|item| item.depends_on_order());
        if has_macros && old.len() != new.len() {
            return None;
        }
        let mut texts: Vec<String> = Vec::new();
        for item in &new {
            texts.push(self.donor.get(item.range.clone())?.to_owned());
        }
        // More tests than there were follow the last one, or end the place.
        let added = texts.split_off(texts.len().min(old.len()));
        let between = format!("{0}{0}", self.newline);
        if let (Some(last), false) = (texts.last_mut(), added.is_empty()) {
            last.push_str(&between);
            last.push_str(&added.join(&between));
        } else if !added.is_empty() {
            let text = format!("{0}{1}{0}", self.newline, added.join(&between));
            self.edits.push(TextEdit {
                range: end..end,
                text,
            });
        }
        let mut texts = texts.into_iter();
        for item in old {
            let text = texts.next().unwrap_or_default();
            self.edits.push(TextEdit {
                range: item.range.clone(),
                text,
            });
        }
        self.replace_in_containers(base, donor)
    }

    /// Goes on in the modules and blocks among some items.
    fn replace_in_containers(&mut self, base: &[RustItem], donor: &[RustItem]) -> Option<()> {
        let base: Vec<_> = base.iter().filter_map(RustItem::container).collect();
        let donor: Vec<_> = donor.iter().filter_map(RustItem::container).collect();
        for container in &donor {
            let same = |other: &&&ItemContainer| other.header == container.header;
            let is_matched = base.iter().filter(same).count() == donor.iter().filter(same).count();
            if has_tests(&container.items) && !is_matched {
                return None;
            }
        }
        for (at, container) in base.iter().enumerate() {
            let same = |other: &&&ItemContainer| other.header == container.header;
            let n_before = base.iter().take(at).filter(same).count();
            let other = donor.iter().filter(same).nth(n_before);
            let items = other.map_or(&[][..], |other| &other.items);
            self.replace_tests(&container.items, items, container.end)?;
        }
        Some(())
    }

    fn apply_to(mut self, code: &str) -> Option<String> {
        self.edits
            .sort_by_key(|edit| (edit.range.start, edit.range.end));
        let mut out = String::with_capacity(code.len());
        let mut at = 0;
        for edit in &self.edits {
            out.push_str(code.get(at..edit.range.start)?);
            out.push_str(&edit.text);
            at = edit.range.end;
        }
        out.push_str(code.get(at..)?);
        Some(out)
    }
}

#[cfg(test)]
mod tests;
