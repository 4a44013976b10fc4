//! The screen from outside: events and keys in, pictures and actions out.

mod agents;
mod chaos;
mod chat;
mod children;
mod diff;
mod discussion;
mod executing;
mod find;
mod hands;
mod look;
mod meant;
mod monkey;
mod panes;
mod pictures;
mod sizes;
mod stream;
mod typing;
mod undo;
mod world;
