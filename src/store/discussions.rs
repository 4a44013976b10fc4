//! Discussions as they lie on disk beside the record of their run, to be looked at from outside.
//!
//! Refuses to write them: the owner of the run does, through the guard.

use crate::domain::discussion::Discussion;
use crate::domain::ids::DiscussionId;

use super::{Layout, StoreError, plain};

/// The schema number of a discussion on disk, and of its result as data.
pub const SCHEMA: u64 = 1;
/// The largest file of a discussion that is read, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Reads a discussion as it lies on disk, whoever writes it; `None` where there is none.
///
/// # Errors
/// It cannot be read.
pub fn stored(layout: &Layout, id: &DiscussionId) -> Result<Option<Discussion>, StoreError> {
    let path = layout.discussion(id);
    let Some(bytes) = plain::read(&path, MAX_BYTES)? else {
        return Ok(None);
    };
    let read = serde_json::from_slice(&bytes);
    read.map(Some).map_err(|error| StoreError::Damaged {
        line: error.line().max(1) as u64,
        reason: error.to_string(),
        path,
    })
}
