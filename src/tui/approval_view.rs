//! Details of agents' calls that the run's state does not have: the exact pending call, and the approvals
//! that cover more than one call.

use super::action::Action;
use super::dialog::{ChoiceAction, ChoiceDialog};
use super::text_wrap::to_one_line;
use super::{Screen, clickable_keys, theme};
use crate::text::TextCleaner;

/// The first pending call, exactly as the agent made it; safe to draw, with invisible characters made visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExactCall {
    /// The number of the call in its approval.
    pub n: u32,
    pub text: String,
    /// The diff of an edit; empty for other calls.
    pub diff: String,
}

/// One stored approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalEntry {
    /// Its number; revoking uses it.
    pub id: u64,
    /// What it allows, in one line.
    pub what: String,
    /// Which agent it is for, its duration, and its start.
    pub about: String,
}

impl Screen {
    /// Shows the first pending call exactly as the agent made it.
    pub fn on_pending_call(&mut self, mut exact: ExactCall) {
        self.is_dirty = true;
        if !exact.diff.is_empty() {
            // Both can contain paths.
            (exact.text, exact.diff) = (clean_lines(&exact.text), clean_lines(&exact.diff));
        }
        self.dialogs.exact_call = Some(exact);
    }

    /// Lists the approvals that cover more than one call; the answer is [`Action::Revoke`].
    pub fn show_stored_approvals(&mut self, kept: &[ApprovalEntry]) {
        self.is_dirty = true;
        if kept.is_empty() {
            self.show_toast("You approved nothing for more than one call in this repository.");
            return;
        }
        let mut sheet = ChoiceDialog::list("permissions", "Approved for more than one call")
            .with_text(
                "Enter removes the chosen approval, Esc keeps them all.",
                clickable_keys::mark_hint(theme::QUIET),
            );
        for (kept, key) in kept.iter().zip(('1'..='9').chain(std::iter::repeat('·'))) {
            let label = format!(
                "Remove {} · {}",
                to_one_line(&kept.what),
                to_one_line(&kept.about)
            );
            sheet = sheet.with_choice(
                key,
                &label,
                ChoiceAction::ActAndClose(vec![Action::Revoke(kept.id)]),
            );
        }
        sheet = sheet.with_choice('b', "Back", ChoiceAction::Close);
        let last = sheet.choices.len() - 1;
        self.open_dialog(sheet.with_first_choice(last));
    }
}

/// Cleans a text line by line, with the preceding lines as context. The number of lines stays the same,
/// because a diff counts them.
fn clean_lines(text: &str) -> String {
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
