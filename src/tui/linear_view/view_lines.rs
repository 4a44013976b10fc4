//! Prints a view that the user opened, once: a long text, a diff, a discussion, a tab, a selection.
//!
//! A printed text is closed at once, so that it stands in front of nothing.

use super::LineInterface;
use super::linear_state::WantedView;
use super::plain_text::signs_to_words;
use crate::tui::action::Action;
use crate::tui::overlays::LayerPlace;
use crate::tui::scroll_view::ScrollView;
use crate::tui::tab_kind::TabKind;
use crate::tui::text_wrap::clean_for_display;

/// How many lines a search prints.
const MAX_FOUND_LINES: usize = 30;

impl LineInterface<'_> {
    /// Returns the lines of what the user asked to see, if it is there.
    pub(super) fn take_view_lines(&mut self) -> Option<Vec<String>> {
        let overlays = &mut self.screen.overlays;
        overlays.close_at(LayerPlace::Window);
        overlays.close_search(&mut self.screen.tabs);
        if let Some(view) = overlays.view() {
            let (title, text) = view.printed_text(self.state)?;
            // The search bar is closed, so the view is on top.
            overlays.remove(overlays.len() - 1);
            return Some(titled_lines(&title, &text));
        }
        let wanted = self.screen.linear.wanted.take()?;
        if self.is_loading(wanted) {
            self.screen.linear.wanted = Some(wanted);
            return None;
        }
        match wanted {
            WantedView::Tab(tab) => {
                let lines = self.tab_lines(tab);
                let title = format!("{}:", tab.title());
                let none = lines.is_empty().then(|| "Nothing yet.".to_owned());
                Some(std::iter::once(title).chain(lines).chain(none).collect())
            }
            WantedView::Selection => {
                let context = self
                    .screen
                    .settings
                    .tab_context(&self.screen.documents, self.state);
                let text = self.screen.tabs.focused().selected_text(&context)?;
                Some(titled_lines("Selected", &text))
            }
        }
    }

    /// Returns whether a document that exists is not read yet.
    fn is_loading(&self, wanted: WantedView) -> bool {
        let Some(state) = self.state else {
            return false;
        };
        match wanted {
            WantedView::Tab(TabKind::Plan) => {
                state.plan.is_some() && self.screen.documents.plan.text.is_none()
            }
            WantedView::Tab(TabKind::Comments) => {
                !state.findings.all().is_empty() && self.screen.documents.comments.text.is_none()
            }
            WantedView::Tab(_) | WantedView::Selection => false,
        }
    }

    /// Returns the lines of a tab, as the last frame laid them out.
    fn tab_lines(&mut self, tab: TabKind) -> Vec<String> {
        if tab == TabKind::Chat {
            let news = self.screen.tabs.chat.transcript.all_news();
            let typed = std::mem::take(&mut self.screen.linear.typed);
            let lines = news
                .into_iter()
                .flat_map(|news| self.screen.linear.news_lines(news));
            let lines = lines.collect();
            self.screen.linear.typed = typed;
            return lines;
        }
        if tab == TabKind::Status
            && let Some(lines) = self.status_lines()
        {
            return lines;
        }
        let page = self
            .screen
            .tabs
            .get_mut(tab)
            .page()
            .map(|page| ScrollView::text(page));
        let page = page.unwrap_or_default();
        let lines = page.lines().map(signs_to_words);
        let lines: Vec<String> = lines.filter(|line| !line.trim().is_empty()).collect();
        // The margin of a window, in which the bar of what is picked stays, is none of the text.
        let indent = |line: &String| line.len() - line.trim_start_matches(' ').len();
        let margin = lines.iter().map(indent).min().unwrap_or(0);
        let lines = lines.iter().map(|line| line.get(margin..).unwrap_or(line));
        lines.map(str::to_owned).collect()
    }

    /// Returns the lines of the Status tab with a label each: its page is cut and laid out for a window.
    fn status_lines(&self) -> Option<Vec<String>> {
        let context = self
            .screen
            .settings
            .tab_context(&self.screen.documents, self.state);
        let lines = self.screen.tabs.status.labeled_lines(&context)?;
        Some(lines.iter().map(|line| signs_to_words(line)).collect())
    }

    /// Prints the lines with a text: of the shown tab, else of the chat.
    pub(super) fn find_lines(&mut self, wanted: &str) -> Vec<Action> {
        let letters = wanted.to_lowercase();
        let lines = self.tab_lines(self.screen.tabs.view.shown);
        let found: Vec<String> = lines
            .into_iter()
            .filter(|line| line.to_lowercase().contains(&letters))
            .take(MAX_FOUND_LINES)
            .collect();
        let title = self.screen.tabs.view.shown.title();
        self.screen
            .linear
            .replies
            .push(match (wanted, found.len()) {
                ("", _) => "Write what to find after /find.".to_owned(),
                (_, 0) => format!("{title} has no line with: {wanted}"),
                (_, n) => format!("{title}, lines with {wanted} (at most {MAX_FOUND_LINES}): {n}"),
            });
        if !wanted.is_empty() {
            self.screen.linear.replies.extend(found);
        }
        Vec::new()
    }
}

fn titled_lines(title: &str, text: &str) -> Vec<String> {
    let text = clean_for_display(text);
    let title = match signs_to_words(title) {
        asked if asked.ends_with('?') => asked,
        title => format!("{title}:"),
    };
    let end = "End of the text.".to_owned();
    let lines = text.lines().map(|line| line.trim_end().to_owned());
    std::iter::once(title).chain(lines).chain([end]).collect()
}
