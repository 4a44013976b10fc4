//! Decodes backslash escapes in `$'…'`, `echo -e` and `printf`.

/// Returns the text that `$'…'` means.
pub fn decode_ansi_quotes(text: &str) -> String {
    decode_escapes(text, EscapeDialect::Ansi)
}

/// Returns the text that `echo -e` and `%b` write.
pub fn decode_echo(text: &str) -> String {
    decode_escapes(text, EscapeDialect::Echo)
}

/// Returns the text of a `printf` format, with its `%` parts unchanged.
pub fn decode_printf_format(text: &str) -> String {
    decode_escapes(text, EscapeDialect::Format)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EscapeDialect {
    Ansi,
    Echo,
    Format,
}

fn decode_escapes(text: &str, dialect: EscapeDialect) -> String {
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
            'a' => push_byte(&mut bytes, 7),
            'b' => push_byte(&mut bytes, 8),
            'e' | 'E' => push_byte(&mut bytes, 27),
            'f' => push_byte(&mut bytes, 12),
            'n' => push_byte(&mut bytes, b'\n'),
            'r' => push_byte(&mut bytes, b'\r'),
            't' => push_byte(&mut bytes, b'\t'),
            'v' => push_byte(&mut bytes, 11),
            '\\' => push_byte(&mut bytes, b'\\'),
            '\'' | '"' | '?' if dialect != EscapeDialect::Echo => push_byte(&mut bytes, c as u8),
            'x' => push_number(&mut bytes, rest, 16, 2),
            'u' => push_character(&mut bytes, rest, 4),
            'U' => push_character(&mut bytes, rest, 8),
            'c' if dialect == EscapeDialect::Ansi => {
                let letter = rest.bytes().next().unwrap_or_default();
                bytes.push(letter & 0x1f);
                usize::from(letter.is_ascii() && letter != 0)
            }
            'c' => end_output(&mut rest),
            '0' if dialect == EscapeDialect::Echo => push_number(&mut bytes, rest, 8, 3),
            '0'..='7' => push_number(&mut bytes, &format!("{c}{rest:.2}"), 8, 3).saturating_sub(1),
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

fn push_byte(bytes: &mut Vec<u8>, byte: u8) -> usize {
    bytes.push(byte);
    0
}

/// `\c` ends all output.
fn end_output(rest: &mut &str) -> usize {
    *rest = "";
    0
}

fn leading_digits(rest: &str, radix: u32, most: usize) -> &str {
    let n_digits = rest
        .bytes()
        .take(most)
        .take_while(|byte| char::from(*byte).is_digit(radix))
        .count();
    rest.get(..n_digits).unwrap_or_default()
}

fn push_number(bytes: &mut Vec<u8>, rest: &str, radix: u32, most: usize) -> usize {
    let digits = leading_digits(rest, radix, most);
    if let Ok(value) = u32::from_str_radix(digits, radix) {
        bytes.push(u8::try_from(value & 0xff).unwrap_or_default());
    }
    digits.len()
}

fn push_character(bytes: &mut Vec<u8>, rest: &str, most: usize) -> usize {
    let digits = leading_digits(rest, 16, most);
    let c = u32::from_str_radix(digits, 16)
        .ok()
        .and_then(char::from_u32);
    if let Some(c) = c {
        bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    digits.len()
}
