//! Whole discussions, played with scripted participants and a clock that the test holds.

mod failures;
mod flow;
pub(super) mod play;
mod pressure;
