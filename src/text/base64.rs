//! Decodes base64 of either alphabet.

/// Decodes digits to bytes, without padding; leftover bits at the end are ignored. `None`
/// if there is any other character.
pub fn decode(digits: impl IntoIterator<Item = u8>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut n_bits) = (0_u32, 0_u32);
    for digit in digits {
        let six = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(six)) & 0xffff;
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push(u8::try_from(bits >> n_bits & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_both_alphabets_are_read_and_nothing_else() {
        for (text, expected) in [
            ("", Some(&b""[..])),
            ("cm0gLXJm", Some(b"rm -rf")),
            ("Zg", Some(b"f")),
            ("-_8", Some(b"\xfb\xff")),
            ("+/8", Some(b"\xfb\xff")),
            ("Zg=", None),
            ("Z g", None),
        ] {
            assert_eq!(decode(text.bytes()).as_deref(), expected, "{text}");
        }
    }
}
