//! Reads Rust source as token trees, and lists the place of each token in the text.

use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};

/// Longer files are generated; they are not read.
const MAX_SOURCE_BYTES: usize = 4 * 1024 * 1024;

/// Returns the token trees of a file and the places of all its tokens, a doc comment as one. `None` where it is no
/// Rust. Call [`forget_tokens`] once the trees are no longer needed.
pub(super) fn read_tokens(source: &str) -> Option<(Vec<TokenTree>, Vec<Range<usize>>)> {
    if source.len() > MAX_SOURCE_BYTES {
        return None;
    }
    let Ok(stream) = blank_script_line(source).parse::<TokenStream>() else {
        forget_tokens();
        return None;
    };
    let places = list_places(stream.clone());
    Some((stream.into_iter().collect(), places))
}

/// Frees the copy of the source that the lexer keeps for the places of its tokens.
pub(super) fn forget_tokens() {
    proc_macro2::extra::invalidate_current_thread_spans();
}

/// Replaces a first line such as `#!/usr/bin/env cargo` by blanks; `#![…]` is an attribute.
fn blank_script_line(source: &str) -> String {
    let is_script = source
        .strip_prefix("#!")
        .is_some_and(|rest| !rest.trim_start().starts_with('['));
    let length = source.find(['\r', '\n']).unwrap_or(source.len());
    if is_script {
        format!(
            "{}{}",
            " ".repeat(length),
            source.get(length..).unwrap_or_default()
        )
    } else {
        source.to_owned()
    }
}

/// Walks through all groups without recursion: the depth of a file is up to its author.
fn list_places(stream: TokenStream) -> Vec<Range<usize>> {
    let mut places: Vec<Range<usize>> = Vec::new();
    let mut open = vec![(stream.into_iter(), None)];
    while let Some((tokens, close)) = open.last_mut() {
        let Some(token) = tokens.next() else {
            let end: Option<usize> = *close;
            places.extend(end.map(|end| end..end + 1));
            open.pop();
            continue;
        };
        let place = token.span().byte_range();
        // The tokens of the attribute that a doc comment stands for all have its place.
        if places.last() == Some(&place) {
            continue;
        }
        if let TokenTree::Group(group) = token {
            places.push(place.start..place.start + 1);
            open.push((
                group.stream().into_iter(),
                Some(place.end.saturating_sub(1)),
            ));
        } else {
            places.push(place);
        }
    }
    places
}
