//! Closes abstract sockets of other programs to all children that a thread starts.
//!
//! Such sockets are not in the file system: bubblewrap can close them only together with the network.

#[cfg(target_os = "linux")]
use landlock::{
    CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated, RulesetError, Scope,
};

#[cfg(target_os = "linux")]
fn landlock_ruleset() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::AbstractUnixSocket)?
        .create()
}

/// Explains why abstract sockets cannot be closed here without the network; `None` if they can.
pub fn why_abstract_sockets_stay_open() -> Option<String> {
    #[cfg(target_os = "linux")]
    return landlock_ruleset().err().map(|error| error.to_string());
    #[cfg(not(target_os = "linux"))]
    None
}

/// Closes abstract sockets to everything that this thread starts from now on; this cannot be undone.
pub(super) fn close_abstract_sockets() {
    #[cfg(target_os = "linux")]
    if let Err(error) = landlock_ruleset().and_then(RulesetCreated::restrict_self) {
        tracing::warn!(%error, "abstract sockets of other programs stay open to contained processes");
    }
}
