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
        (self.text, self.kind) = (Some(to_one_line(text)), kind);
    }

    /// Returns the kind of the message that is shown.
    pub fn shown_kind(&self) -> Option<ToastKind> {
        self.text.is_some().then_some(self.kind)
    }
}
