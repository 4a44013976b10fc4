//! The screen from outside: events and keys in, pictures and actions out.

mod chaos;
mod hands;
mod pictures;
mod world;
