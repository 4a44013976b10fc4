//! Reads discussions as they are on disk beside the record of their run, for display from outside.
//!
//! Does not write them: the owner of the run does, through the guard.

use crate::domain::discussion::GroupDiscussion;
use crate::domain::ids::DiscussionId;

use super::{StoreError, WorkdirLayout, nofollow_fs};

/// The schema number of a discussion on disk, and of its result as data.
pub const SCHEMA: u64 = 1;
/// The maximum size of a discussion file that is read, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Loads a discussion from disk while another process may be writing it; `None` if there is none.
///
/// # Errors
/// The file cannot be read.
pub fn load_discussion(
    layout: &WorkdirLayout,
    id: &DiscussionId,
) -> Result<Option<GroupDiscussion>, StoreError> {
    nofollow_fs::read_json(&layout.discussion_file(id), MAX_BYTES)
}
