//! Builds the sandbox of a child's process and the list of paths that are hidden from it.

use std::path::PathBuf;

use crate::adapter::TurnAccess;
use crate::domain::task::TaskOrder;
use crate::engine::read_target_resolver::find_denied_files;
use crate::engine::run_setup::NamedAdapter;
use crate::engine::sandbox::TurnSandbox;
use crate::engine::{Engine, codex_sandbox_escapes, runtime_dir};
use crate::process::SandboxSupport;

impl Engine {
    /// Returns the paths hidden from the child's commands: the tool sockets of sessions and, in a discussion,
    /// what others said.
    pub(super) fn paths_hidden_from_child(&self, order: &TaskOrder) -> Vec<PathBuf> {
        let layout = self.journal.layout();
        let said = order.speaks.iter().flat_map(|_| layout.record_paths());
        let there = said.filter(|path| path.exists());
        runtime_dir::user_runtime_dirs()
            .into_iter()
            .chain(there)
            .collect()
    }

    /// Returns the sandbox of the process, if its CLI has no sandbox of its own.
    pub(super) fn child_sandbox(
        &self,
        order: &TaskOrder,
        adapter: &NamedAdapter,
        access: TurnAccess,
    ) -> TurnSandbox {
        let (setup, layout) = (&self.setup, self.journal.layout());
        let root = order.tree.as_ref().unwrap_or(&setup.root);
        TurnSandbox {
            denied_files: find_denied_files(root, &setup.permissions.rules(&order.agent)),
            support: if setup.config.safety.contain_agents {
                setup.sandbox_support.clone()
            } else {
                SandboxSupport::Unavailable("safety.contain_agents is off".to_owned())
            },
            root: root.clone(),
            read_only_folders: Vec::new(),
            workdir: layout.workdir().to_owned(),
            // A participant sees what others said only when the program passes it on, not before.
            visible_workdir_files: order
                .speaks
                .is_some()
                .then(|| layout.document_paths().into()),
            staging: layout.staging_folder(&order.session),
            access,
            writable: adapter.settings.writable.clone(),
            sandbox_escapes: codex_sandbox_escapes::find_sandbox_escapes(adapter),
            tools_folder: None,
        }
    }
}
