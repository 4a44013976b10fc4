//! Remembers what was found out about trees: they never change, and a step asks for the same ones many times.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::TreeId;
use super::git_trees::TreeChange;

/// How many results of each kind are kept.
const MAX_KEPT: usize = 16;

/// A tree, and the paths whose contents are replaced in it.
pub(super) type ReplacedContents = (TreeId, BTreeMap<PathBuf, Option<String>>);

/// The newest results; clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct TreeCache {
    pub(super) changes: RecentResults<(TreeId, TreeId), Arc<Vec<TreeChange>>>,
    pub(super) trees: RecentResults<ReplacedContents, TreeId>,
}

/// Results by what they were computed from, the newest last.
#[derive(Debug, Clone)]
pub(super) struct RecentResults<K, V>(Arc<Mutex<VecDeque<(K, V)>>>);

impl<K, V> Default for RecentResults<K, V> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: PartialEq, V: Clone> RecentResults<K, V> {
    pub(super) fn find(&self, key: &K) -> Option<V> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value.clone())
    }

    pub(super) fn keep(&self, key: K, value: V) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((key, value));
        if kept.len() > MAX_KEPT {
            kept.pop_front();
        }
    }
}
