//! Tests whole discussions, with scripted participants and a clock controlled by the test.

pub(super) mod discussion_simulator;
mod failures;
mod round_order;
mod sycophancy;
