//! Tests that every review is settled by the rules of TRUTH.md, whatever reviewer and planner write.

pub(in crate::domain) mod document_events;
