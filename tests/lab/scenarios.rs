//! Lists all scenarios in their start order; the capability table has its rows in the same order.

use crate::report::Notes;

mod answered;
mod bare;
mod before_execute;
mod blocked_step;
mod contained;
mod discussing;
mod failures;
mod foreign_client;
mod hooked;
mod hostile;
mod instructions;
mod killed;
mod killed_cli;
mod killed_talk;
mod killed_tasks;
mod limits;
mod lost_session;
mod may_do;
mod missing_tools;
mod own_rules;
mod pending;
mod permission;
mod proven;
mod refused;
mod review_ends;
mod steered;
mod stopped;
mod tasks;
mod tools;
mod two_clis;
mod unread;
mod whole_run;
mod writing;

/// One scenario: its name is a true sentence, its body panics when the sentence is wrong.
pub struct Scenario {
    pub name: &'static str,
    pub play: fn(&mut Notes),
}

const fn scenario(name: &'static str, play: fn(&mut Notes)) -> Scenario {
    Scenario { name, play }
}

/// The scenarios with the CLIs alone.
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

/// The scenarios through the program.
pub const THROUGH_THE_PROGRAM: &[Scenario] = &[
    scenario("codex_plans_and_executes_claude_reviews", whole_run::usual),
    scenario(
        "claude_plans_and_executes_codex_reviews",
        whole_run::swapped,
    ),
    scenario("codex_has_both_roles", whole_run::codex_twice),
    scenario("claude_has_both_roles", whole_run::claude_twice),
    scenario(
        "the_steps_of_codex_are_proven_and_a_clone_confirms_them",
        proven::usual,
    ),
    scenario(
        "the_steps_of_claude_are_proven_and_a_clone_confirms_them",
        proven::swapped,
    ),
    scenario(
        "what_codex_asks_and_nobody_allows_does_not_happen",
        permission::codex_declined,
    ),
    scenario(
        "what_claude_asks_and_nobody_allows_does_not_happen",
        permission::claude_declined,
    ),
    scenario(
        "what_codex_runs_outside_of_its_sandbox_no_rule_allows",
        permission::codex_allowed,
    ),
    scenario(
        "what_claude_asks_and_a_rule_allows_happens",
        permission::claude_allowed,
    ),
    scenario(
        "what_codex_runs_outside_of_its_sandbox_yolo_does_not_allow",
        permission::codex_in_yolo,
    ),
    scenario(
        "nothing_is_written_in_read_only_codex_executing",
        permission::codex_read_only,
    ),
    scenario(
        "nothing_is_written_in_read_only_claude_executing",
        permission::claude_read_only,
    ),
    scenario(
        "what_is_held_back_reaches_no_model_codex_planning",
        unread::usual,
    ),
    scenario(
        "what_is_held_back_reaches_no_model_claude_planning",
        unread::swapped,
    ),
    scenario(
        "calls_of_tools_that_agents_do_not_have_are_stopped_and_on_record",
        missing_tools::usual,
    ),
    scenario(
        "an_allow_rule_of_claudes_own_settings_does_not_act_unseen",
        own_rules::claude,
    ),
    scenario(
        "an_allow_rule_of_codexs_own_settings_does_not_act_unseen",
        own_rules::codex,
    ),
    scenario(
        "nothing_is_written_before_execute_codex_planning",
        before_execute::usual,
    ),
    scenario(
        "nothing_is_written_before_execute_claude_planning",
        before_execute::swapped,
    ),
    scenario(
        "the_system_holds_claude_when_every_call_is_allowed",
        contained::claude,
    ),
    scenario(
        "readmes_table_of_what_an_agent_may_do_is_true_of_codex",
        may_do::codex,
    ),
    scenario(
        "readmes_table_of_what_an_agent_may_do_is_true_of_claude",
        may_do::claude,
    ),
    scenario("codex_asks_before_each_call", hooked::codex),
    scenario(
        "plans_and_reviews_are_handed_in_as_data_codex_planning",
        tools::handed_in_usual,
    ),
    scenario(
        "plans_and_reviews_are_handed_in_as_data_claude_planning",
        tools::handed_in_swapped,
    ),
    scenario(
        "a_fresh_session_judges_a_dispute_and_the_user_decides_codex_planning",
        review_ends::dispute_usual,
    ),
    scenario(
        "a_fresh_session_judges_a_dispute_and_the_user_decides_claude_planning",
        review_ends::dispute_swapped,
    ),
    scenario(
        "a_review_of_a_plan_that_goes_back_to_an_earlier_text_stops_codex_planning",
        review_ends::circle_usual,
    ),
    scenario(
        "a_review_of_a_plan_that_goes_back_to_an_earlier_text_stops_claude_planning",
        review_ends::circle_swapped,
    ),
    scenario(
        "a_true_blocker_that_comes_late_waits_for_the_user_codex_planning",
        review_ends::late_blocker_usual,
    ),
    scenario(
        "a_true_blocker_that_comes_late_waits_for_the_user_claude_planning",
        review_ends::late_blocker_swapped,
    ),
    scenario(
        "a_reviewer_is_asked_once_for_files_that_it_did_not_open_codex_planning",
        review_ends::unopened_usual,
    ),
    scenario(
        "a_reviewer_is_asked_once_for_files_that_it_did_not_open_claude_planning",
        review_ends::unopened_swapped,
    ),
    scenario(
        "a_step_blocked_by_a_tool_call_is_planned_again_and_done_codex_planning",
        blocked_step::replanned_usual,
    ),
    scenario(
        "a_step_blocked_by_a_tool_call_is_planned_again_and_done_claude_planning",
        blocked_step::replanned_swapped,
    ),
    scenario(
        "a_result_left_out_is_asked_for_and_a_blocked_step_is_skipped_codex_planning",
        blocked_step::skipped_usual,
    ),
    scenario(
        "a_result_left_out_is_asked_for_and_a_blocked_step_is_skipped_claude_planning",
        blocked_step::skipped_swapped,
    ),
    scenario(
        "an_executor_goes_back_to_planning_codex",
        tools::again_codex,
    ),
    scenario(
        "an_executor_goes_back_to_planning_claude",
        tools::again_claude,
    ),
    scenario(
        "an_agent_of_codex_has_the_tools_of_its_session",
        tools::codex,
    ),
    scenario(
        "an_agent_of_claude_has_the_tools_of_its_session",
        tools::claude,
    ),
    scenario("both_clis_discuss_and_decide", discussing::debate),
    scenario(
        "no_participant_sees_what_others_said_before_it_spoke",
        discussing::independence,
    ),
    scenario(
        "another_client_of_the_protocol_has_the_same_tools",
        foreign_client::plays,
    ),
    scenario(
        "what_codex_waits_for_too_long_is_told_with_its_next_turn",
        pending::codex,
    ),
    scenario(
        "what_claude_waits_for_too_long_is_told_with_its_next_turn",
        pending::claude,
    ),
    scenario("codex_gives_tasks_that_claude_does", tasks::codex),
    scenario("claude_gives_tasks_that_codex_does", tasks::claude),
    scenario(
        "tasks_that_a_kill_cut_off_go_on_by_their_ids_claude_doing",
        killed_tasks::claude_does,
    ),
    scenario(
        "tasks_that_a_kill_cut_off_go_on_by_their_ids_codex_doing",
        killed_tasks::codex_does,
    ),
    scenario("codex_writes_in_a_tree_of_its_own", writing::codex),
    scenario("claude_writes_in_a_tree_of_its_own", writing::claude),
    scenario("what_codex_asks_is_answered_on_the_screen", answered::codex),
    scenario(
        "what_claude_asks_is_answered_on_the_screen",
        answered::claude,
    ),
    scenario(two_clis::NAME, two_clis::same),
    scenario(
        "hostile_settings_run_nothing_codex_executing",
        hostile::usual,
    ),
    scenario(
        "hostile_settings_run_nothing_claude_executing",
        hostile::swapped,
    ),
    scenario(
        "instructions_wait_for_trust_codex_planning",
        instructions::usual,
    ),
    scenario(
        "instructions_wait_for_trust_claude_planning",
        instructions::swapped,
    ),
    scenario(
        "a_missing_or_older_cli_is_refused_before_anything_happens",
        refused::both,
    ),
    scenario(
        "what_the_user_says_in_the_middle_of_a_turn_reaches_codex",
        steered::codex,
    ),
    scenario(
        "what_the_user_says_in_the_middle_of_a_turn_reaches_claude",
        steered::claude,
    ),
    scenario(
        "ctrl_c_in_the_middle_of_a_turn_ends_codex",
        stopped::codex_interrupted,
    ),
    scenario(
        "ctrl_c_in_the_middle_of_a_turn_ends_claude",
        stopped::claude_interrupted,
    ),
    scenario(
        "what_a_killed_program_left_of_codex_is_ended_by_the_next_start",
        stopped::codex_orphaned,
    ),
    scenario(
        "what_a_killed_program_left_of_claude_is_ended_by_the_next_start",
        stopped::claude_orphaned,
    ),
    scenario(
        "a_run_killed_in_each_phase_ends_the_same_codex_planning",
        killed::each_phase_usual,
    ),
    scenario(
        "a_run_killed_in_each_phase_ends_the_same_claude_planning",
        killed::each_phase_swapped,
    ),
    scenario(
        "a_talk_about_the_goal_that_was_killed_goes_on_codex_planning",
        killed_talk::usual,
    ),
    scenario(
        "a_talk_about_the_goal_that_was_killed_goes_on_claude_planning",
        killed_talk::swapped,
    ),
    scenario(
        "a_run_killed_between_some_lines_ends_the_same_codex_planning",
        killed::some_lines_usual,
    ),
    scenario(
        "a_run_killed_between_some_lines_ends_the_same_claude_planning",
        killed::some_lines_swapped,
    ),
    scenario(
        "a_run_lives_through_the_death_of_each_cli_codex_planning",
        killed_cli::usual,
    ),
    scenario(
        "a_run_lives_through_the_death_of_each_cli_claude_planning",
        killed_cli::swapped,
    ),
    scenario(
        "conversations_whose_files_are_gone_begin_anew",
        lost_session::deleted,
    ),
    scenario(
        "conversations_that_the_clis_do_not_know_begin_anew",
        lost_session::unknown,
    ),
    scenario(
        "a_run_lives_through_a_stumbling_server_codex_planning",
        failures::stumbling_usual,
    ),
    scenario(
        "a_run_lives_through_a_stumbling_server_claude_planning",
        failures::stumbling_swapped,
    ),
    scenario(
        "codex_without_a_valid_login_is_told",
        failures::codex_unauthorised,
    ),
    scenario(
        "claude_without_a_valid_login_is_told",
        failures::claude_unauthorised,
    ),
    scenario("codex_without_a_server_gives_up", failures::codex_down),
    scenario("claude_without_a_server_gives_up", failures::claude_down),
    scenario(
        "an_answer_of_1_mb_is_read_codex_planning",
        failures::long_usual,
    ),
    scenario(
        "an_answer_of_1_mb_is_read_claude_planning",
        failures::long_swapped,
    ),
    scenario("used_up_plans_are_waited_out", limits::waited_out),
    scenario(
        "a_used_up_codex_leaves_its_role_to_claude",
        limits::left_to_claude,
    ),
];

/// Searches that last half an hour each: only by hand, and in no table.
pub const LONG: &[Scenario] = &[
    scenario(
        "a_run_killed_after_any_line_ends_the_same_codex_planning",
        killed::every_line_usual,
    ),
    scenario(
        "a_run_killed_after_any_line_ends_the_same_claude_planning",
        killed::every_line_swapped,
    ),
];

/// Every scenario of a usual run.
pub fn all() -> impl Iterator<Item = &'static Scenario> {
    ALL.iter().chain(THROUGH_THE_PROGRAM)
}
