//! Parses here-documents: announced by `<<`, read at the end of the line.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use super::{ShellParser, push_literal_text};
use crate::permission::shell::syntax_tree::WordPiece;

/// A here-document whose body is not read yet.
pub(super) struct PendingHereDocument {
    delimiter: String,
    is_literal: bool,
    strips_tabs: bool,
    body: Rc<OnceCell<Vec<WordPiece>>>,
}

impl ShellParser<'_, '_> {
    /// Parses the word that ends the document.
    pub(super) fn parse_document_delimiter(
        &mut self,
        strips_tabs: bool,
        body: Rc<OnceCell<Vec<WordPiece>>>,
    ) {
        let from = self.position;
        let Some(word) = self.parse_word() else {
            self.fail();
            return;
        };
        let raw = self.text.get(from..self.position).unwrap_or_default();
        let end = word
            .literal_text()
            .unwrap_or_else(|| raw.replace(['\'', '"', '\\'], ""));
        self.pending_documents.push(PendingHereDocument {
            delimiter: end,
            is_literal: raw.contains(['\'', '"', '\\']),
            strips_tabs,
            body,
        });
    }

    /// Parses the bodies of the documents announced on the line that just ended.
    pub(super) fn parse_document_bodies(&mut self) {
        for pending in std::mem::take(&mut self.pending_documents) {
            let (body, place) = self.take_document_body(&pending);
            let pieces = if pending.is_literal {
                let mut pieces = Vec::new();
                push_literal_text(&mut pieces, &body, true);
                pieces
            } else {
                self.parse_other_text(&body, place, |parser| parser.parse_document_pieces())
            };
            // Each document is announced once, so this is set once.
            let _ = pending.body.set(pieces);
        }
    }

    fn take_document_body(&mut self, pending: &PendingHereDocument) -> (String, Range<usize>) {
        let from = self.position;
        let mut body = String::new();
        let mut rest = self.remaining_text();
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest.as_bytes());
            let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            let width = line.len() + usize::from(end.is_some());
            rest = rest.get(width..).unwrap_or_default();
            self.position += width;
            let shown = if pending.strips_tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if shown.trim_end_matches('\r') == pending.delimiter {
                break;
            }
            body.push_str(shown);
            body.push('\n');
        }
        (body, self.span_from(from))
    }
}
