//! All scenarios, in the order in which they start; the capability table has its rows in the same order.

use crate::report::Notes;

mod bare;

/// One scenario: its name is a true sentence, its body panics when the sentence is wrong.
pub struct Scenario {
    /// The name.
    pub name: &'static str,
    /// The body.
    pub play: fn(&mut Notes),
}

const fn scenario(name: &'static str, play: fn(&mut Notes)) -> Scenario {
    Scenario { name, play }
}

/// Every scenario.
pub const ALL: &[Scenario] = &[
    scenario("codex_exec_alone_speaks_to_the_server", bare::codex_exec),
    scenario("codex_app_server_alone_runs_tools", bare::codex_app_server),
    scenario("claude_alone_runs_tools", bare::claude),
    scenario(
        "both_alone_live_through_a_stumbling_server",
        bare::stumbling_server,
    ),
    scenario(
        "codex_alone_reads_instructions_unless_told_not_to",
        bare::codex_instructions,
    ),
    scenario(
        "claude_alone_reads_instructions_unless_told_not_to",
        bare::claude_instructions,
    ),
];
