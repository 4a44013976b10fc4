//! Reads the files that a discussion attaches for its participants, before anything starts: text files below
//! the root, limited in number and size.
//!
//! An agent may attach only what it may read itself.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::discussion_planner::DiscussionPlanner;
use crate::engine::call_paths::resolve_call_paths;
use crate::engine::{TaskCaller, agent_activity};
use crate::permission::{
    AgentToolCall, DecisionContext, PermissionAction, PhaseAccess, decide_call,
};
use crate::store::scoped_read::{FileText, ReadLimits, ScopedReadError, ScopedReader};

/// Explains why files could not be attached to a discussion.
#[derive(Debug, Error)]
pub enum AttachmentError {
    /// A file cannot be read, or the files are too many or too large.
    #[error("{code}: {file}; {hint}", code = file.code(), hint = file.hint())]
    Unreadable {
        /// The file and the reason.
        #[from]
        file: ScopedReadError,
    },
    /// The agent that named the file may not read it.
    #[error("E_FILE_DENIED: {name:?} may not be read: {why}")]
    Denied {
        /// The file name as it was given.
        name: String,
        /// The rule that denies it.
        why: String,
    },
    /// The repository itself cannot be opened.
    #[error("E_FILE_UNREADABLE: the repository cannot be opened: {0}")]
    Root(String),
}

impl DiscussionPlanner<'_> {
    /// Reads the texts of the files that the user or an agent names.
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

    /// Checks that an agent may read a file without asking; only such a file gets into the prompts of others.
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
        // Paths outside of the repository are reported by the code that opens the file.
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
