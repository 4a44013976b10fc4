//! Expands braces: `{a,b}`, `{1..9}`, `{a..z}`, also nested.
//!
//! Works on the pieces of a word, before any other expansion, so the values of variables are not known here.

use super::UNKNOWN_PLACEHOLDER;
use super::syntax_tree::WordPiece;

/// Returns the words that a word expands to; `None` when there are more than `most`.
pub fn expand_braces(pieces: &[WordPiece], most: usize) -> Option<Vec<Vec<WordPiece>>> {
    let has_brace = pieces.iter().any(
        |piece| matches!(piece, WordPiece::Text { text, is_quoted: false } if text.contains('{')),
    );
    if !has_brace {
        return Some(vec![pieces.to_vec()]);
    }
    // Each resulting word may be as long as the whole word, so the limit on their number is lower for long words.
    let n_bytes: usize = pieces.iter().map(piece_len).sum();
    let most = most.min(MAX_EXPANDED_BYTES / n_bytes.max(1));
    let atoms = split_into_atoms(pieces);
    let words = BraceExpander {
        atoms: &atoms,
        max_words: most,
        pairs: match_braces(&atoms),
    }
    .expand_range(0, atoms.len(), MAX_BRACE_DEPTH)?;
    Some(words)
}

/// How deep braces may nest.
const MAX_BRACE_DEPTH: usize = 16;

/// The most text that one word may expand to, in bytes.
const MAX_EXPANDED_BYTES: usize = 1 << 22;

fn piece_len(piece: &WordPiece) -> usize {
    match piece {
        WordPiece::Text { text, .. } => text.len(),
        _ => 1,
    }
}

/// A brace, a comma or a run of other text from an unquoted piece; or any other piece as a whole.
#[derive(Clone, Copy)]
enum BraceAtom<'a> {
    Open,
    Close,
    Comma,
    Text(&'a str),
    Piece(&'a WordPiece),
}

fn split_into_atoms(pieces: &[WordPiece]) -> Vec<BraceAtom<'_>> {
    let mut atoms = Vec::new();
    for piece in pieces {
        let WordPiece::Text {
            text,
            is_quoted: false,
        } = piece
        else {
            atoms.push(BraceAtom::Piece(piece));
            continue;
        };
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['{', '}', ',']) {
            let (before, from) = rest.split_at(at);
            if !before.is_empty() {
                atoms.push(BraceAtom::Text(before));
            }
            atoms.push(match from.as_bytes().first() {
                Some(b'{') => BraceAtom::Open,
                Some(b'}') => BraceAtom::Close,
                _ => BraceAtom::Comma,
            });
            rest = from.get(1..).unwrap_or_default();
        }
        if !rest.is_empty() {
            atoms.push(BraceAtom::Text(rest));
        }
    }
    atoms
}

/// Returns for each opening brace its closing brace, if there is one.
fn match_braces(atoms: &[BraceAtom<'_>]) -> Vec<Option<usize>> {
    let mut pairs = vec![None; atoms.len()];
    let mut open = Vec::new();
    for (at, atom) in atoms.iter().enumerate() {
        match atom {
            BraceAtom::Open => open.push(at),
            BraceAtom::Close => {
                if let Some(pair) = open.pop().and_then(|start| pairs.get_mut(start)) {
                    *pair = Some(at);
                }
            }
            BraceAtom::Comma | BraceAtom::Text(_) | BraceAtom::Piece(_) => {}
        }
    }
    pairs
}

struct BraceExpander<'a> {
    atoms: &'a [BraceAtom<'a>],
    pairs: Vec<Option<usize>>,
    max_words: usize,
}

impl BraceExpander<'_> {
    fn expand_range(&self, from: usize, to: usize, depth: usize) -> Option<Vec<Vec<WordPiece>>> {
        let mut words: Vec<Vec<WordPiece>> = vec![Vec::new()];
        let mut at = from;
        while at < to {
            let choices = self.expand_group(at, to, depth)?;
            let (choices, next) = match choices {
                Some((choices, end)) => (choices, end + 1),
                None => {
                    let piece = self.atom_to_piece(at);
                    for word in &mut words {
                        push_piece(word, &piece);
                    }
                    at += 1;
                    continue;
                }
            };
            if words.len().saturating_mul(choices.len()) > self.max_words {
                return None;
            }
            words = words
                .iter()
                .flat_map(|word| {
                    choices.iter().map(move |choice| {
                        let mut word = word.clone();
                        for piece in choice {
                            push_piece(&mut word, piece);
                        }
                        word
                    })
                })
                .collect();
            at = next;
        }
        Some(words)
    }

    /// Returns what the braces that open here may be, and where they close; `None` when they are plain text.
    fn expand_group(
        &self,
        at: usize,
        to: usize,
        depth: usize,
    ) -> Option<Option<(Vec<Vec<WordPiece>>, usize)>> {
        let end = match (self.atoms.get(at), self.pairs.get(at)) {
            (Some(BraceAtom::Open), Some(Some(end))) if *end < to => *end,
            _ => return Some(None),
        };
        let depth = depth.checked_sub(1)?;
        let commas = self.top_level_commas(at + 1, end);
        if commas.is_empty() {
            return Some(self.expand_sequence(at + 1, end).map(|words| (words, end)));
        }
        let mut choices = Vec::new();
        let mut start = at + 1;
        for comma in commas.into_iter().chain([end]) {
            choices.extend(self.expand_range(start, comma, depth)?);
            if choices.len() > self.max_words {
                return None;
            }
            start = comma + 1;
        }
        Some(Some((choices, end)))
    }

    /// Returns the commas between two positions that are not inside inner braces.
    fn top_level_commas(&self, from: usize, to: usize) -> Vec<usize> {
        let mut commas = Vec::new();
        let mut at = from;
        while at < to {
            match (self.atoms.get(at), self.pairs.get(at)) {
                (Some(BraceAtom::Comma), _) => commas.push(at),
                (Some(BraceAtom::Open), Some(Some(end))) => at = *end,
                _ => {}
            }
            at += 1;
        }
        commas
    }

    /// Expands `{1..9}`, `{a..z}`, `{1..9..2}`; a long sequence becomes one unknown number.
    fn expand_sequence(&self, from: usize, to: usize) -> Option<Vec<Vec<WordPiece>>> {
        let [BraceAtom::Text(text)] = self.atoms.get(from..to)? else {
            return None;
        };
        let mut ends = text.split("..");
        let (first, last) = (ends.next()?, ends.next()?);
        let step = match ends.next() {
            Some(step) => step.parse::<i64>().ok()?.unsigned_abs().max(1),
            None => 1,
        };
        if ends.next().is_some() {
            return None;
        }
        if let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) {
            let n_values = first.abs_diff(last) / step;
            if usize::try_from(n_values).map_or(true, |n_values| n_values >= self.max_words) {
                return Some(vec![vec![text_piece(&UNKNOWN_PLACEHOLDER.to_string())]]);
            }
            return Some(sequence_words(first, last, step, |value| value.to_string()));
        }
        let (first, last) = (parse_single_letter(first)?, parse_single_letter(last)?);
        let words = sequence_words(i64::from(first), i64::from(last), step, |value| {
            u8::try_from(value).map_or_else(|_| String::new(), |byte| char::from(byte).to_string())
        });
        Some(words)
    }

    fn atom_to_piece(&self, at: usize) -> WordPiece {
        match self.atoms.get(at) {
            Some(BraceAtom::Open) => text_piece("{"),
            Some(BraceAtom::Close) => text_piece("}"),
            Some(BraceAtom::Comma) => text_piece(","),
            Some(BraceAtom::Text(text)) => text_piece(text),
            Some(BraceAtom::Piece(piece)) => (*piece).clone(),
            None => text_piece(""),
        }
    }
}

fn sequence_words(
    first: i64,
    last: i64,
    step: u64,
    show: impl Fn(i64) -> String,
) -> Vec<Vec<WordPiece>> {
    let n_steps = first.abs_diff(last) / step;
    (0..=n_steps)
        .filter_map(|n| i64::try_from(n.saturating_mul(step)).ok())
        .map(|offset| {
            let value = if first <= last {
                first.saturating_add(offset)
            } else {
                first.saturating_sub(offset)
            };
            vec![text_piece(&show(value))]
        })
        .collect()
}

fn parse_single_letter(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(*byte),
        _ => None,
    }
}

fn text_piece(text: &str) -> WordPiece {
    WordPiece::Text {
        text: text.to_owned(),
        is_quoted: false,
    }
}

fn push_piece(word: &mut Vec<WordPiece>, piece: &WordPiece) {
    match (word.last_mut(), piece) {
        (
            Some(WordPiece::Text {
                text,
                is_quoted: false,
            }),
            WordPiece::Text {
                text: added,
                is_quoted: false,
            },
        ) => text.push_str(added),
        _ => word.push(piece.clone()),
    }
}
