//! (being written)
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

/// Shim until text/front_matter.rs lands; domain uses `split(text).body` and `.get(key) -> Option<&str>`: keep these two.
#[allow(missing_docs, reason = "temporary")]
pub mod front_matter {
    pub struct Document<'a> {
        pub body: &'a str,
        pub fields: Vec<(String, String)>,
    }
    impl Document<'_> {
        pub fn get(&self, k: &str) -> Option<&str> {
            self.fields
                .iter()
                .find(|(a, _)| a == k)
                .map(|(_, v)| v.as_str())
        }
    }
    pub fn split(text: &str) -> Document<'_> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut fields = Vec::new();
        if let Some(rest) = text
            .strip_prefix("---\n")
            .or_else(|| text.strip_prefix("---\r\n"))
        {
            let mut at = text.len() - rest.len();
            for line in rest.split_inclusive('\n') {
                at += line.len();
                if line.trim_end() == "---" {
                    return Document {
                        body: &text[at..],
                        fields,
                    };
                }
                if let Some((k, v)) = line.split_once(':') {
                    fields.push((k.trim().to_owned(), v.trim().to_owned()));
                }
            }
        }
        Document {
            body: text,
            fields: Vec::new(),
        }
    }
}
