//! Provides a temporary repository with a work directory, for the tests of this layer.

use tempfile::TempDir;

use super::{TamperGuard, WorkdirLayout, WorkdirNames};

pub(super) struct TestRepo {
    _root: TempDir,
    side_folder: TempDir,
    pub(super) layout: WorkdirLayout,
}

impl TestRepo {
    pub(super) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let layout = WorkdirLayout::new(root.path(), WorkdirNames::default()).unwrap();
        let _ = layout.create().unwrap();
        Self {
            _root: root,
            side_folder: tempfile::tempdir().unwrap(),
            layout,
        }
    }

    pub(super) fn open_guard(&self) -> TamperGuard {
        TamperGuard::open(&self.layout, self.side_folder.path()).unwrap()
    }
}
