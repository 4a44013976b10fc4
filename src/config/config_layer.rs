//! The layers of the configuration: where a setting comes from.

use strum::IntoStaticStr;

/// The origin of a setting; a later layer beats an earlier one, field by field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ConfigLayer {
    /// The shipped `config.toml`.
    Default,
    /// The user's own configuration.
    Global,
    /// `.agent-collab/config.toml` of the repository.
    Project,
    /// The file named by `--config`.
    File,
    /// A flag of the command line.
    Flag,
}

impl ConfigLayer {
    /// Names the layer in one lower-case word.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
