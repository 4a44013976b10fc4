//! An adapter under the name that the configuration gives it.

use crate::adapter::{Adapter, AdapterEntry, AdapterTraits, CliSpec, adapter_entry};
use crate::config::config_model::AdapterConfig;

/// An adapter with its name in the configuration.
#[derive(Debug, Clone)]
pub struct NamedAdapter {
    pub name: String,
    /// The program, arguments and environment that start it.
    pub settings: AdapterConfig,
    pub entry: AdapterEntry,
}

impl NamedAdapter {
    /// Finds the protocol of an adapter.
    pub fn new(name: String, settings: AdapterConfig) -> Self {
        Self {
            name,
            entry: adapter_entry(settings.kind),
            settings,
        }
    }

    /// Returns what its CLI can do.
    pub fn traits(&self) -> &'static AdapterTraits {
        self.entry.traits
    }

    /// Creates the adapter of a new conversation.
    pub fn new_adapter(&self) -> Box<dyn Adapter> {
        (self.entry.create)()
    }

    /// Returns how the adapter's program is started.
    pub fn cli_spec(&self) -> CliSpec {
        CliSpec {
            program: self.settings.program.clone(),
            args: self.settings.args.clone(),
            env: self.settings.env.clone(),
            model: self.settings.model.clone(),
        }
    }
}
