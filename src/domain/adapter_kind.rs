//! Names the adapters that a configuration can choose.
//!
//! What the CLI of a kind can do is said by its adapter, in `AdapterTraits`; nothing else asks which kind it is.

use serde::Deserialize;
use strum::{EnumIter, EnumString, IntoStaticStr, VariantNames};

/// The protocols that an adapter can speak.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Deserialize,
    EnumIter,
    EnumString,
    IntoStaticStr,
    VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum AdapterKind {
    /// `codex app-server`.
    Codex,
    /// `claude` with stream-json.
    Claude,
    /// A program that reads a prompt and writes an answer.
    Pipe,
}

impl AdapterKind {
    /// Names the kind as the configuration does.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns the program to start if the configuration names none: the one named like the kind. `None` if the
    /// configuration must name one.
    pub fn default_program(self) -> Option<&'static str> {
        (self != Self::Pipe).then(|| self.as_str())
    }
}
