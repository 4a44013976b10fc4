//! Backslash escapes of `$'…'`, `echo -e` and `printf`.
//!
//! It refuses to know where the text goes.

/// The text that `$'…'` stands for.
pub fn ansi(text: &str) -> String {
    decode(text, Dialect::Ansi)
}

/// The text that `echo -e` and `%b` write.
pub fn echoed(text: &str) -> String {
    decode(text, Dialect::Echo)
}

/// The text that a format of `printf` stands for, its `%` untouched.
pub fn format(text: &str) -> String {
    decode(text, Dialect::Format)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Ansi,
    Echo,
    Format,
}

fn decode(text: &str, dialect: Dialect) -> String {
    let mut bytes: Vec<u8> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        bytes.extend_from_slice(rest.as_bytes().get(..at).unwrap_or_default());
        rest = rest.get(at + 1..).unwrap_or_default();
        let Some(c) = rest.chars().next() else {
            bytes.push(b'\\');
            break;
        };
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        let n_read = match c {
            'a' => push(&mut bytes, 7),
            'b' => push(&mut bytes, 8),
            'e' | 'E' => push(&mut bytes, 27),
            'f' => push(&mut bytes, 12),
            'n' => push(&mut bytes, b'\n'),
            'r' => push(&mut bytes, b'\r'),
            't' => push(&mut bytes, b'\t'),
            'v' => push(&mut bytes, 11),
            '\\' => push(&mut bytes, b'\\'),
            '\'' | '"' | '?' if dialect != Dialect::Echo => push(&mut bytes, c as u8),
            'x' => number(&mut bytes, rest, 16, 2),
            'u' => character(&mut bytes, rest, 4),
            'U' => character(&mut bytes, rest, 8),
            'c' if dialect == Dialect::Ansi => {
                let letter = rest.bytes().next().unwrap_or_default();
                bytes.push(letter & 0x1f);
                usize::from(letter.is_ascii() && letter != 0)
            }
            'c' => break_off(&mut rest),
            '0' if dialect == Dialect::Echo => number(&mut bytes, rest, 8, 3),
            '0'..='7' => number(&mut bytes, &format!("{c}{rest:.2}"), 8, 3).saturating_sub(1),
            other => {
                bytes.push(b'\\');
                bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
                0
            }
        };
        rest = rest.get(n_read..).unwrap_or_default();
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

fn push(bytes: &mut Vec<u8>, byte: u8) -> usize {
    bytes.push(byte);
    0
}

/// `\c` ends all output.
fn break_off(rest: &mut &str) -> usize {
    *rest = "";
    0
}

fn digits(rest: &str, radix: u32, most: usize) -> &str {
    let n_digits = rest
        .bytes()
        .take(most)
        .take_while(|byte| char::from(*byte).is_digit(radix))
        .count();
    rest.get(..n_digits).unwrap_or_default()
}

fn number(bytes: &mut Vec<u8>, rest: &str, radix: u32, most: usize) -> usize {
    let digits = digits(rest, radix, most);
    if let Ok(value) = u32::from_str_radix(digits, radix) {
        bytes.push(u8::try_from(value & 0xff).unwrap_or_default());
    }
    digits.len()
}

fn character(bytes: &mut Vec<u8>, rest: &str, most: usize) -> usize {
    let digits = digits(rest, 16, most);
    let c = u32::from_str_radix(digits, 16)
        .ok()
        .and_then(char::from_u32);
    if let Some(c) = c {
        bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    digits.len()
}
