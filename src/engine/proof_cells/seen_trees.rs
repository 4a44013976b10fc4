//! Remembers the trees that this process laid down: one is not laid down again, and neither is a copy in which nothing has
//! run yet.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::carried_folders::{CarriedFolders, OwnPaths};
use crate::engine::git::{MissingContent, TreeId};

/// What is known of the trees that were laid down; clones share it.
#[derive(Debug, Clone, Default)]
pub(in crate::engine) struct SeenTrees {
    /// What they have of their own, by tree.
    own_paths: Arc<Mutex<BTreeMap<String, OwnPaths>>>,
    /// The copies that were laid down for later cells, by their places.
    ready_copies: Arc<Mutex<BTreeMap<PathBuf, ReadyCopy>>>,
}

/// A copy in which nothing ran since it was laid down.
#[derive(Debug, Clone)]
struct ReadyCopy {
    tree: TreeId,
    missing: Vec<MissingContent>,
}

impl SeenTrees {
    /// Keeps a copy that was laid down for a later cell.
    pub(super) fn keep_ready(&self, slot: PathBuf, tree: TreeId, missing: Vec<MissingContent>) {
        let mut ready = lock(&self.ready_copies);
        ready.insert(slot, ReadyCopy { tree, missing });
    }

    /// Takes the copy at a place that is about to be used, and returns what its tree lacks; `None` where there is none of
    /// this tree. In either case there is none any more.
    pub(super) fn take_ready(&self, slot: &Path, tree: &TreeId) -> Option<Vec<MissingContent>> {
        let copy = lock(&self.ready_copies).remove(slot)?;
        (copy.tree == *tree).then_some(copy.missing)
    }

    /// Remembers a tree that was just laid down. One of which this machine lacks something is not remembered: it may get
    /// what is missing.
    pub(super) fn keep(&self, tree: &TreeId, missing: &[MissingContent], carried: &CarriedFolders) {
        if missing.is_empty() {
            let own = carried.own_paths.clone();
            lock(&self.own_paths).insert(tree.0.clone(), own);
        }
    }

    pub(super) fn find(&self, tree: &TreeId) -> Option<OwnPaths> {
        lock(&self.own_paths).get(&tree.0).cloned()
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_is_ready_is_taken_once_and_for_its_tree_only() {
        let (seen, slot) = (SeenTrees::default(), Path::new("/cells/old"));
        let tree = |name: &str| TreeId(name.to_owned());
        seen.keep_ready(slot.to_owned(), tree("red"), Vec::new());
        assert_eq!(seen.take_ready(slot, &tree("red")), Some(Vec::new()));
        assert_eq!(seen.take_ready(slot, &tree("red")), None);
        seen.keep_ready(slot.to_owned(), tree("red"), Vec::new());
        assert_eq!(seen.take_ready(slot, &tree("old")), None);
        // Its place is in use now.
        assert_eq!(seen.take_ready(slot, &tree("red")), None);
    }
}
