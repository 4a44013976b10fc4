//! Brace expansion: `{a,b}`, `{1..9}`, `{a..z}`, one inside the other.
//!
//! It works on the pieces of a word, before anything else is expanded, and refuses to know values.

use super::UNKNOWN;
use super::syntax::Piece;

/// The words that a word becomes; `None` when they are more than `most`.
pub fn expand(pieces: &[Piece], most: usize) -> Option<Vec<Vec<Piece>>> {
    let has_brace = pieces
        .iter()
        .any(|piece| matches!(piece, Piece::Text { text, is_quoted: false } if text.contains('{')));
    if !has_brace {
        return Some(vec![pieces.to_vec()]);
    }
    // Every word that comes out is as long as the whole: long ones may be few.
    let n_bytes: usize = pieces.iter().map(length).sum();
    let most = most.min(MOST_BYTES / n_bytes.max(1));
    let atoms = atoms(pieces);
    let words = Reader {
        atoms: &atoms,
        most,
        pairs: pairs(&atoms),
    }
    .words(0, atoms.len(), NESTED)?;
    Some(words)
}

/// How deep braces may lie in each other.
const NESTED: usize = 16;

/// The most text that one word may become, in bytes.
const MOST_BYTES: usize = 1 << 22;

fn length(piece: &Piece) -> usize {
    match piece {
        Piece::Text { text, .. } => text.len(),
        _ => 1,
    }
}

/// A piece, or one unquoted character of the four that matter or run of others.
#[derive(Clone, Copy)]
enum Atom<'a> {
    Open,
    Close,
    Comma,
    Text(&'a str),
    Piece(&'a Piece),
}

fn atoms(pieces: &[Piece]) -> Vec<Atom<'_>> {
    let mut atoms = Vec::new();
    for piece in pieces {
        let Piece::Text {
            text,
            is_quoted: false,
        } = piece
        else {
            atoms.push(Atom::Piece(piece));
            continue;
        };
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['{', '}', ',']) {
            let (before, from) = rest.split_at(at);
            if !before.is_empty() {
                atoms.push(Atom::Text(before));
            }
            atoms.push(match from.as_bytes().first() {
                Some(b'{') => Atom::Open,
                Some(b'}') => Atom::Close,
                _ => Atom::Comma,
            });
            rest = from.get(1..).unwrap_or_default();
        }
        if !rest.is_empty() {
            atoms.push(Atom::Text(rest));
        }
    }
    atoms
}

/// For every opening brace its closing one, if it has one.
fn pairs(atoms: &[Atom<'_>]) -> Vec<Option<usize>> {
    let mut pairs = vec![None; atoms.len()];
    let mut open = Vec::new();
    for (at, atom) in atoms.iter().enumerate() {
        match atom {
            Atom::Open => open.push(at),
            Atom::Close => {
                if let Some(pair) = open.pop().and_then(|start| pairs.get_mut(start)) {
                    *pair = Some(at);
                }
            }
            Atom::Comma | Atom::Text(_) | Atom::Piece(_) => {}
        }
    }
    pairs
}

struct Reader<'a> {
    atoms: &'a [Atom<'a>],
    pairs: Vec<Option<usize>>,
    most: usize,
}

impl Reader<'_> {
    fn words(&self, from: usize, to: usize, depth: usize) -> Option<Vec<Vec<Piece>>> {
        let mut words: Vec<Vec<Piece>> = vec![Vec::new()];
        let mut at = from;
        while at < to {
            let choices = self.group(at, to, depth)?;
            let (choices, next) = match choices {
                Some((choices, end)) => (choices, end + 1),
                None => {
                    let piece = self.piece(at);
                    for word in &mut words {
                        push(word, &piece);
                    }
                    at += 1;
                    continue;
                }
            };
            if words.len().saturating_mul(choices.len()) > self.most {
                return None;
            }
            words = words
                .iter()
                .flat_map(|word| {
                    choices.iter().map(move |choice| {
                        let mut word = word.clone();
                        for piece in choice {
                            push(&mut word, piece);
                        }
                        word
                    })
                })
                .collect();
            at = next;
        }
        Some(words)
    }

    /// What the braces that open here may be, and where they close; nothing when they are plain text.
    fn group(
        &self,
        at: usize,
        to: usize,
        depth: usize,
    ) -> Option<Option<(Vec<Vec<Piece>>, usize)>> {
        let end = match (self.atoms.get(at), self.pairs.get(at)) {
            (Some(Atom::Open), Some(Some(end))) if *end < to => *end,
            _ => return Some(None),
        };
        let depth = depth.checked_sub(1)?;
        let commas = self.commas(at + 1, end);
        if commas.is_empty() {
            return Some(self.range(at + 1, end).map(|words| (words, end)));
        }
        let mut choices = Vec::new();
        let mut start = at + 1;
        for comma in commas.into_iter().chain([end]) {
            choices.extend(self.words(start, comma, depth)?);
            if choices.len() > self.most {
                return None;
            }
            start = comma + 1;
        }
        Some(Some((choices, end)))
    }

    /// The commas between two places that lie in no braces of their own.
    fn commas(&self, from: usize, to: usize) -> Vec<usize> {
        let mut commas = Vec::new();
        let mut at = from;
        while at < to {
            match (self.atoms.get(at), self.pairs.get(at)) {
                (Some(Atom::Comma), _) => commas.push(at),
                (Some(Atom::Open), Some(Some(end))) => at = *end,
                _ => {}
            }
            at += 1;
        }
        commas
    }

    /// `{1..9}`, `{a..z}`, `{1..9..2}`; a long one is one unknown number.
    fn range(&self, from: usize, to: usize) -> Option<Vec<Vec<Piece>>> {
        let [Atom::Text(text)] = self.atoms.get(from..to)? else {
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
            if usize::try_from(n_values).map_or(true, |n_values| n_values >= self.most) {
                return Some(vec![vec![text_piece(&UNKNOWN.to_string())]]);
            }
            return Some(counted(first, last, step, |value| value.to_string()));
        }
        let (first, last) = (only_letter(first)?, only_letter(last)?);
        let words = counted(i64::from(first), i64::from(last), step, |value| {
            u8::try_from(value).map_or_else(|_| String::new(), |byte| char::from(byte).to_string())
        });
        Some(words)
    }

    fn piece(&self, at: usize) -> Piece {
        match self.atoms.get(at) {
            Some(Atom::Open) => text_piece("{"),
            Some(Atom::Close) => text_piece("}"),
            Some(Atom::Comma) => text_piece(","),
            Some(Atom::Text(text)) => text_piece(text),
            Some(Atom::Piece(piece)) => (*piece).clone(),
            None => text_piece(""),
        }
    }
}

fn counted(first: i64, last: i64, step: u64, show: impl Fn(i64) -> String) -> Vec<Vec<Piece>> {
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

fn only_letter(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(*byte),
        _ => None,
    }
}

fn text_piece(text: &str) -> Piece {
    Piece::Text {
        text: text.to_owned(),
        is_quoted: false,
    }
}

fn push(word: &mut Vec<Piece>, piece: &Piece) {
    match (word.last_mut(), piece) {
        (
            Some(Piece::Text {
                text,
                is_quoted: false,
            }),
            Piece::Text {
                text: added,
                is_quoted: false,
            },
        ) => text.push_str(added),
        _ => word.push(piece.clone()),
    }
}
