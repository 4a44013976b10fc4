//! Discussions as they lie on disk beside the record of their run, to be looked at from outside.
//!
//! Refuses to write them: the owner of the run does, through the guard.

use crate::domain::discussion::GroupDiscussion;
use crate::domain::ids::DiscussionId;

use super::{StoreError, WorkdirLayout, nofollow_fs};

/// The schema number of a discussion on disk, and of its result as data.
pub const SCHEMA: u64 = 1;
/// The largest file of a discussion that is read, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Reads a discussion as it lies on disk, whoever writes it; `None` where there is none.
///
/// # Errors
/// It cannot be read.
pub fn load_discussion(
    layout: &WorkdirLayout,
    id: &DiscussionId,
) -> Result<Option<GroupDiscussion>, StoreError> {
    nofollow_fs::read_json(&layout.discussion_file(id), MAX_BYTES)
}
