//! One file per tool: the type of its arguments, when to use it and when not.

pub mod ask_user;
pub mod group_discuss;
pub mod group_discuss_context;
pub mod plan_enter;
pub mod plan_exit;
pub mod plan_submit;
pub mod review_submit;
pub mod session_manage;
pub mod step_result;
pub mod task;
pub mod todoread;
pub mod todowrite;
