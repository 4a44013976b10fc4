//! The hints of the footer that belong to a tab.

use super::{FooterHint, is_dialog_key, is_hint_available};
use crate::domain::run::RunState;
use crate::tui::Screen;
use crate::tui::dialog::ChoiceDialog;
use crate::tui::keymap::{ComposerFocus, KeyHint};
use crate::tui::tab_kind::TabKind;
use crate::tui::tabs;

/// Returns the hints that apply only to the tab.
pub(super) fn tab_hints(screen: &Screen, state: Option<&RunState>) -> Vec<KeyHint> {
    tab_hints_of(screen, state, |_| true)
}

/// Returns those of some of its actions.
fn tab_hints_of(
    screen: &Screen,
    state: Option<&RunState>,
    is_wanted: impl Fn(&[&str]) -> bool,
) -> Vec<KeyHint> {
    let tab = screen.tabs.get(screen.tabs.view.focused());
    let context = screen.settings.tab_context(&screen.documents, state);
    let wanted = tab.hints().iter().filter(|(actions, _)| is_wanted(actions));
    let hints = wanted.map(|(actions, what)| KeyHint {
        keys: actions
            .iter()
            .filter_map(|action| screen.keymap().action_key(action, screen.composer.focus))
            .collect(),
        label: what,
    });
    let is_there =
        |hint: &KeyHint| !hint.keys.is_empty() && tab.is_hint_useful(hint.label, &context);
    let is_useful = |hint: &KeyHint| is_there(hint) && is_hint_available(hint, screen, state, None);
    hints.filter(is_useful).collect()
}

/// Returns the hints for reading the chat. They come last, because scrolling also works.
pub(super) fn chat_hints(screen: &Screen) -> Vec<KeyHint> {
    let names: tabs::TabHints = if screen.tabs.chat.transcript.is_empty() {
        &[]
    } else {
        tabs::chat::CHAT_HINTS
    };
    let keymap = screen.keymap();
    let keys = |actions: &&[&str]| {
        let keys = actions.iter();
        keys.filter_map(|action| keymap.action_key(action, screen.composer.focus))
            .collect()
    };
    let hints = names.iter().map(|(actions, what)| KeyHint {
        keys: keys(actions),
        label: what,
    });
    hints.filter(|hint| !hint.keys.is_empty()).collect()
}

/// Returns what can be done with the lines of the plan beside the buttons of a dialog, which show their keys; `None` where
/// nothing can.
pub(super) fn plan_hints(
    screen: &Screen,
    state: Option<&RunState>,
    sheet: Option<&ChoiceDialog>,
) -> Option<Vec<FooterHint>> {
    let is_reading = screen.composer.focus == ComposerFocus::Unfocused;
    let is_plan = screen.tabs.view.focused() == TabKind::Plan;
    if !is_reading || !is_plan || !screen.picks_beside_buttons() {
        return None;
    }
    let is_own = |actions: &[&str]| matches!(actions, ["note" | "rewrite" | "filter"]);
    let mut hints = tab_hints_of(screen, state, is_own);
    hints.retain(|hint| !is_dialog_key(hint, screen, sheet));
    (!hints.is_empty()).then(|| hints.into_iter().map(FooterHint::from).collect())
}

/// Returns whether the tab in front has something that up and down select.
pub(super) fn has_entries(screen: &Screen, state: Option<&RunState>) -> bool {
    let tab = screen.tabs.get(screen.tabs.view.focused());
    let context = screen.settings.tab_context(&screen.documents, state);
    tab.hints()
        .iter()
        .any(|(_, label)| tab.is_hint_useful(label, &context))
}
