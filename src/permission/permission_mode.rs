//! How much runs without asking: plan, default, auto-edit, yolo.
//!
//! A mode turns an ask into an allow and never lifts a floor; `plan` is itself a floor. A mode does not
//! change phases, profiles or gates.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// How much runs without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Mode {
    /// Nothing is written, and commands only read.
    Plan,
    /// What the rules say.
    #[default]
    Default,
    /// Edits inside the repository run without asking.
    AutoEdit,
    /// Everything runs without asking except for safety, protected paths, paths outside the repository, and loops.
    Yolo,
}

/// All modes, from strict to mild.
pub const MODES: [Mode; 4] = [Mode::Plan, Mode::Default, Mode::AutoEdit, Mode::Yolo];

impl Mode {
    /// Returns the mode's name in commands and files.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the mode's name as shown to the user.
    pub fn label(self) -> &'static str {
        match self {
            Self::Plan => "Read-only",
            Self::Default => "Ask",
            Self::AutoEdit => "Auto-edit",
            Self::Yolo => "Full access",
        }
    }

    /// Describes what the mode runs without asking.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Plan => "agents only read, in every phase",
            Self::Default => "your rules decide, the rest asks you",
            Self::AutoEdit => "repository edits run unasked",
            Self::Yolo => "only the safety rules still ask",
        }
    }

    /// Parses a mode by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        MODES.into_iter().find(|mode| mode.name() == name)
    }

    /// Returns the mode that Shift+Tab switches to; never yolo.
    pub fn next_in_cycle(self) -> Self {
        match self {
            Self::Default => Self::AutoEdit,
            Self::AutoEdit => Self::Plan,
            Self::Plan | Self::Yolo => Self::Default,
        }
    }

    /// Returns the mode for a run that is resumed: yolo does not survive a restart.
    pub fn after_restart(self) -> Self {
        match self {
            Self::Yolo => Self::Default,
            Self::Plan | Self::Default | Self::AutoEdit => self,
        }
    }

    /// Returns whether the mode turns an ask of this kind into an allow.
    pub(super) fn relaxes(self, asked: RelaxableAsk) -> bool {
        match (self, asked) {
            (_, RelaxableAsk::Never) | (Self::Plan | Self::Default, _) => false,
            (Self::AutoEdit, asked) => asked == RelaxableAsk::EditInside,
            (Self::Yolo, _) => true,
        }
    }
}

/// What an ask is about, as far as modes care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RelaxableAsk {
    /// An edit whose name and resolved path are inside the repository.
    EditInside,
    /// Anything else inside the repository.
    Other,
    /// Something outside the repository, or at an unknown place.
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_have_names_and_a_circle_that_leaves_yolo_out() {
        for mode in MODES {
            assert_eq!(Mode::from_name(mode.name()), Some(mode));
            assert_ne!(mode.next_in_cycle(), Mode::Yolo);
            assert_ne!(mode.after_restart(), Mode::Yolo);
            let json = serde_json::to_string(&mode).unwrap();
            assert_eq!(json, format!("\"{}\"", mode.name()));
        }
        assert_eq!(Mode::from_name("YOLO"), None);
        assert_eq!(
            Mode::default()
                .next_in_cycle()
                .next_in_cycle()
                .next_in_cycle(),
            Mode::default()
        );
    }

    #[test]
    fn only_two_modes_relax() {
        let check = |mode: Mode, expected: [bool; 3]| {
            let kinds = [
                RelaxableAsk::EditInside,
                RelaxableAsk::Other,
                RelaxableAsk::Never,
            ];
            assert_eq!(kinds.map(|kind| mode.relaxes(kind)), expected, "{mode:?}");
        };
        check(Mode::Plan, [false; 3]);
        check(Mode::Default, [false; 3]);
        check(Mode::AutoEdit, [true, false, false]);
        check(Mode::Yolo, [true, true, false]);
    }
}
