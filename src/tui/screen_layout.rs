//! Lays out the whole screen for any window size, and draws its parts in order.
//!
//! If space is short, the header goes first, then the composer's border, then the tab; what waits
//! for the user stays visible.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use super::clickable_keys;
use super::composer::ComposerSpacing;
use super::dialog::dialog_size::{TabReading, dialog_rows, without_text_above};
use super::dialog::{ChoiceDialog, DialogFocus};
use super::dialogs::approval_dialog::DIALOG_ID_PREFIX;
use super::dialogs::question_dialog_id;
use super::discussion_board::DiscussionBoard;
use super::hit_areas::ScreenHitAreas;
use super::keymap::ComposerFocus;
use super::mode_line::ModeLine;
use super::overlays::{LayerContext, LayerPlace, ScreenOverlay};
use super::run_summary::{SummaryContext, update_summary_card};
use super::sidebar::SidebarContext;
use super::tab_kind::TabKind;
use super::tabs::screen_tab::TabContext;
use super::tabs::{PaneFocus, SIDEBAR_COLUMNS};
use super::text_wrap::{text_width, truncate_to_columns};
use super::theme::{self, Surface};
use super::transcript::DialogWording;
use super::view_area::{gutter, inset, split_bottom, split_right, split_top};
use super::welcome_page::WelcomePage;
use super::{Screen, chat_context, command_table, footer, header, popup, sidebar};
use crate::domain::ids::UnixMillis;
use crate::domain::question::QuestionKind;
use crate::domain::run::RunState;

/// Below this window height, a dialog makes room for a chat that is scrolled up.
const LOW_WINDOW_ROWS: u16 = 16;

/// How high the lines are that stand for a dialog.
const FOLDED_ROWS: usize = 2;

/// From this window height on, a blank row stands above the dialog or the composer.
const HIGH_WINDOW_ROWS: u16 = 30;

/// Shown after a key that came before the dialog takes any.
const NOT_READY_TEXT: &str = "Wait a moment, so that you can read it";

impl Screen {
    pub(super) fn draw_all(
        &mut self,
        frame: &mut Frame,
        state: Option<&RunState>,
        now: UnixMillis,
    ) {
        let mut rest = frame.area();
        let waiting = self.pending_dialog(state);
        self.settle_focus(waiting.as_ref(), state);
        self.prepare_frame(state, waiting.as_ref());
        // A diff or a board takes the whole height; a waiting dialog is only named there.
        let is_whole = self.overlays.takes_whole_height();
        let is_beside = !self.overlays.covers_tab();
        let sheet = waiting.clone().filter(|_| is_beside);
        let reads_on = self.tab_reading(frame.area().height, state);
        let sheet = sheet.map(|sheet| self.fit_dialog(sheet, reads_on, frame.area(), state));
        let put_aside = self.dialogs.put_aside_line(state, self.local_clock());
        let put_aside = put_aside.filter(|_| sheet.is_some());
        let head = split_top(&mut rest, header::n_rows(frame.area().height));
        let foot = split_bottom(&mut rest, footer::n_rows(self, frame.area()));
        let sidebar = (is_beside && self.tabs.has_sidebar(rest.width, state))
            .then(|| split_right(&mut rest, SIDEBAR_COLUMNS));
        let (composer, composer_spacing, centered) =
            self.place_composer(&mut rest, state, sheet.as_ref());
        if composer_spacing == ComposerSpacing::Padded && sheet.is_some() {
            // Two grounds and two bars of different meaning do not touch.
            split_bottom(&mut rest, 1);
        }
        // A note on the plan is written for the line that it stands below, so the plan keeps its rows.
        let writes_beside_tab = reads_on == TabReading::BesideDialog
            && self.composer.is_writing_in_low_window(frame.area().height);
        let sheet_area = match &sheet {
            Some(_) if put_aside.is_some() || writes_beside_tab => {
                split_bottom(&mut rest, FOLDED_ROWS)
            }
            Some(sheet) => centered.map_or_else(
                || {
                    let n_rows = dialog_rows(sheet, rest, reads_on);
                    inset(split_bottom(&mut rest, n_rows), gutter(rest.width))
                },
                |places| places.composer,
            ),
            None => Rect::default(),
        };
        let is_folded = put_aside.is_some()
            || reads_on == TabReading::BesideDialog
                && !is_question_in_title(state)
                && usize::from(sheet_area.height) <= FOLDED_ROWS;
        // In a high window a blank row lies between the tab and what stands below it, and always below the card that ends a
        // run, which has the same ground.
        let ends_in_card = self.tabs.view.shown == TabKind::Chat
            && self.tabs.chat.transcript.has_run_summary()
            && frame.area().height >= LOW_WINDOW_ROWS;
        if (frame.area().height >= HIGH_WINDOW_ROWS || ends_in_card) && !is_whole {
            split_bottom(&mut rest, 1);
        }
        self.hit_areas = ScreenHitAreas {
            body: rest,
            composer,
            window_columns: frame.area().width,
            has_sidebar: sidebar.is_some(),
            composer_spacing,
            welcome: centered,
            dialog: sheet_area,
            ..ScreenHitAreas::default()
        };
        self.tabs.view.side_area = None;
        // After `fit_dialog`, which takes from the dialog what the chat shows: what is left there is hidden in the chat.
        self.hide_asked_question(sheet.as_ref().filter(|_| !is_folded), sheet_area, state);
        chat_context::update_chat_context(self, state, now);
        self.hit_areas.tabs = header::draw(self, frame, head, state);
        self.draw_view(frame, rest, state, waiting.as_ref(), now);
        // Set again when the dialog is drawn below: only a dialog of this frame counts as read.
        self.dialogs.drawn = None;
        if let Some(sheet) = &sheet {
            self.hit_areas.is_dialog_folded = is_folded && !sheet_area.is_empty();
            self.draw_dialog_or_line(frame, sheet_area, sheet, put_aside.as_deref());
        }
        let sheet = sheet.filter(|_| put_aside.is_none());
        self.draw_bottom_area(frame, composer, foot, state, sheet.as_ref(), now);
        self.draw_sidebar(frame, sidebar, state, now);
        self.draw_frames(frame, sidebar);
        if self.overlays.has_place(LayerPlace::Window) {
            let (place, window) = (LayerPlace::Window, frame.area());
            self.draw_layer(place, frame, window, state, waiting.as_ref(), now);
            // The user has not read the dialog that it covers.
            self.dialogs.drawn = None;
            self.dialogs.guard.clear_dialog();
        }
    }

    /// Draws the tab with its second pane, or the view that covers it.
    fn draw_view(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        state: Option<&RunState>,
        waiting: Option<&ChoiceDialog>,
        now: UnixMillis,
    ) {
        let shown = self.tabs.view.shown;
        if let Some(place) = self.overlays.view().map(ScreenOverlay::place) {
            self.draw_layer(place, frame, area, state, waiting, now);
        } else {
            self.hit_areas.body = self.draw_side_pane(frame, area, state, now);
            if !self.hit_areas.body.is_empty() {
                self.draw_tab(shown, frame, self.hit_areas.body, state, now);
            }
        }
        if !self.overlays.takes_whole_height() {
            let revision = self.tabs.get(shown).revision(&self.documents);
            self.tabs.view.record_seen(shown, revision);
        }
    }

    /// Draws the layer at a place, if there is one.
    pub(super) fn draw_layer(
        &mut self,
        place: LayerPlace,
        frame: &mut Frame,
        area: Rect,
        state: Option<&RunState>,
        waiting: Option<&ChoiceDialog>,
        now: UnixMillis,
    ) {
        if let Some(n) = self.overlays.position(place) {
            let (overlays, context) = self.split_overlays(state, waiting);
            let context = LayerContext { now, ..context };
            overlays.with_layer(n, &context, |layer, context| {
                layer.draw(frame, area, context)
            });
        }
    }

    /// Hides in the chat the question that the dialog below asks, and what it says of the failure before it; shortens the
    /// call that it is about.
    fn hide_asked_question(
        &mut self,
        sheet: Option<&ChoiceDialog>,
        area: Rect,
        state: Option<&RunState>,
    ) {
        let transcript = &mut self.tabs.chat.transcript;
        let call = state.and_then(|state| state.approvals.first());
        let is_call = |sheet: &ChoiceDialog| sheet.id.starts_with(DIALOG_ID_PREFIX);
        let call = call.filter(|_| !area.is_empty() && sheet.is_some_and(is_call));
        transcript.set_call_below(call.map(|call| &call.request));
        let asked = transcript.open_question_id().map(question_dialog_id);
        // Of several questions of an agent, each has a number behind the id of all.
        let is_asked = |id: &str| {
            let rest = asked.as_deref().and_then(|asked| id.strip_prefix(asked));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        let sheet = sheet.filter(|sheet| !area.is_empty() && is_asked(&sheet.id));
        let columns = usize::from(area.width);
        let wording = sheet.map(|sheet| DialogWording {
            text: sheet.heading_and_lines(),
            is_whole: sheet.preferred_rows(columns) <= usize::from(area.height),
        });
        transcript.set_question_below(wording.as_ref());
    }

    /// Draws the sidebar if it has a place.
    fn draw_sidebar(
        &mut self,
        frame: &mut Frame,
        place: Option<Rect>,
        state: Option<&RunState>,
        now: UnixMillis,
    ) {
        let Some((place, state)) = place.zip(state) else {
            return;
        };
        let beside = self.tabs.view.side_area.map(|(_, tab)| tab);
        let about = SidebarContext {
            goal: &header::shown_goal(self, state),
            branch: header::shown_branch(self, Some(state)),
            shown: [Some(self.tabs.view.shown), beside],
            now,
        };
        // Its ground begins right below the header, as the padding above its first line.
        let padding = header::n_rows(frame.area().height).saturating_sub(2);
        let ground = Rect {
            y: place.y.saturating_sub(padding),
            height: padding,
            ..place
        };
        Surface::Panel.fill(frame.buffer_mut(), ground);
        let buttons = sidebar::draw(frame, place, state, &about);
        self.hit_areas.buttons.extend(buttons);
    }

    /// Draws lines around dialog, composer and sidebar in a theme that keeps frames.
    fn draw_frames(&self, frame: &mut Frame, sidebar: Option<Rect>) {
        if self.theme().keeps_frames() {
            let areas = [self.hit_areas.dialog, self.hit_areas.composer];
            for area in areas.into_iter().chain(sidebar) {
                popup::outline(frame, area);
            }
        }
    }

    /// Updates what depends on the run's state, and closes what no longer fits it.
    fn prepare_frame(&mut self, state: Option<&RunState>, waiting: Option<&ChoiceDialog>) {
        let summary = SummaryContext {
            settings: &self.settings,
            focus: self.composer.focus,
            ended_at: self.run_facts.ended_at,
        };
        update_summary_card(&mut self.tabs.chat.transcript, state, &summary);
        self.update_terminal_status(waiting, state);
        self.overlays.close_stale(waiting);
        self.overlays.close_stale_search(&mut self.tabs);
        let board = self.overlays.find::<DiscussionBoard>();
        let shown = board.and_then(|board| state?.discussion(&board.id));
        if let Some(shown) = shown {
            self.discussions.update_counts(shown);
        }
    }

    pub(super) fn welcome_page(&self) -> WelcomePage<'_> {
        WelcomePage {
            info: &self.run_facts.welcome,
            has_notices: !self.tabs.chat.transcript.is_empty(),
            has_unfinished_run: self.dialogs.unfinished_run.is_some(),
            is_run_list_open: self.dialogs.is_run_list_open(),
        }
    }

    /// Draws a dialog, or a line that stands for it; only the dialog itself counts as read.
    fn draw_dialog_or_line(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        sheet: &ChoiceDialog,
        put_aside: Option<&str>,
    ) {
        if self.hit_areas.is_dialog_folded {
            let (title, style) = match put_aside {
                Some(line) => (format!("· {line}"), theme::PLAIN),
                None => (
                    format!("? {}", sheet.heading()),
                    sheet.weight.accent_style(),
                ),
            };
            let columns = usize::from(area.width);
            let hint = match self.composer.focus {
                ComposerFocus::Focused => self.describe_way_back(columns),
                ComposerFocus::Unfocused => "Enter shows it".to_owned(),
            };
            let lines = vec![
                Line::styled(truncate_to_columns(&title, columns), style),
                Line::styled(format!("  {hint}"), theme::QUIET),
            ];
            frame.render_widget(Paragraph::new(lines), area);
            return;
        }
        if !area.is_empty() {
            self.dialogs.note_dialog_drawn(sheet);
        }
        self.draw_dialog(frame, area, sheet);
    }

    /// Reduces a dialog to what fits into the window now.
    fn fit_dialog(
        &mut self,
        mut sheet: ChoiceDialog,
        reads_on: TabReading,
        window: Rect,
        state: Option<&RunState>,
    ) -> ChoiceDialog {
        let beside = self.tabs.tab_beside(window.width, &self.documents, state);
        sheet = self.tabs.without_text_in_view(sheet, beside, window);
        if self.are_subjects_in_view(&sheet, beside, window) {
            sheet = sheet.with_subjects_in_view();
        }
        let open = command_table::open_question(state);
        let is_told = match open {
            // Something else may have been said since the review, or since the goal was put.
            None
            | Some(
                QuestionKind::Arbitration { .. }
                | QuestionKind::TestsFailed { .. }
                | QuestionKind::NoDocument { .. }
                | QuestionKind::AdapterFailed { .. },
            ) => {
                let chat = &self.tabs.chat.transcript;
                let texts = sheet.texts_of_tab(TabKind::Chat);
                let mut texts = texts.filter(|text| !text.starts_with('…'));
                chat.follows_end() && texts.all(|text| chat.ends_with_text(text))
            }
            _ => true,
        };
        if self.tabs.view.shown == TabKind::Chat && is_told {
            sheet = without_text_above(sheet, window);
        }
        // Beside a tab that is read the prompt is dropped; in a high window its counts stay.
        let is_low = window.height < HIGH_WINDOW_ROWS || self.settings.shows_prompt;
        if reads_on == TabReading::BesideDialog && is_low && open.is_some_and(is_gate_question) {
            sheet = sheet.without_details();
        }
        if self.composer.is_writing_in_low_window(window.height) {
            sheet.without_choices()
        } else {
            sheet
        }
    }

    /// Returns whether what lines of a dialog are about can be read beside it: findings in Comments, or at the end of the chat.
    fn are_subjects_in_view(
        &self,
        sheet: &ChoiceDialog,
        beside: Option<TabKind>,
        window: Rect,
    ) -> bool {
        let mut shown = self.tabs.readable_tabs(beside);
        if shown.any(|tab| tab == TabKind::Comments) {
            return true;
        }
        let chat = &self.tabs.chat.transcript;
        self.tabs.view.shown == TabKind::Chat
            && window.height >= HIGH_WINDOW_ROWS
            && chat.follows_end()
            && sheet.brief_subjects().all(|text| chat.ends_with_text(text))
    }

    /// Returns whether the user reads a tab beside the dialog. A pending call comes first, except in a low
    /// window, where nothing else would fit; there, scrolling up the chat counts as reading it.
    fn tab_reading(&self, height: u16, state: Option<&RunState>) -> TabReading {
        let is_first = is_call_pending(state) && height >= LOW_WINDOW_ROWS;
        let reads = match self.tabs.view.shown {
            TabKind::Chat => height < LOW_WINDOW_ROWS && !self.tabs.chat.transcript.follows_end(),
            _ => true,
        };
        if reads && self.dialogs.own.is_none() && !is_first {
            TabReading::BesideDialog
        } else {
            TabReading::DialogOnly
        }
    }

    fn draw_dialog(&mut self, frame: &mut Frame, area: Rect, sheet: &ChoiceDialog) {
        let mut view = self.keymap().key_label("view", ComposerFocus::Unfocused);
        if self.composer.focus == ComposerFocus::Focused {
            // The composer would take this key as a letter, so it has to be left first.
            let leave = self.keymap().key_label("close", ComposerFocus::Unfocused);
            view = format!("{leave}, then {view}");
        }
        let chosen = self.dialogs.chosen_choice(sheet);
        let keys = self.composer.dialog_focus(sheet, chosen);
        let note = match keys {
            _ if self.dialogs.has_ignored_key(sheet) => NOT_READY_TEXT.to_owned(),
            DialogFocus::Dialog(_) | DialogFocus::EnterOnly(_) => String::new(),
            DialogFocus::Composer(_) | DialogFocus::Nobody => {
                self.describe_way_back(usize::from(area.width))
            }
        };
        self.hit_areas.choices = sheet.draw(frame, area, keys, &note, &view);
    }

    /// Says how the user who is writing gets back to the dialog; shortened if it is narrow.
    fn describe_way_back(&self, columns: usize) -> String {
        let leave = self.keymap().key_label("leave", ComposerFocus::Focused);
        // Where there is no text, Enter does it too.
        let is_empty = self.composer.draft.is_none() && self.composer.editor.is_empty();
        let keys = if is_empty {
            format!("{leave} or Enter")
        } else {
            leave
        };
        let long = format!("You are writing below · {keys} returns here");
        if text_width(&long) <= columns.saturating_sub(6) {
            long
        } else {
            format!("{keys}: choose here")
        }
    }

    /// Draws the second pane; returns the area that is left for the tab.
    fn draw_side_pane(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        state: Option<&RunState>,
        now: UnixMillis,
    ) -> Rect {
        let columns = frame.area().width;
        let beside = self.tabs.tab_beside(columns, &self.documents, state);
        let Some(tab) = beside.filter(|_| area.height > 3) else {
            self.tabs.view.pane_focus = PaneFocus::default();
            return area;
        };
        let width = area.width * 9 / 20;
        let side = Rect {
            x: area.right() - width,
            width,
            ..area
        };
        self.tabs.view.side_area = Some((side, tab));
        let key = |action| self.keymap().key_label(action, ComposerFocus::Unfocused);
        let (hides, goes) = (key("side"), key("other-pane"));
        let (style, goes_where) = match self.tabs.view.pane_focus {
            PaneFocus::Main => (theme::QUIET, "there"),
            PaneFocus::Side => (theme::ACCENT, "back"),
        };
        let block = Block::new().borders(Borders::LEFT).border_style(style);
        let mut inner = block.inner(side);
        frame.render_widget(block, side);
        let keys = format!("  {goes} goes {goes_where} · {hides} switches");
        let mut title = vec![Span::styled(format!("  {}", tab.title()), theme::STRONG)];
        title.extend(clickable_keys::hint_spans(&keys, style));
        frame.render_widget(Line::from(title), split_top(&mut inner, 1));
        split_top(&mut inner, 1);
        self.draw_tab(tab, frame, inner, state, now);
        Rect {
            width: area.width - width,
            ..area
        }
    }

    /// Draws a tab, which counts as seen then.
    fn draw_tab(
        &mut self,
        tab: TabKind,
        frame: &mut Frame,
        area: Rect,
        state: Option<&RunState>,
        now: UnixMillis,
    ) {
        let is_welcome = tab == TabKind::Chat && state.is_none() && !self.is_read_only();
        let margin = match tab {
            // The chat needs the margin for its marks.
            TabKind::Chat => 0,
            TabKind::Plan | TabKind::Comments => gutter(frame.area().width),
            _ => gutter(frame.area().width).saturating_sub(1),
        };
        let mut area = self.tabs.get(tab).page_area(inset(area, margin));
        let empty_note = match (is_welcome, state) {
            // The chat still shows the run that ended here while the user starts the next one.
            (true, _)
                if self.run_facts.welcome.missing.is_empty()
                    && self.tabs.chat.transcript.has_run_summary() =>
            {
                ""
            }
            (true, _) => {
                let page = self.welcome_page();
                match &self.hit_areas.welcome {
                    Some(places) => {
                        let is_writing = self.composer.focus == ComposerFocus::Focused;
                        let columns = usize::from(places.composer.width);
                        // The keys of a text do nothing until it is written.
                        let keys = if is_writing {
                            ModeLine::new(self, None).first_keys_line(columns)
                        } else {
                            Line::default()
                        };
                        self.hit_areas.runs = page.draw_centered(frame, places, &keys);
                    }
                    None => (area, self.hit_areas.runs) = page.draw(frame, area),
                }
                ""
            }
            (false, None) => "Nothing recorded here yet.",
            (false, Some(_)) => "No messages yet.",
        };
        let context = TabContext {
            empty_note,
            has_keys: self.tabs.view.focused() == tab,
            takes_letters: self.composer.focus == ComposerFocus::Unfocused,
            is_beside_comments: tab != TabKind::Comments
                && self.tabs.view.shown == TabKind::Comments,
            ..self.settings.tab_context(&self.documents, state)
        };
        let shown = self.tabs.get_mut(tab);
        shown.draw(frame, area, &context, now);
        let revision = shown.revision(&self.documents);
        self.tabs.view.record_seen(tab, revision);
    }
}

/// Returns whether an agent's call is pending.
fn is_call_pending(state: Option<&RunState>) -> bool {
    state.is_some_and(|state| !state.approvals.is_empty())
}

/// Returns whether the dialog's title contains the whole question, as for a turn that waits: two
/// rows would show nothing else.
fn is_question_in_title(state: Option<&RunState>) -> bool {
    command_table::open_question(state).is_some_and(is_gate_question) && !is_call_pending(state)
}

/// Returns whether the question is about a turn that waits at the gate.
fn is_gate_question(kind: &QuestionKind) -> bool {
    matches!(kind, QuestionKind::Gate { .. })
}
