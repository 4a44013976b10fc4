//! (being written)
pub mod git;
