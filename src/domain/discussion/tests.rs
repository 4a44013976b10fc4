//! Whole discussions, played with scripted participants and a clock that the test holds.

pub(super) mod discussion_simulator;
mod failures;
mod round_order;
mod sycophancy;
