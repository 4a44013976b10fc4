//! The adapters of all kinds: for each its constructor, which also gives its traits.
//!
//! This is the only place that matches on [`AdapterKind`]; a test in `tests/it/adapters.rs` checks that.

use super::claude::ClaudeAdapter;
use super::codex::CodexAdapter;
use super::pipe::PipeAdapter;
use super::{Adapter, AdapterTraits};
use crate::domain::adapter_kind::AdapterKind;

/// Returns the adapter of a kind.
pub fn adapter_entry(kind: AdapterKind) -> AdapterEntry {
    match kind {
        AdapterKind::Codex => AdapterEntry::for_type::<CodexAdapter>(),
        AdapterKind::Claude => AdapterEntry::for_type::<ClaudeAdapter>(),
        AdapterKind::Pipe => AdapterEntry::for_type::<PipeAdapter>(),
    }
}

/// A kind of adapter as the rest of the program uses it.
#[derive(Debug, Clone, Copy)]
pub struct AdapterEntry {
    /// What its CLI can do.
    pub traits: &'static AdapterTraits,
    /// Creates the adapter of a new conversation.
    pub create: fn() -> Box<dyn Adapter>,
}

impl AdapterEntry {
    /// Makes the entry of an adapter type.
    pub fn for_type<A: Adapter + Default + 'static>() -> Self {
        Self {
            traits: A::default().traits(),
            create: || Box::new(A::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use strum::IntoEnumIterator;

    use super::*;
    use crate::adapter::{AgentSandbox, SandboxProvider, SessionSpec, TurnAccess, TurnSpec};
    use crate::domain::ids::TurnId;

    #[test]
    fn an_adapter_is_named_like_its_kind_and_launches_as_its_traits_say() {
        let turn = TurnSpec {
            turn: TurnId::new("t"),
            prompt: "p".to_owned(),
            access: TurnAccess::ReadOnly,
            hidden_permissions: Vec::new(),
        };
        for kind in AdapterKind::iter() {
            let AdapterEntry { traits, create } = adapter_entry(kind);
            assert_eq!(traits.cli_name, kind.as_str());
            let launch = create().prepare_launch(&SessionSpec::example("p"), &turn);
            let agrees = matches!(
                (&traits.sandbox, &launch.sandbox),
                (AgentSandbox::Cli { .. }, SandboxProvider::Cli)
                    | (AgentSandbox::AgentCollab, SandboxProvider::AgentCollab(_))
                    | (AgentSandbox::NoSandbox(_), SandboxProvider::NoSandbox)
            );
            assert!(agrees, "{kind:?}: {:?}", launch.sandbox);
        }
    }
}
