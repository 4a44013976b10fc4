//! The shell around a run: start-up, the loop, signals, the end.
//!
//! The only place, with `cli`, that knows all the others; nobody knows it.

mod agent_list;
pub mod auto_answers;
pub mod diff_backend;
pub mod discussion_command;
pub mod doctor_checks;
pub mod export;
pub mod headless;
mod ipc_client;
pub mod ipc_socket;
mod local_timezone;
pub mod log_setup;
mod oneshot_engine;
pub mod remote_control;
pub mod run_diff;
pub mod run_history;
pub mod run_reporter;
pub mod session_commands;
pub mod startup;
pub mod task_command;
pub mod terminal;
pub mod tui_loop;
pub mod ui_config;
pub mod write_watchdog;
