//! The files that the participants of a discussion are given: beneath the root, few and small, text, and read before
//! anything is started.
//!
//! What an agent names, it must be allowed to read itself. Refuses to know how a prompt quotes them.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::discussion_request::DiscussionPlanner;
use crate::engine::call_decision::resolve_call_paths;
use crate::engine::{TaskCaller, agent_activity};
use crate::permission::{
    AgentToolCall, DecisionContext, PermissionAction, PhaseAccess, decide_call,
};
use crate::store::scoped_read::{FileText, ReadLimits, ScopedReadError, ScopedReader};

/// Why files are not given to the participants of a discussion.
#[derive(Debug, Error)]
pub enum AttachmentError {
    /// One cannot be read, or they are too many or too large.
    #[error("{code}: {file}; {hint}", code = file.code(), hint = file.hint())]
    Unreadable {
        /// Which, and why.
        #[from]
        file: ScopedReadError,
    },
    /// Who names it may not read it.
    #[error("E_FILE_DENIED: {name:?} may not be read: {why}")]
    Denied {
        /// The file as it was named.
        name: String,
        /// The rule.
        why: String,
    },
    /// The repository itself cannot be opened.
    #[error("E_FILE_UNREADABLE: the repository cannot be opened: {0}")]
    Root(String),
}

impl DiscussionPlanner<'_> {
    /// The texts of files that somebody names.
    pub(super) fn read_attachments(
        &self,
        caller: &TaskCaller,
        names: &[String],
    ) -> Result<Vec<FileText>, AttachmentError> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        if let TaskCaller::Session(_) = caller {
            for name in names {
                self.check_readable(name)?;
            }
        }
        let root = ScopedReader::open(self.root);
        let root = root.map_err(|error| AttachmentError::Root(error.to_string()))?;
        Ok(root.read_texts(names, ReadLimits::default())?)
    }

    /// An agent gets into other prompts only what it may read unasked.
    fn check_readable(&self, name: &str) -> Result<(), AttachmentError> {
        let call = AgentToolCall::Read {
            paths: vec![PathBuf::from(name)],
            search: None,
        };
        let context = DecisionContext {
            paths: resolve_call_paths(self.root, &call),
            ..(self.permissions).decision_context("plan", PhaseAccess::BeforeExecute, self.root)
        };
        let decision = decide_call(&call, &context);
        let workdir = self.layout.workdir();
        let is_own = |path: &Path| {
            path.starts_with(workdir)
                && !self.layout.document_paths().iter().any(|file| path == file)
        };
        if context.paths.iter().any(|path| is_own(&path.real)) {
            return Err(AttachmentError::Denied {
                name: agent_activity::clean_line(name),
                why: "it is the program's own record of what was said".to_owned(),
            });
        }
        // What leads out of the repository is told as such by who opens it.
        let is_outside = !context
            .paths
            .iter()
            .all(|path| path.real.starts_with(self.root));
        match decision.action {
            PermissionAction::Allow => Ok(()),
            PermissionAction::Ask | PermissionAction::Deny if is_outside => Ok(()),
            PermissionAction::Ask | PermissionAction::Deny => Err(AttachmentError::Denied {
                name: agent_activity::clean_line(name),
                why: format!("{} ({})", decision.reason.rule, decision.reason.origin),
            }),
        }
    }
}
