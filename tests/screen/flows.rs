//! Plays the workflow as its user does: keys in, the screen out, and then the files in `.agent-collab/`.
//!
//! Which test plays which requirement of the workflow; `tests/it/flows.rs` checks that each test exists:
//!
//! | number | what has to be so | played by |
//! |---|---|---|
//! | R014 | no turn begins before its release | `gate::nothing_begins_before_its_release_and_what_is_sent_is_read_first` |
//! | R015 | what the last turn made and what the next is sent can be read before | `gate::nothing_begins_before_its_release_and_what_is_sent_is_read_first`, `demo::a_whole_run_is_played_by_keys` |
//! | R016 | in the auto gate turns follow each other | `gate::auto_goes_up_to_the_approval_and_y_executes` |
//! | R017 | P lets the turn end and holds the next | `gate::p_in_a_turn_lets_it_end_and_holds_the_next`, `gate::a_plan_that_its_user_edits_while_it_is_reviewed_is_reviewed_again` |
//! | R018 | S ends the turn and goes back to the goal | `gate::s_in_a_turn_ends_it_and_goes_back_to_the_goal`, `gate::s_stays_when_the_turn_ends_and_the_next_one_waits_for_its_answer`, `gate::s_stops_the_run_whose_turn_ended_behind_it`, `gate::the_enter_that_goes_back_from_cancel_releases_nothing`, `demo::what_a_stopped_step_left_is_not_called_yours` |
//! | R019 | Ctrl+C leaves safely | `demo::ctrl_c_in_a_turn_ends_the_agents_and_keeps_the_run`, `demo::an_unfinished_run_goes_on_where_it_was` |
//! | R020 | Enter is asked about twice where that is wanted | `gate::enter_is_pressed_twice_where_that_is_wanted` |
//! | R021 | the execution is begun by the user | `gate::auto_goes_up_to_the_approval_and_y_executes`, `gate::auto_executes_where_that_is_wanted` |
//! | R022 | `[APPROVED]` approves | `review::the_marker_alone_approves_a_plan` |
//! | R023 | `[CHANGES_REQUIRED]` goes on | `review::the_marker_alone_approves_a_plan`, `review::findings_are_followed_through_the_reviews` |
//! | R024 | anything else is no approval | `review::the_marker_alone_approves_a_plan` |
//! | R025 | five iterations, unless set otherwise | `review::at_the_cap_there_are_four_ways_and_more_iterations_is_one`, `review::the_plan_is_let_pass_against_its_review` |
//! | R026 | four ways at the cap | `review::at_the_cap_there_are_four_ways_and_more_iterations_is_one` |
//! | R027 | force pass, which is recorded | `review::the_plan_is_let_pass_against_its_review` |
//! | R028 | more reviews | `review::at_the_cap_there_are_four_ways_and_more_iterations_is_one` |
//! | R029 | an edit by hand, and on from there | `review::plan_and_comments_are_edited_by_hand_at_the_cap`, `editing::a_plan_edited_by_hand_at_the_cap_is_reviewed_once_more`, `editing::a_plan_edited_by_hand_at_the_cap_is_accepted_without_a_review` |
//! | R030 | the run is cancelled | `review::a_run_that_is_cancelled_at_the_cap_is_over` |
//! | R031 | what `state.json` holds | `recovery::a_run_that_was_killed_in_a_turn_goes_on_in_the_same_conversation` |
//! | R032 | nothing is lost by a kill | `recovery::a_run_that_was_killed_in_a_turn_goes_on_in_the_same_conversation`, `beside::a_run_that_was_killed_right_after_its_goal_is_asked_about` |
//! | R033 | `state.json` is the old or the new one, whole | no keys: `store::atomic_file::a_crash_at_every_point_leaves_the_old_or_the_new_whole` |
//! | R034 | a lost conversation is recovered | `recovery::a_conversation_that_is_lost_is_begun_anew_with_what_happened` |
//! | R035 | the operation that was cut off is done again | `recovery::a_run_that_was_killed_in_a_turn_goes_on_in_the_same_conversation`, `demo::an_unfinished_run_goes_on_where_it_was` |
//! | R036 | what a recovery says | `recovery::a_conversation_that_is_lost_is_begun_anew_with_what_happened` |
//! | R037 | an unfinished run is asked about, default yes | `recovery::a_run_that_was_killed_in_a_turn_goes_on_in_the_same_conversation` |
//! | R038 | no puts it into the history | `recovery::n_puts_the_unfinished_run_into_the_history_when_another_begins` |
//! | R039 | files are written under a lock | no keys: `store::document_files::of_two_writers_with_one_base_exactly_one_wins` |
//! | R040 | overwrite, merge or discard | `conflict::the_agents_text_is_taken_over_the_users`, `conflict::the_users_text_stays_and_the_turn_goes_again`, `editing::a_clash_opens_the_editor_on_the_merge_and_its_result_counts` |
//! | R052 | an agent's question is answered | `asked::an_answer_that_is_picked_reaches_the_agent`, `asked::an_answer_in_own_words_reaches_the_agent`, `asked::an_agent_whose_question_is_not_answered_decides_itself` |
//! | R107 | a call is allowed once, for longer, or refused | `asked::a_call_is_allowed_once_for_the_run_and_refused`, `asked::a_call_that_leaves_codexs_sandbox_is_allowed_once_at_most` |

mod asked;
mod conflict;
mod gate;
mod recovery;
mod review;
