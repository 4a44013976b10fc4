//! Here-documents: announced by `<<`, read at the end of the line.
//!
//! It refuses to know who reads them.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use super::{Parser, push_text};
use crate::permission::shell::syntax::Piece;

/// A here-document whose body has not come yet.
pub(super) struct Pending {
    end: String,
    is_literal: bool,
    strips_tabs: bool,
    body: Rc<OnceCell<Vec<Piece>>>,
}

impl Parser<'_, '_> {
    /// Reads the word that ends the document.
    pub(super) fn announce_document(&mut self, strips_tabs: bool, body: Rc<OnceCell<Vec<Piece>>>) {
        let from = self.at;
        let Some(word) = self.word() else {
            self.fail();
            return;
        };
        let raw = self.text.get(from..self.at).unwrap_or_default();
        let end = word
            .literal()
            .unwrap_or_else(|| raw.replace(['\'', '"', '\\'], ""));
        self.pending.push(Pending {
            end,
            is_literal: raw.contains(['\'', '"', '\\']),
            strips_tabs,
            body,
        });
    }

    /// Reads the bodies of the line that has just ended.
    pub(super) fn read_documents(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let (body, place) = self.body(&pending);
            let pieces = if pending.is_literal {
                let mut pieces = Vec::new();
                push_text(&mut pieces, &body, true);
                pieces
            } else {
                self.within(&body, place, |parser| parser.document_pieces())
            };
            // Filled once: each document is announced once.
            let _ = pending.body.set(pieces);
        }
    }

    fn body(&mut self, pending: &Pending) -> (String, Range<usize>) {
        let from = self.at;
        let mut body = String::new();
        let mut rest = self.rest();
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest.as_bytes());
            let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            let width = line.len() + usize::from(end.is_some());
            rest = rest.get(width..).unwrap_or_default();
            self.at += width;
            let shown = if pending.strips_tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if shown.trim_end_matches('\r') == pending.end {
                break;
            }
            body.push_str(shown);
            body.push('\n');
        }
        (body, self.span(from))
    }
}
