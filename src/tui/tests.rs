//! The screen from outside: events and keys in, pictures and actions out.

mod chaos;
mod chat;
mod diff;
mod hands;
mod look;
mod panes;
mod pictures;
mod typing;
mod undo;
mod world;
