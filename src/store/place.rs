//! A throw-away repository with a work directory, for the tests of this layer.
//!
//! Refuses to exist outside tests.

use tempfile::TempDir;

use super::{Guard, Layout, Names};

pub(super) struct Place {
    _root: TempDir,
    side: TempDir,
    pub(super) layout: Layout,
}

impl Place {
    pub(super) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let layout = Layout::new(root.path(), Names::default()).unwrap();
        let _ = layout.create().unwrap();
        Self {
            _root: root,
            side: tempfile::tempdir().unwrap(),
            layout,
        }
    }

    pub(super) fn guard(&self) -> Guard {
        Guard::open(&self.layout, self.side.path()).unwrap()
    }
}
