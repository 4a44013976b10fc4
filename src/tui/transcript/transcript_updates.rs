//! What events change in the transcript: its cards of calls, requests, steps, discussions and todo lists.

use std::collections::BTreeSet;

use super::block_content::{BlockContent, FactTone};
use super::block_layout::BlockVisibility;
use super::discussion_card::DiscussionCard;
use super::stage_divider::StageDivider;
use super::step_tracker::StepCheckFact;
use super::task_patch_card::patch_file_changes;
use super::todo_list_card::TodoListCard;
use super::tool_call_card::{CardDecision, ToolCallCard, ToolCallOutcome, ToolFileChange};
use super::transcript_block::{BlockAuthor, PrintedPart, TranscriptBlock};
use super::{ChatTranscript, event_blocks, transcript_columns, turn_results};
use crate::domain::discussion::DiscussionEvent;
use crate::domain::event::{Approval, ApprovalDecider, DenialKind, Event, ToolStatus};
use crate::domain::event_wording::{
    EventSpeaker, describe_discussion_event, word_decision, word_review, word_task_end,
};
use crate::domain::ids::{DiscussionId, RequestId, SessionId};
use crate::domain::question::QuestionAnswer;
use crate::domain::task_patch::TaskPatch;
use crate::domain::todo_list::TodoList;
use crate::tui::step_trail::StepTrail;
use crate::tui::text_wrap::{clean_for_display, to_one_line};
use crate::tui::todo_lists::format_todo_list;

/// Shown for a call that was pending when its turn was interrupted.
const NOT_RUN_NOTE: &str = "Not run: you interrupted the turn";

/// How many results are stored for tool calls whose start is not loaded.
const MAX_ORPHAN_TOOL_ENDS: usize = 10_000;

/// Events whose blocks depend on earlier ones: task names, calls that an interrupt prevented, changes of the gate.
impl ChatTranscript {
    /// Stores a task's name.
    pub(super) fn record_task_name(&mut self, event: &Event) {
        if let Event::TaskStarted(order) = event {
            let name = to_one_line(&order.short_name());
            self.tasks.insert(order.session.clone(), name);
        }
    }

    /// Returns a notice that a waiting task started. A task that starts at once only gets its dispatch
    /// notice.
    fn task_start_notice(&self, session: &SessionId) -> Vec<TranscriptBlock> {
        match self.tasks.get(session) {
            Some(name) => event_blocks::notice(&format!("{name} starts")),
            None => Vec::new(),
        }
    }

    /// Appends the blocks of an event, using what earlier events said.
    pub(super) fn append_event(&mut self, event: &Event) {
        let is_manual_now = self.run_context.on_event(event);
        let waited = self.run_context.waiting_tasks.on_event(event);
        let told = match event {
            Event::TaskDispatched { session } if waited => self.task_start_notice(session),
            Event::ApprovalExpired { approval, .. } if self.run_context.is_interrupted => {
                self.mark_call_not_run(approval)
            }
            Event::QuestionAnswered {
                answer: QuestionAnswer::Execute,
                ..
            } => match self.run_context.gate {
                Some(gate) => event_blocks::plan_approval(gate),
                None => event_blocks::from_event(event),
            },
            Event::GoalConfirmed { text, .. } if self.run_context.is_other_goal(text) => {
                event_blocks::goal_in_own_words(text)
            }
            Event::TaskEnded(result) => {
                let known = self.tasks.get(&result.task_id);
                let name = known.map_or(result.display_name(), String::as_str);
                event_blocks::from_wording(&word_task_end(result, name))
            }
            Event::ReviewCommitted { review, .. } => {
                event_blocks::from_review(&word_review(review, &self.run_context.rejected))
            }
            _ => turn_results::turn_result_blocks(self, event),
        };
        let repeats_failure =
            self.repeats_failure(&told) || turn_results::ends_with_failure_of(self, event);
        let is_again = match event {
            Event::RunResumed { .. } => self.ends_with(&told),
            Event::QuestionAsked { .. } => self.repeats_question(&told) || repeats_failure,
            _ => false,
        };
        let has_question = self.repeats_question(&told) || !told.is_empty() && !is_again;
        if !is_again {
            self.push_blocks(transcript_columns::with_role(
                transcript_columns::role_of(event),
                told,
            ));
        }
        match event {
            Event::ReviewCommitted { .. } => {
                self.set_findings_beside(false);
                self.last_review = self.find_last_review();
            }
            Event::QuestionAsked { question } => {
                self.close_question();
                if repeats_failure {
                    self.open_question_of(question.id, |_| true);
                } else if has_question {
                    self.open_question_of(question.id, |block| block.content.is_question());
                }
            }
            Event::QuestionAnswered { id, .. } if self.open_question_id() == Some(*id) => {
                self.close_question();
            }
            _ => {}
        }
        if is_manual_now {
            self.push_blocks(event_blocks::notice("Now in Manual"));
        }
    }

    /// Removes the notice of an agent's attempt before, if it has said nothing since but a text of the new attempt, and only the
    /// number of the attempt differs.
    pub(super) fn remove_earlier_retry(&mut self, who: BlockAuthor, reason: &str) {
        let end = self.first_streaming_block(who);
        let at = end.unwrap_or(self.blocks.len()).checked_sub(1);
        let is_earlier = |block: &TranscriptBlock| {
            block.author == BlockAuthor::System
                && block.about == who.role()
                && block.reason.as_deref() == Some(reason)
        };
        if let Some(at) = at
            && self.blocks.get(at).is_some_and(is_earlier)
            && let Some(removed) = self.blocks.remove(at)
        {
            self.n_bytes = self.n_bytes.saturating_sub(removed.n_bytes());
            let (gone, end) = (self.first + at, self.end_number());
            self.scroll.follow_end_if_gone(gone, end);
        }
    }

    /// Returns the number of the block with the findings of the review that was committed now.
    fn find_last_review(&self) -> Option<usize> {
        let now = self.earlier.last_event();
        let of_now = |block: &&TranscriptBlock| block.seq == now;
        let mut blocks = self.blocks.iter().enumerate().rev();
        let found = blocks.find(|(_, block)| of_now(block) && block.content.has_list());
        found.map(|(at, _)| self.first + at)
    }

    /// Marks a call that was pending when the user interrupted: on its card, or on a line of its own if it
    /// has none.
    fn mark_call_not_run(&mut self, approval: &Approval) -> Vec<TranscriptBlock> {
        let end = ToolCallOutcome::not_run(NOT_RUN_NOTE);
        match self.card_of_request(&approval.request) {
            Some(card) => {
                let n_more = card.end_tool(end);
                self.n_bytes += n_more;
                Vec::new()
            }
            None => event_blocks::notice(&format!("{NOT_RUN_NOTE}: {}", approval.describe_call())),
        }
    }

    /// Returns whether the stream already ends with one of these blocks.
    fn ends_with(&self, told: &[TranscriptBlock]) -> bool {
        let last = self.blocks.back();
        last.is_some_and(|last| told.iter().any(|block| block.content == last.content))
    }
}

/// Requests and decisions, on the cards of their calls. Where a CLI does not say which call a request is about, it is
/// the one with the same target, else the one that the agent started last.
impl ChatTranscript {
    /// Marks the card of a call that waits for approval, and removes the mark with the decision.
    pub(super) fn update_pending_approvals(&mut self, event: &Event) {
        match event {
            Event::ApprovalRequested(approval) => {
                self.pending_approvals
                    .0
                    .insert(approval.request.clone(), approval.clone());
                // A subagent's calls have no card.
                if approval.child.is_none() {
                    self.mark_pending_card(approval);
                }
            }
            Event::ApprovalDecided { request, .. } => self.unmark_pending_card(request),
            Event::ApprovalExpired { approval, .. } => {
                self.pending_approvals.0.remove(&approval.request);
                self.unmark_pending_card(&approval.request);
            }
            _ => {}
        }
    }

    fn mark_pending_card(&mut self, approval: &Approval) {
        let target = to_one_line(&approval.targets.join(", ")).replace(&self.root, "");
        let runs = |block: &TranscriptBlock| block.running_tool().is_some();
        let says_so = |block: &TranscriptBlock| {
            let card = block.card().filter(|card| card.end.is_none());
            card.is_some_and(|card| card.matches_target(&target))
        };
        let item = approval.item.as_deref();
        let is_named = |block: &TranscriptBlock| item.is_some() && block.running_tool() == item;
        let at = self.blocks.iter().rposition(is_named);
        let at = at.or_else(|| self.blocks.iter().rposition(says_so));
        let at = at.or_else(|| self.blocks.iter().rposition(runs));
        if let Some(block) = at.and_then(|at| self.blocks.get_mut(at)) {
            let request = Some(approval.request.clone());
            block.update_card(|card| card.pending_request = request);
        }
    }

    fn unmark_pending_card(&mut self, request: &RequestId) {
        if let Some(block) = self.card_of_request(request) {
            block.update_card(|card| (card.pending_request, card.is_in_dialog) = (None, false));
        }
    }

    pub(super) fn card_of_request(&mut self, request: &RequestId) -> Option<&mut TranscriptBlock> {
        let mut blocks = self.blocks.iter_mut().rev();
        blocks.find(|block| block.awaits_decision(request))
    }

    /// Adds the decision about a call: who decided, whose call, what, and why it was denied. It is shown
    /// on the call's card where the card can show it.
    pub(super) fn add_decision(&mut self, event: &Event) {
        let Event::ApprovalDecided {
            request,
            allowed,
            by,
            reason,
            denial,
            ..
        } = event
        else {
            return;
        };
        let is_allowed = *allowed;
        let asked = self.pending_approvals.0.remove(request);
        let what = asked
            .as_ref()
            .map_or("the call".to_owned(), Approval::describe_call);
        let reason = if is_allowed {
            ""
        } else {
            DenialKind::from_event(*denial, reason).shown_reason(reason)
        };
        let is_users = *by == ApprovalDecider::User;
        let decision = CardDecision {
            is_allowed,
            is_users,
            reason: clean_for_display(reason),
        };
        let is_on_card = (is_users || !is_allowed) && self.show_on_card(request, decision);
        let wording = word_decision(&what, is_allowed, by, reason);
        // Only the user's own decisions are shown besides those that no card shows.
        let wording = wording
            .filter(|wording| wording.speaker == EventSpeaker::User || !is_allowed && !is_on_card);
        let mut blocks: Vec<TranscriptBlock> = wording
            .iter()
            .flat_map(event_blocks::from_wording)
            .collect();
        for block in &mut blocks {
            if is_on_card {
                block.visibility = BlockVisibility::ShownElsewhere;
            }
            block.reason = (!reason.is_empty()).then(|| reason.to_owned());
        }
        self.push_blocks(blocks);
    }

    /// Shows on a call's card what was decided about it; returns whether the call has a card.
    fn show_on_card(&mut self, request: &RequestId, decision: CardDecision) -> bool {
        let Some(block) = self.card_of_request(request) else {
            return false;
        };
        let n_more = decision.reason.len();
        block.update_card(|card| card.set_decision(decision));
        self.n_bytes += n_more;
        true
    }
}

/// Changes that a task handed over.
impl ChatTranscript {
    /// Adds a card for a task's patch once it is settled where the changes went.
    pub(super) fn add_task_patch(&mut self, session: &SessionId, patch: &TaskPatch) {
        if !patch.is_settled() {
            return;
        }
        let whose = self.tasks.get(session).map_or("Task", String::as_str);
        let mut card = ToolCallCard::of_patch(&format!("{whose}: {}", patch.describe()));
        card.set_file_changes(patch_file_changes(patch));
        card.end = Some(ToolCallOutcome::from_status(
            &ToolStatus::Completed,
            None,
            "",
        ));
        self.push_blocks(vec![TranscriptBlock::new(
            BlockAuthor::System,
            BlockContent::Tool(card),
        )]);
    }
}

/// Todo lists: the current one where it changed last; an earlier one keeps one row with the progress at that time.
impl ChatTranscript {
    /// Adds a list and marks the agent's previous one as outdated.
    pub(super) fn add_todo_list(&mut self, session: &SessionId, todos: &TodoList) {
        let is_last = |block: &mut TranscriptBlock| {
            block.todos().is_some_and(|told| told.session == *session)
        };
        // If nothing happened in between, the previous list has no information of its own, so it is
        // removed.
        while let Some(block) = self.blocks.pop_back_if(is_last) {
            self.n_bytes = self.n_bytes.saturating_sub(block.n_bytes());
        }
        self.scroll
            .follow_end_if_gone(self.end_number(), self.end_number());
        self.mark_todos_outdated(&BTreeSet::from([session.clone()]));
        let told = TodoListCard {
            session: session.clone(),
            text: clean_for_display(&format_todo_list(todos)),
            is_outdated: false,
        };
        // A task's list is none of the agent that speaks.
        let speaker = self.turns.speaker();
        let speaker = speaker.filter(|_| !self.tasks.contains_key(session));
        let author = speaker.unwrap_or(BlockAuthor::System);
        self.push_blocks(vec![TranscriptBlock::new(
            author,
            BlockContent::Todos(told),
        )]);
    }

    /// Marks the lists of these agents as outdated.
    pub(super) fn mark_todos_outdated(&mut self, sessions: &BTreeSet<SessionId>) {
        for block in &mut self.blocks {
            if block
                .todos()
                .is_some_and(|told| sessions.contains(&told.session))
            {
                block.mark_todos_outdated();
            }
        }
    }

    /// Returns the sessions whose lists are shown.
    pub(super) fn sessions_with_todos(&self) -> BTreeSet<SessionId> {
        let told = self.blocks.iter().filter_map(TranscriptBlock::todos);
        told.map(|told| told.session.clone()).collect()
    }
}

/// Headings of steps.
impl ChatTranscript {
    /// Shows the stages of the current step at its heading, and removes them from every other heading.
    /// The step after it is named below the stream unless the steps are listed beside it.
    pub fn show_step_trail(&mut self, current: Option<StepTrail>, are_steps_beside: bool) {
        self.are_steps_beside = are_steps_beside;
        let is_new = std::mem::take(&mut self.steps.has_new_headings);
        let before = std::mem::replace(&mut self.steps.shown_trail, current);
        if before == current && !is_new {
            return;
        }
        // The current step can only have the newest heading.
        let mut newest = current;
        for block in self.blocks.iter_mut().rev() {
            let Some((step, divider)) = block.step_divider() else {
                continue;
            };
            let trail = newest.take();
            let trail = trail.filter(|trail| trail.step == step && !divider.is_over);
            if divider.trail != trail {
                let divider = StageDivider {
                    trail,
                    ..divider.clone()
                };
                block.replace_content(BlockContent::Divider(divider));
            }
        }
    }

    /// Marks the newest heading of a step as that of a step that has ended.
    pub(super) fn mark_step_over(&mut self, step: u32) {
        let is_its = |block: &&mut TranscriptBlock| {
            let of = block.step_divider();
            of.is_some_and(|(of, _)| of == step)
        };
        if let Some(block) = self.blocks.iter_mut().rev().find(is_its)
            && let BlockContent::Divider(divider) = &mut block.content
        {
            divider.is_over = true;
            self.steps.has_new_headings = true;
        }
    }
}

/// Checks and ends of steps.
impl ChatTranscript {
    /// Adds what a check of a step found. Once the step is done, one line replaces the good facts, each in its short
    /// form.
    pub(super) fn append_step_check(&mut self, event: &Event, short: String) {
        let mut blocks = event_blocks::from_event(event);
        let is_proof = matches!(event, Event::StepProved { .. });
        if let Event::StepProved { step, proof, .. } = event {
            blocks = event_blocks::from_step_proof(*step, &short, proof);
        }
        let fact = blocks.first().and_then(TranscriptBlock::fact);
        if let Some((text, tone, _)) = fact
            && (tone == FactTone::Good || is_proof)
        {
            let text = text.to_owned();
            self.steps.check_facts.push(StepCheckFact { text, short });
        }
        self.push_blocks(blocks);
    }

    /// Adds the line of a step that is over; for a success it replaces the facts that were shown during the
    /// check.
    pub(super) fn end_step(&mut self, step: u32, event: &Event) {
        self.mark_step_over(step);
        let told = std::mem::take(&mut self.steps.check_facts);
        let other = self.steps.unchanged_block(step);
        if let Some(block) = other.or_else(|| self.steps.failing_tests_block(step)) {
            return self.push_blocks(vec![block]);
        }
        let (mut checks, mut proof) = (Vec::new(), String::new());
        let find_check = |block: &TranscriptBlock| {
            let (text, tone, more) = block.fact()?;
            // Linear mode does not print a proof once more.
            if tone != FactTone::Good && block.printed != PrintedPart::Nothing {
                return None;
            }
            let told = told.iter().find(|told| told.text == text)?;
            Some((told.short.clone(), more.to_owned()))
        };
        while let Some((short, more)) = self.blocks.back().and_then(find_check) {
            let removed = self.blocks.pop_back();
            let n_bytes = removed.map_or(0, |block| block.n_bytes());
            self.n_bytes = self.n_bytes.saturating_sub(n_bytes);
            checks.insert(0, short);
            if !more.is_empty() && !proof.is_empty() {
                proof.insert(0, '\n');
            }
            proof.insert_str(0, &more);
        }
        self.scroll
            .follow_end_if_gone(self.end_number(), self.end_number());
        self.push_blocks(if checks.is_empty() {
            event_blocks::from_event(event)
        } else {
            let row = self.steps.finished_row(step, checks);
            let content = BlockContent::finished_step(row, &proof);
            vec![TranscriptBlock::new(BlockAuthor::System, content)]
        });
    }
}

/// Discussions.
impl ChatTranscript {
    /// Returns whether an event belongs to a participant's session, which the discussion's card and board
    /// show instead: what participants say is on the board.
    pub(super) fn is_from_participant(&mut self, event: &Event) -> bool {
        match event {
            Event::TaskStarted(order) if order.speaks.is_some() => {
                self.speakers.insert(order.session.clone());
                true
            }
            Event::TaskEnded(result) => self.speakers.contains(&result.task_id),
            _ => false,
        }
    }

    /// Adds a card when a discussion starts, and updates it. If other blocks follow it when the discussion
    /// ends, a second card shows the result.
    pub(super) fn on_discussion(&mut self, id: &DiscussionId, news: &DiscussionEvent) {
        let last = self.blocks.len().wrapping_sub(1);
        let is_it = |block: &TranscriptBlock| block.discussion().is_some_and(|talk| talk.id == *id);
        let at = self.blocks.iter().rposition(is_it);
        match (at, news) {
            (_, DiscussionEvent::Started { .. }) => {
                let talk = DiscussionCard::from_event(id, news).map(BlockContent::Discussion);
                let block = talk.map(|talk| TranscriptBlock::new(BlockAuthor::System, talk));
                self.push_blocks(block.into_iter().collect());
            }
            (Some(at), _) => {
                let Some(block) = self.blocks.get_mut(at) else {
                    return;
                };
                block.on_discussion(news);
                let is_over = matches!(news, DiscussionEvent::Ended { .. });
                let ended = block.discussion().filter(|_| is_over && at != last);
                if let Some(talk) = ended.cloned() {
                    block.mark_ends_below();
                    self.push_blocks(vec![TranscriptBlock::new(
                        BlockAuthor::System,
                        BlockContent::Discussion(talk),
                    )]);
                }
                self.recount_bytes();
            }
            // The block of its start was dropped.
            (None, _) => {
                let told = describe_discussion_event(news);
                self.push_blocks(told.map_or(Vec::new(), |text| event_blocks::notice(&text)));
            }
        }
    }
}

/// Ends of tool calls.
impl ChatTranscript {
    /// Ends a call on its card.
    pub(super) fn finish_tool(
        &mut self,
        wanted: &str,
        status: &ToolStatus,
        exit_code: Option<i32>,
        output: &str,
    ) {
        let ended = ToolCallOutcome::from_status(status, exit_code, output);
        let is_wanted = |block: &TranscriptBlock| block.running_tool() == Some(wanted);
        let at = self.blocks.iter().rposition(is_wanted);
        match at.and_then(|at| Some((at, self.blocks.get_mut(at)?))) {
            Some((at, block)) => {
                self.n_bytes += block.end_tool(ended);
                self.refold_reads(at);
            }
            None if self.orphan_tool_ends.len() < MAX_ORPHAN_TOOL_ENDS => {
                self.orphan_tool_ends.insert(wanted.to_owned(), ended);
            }
            None => {}
        }
    }

    /// Sets the changes of a call on its card; a call whose card was evicted already had them.
    pub(super) fn set_changed_files(&mut self, wanted: &str, files: Vec<ToolFileChange>) {
        let root = self.root.clone();
        let is_wanted =
            |block: &&mut TranscriptBlock| block.card().is_some_and(|card| card.item == wanted);
        if let Some(block) = self.blocks.iter_mut().rev().find(is_wanted) {
            let before = block.n_bytes();
            block.update_card(|card| card.set_file_changes(files));
            block.relativize_paths(&root);
            let now = block.n_bytes();
            self.n_bytes = (self.n_bytes + now).saturating_sub(before);
        }
    }
}
