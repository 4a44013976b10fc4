//! Tests of the screen from outside: events and keys in, drawn frames and actions out.

mod agents;
mod anew;
mod chaos;
mod chat;
mod children;
mod choices;
mod commands;
mod diff;
mod discussion;
mod ends;
mod executing;
mod find;
mod focus;
mod frames;
mod gallery;
mod hands;
mod look;
mod meant;
mod monkey;
mod mouse;
mod nasty;
mod outcome;
mod panes;
mod pictures;
mod settled;
pub(super) mod sites;
mod sizes;
mod stopping;
mod stream;
mod styles;
mod todos;
mod typing;
mod undo;
mod unseen;
mod world;

pub(super) use world::created;
