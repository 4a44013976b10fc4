//! What holds a child's process, and what is kept from it.
//!
//! Refuses to know how the kernel or a CLI's own sandbox do so.

use std::path::PathBuf;

use crate::adapter::TurnAccess;
use crate::domain::task::TaskOrder;
use crate::engine::containing::Holder;
use crate::engine::reads::denied_files;
use crate::engine::setup::NamedAdapter;
use crate::engine::{Engine, codex_rules, scratch};
use crate::process::SandboxSupport;

impl Engine {
    /// What the child's commands do not see: the tools of sessions, and, in a discussion, what others said.
    pub(super) fn kept_from(&self, order: &TaskOrder) -> Vec<PathBuf> {
        let layout = self.journal.layout();
        let said = order.speaks.iter().flat_map(|_| layout.record_paths());
        let there = said.filter(|path| path.exists());
        scratch::of_all_runs().into_iter().chain(there).collect()
    }

    /// What holds its process, where its CLI has no sandbox of its own.
    pub(super) fn holder_of(
        &self,
        order: &TaskOrder,
        adapter: &NamedAdapter,
        access: TurnAccess,
    ) -> Holder {
        let (setup, layout) = (&self.setup, self.journal.layout());
        let root = order.tree.as_ref().unwrap_or(&setup.root);
        Holder {
            unread: denied_files(root, &setup.permissions.rules(&order.agent)),
            kernel: match setup.config.safety.contain_agents {
                true => setup.kernel.clone(),
                false => SandboxSupport::Unavailable("safety.contain_agents is off".to_owned()),
            },
            root: root.clone(),
            closed: Vec::new(),
            workdir: layout.workdir().to_owned(),
            // Who takes part in a discussion sees what others said when it is told, and not before.
            shown: order
                .speaks
                .is_some()
                .then(|| layout.document_paths().into()),
            staging: layout.staging_folder(&order.session),
            access,
            writable: adapter.settings.writable.clone(),
            ways_out: codex_rules::ways_out(&adapter.settings),
            tools: None,
        }
    }
}
