//! Divides the token trees of a Rust file into its items, down to those of inline modules, `impl` and `trait` blocks.
//!
//! An item's end is found by its keyword and its brackets alone; what lies in a body is not parsed.

use std::ops::Range;

use proc_macro2::{Delimiter, Group, TokenTree};

/// How deep modules may lie in each other.
const MAX_DEPTH: usize = 32;

/// Attributes by the last name of their path that make a function a test. `tokio::test` and the like end in `test`.
const TEST_ATTRIBUTES: &[&str] = &[
    "test",
    "bench",
    "rstest",
    "test_case",
    "wasm_bindgen_test",
    "quickcheck",
    "proptest",
    "property_test",
];

/// One item with its attributes and doc comments.
#[derive(Debug, Clone)]
pub(super) struct RustItem {
    pub range: Range<usize>,
    pub kind: ItemKind,
}

#[derive(Debug, Clone)]
pub(super) enum ItemKind {
    Code,
    Test {
        /// Whether it defines macros, which count from their place on.
        has_macros: bool,
    },
    Container(ItemContainer),
}

/// The items of a file, an inline module or a block.
#[derive(Debug, Clone, Default)]
pub(super) struct ItemContainer {
    /// What stands before the brace, without attributes and visibility, such as `mod a` or `impl A for B`; empty for a
    /// file.
    pub header: String,
    pub items: Vec<RustItem>,
    /// The place of the closing brace; 0 for a file.
    pub end: usize,
    /// Whether an inner `#![cfg(test)]` makes all of it a test.
    pub is_test: bool,
}

impl RustItem {
    pub fn is_test(&self) -> bool {
        matches!(self.kind, ItemKind::Test { .. })
    }

    pub fn depends_on_order(&self) -> bool {
        matches!(self.kind, ItemKind::Test { has_macros: true })
    }

    pub fn container(&self) -> Option<&ItemContainer> {
        match &self.kind {
            ItemKind::Container(container) => Some(container),
            ItemKind::Code | ItemKind::Test { .. } => None,
        }
    }
}

/// Parses the items of a file or a block; `None` where an item has no end or modules lie too deep.
pub(super) fn parse_items(tokens: &[TokenTree], depth: usize) -> Option<ItemContainer> {
    let mut container = ItemContainer::default();
    let mut rest = tokens;
    while let Some(first) = rest.first() {
        if let [_, bang, TokenTree::Group(attribute), ..] = rest
            && is_punct(Some(first), '#')
            && is_punct(Some(bang), '!')
        {
            container.is_test |= is_test_attribute(attribute);
            rest = &rest[3..];
        } else if is_punct(Some(first), ';') {
            rest = &rest[1..];
        } else {
            let length = parse_item(rest, depth, &mut container.items)?;
            rest = rest.get(length..)?;
        }
    }
    Some(container)
}

/// Parses the first item and adds it; returns how many tokens it has.
fn parse_item(tokens: &[TokenTree], depth: usize, items: &mut Vec<RustItem>) -> Option<usize> {
    let attributes = list_attributes(tokens);
    let n_attributes = attributes.len() * 2;
    let bare = tokens.get(n_attributes..)?;
    let shape = parse_shape(bare);
    let (kind, length) = match shape {
        // An attribute or a doc comment at the end belongs to nothing.
        _ if bare.is_empty() => (ItemKind::Code, 0),
        None => return None,
        Some(shape) => {
            let kind = parse_kind(bare, &shape, &attributes, depth)?;
            (kind, shape.length)
        }
    };
    let length = n_attributes + length;
    let (first, last) = (tokens.first()?, tokens.get(length.checked_sub(1)?)?);
    let range = first.span().byte_range().start..last.span().byte_range().end;
    items.push(RustItem { range, kind });
    Some(length)
}

/// Returns the bracket groups of the outer attributes and doc comments at the start.
fn list_attributes(tokens: &[TokenTree]) -> Vec<&Group> {
    let mut attributes = Vec::new();
    let mut rest = tokens;
    while let [pound, TokenTree::Group(group), after @ ..] = rest
        && is_punct(Some(pound), '#')
    {
        attributes.push(group);
        rest = after;
    }
    attributes
}

/// Where the parts of an item are, as numbers of tokens after its attributes.
struct ItemShape {
    /// Its keyword, or the first name of a macro's path.
    keyword: usize,
    /// Its body in braces, or the tokens that a macro is called with.
    body: Option<usize>,
    length: usize,
    is_macro: bool,
}

fn parse_shape(tokens: &[TokenTree]) -> Option<ItemShape> {
    let keyword = skip_qualifiers(tokens);
    let rest = tokens.get(keyword..)?;
    if let Some(body) = find_macro_body(rest) {
        let is_braced = matches!(rest.get(body), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace);
        let has_end = !is_braced && is_punct(rest.get(body + 1), ';');
        return Some(ItemShape {
            keyword,
            body: Some(keyword + body),
            length: keyword + body + 1 + usize::from(has_end),
            is_macro: true,
        });
    }
    let ends_in_semicolon = ends_in_semicolon(rest)?;
    let mut angles = 0_usize;
    for (at, token) in rest.iter().enumerate() {
        let is_end = is_punct(Some(token), ';');
        let is_body = matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
            && angles == 0
            && !ends_in_semicolon;
        if is_end || is_body {
            return Some(ItemShape {
                keyword,
                body: is_body.then_some(keyword + at),
                length: keyword + at + 1,
                is_macro: false,
            });
        }
        // In `->` and `=>` the sign closes nothing.
        let before = at.checked_sub(1).and_then(|before| rest.get(before));
        let is_arrow = is_punct(before, '-') || is_punct(before, '=');
        if is_punct(Some(token), '<') {
            angles += 1;
        } else if is_punct(Some(token), '>') && !is_arrow {
            angles = angles.saturating_sub(1);
        }
    }
    None
}

/// Returns how many tokens stand before the keyword of an item: its visibility, `unsafe`, `const` of a function …
fn skip_qualifiers(tokens: &[TokenTree]) -> usize {
    let mut at = 0;
    if is_ident(tokens.first(), &["pub"]) {
        at = 1;
        if matches!(tokens.get(1), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
        {
            at = 2;
        }
    }
    loop {
        let (word, next) = (tokens.get(at), tokens.get(at + 1));
        let is_qualifier = is_ident(word, &["default", "unsafe", "safe", "async", "auto", "gen"])
            && matches!(next, Some(TokenTree::Ident(_)))
            || is_ident(word, &["const"])
                && is_ident(
                    next,
                    &["fn", "unsafe", "async", "extern", "gen", "trait", "impl"],
                )
            || is_ident(word, &["extern"]) && is_ident(next, &["fn"]);
        let has_abi = is_ident(word, &["extern"])
            && matches!(next, Some(TokenTree::Literal(_)))
            && is_ident(tokens.get(at + 2), &["fn"]);
        match (is_qualifier, has_abi) {
            (_, true) => at += 2,
            (true, false) => at += 1,
            (false, false) => return at,
        }
    }
}

/// Returns the group that a macro is called with, in `path::name! { … }` or `macro_rules! name { … }`.
fn find_macro_body(tokens: &[TokenTree]) -> Option<usize> {
    let is_path =
        |token: &TokenTree| matches!(token, TokenTree::Ident(_)) || is_punct(Some(token), ':');
    let bang = tokens.iter().position(|token| !is_path(token))?;
    if bang == 0 || !is_punct(tokens.get(bang), '!') || is_ident(tokens.first(), &["impl"]) {
        return None;
    }
    let has_name = matches!(tokens.get(bang + 1), Some(TokenTree::Ident(_)));
    let body = bang + 1 + usize::from(has_name);
    matches!(tokens.get(body), Some(TokenTree::Group(_))).then_some(body)
}

/// Returns whether braces do not end an item; `None` where no keyword begins it.
fn ends_in_semicolon(tokens: &[TokenTree]) -> Option<bool> {
    let (first, next) = (tokens.first(), tokens.get(1));
    let has_semicolon = is_ident(first, &["use", "static", "type", "const"])
        || is_ident(first, &["extern"]) && is_ident(next, &["crate"]);
    let has_body = is_ident(
        first,
        &[
            "fn", "mod", "struct", "enum", "union", "trait", "impl", "extern", "macro",
        ],
    );
    (has_semicolon || has_body).then_some(has_semicolon)
}

fn parse_kind(
    tokens: &[TokenTree],
    shape: &ItemShape,
    attributes: &[&Group],
    depth: usize,
) -> Option<ItemKind> {
    let keyword = tokens.get(shape.keyword);
    let name = tokens
        .get(shape.keyword + 1)
        .map(ToString::to_string)
        .filter(|_| is_ident(keyword, &["mod"]));
    let body = match shape.body.and_then(|at| tokens.get(at)) {
        Some(TokenTree::Group(group)) => Some(group),
        Some(_) | None => None,
    };
    let has_macros = is_ident(keyword, &["macro_rules", "macro"])
        || attributes.iter().any(|attribute| {
            matches!(
                attribute_name(attribute).as_str(),
                "macro_use" | "macro_export"
            )
        });
    let as_test = || ItemKind::Test { has_macros };
    if attributes
        .iter()
        .any(|attribute| is_test_attribute(attribute))
    {
        return Some(as_test());
    }
    let Some(body) = body else {
        return Some(ItemKind::Code);
    };
    if depth >= MAX_DEPTH {
        return None;
    }
    let inner = || body.stream().into_iter().collect::<Vec<TokenTree>>();
    if shape.is_macro {
        // As `proptest! { #[test] fn … }` does, it makes tests of what it is called with.
        let makes_tests = !has_macros
            && parse_items(&inner(), depth + 1).is_some_and(|called| {
                !called.items.is_empty() && called.items.iter().all(RustItem::is_test)
            });
        return Some(if makes_tests {
            as_test()
        } else {
            ItemKind::Code
        });
    }
    if !is_ident(keyword, &["mod", "impl", "trait"]) {
        return Some(ItemKind::Code);
    }
    let mut container = parse_items(&inner(), depth + 1)?;
    if container.is_test {
        return Some(as_test());
    }
    container.header = name.map_or_else(
        || describe_header(tokens, shape),
        |name| format!("mod {name}"),
    );
    container.end = body.span_close().byte_range().start;
    Some(ItemKind::Container(container))
}

/// Writes the tokens of a block's header, groups by their place in the order alone: they may be of any depth.
fn describe_header(tokens: &[TokenTree], shape: &ItemShape) -> String {
    let header = tokens
        .get(shape.keyword..shape.body.unwrap_or(shape.keyword))
        .unwrap_or_default();
    let words = header.iter().map(|token| match token {
        TokenTree::Group(group) => flatten_group(group),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => token.to_string(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Writes the tokens of a group that has no further groups; of others only the brackets, so that like ones are told
/// apart by their order.
fn flatten_group(group: &Group) -> String {
    let is_leaf = |token: &TokenTree| !matches!(token, TokenTree::Group(_));
    let words = group
        .stream()
        .into_iter()
        .filter(is_leaf)
        .map(|token| token.to_string());
    format!("({})", words.collect::<Vec<_>>().join(" "))
}

/// Returns whether an attribute compiles its item for tests only.
fn is_test_attribute(attribute: &Group) -> bool {
    let tokens: Vec<TokenTree> = attribute.stream().into_iter().collect();
    match tokens.as_slice() {
        [TokenTree::Ident(cfg), TokenTree::Group(predicate)] if cfg == "cfg" => {
            implies_test(predicate)
        }
        _ => TEST_ATTRIBUTES.contains(&attribute_name(attribute).as_str()),
    }
}

/// Returns the last name of an attribute's path; empty where a value follows it, as in a doc comment.
fn attribute_name(attribute: &Group) -> String {
    let mut name = String::new();
    for token in attribute.stream() {
        match token {
            TokenTree::Ident(ident) => name = ident.to_string(),
            TokenTree::Punct(punct) if punct.as_char() == ':' => {}
            TokenTree::Punct(_) => return String::new(),
            TokenTree::Group(_) | TokenTree::Literal(_) => break,
        }
    }
    name
}

/// Returns whether a predicate of `cfg` can only be true in a test build: `test`, `all(test, …)`, `any(test)`; not
/// `any(test, …)` and not `not(…)`.
fn implies_test(predicate: &Group) -> bool {
    let tokens: Vec<TokenTree> = predicate.stream().into_iter().collect();
    let mut parts = tokens
        .split(|token| is_punct(Some(token), ','))
        .filter(|one| !one.is_empty());
    match (parts.next(), parts.next()) {
        (Some(only), None) => is_test_predicate(only, 0),
        (Some(_) | None, _) => false,
    }
}

fn is_test_predicate(predicate: &[TokenTree], depth: usize) -> bool {
    match predicate {
        [TokenTree::Ident(name)] => name == "test",
        [TokenTree::Ident(name), TokenTree::Group(inner)] if depth < MAX_DEPTH => {
            let tokens: Vec<TokenTree> = inner.stream().into_iter().collect();
            let mut parts = tokens
                .split(|token| is_punct(Some(token), ','))
                .filter(|one| !one.is_empty())
                .peekable();
            let is_test = |part: &[TokenTree]| is_test_predicate(part, depth + 1);
            match name.to_string().as_str() {
                "all" => parts.any(is_test),
                "any" => parts.peek().is_some() && parts.all(is_test),
                _ => false,
            }
        }
        _ => false,
    }
}

fn is_punct(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

fn is_ident(token: Option<&TokenTree>, names: &[&str]) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if names.iter().any(|name| ident == name))
}
