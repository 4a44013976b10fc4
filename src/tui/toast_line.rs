//! The short messages that disappear by themselves.

use super::cross_tab_toast::CrossTabToast;
use super::text_wrap::to_one_line;

/// What a toast is about beside its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToastKind {
    #[default]
    Plain,
    /// It names keys that can be clicked.
    WithKeys,
    /// It asks for Esc once more before that interrupts a turn, and names keys.
    EscapeAgain,
    /// It asks for the key or button of Auto once more, and names keys.
    AutoAgain,
}

/// Short messages that disappear by themselves.
#[derive(Debug, Default)]
pub struct ToastLine {
    /// A message that disappears with the next key.
    pub text: Option<String>,
    /// The kind of the last message.
    pub kind: ToastKind,
    pub cross_tab: Option<CrossTabToast>,
    /// Whether the user has been shown how to select text.
    pub is_drag_explained: bool,
}

impl ToastLine {
    /// Shows a message, on one line. One that names clickable keys must not contain text from an agent, because key names
    /// in it would become clickable too.
    pub fn show(&mut self, text: &str, kind: ToastKind) {
        // A problem and its remedy are lines of their own where there is room.
        let lines = text.lines().map(to_one_line);
        let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
        (self.text, self.kind) = (Some(lines.join(" · ")), kind);
    }

    /// Returns the kind of the message that is shown.
    pub fn shown_kind(&self) -> Option<ToastKind> {
        self.text.is_some().then_some(self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_and_its_remedy_stay_apart_in_one_row() {
        let mut toast = ToastLine::default();
        toast.show("no run here\n\nstart a  run\u{1b}[2J", ToastKind::Plain);
        assert_eq!(toast.text.as_deref(), Some("no run here · start a run"));
    }
}
