//! Tests the whole program: the built binary, scripted agents, real repositories, real processes.
//!
//! One file per topic. Each test has its own home, repository and scripts, and a time limit; none
//! of them sleeps. The lab tests cover what only the real CLIs can show.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking, in what it is made of as well"
)]

mod left_behind;
mod leftovers;
mod limits;
mod programs;
mod repository;
mod script;
mod world;

mod agents;
mod answers;
mod approval;
mod baseline;
mod branches;
mod changes;
mod child_questions;
mod commands;
mod commits;
mod demo;
mod dirty;
mod discussions;
mod documents;
mod export;
mod failures;
mod guarded;
mod held_back;
mod held_edits;
mod history;
mod killed_children;
mod lies;
mod permissions;
mod places;
mod plan_status;
mod prompts;
mod record;
mod recovery;
mod review;
mod scope;
mod scrub;
mod secrets;
mod sent;
mod sessions;
mod several_runners;
mod silence;
mod step_results;
mod step_tests;
mod stopping;
mod tasks;
mod test_commands;
mod tested;
mod threads;
mod tools;
mod undo;
mod unheld;
mod user_plan;
mod verify;
mod writing;
