//! (being written)

pub mod config;
pub mod scripted_agent;
pub mod trust;
