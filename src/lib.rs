//! The library behind `agent-collab`, its modules in reading order: what the program knows
//! (`domain`, `permission`, `text`), whom it speaks to (`adapter`, `process`), what it keeps
//! (`store`, `config`, `prompts`), how it acts (`engine`), how it looks (`tui`) and how a person reaches it (`app`, `cli`).
//!
//! The arrows between the modules are a test: `tests/it/layers.rs`. Where there is no Unix the library is
//! empty, and the program refuses with a message.
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
