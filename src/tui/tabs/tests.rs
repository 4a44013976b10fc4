//! One more tab: its type, and its line in the list. What it does not say itself, it has from the traits.

use ratatui::backend::TestBackend;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::{Frame, Terminal};

use super::screen_tab::{ScreenTab, TabContext};
use super::{TabView, chat};
use crate::domain::ids::UnixMillis;
use crate::tui::appearance::ScreenSettings;
use crate::tui::document_texts::DisplayDocuments;
use crate::tui::scroll_view::{ScrollContent, ScrollView};
use crate::tui::searchable_view::SearchableView;
use crate::tui::tab_kind::{TabFolding, TabInfo, tab_kinds};

const NOTES: &str = "Nothing noted yet.";

#[derive(Debug, Default)]
pub struct NotesTab {
    page: ScrollView,
}

impl SearchableView for NotesTab {
    fn searched_page(&self) -> Option<&ScrollView> {
        Some(&self.page)
    }

    fn searched_page_mut(&mut self) -> Option<&mut ScrollView> {
        Some(&mut self.page)
    }

    fn searched_name(&self) -> &'static str {
        TabKind::Notes.info().title
    }
}

impl ScreenTab for NotesTab {
    fn page(&mut self) -> Option<&mut ScrollView> {
        Some(&mut self.page)
    }

    fn draw(&mut self, frame: &mut Frame, area: Rect, _: &TabContext<'_>, _now: UnixMillis) {
        self.page.lay_out(0, || ScrollContent {
            lines: vec![Line::from(NOTES)],
            ..ScrollContent::default()
        });
        self.page.draw(frame, area);
    }

    fn whole_text(&mut self, _: &TabContext<'_>) -> Result<String, String> {
        Ok(NOTES.to_owned())
    }
}

macro_rules! one_more_tab {
    ($build:ident) => {
        $build! {
            Chat ("Chat", "chat", AlwaysOpen) chat: chat::ChatTab,
            Notes ("Notes", "notes", AlwaysOpen) notes: NotesTab,
        }
    };
}
one_more_tab!(tab_kinds);
one_more_tab!(screen_tabs);

#[test]
fn a_new_tab_is_a_type_and_a_line_of_the_list() {
    let mut tabs = ScreenTabs::default();
    let shown = tabs.view.shown.title();
    let titles: Vec<&str> = TabKind::ALL.iter().map(|tab| tab.info().title).collect();
    assert_eq!((shown, titles), ("Chat", vec!["Chat", "Notes"]));
    let (settings, documents) = (ScreenSettings::default(), DisplayDocuments::default());
    let context = settings.tab_context(&documents, None);
    let tab = tabs.get_mut(TabKind::Notes);
    let draw = |tab: &mut dyn ScreenTab| {
        let mut terminal = Terminal::new(TestBackend::new(30, 3)).unwrap();
        terminal
            .draw(|frame| tab.draw(frame, frame.area(), &context, UnixMillis(0)))
            .unwrap();
        terminal.backend().to_string()
    };
    let seen = draw(tab);
    assert!(seen.contains(NOTES), "{seen}");
    tab.begin_search();
    tab.search("NOTED");
    draw(tab);
    assert_eq!(tab.match_position(None), (1, 1));
    assert_eq!(tab.whole_text(&context).as_deref(), Ok(NOTES));
    assert!(tabs.get(TabKind::Notes).hints().is_empty());
}
