//! One file a tool: the type of its arguments, when to use it and when not.

pub mod session_manage;
pub mod task;
pub mod todoread;
pub mod todowrite;
