//! The screen from outside: events and keys in, pictures and actions out.

mod agents;
mod chaos;
mod chat;
mod children;
mod choices;
mod commands;
mod diff;
mod discussion;
mod executing;
mod find;
mod hands;
mod look;
mod meant;
mod monkey;
mod mouse;
mod outcome;
mod panes;
mod pictures;
pub(super) mod sites;
mod sizes;
mod stream;
mod styles;
mod todos;
mod typing;
mod undo;
mod world;
