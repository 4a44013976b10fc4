//! Decides which invisible characters may stay: those that shape the visible characters next to them.
//!
//! Joiners and variation selectors stay where an emoji or a script needs them, one at a time; after ASCII they could
//! only split a word, and in rows they could only smuggle data. Escape sequences are removed elsewhere.

const ZERO_WIDTH_JOINER: char = '\u{200d}';
const ZERO_WIDTH_NON_JOINER: char = '\u{200c}';
const EMOJI_STYLE: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';
const BLACK_FLAG: char = '\u{1f3f4}';
const CANCEL_TAG: char = '\u{e007f}';

/// The only flags that are written with tags: England, Scotland, Wales.
const TAGGED_FLAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

/// Writes characters, and decides about the invisible ones by their neighbours.
#[derive(Debug, Clone, Default)]
pub(super) struct InvisibleCharFilter {
    /// The last character written.
    last: Option<char>,
    pending: PendingChar,
}

/// A character that waits until the next character decides whether it stays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum PendingChar {
    #[default]
    Nothing,
    /// An emoji style mark after a digit: a keycap must follow.
    Keycap,
    Joiner(char),
    /// Tags after a black flag: the letters that match the flags so far.
    Flag([u8; 5], usize),
}

impl InvisibleCharFilter {
    /// Returns whether a character waits for the next one.
    pub(super) fn has_pending(&self) -> bool {
        self.pending != PendingChar::Nothing
    }

    /// Returns whether the next character is treated like the first of a text.
    pub(super) fn is_at_rest(&self) -> bool {
        !self.has_pending() && matches!(self.last, None | Some('\n'))
    }

    /// Records a run of ordinary characters that was written.
    pub(super) fn note_plain_run(&mut self, run: &str) {
        self.last = run.chars().next_back().or(self.last);
    }

    /// Adds a character that is not a control character, except newline and tab.
    pub(super) fn push_char(&mut self, next: char, out: &mut String) {
        match std::mem::take(&mut self.pending) {
            PendingChar::Nothing => {}
            PendingChar::Keycap if next == KEYCAP => out.push(EMOJI_STYLE),
            PendingChar::Joiner(joiner) if self.joins_neighbours(joiner, next) => out.push(joiner),
            PendingChar::Keycap | PendingChar::Joiner(_) => {}
            PendingChar::Flag(letters, n) => {
                if self.on_flag(letters, n, next, out) {
                    return;
                }
            }
        }
        match next {
            _ if is_selector(next) => self.on_selector(next, out),
            ZERO_WIDTH_JOINER | ZERO_WIDTH_NON_JOINER => self.on_joiner(next, out),
            '\u{e0061}'..='\u{e007a}' if self.last == Some(BLACK_FLAG) => {
                self.on_flag([0; 5], 0, next, out);
            }
            _ if is_invisible(next) => {}
            _ => self.emit_char(next, out),
        }
    }

    fn emit_char(&mut self, next: char, out: &mut String) {
        out.push(next);
        self.last = Some(next);
    }

    fn on_selector(&mut self, next: char, out: &mut String) {
        match self.last {
            Some('0'..='9' | '#' | '*') if next == EMOJI_STYLE => {
                self.pending = PendingChar::Keycap
            }
            Some(last) if is_ideographic_selector(next) && !is_ideograph(last) => {}
            Some(last) if !last.is_ascii() && !is_selector(last) && !is_joiner(last) => {
                self.emit_char(next, out);
            }
            Some(_) | None => {}
        }
    }

    fn on_joiner(&mut self, next: char, out: &mut String) {
        let Some(last) = self.last else { return };
        // Indic words may end in a joiner, which changes their last letter.
        if next == ZERO_WIDTH_JOINER && is_joining_script(last) {
            self.emit_char(next, out);
        } else if is_joining_script(last) || may_be_emoji(last) {
            self.pending = PendingChar::Joiner(next);
        }
    }

    fn joins_neighbours(&self, joiner: char, next: char) -> bool {
        let Some(last) = self.last else { return false };
        if !is_ordinary(next) {
            return false;
        }
        match joiner {
            ZERO_WIDTH_JOINER => may_be_emoji(last) && may_be_emoji(next),
            _ => is_joining_script(last) && is_joining_script(next),
        }
    }

    /// Adds a tag after a black flag; returns whether it was one.
    fn on_flag(&mut self, mut letters: [u8; 5], n: usize, next: char, out: &mut String) -> bool {
        if next == CANCEL_TAG && n == letters.len() {
            let tags = letters.map(|letter| char::from_u32(0xe_0000 + u32::from(letter)));
            out.extend(tags.into_iter().flatten());
            self.emit_char(CANCEL_TAG, out);
            return true;
        }
        let letter = u32::from(next).checked_sub(0xe_0000);
        let (Some(letter), Some(place)) = (
            letter.and_then(|letter| u8::try_from(letter).ok()),
            letters.get_mut(n),
        ) else {
            return false;
        };
        *place = letter;
        let fits = |flag: &&str| flag.as_bytes().starts_with(&letters[..=n]);
        if !TAGGED_FLAGS.iter().any(fits) {
            return false;
        }
        self.pending = PendingChar::Flag(letters, n + 1);
        true
    }
}

/// Returns whether a character is written whatever is next to it.
pub(super) fn is_ordinary(next: char) -> bool {
    match next {
        // Accents, Greek, Cyrillic, and the ideographs: nearly everything that ever occurs.
        '\u{ae}'..='\u{34e}' | '\u{350}'..='\u{600}' | '\u{4e00}'..='\u{d7ff}' => true,
        '\u{2028}' | '\u{2029}' => false,
        _ => !(next.is_control() || is_invisible(next) || is_joiner(next) || is_selector(next)),
    }
}

fn is_joiner(next: char) -> bool {
    matches!(next, ZERO_WIDTH_JOINER | ZERO_WIDTH_NON_JOINER)
}

fn is_selector(next: char) -> bool {
    matches!(next, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// There are enough of these selectors to encode bytes with them.
fn is_ideographic_selector(next: char) -> bool {
    matches!(next, '\u{e0100}'..='\u{e01ef}')
}

fn is_ideograph(next: char) -> bool {
    matches!(
        next,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
    )
}

/// Scripts whose letters change their form next to a joiner.
fn is_joining_script(next: char) -> bool {
    matches!(
        next,
        '\u{600}'..='\u{109f}'
            | '\u{1700}'..='\u{18af}'
            | '\u{1900}'..='\u{1cff}'
            | '\u{a800}'..='\u{abff}'
            | '\u{fb1d}'..='\u{fdff}'
            | '\u{fe70}'..='\u{fefc}'
            | '\u{10800}'..='\u{11fff}'
            | '\u{1e900}'..='\u{1eeff}'
    )
}

/// Symbols and pictures, and what may be between two of them.
fn may_be_emoji(next: char) -> bool {
    matches!(
        next,
        EMOJI_STYLE | '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{32ff}' | '\u{1f000}'..='\u{1faff}'
    )
}

/// Characters that show nothing, reorder the text, or are spaces that do not look like spaces.
pub(super) fn is_invisible(next: char) -> bool {
    matches!(
        next,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d159}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e00ff}'
            | '\u{e01f0}'..='\u{e0fff}'
    )
}
