//! Everything around a run: startup, the main loop, signals, shutdown.
//!
//! Only `app` and `cli` may use all other modules; no other module may use them.

mod agent_list;
pub mod auto_answers;
pub mod diff_backend;
pub mod discussion_command;
pub mod doctor_checks;
pub mod export;
pub mod headless;
mod headless_signals;
mod ipc_client;
pub mod ipc_socket;
mod local_timezone;
pub mod log_setup;
mod oneshot_engine;
pub mod receipt_verification;
pub mod remote_control;
pub mod run_diff;
pub mod run_history;
pub mod run_reporter;
pub mod session_commands;
mod session_retention;
pub mod startup;
pub mod task_command;
pub mod terminal;
pub mod tui_loop;
pub mod ui_config;
pub mod write_watchdog;

#[cfg(test)]
mod version_0_1_tests;
