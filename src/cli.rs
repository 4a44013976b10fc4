//! (being written)

pub mod scripted_agent;
