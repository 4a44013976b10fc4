//! The files that the participants of a discussion are given: beneath the root, few and small, text, and read before
//! anything is started.
//!
//! What an agent names, it must be allowed to read itself. Refuses to know how a prompt quotes them.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::asked::Means;
use crate::engine::answering::paths_of;
use crate::engine::{Caller, news};
use crate::permission::{
    AgentToolCall, DecisionContext, PermissionAction, PhaseAccess, decide_call,
};
use crate::store::scoped_read::{FileText, ReadLimits, ScopedReadError, ScopedReader};

/// Why files are not given to the participants of a discussion.
#[derive(Debug, Error)]
pub enum SourceRefused {
    /// One cannot be read, or they are too many or too large.
    #[error("{code}: {file}; {hint}", code = file.code(), hint = file.hint())]
    File {
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

impl Means<'_> {
    /// The texts of files that somebody names.
    pub(super) fn sources(
        &self,
        caller: &Caller,
        names: &[String],
    ) -> Result<Vec<FileText>, SourceRefused> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        if let Caller::Session(_) = caller {
            for name in names {
                self.may_read(name)?;
            }
        }
        let root = ScopedReader::open(self.root);
        let root = root.map_err(|error| SourceRefused::Root(error.to_string()))?;
        Ok(root.read_texts(names, ReadLimits::default())?)
    }

    /// An agent gets into other prompts only what it may read unasked.
    fn may_read(&self, name: &str) -> Result<(), SourceRefused> {
        let call = AgentToolCall::Read {
            paths: vec![PathBuf::from(name)],
            search: None,
        };
        let context = DecisionContext {
            paths: paths_of(self.root, &call),
            ..(self.permissions).decision_context("plan", PhaseAccess::BeforeExecute, self.root)
        };
        let decision = decide_call(&call, &context);
        let workdir = self.layout.workdir();
        let is_own = |path: &Path| {
            path.starts_with(workdir)
                && !self.layout.document_paths().iter().any(|file| path == file)
        };
        if context.paths.iter().any(|path| is_own(&path.real)) {
            return Err(SourceRefused::Denied {
                name: news::line(name),
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
            PermissionAction::Ask | PermissionAction::Deny => Err(SourceRefused::Denied {
                name: news::line(name),
                why: format!("{} ({})", decision.reason.rule, decision.reason.origin),
            }),
        }
    }
}
