//! The library behind `agent-collab`; the modules in reading order: the pure rules (`domain`, `permission`, `text`),
//! the agents and processes (`adapter`, `process`), configuration, tools and storage (`config`, `mcp`, `prompts`,
//! `store`), the engine (`engine`), the scripted agents (`scripted`), the screen (`tui`), and the program around them
//! (`app`, `cli`).
//!
//! The test `tests/it/layers.rs` checks which module may use which. On systems other than Unix the library is empty,
//! and the program ends with a message.
#![cfg(unix)]

pub mod domain;
pub mod permission;
pub mod text;

pub mod adapter;
pub mod process;

pub mod config;
pub mod mcp;
pub mod prompts;
pub mod store;

pub mod engine;
pub mod scripted;

pub mod tui;

pub mod app;
pub mod cli;
