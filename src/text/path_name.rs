//! Converts a path's bytes to text and back: invalid UTF-8 is quoted as git does, `"caf\\351.txt"`.
//!
//! A path that is valid text stays unchanged, so paths that were stored before this quoting still mean the same.

/// Returns a path's bytes as text, quoted only if needed.
pub fn path_to_text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.starts_with('"') => text.to_owned(),
        _ => quote_bytes(bytes),
    }
}

/// Parses what [`path_to_text`] wrote.
pub fn path_from_text(text: &str) -> Vec<u8> {
    let inner = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    inner
        .and_then(unquote_text)
        // A name that only looks quoted is returned as it is.
        .filter(|bytes| path_to_text(bytes) == text)
        .unwrap_or_else(|| text.as_bytes().to_vec())
}

fn quote_bytes(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => text.push_str("\\\""),
                '\\' => text.push_str("\\\\"),
                c if c.is_ascii_control() => push_octal(&mut text, u32::from(c)),
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            push_octal(&mut text, u32::from(*byte));
        }
    }
    text.push('"');
    text
}

fn push_octal(text: &mut String, byte: u32) {
    text.push_str(&format!("\\{byte:03o}"));
}

fn unquote_text(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let (escaped, after) = rest.split_first()?;
        if matches!(escaped, b'"' | b'\\') {
            bytes.push(*escaped);
            rest = after;
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..3)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 8).ok()?);
        rest = rest.get(3..)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_is_no_text_is_quoted() {
        let check = |bytes: &[u8], text: &str| {
            assert_eq!(path_to_text(bytes), text);
            assert_eq!(path_from_text(text), bytes);
        };
        check(b"src/main.rs", "src/main.rs");
        check("café \\ \n".as_bytes(), "café \\ \n");
        check(b"caf\xe9.txt", "\"caf\\351.txt\"");
        check(b"\"a\"", "\"\\\"a\\\"\"");
        check(b"\xff\n\\", "\"\\377\\012\\\\\"");
    }

    #[test]
    fn a_name_of_an_earlier_version_that_looks_quoted_is_itself() {
        assert_eq!(path_from_text("\"a\""), b"\"a\"");
        assert_eq!(path_from_text("\"a\\9\""), b"\"a\\9\"");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn every_path_comes_back(bytes: Vec<u8>) {
            prop_assert_eq!(path_from_text(&path_to_text(&bytes)), bytes);
        }
    }
}
