//! Converts colours for terminals with 16 colours to the short SGR codes that they understand.
//!
//! Works on the bytes of frames; does not know what is drawn.

/// The long code and the first short code, for text and for background.
const EXTENDED_COLORS: [(&str, u16); 2] = [("38", 30), ("48", 40)];

/// Replaces `38;5;N` with 30 to 37 or 90 to 97 in SGR sequences, and backgrounds likewise; copies everything else.
pub fn to_sgr16(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(2).position(|pair| pair == b"\x1b[") {
        let (before, from) = rest.split_at(at + 2);
        out.extend_from_slice(before);
        let is_parameter = |byte: &u8| byte.is_ascii_digit() || *byte == b';';
        let n = from.iter().take_while(|byte| is_parameter(byte)).count();
        let (parameters, after) = from.split_at(n);
        match (after.first(), std::str::from_utf8(parameters)) {
            (Some(b'm'), Ok(text)) => out.extend_from_slice(shorten_parameters(text).as_bytes()),
            _ => out.extend_from_slice(parameters),
        }
        rest = after;
    }
    out.extend_from_slice(rest);
    out
}

fn shorten_parameters(parameters: &str) -> String {
    let mut parts = parameters.split(';');
    let mut out: Vec<String> = Vec::new();
    while let Some(part) = parts.next() {
        let first = EXTENDED_COLORS.iter().find(|(long, _)| *long == part);
        let mut ahead = parts.clone();
        let colour = match (first, ahead.next(), ahead.next()) {
            (Some((_, from)), Some("5"), Some(n)) => short_code(*from, n),
            _ => None,
        };
        match colour {
            Some(colour) => {
                out.push(colour.to_string());
                parts = ahead;
            }
            None => out.push(part.to_owned()),
        }
    }
    out.join(";")
}

/// Returns the short code of one of the 16 colours.
fn short_code(from: u16, n: &str) -> Option<u16> {
    match n.parse::<u16>().ok()? {
        n @ 0..=7 => Some(from + n),
        n @ 8..=15 => Some(from + 60 + n - 8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, wanted: &str) {
        let found = to_sgr16(text.as_bytes());
        assert_eq!(String::from_utf8(found).unwrap(), wanted);
    }

    #[test]
    fn the_sixteen_are_asked_for_in_short_and_nothing_else_changes() {
        check("\x1b[38;5;6mcode\x1b[39m", "\x1b[36mcode\x1b[39m");
        check("\x1b[1m\x1b[38;5;8;48;5;15m中", "\x1b[1m\x1b[90;107m中");
        check("\x1b[38;5;200m 38;5;6m", "\x1b[38;5;200m 38;5;6m");
        check("\x1b[38;2;1;5;6m", "\x1b[38;2;1;5;6m");
        check(
            "\x1b[2;5H\x1b[?25l\x1b]2;38;5;6m",
            "\x1b[2;5H\x1b[?25l\x1b]2;38;5;6m",
        );
        check("\x1b[38;5", "\x1b[38;5");
    }

    proptest! {
        #[test]
        fn what_sets_no_colour_stays_as_it_is(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assume!(!bytes.contains(&b'm'));
            prop_assert_eq!(to_sgr16(&bytes), bytes);
        }
    }
}
