//! Details of agents' calls that the run's state does not have: the exact pending call, and the approvals
//! that cover more than one call.

use crate::text::TextCleaner;

/// The first pending call as the agent made it, an edit with its diff against the file; safe to draw, with invisible
/// characters made visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExactCall {
    /// The call's number in the run.
    pub call: u32,
    pub text: String,
    /// The diff of an edit; empty for other calls.
    pub diff: String,
}

/// A stored approval as its list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalEntry {
    /// Its number; revoking uses it.
    pub id: u64,
    /// What it allows, in one line.
    pub what: String,
    /// Which agent it is for, its duration, and its start.
    pub about: String,
}

/// Cleans a text line by line, with the preceding lines as context. The number of lines stays the same,
/// because a diff counts them.
pub(super) fn clean_lines(text: &str) -> String {
    let mut cleaner = TextCleaner::new();
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let told = cleaner.push(&format!("{line}\n"));
        let told = told.trim_matches('\n');
        let sign = line.get(..1).filter(|sign| ["+", "-", " "].contains(sign));
        lines.push(if told.is_empty() && !line.is_empty() {
            // The line continues a secret that is already reported as a whole.
            format!("{}[redacted]", sign.unwrap_or_default())
        } else {
            told.to_owned()
        });
    }
    let rest = cleaner.finish();
    let rest = rest.trim_matches('\n');
    if !rest.is_empty() {
        lines.push(rest.to_owned());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_keeps_its_lines_and_none_of_a_secret_of_several() {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
        let diff = format!(
            "/r/key.pem\n@@ -1 +1,6 @@\n before\n+-----BEGIN PRIVATE KEY-----\n+{body}\n+{body}\n+-----END \
            PRIVATE KEY-----\n+\n+after"
        );
        let told = clean_lines(&diff);
        assert!(!told.contains(body), "{told}");
        assert_eq!(told.lines().count(), diff.lines().count(), "{told}");
        assert!(
            told.starts_with("/r/key.pem\n@@ -1 +1,6 @@\n before\n+"),
            "{told}"
        );
        assert!(told.ends_with("\n+\n+after"), "{told}");
        let plain = "/r/a.rs\n@@ -1,2 +1,2 @@\n-let a = 1;\n+let a = 2;\n \n\n+🎉";
        assert_eq!(clean_lines(plain), plain);
    }
}
