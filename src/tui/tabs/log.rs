//! Tab: log.md, then the events as rows, to be filtered and pointed at; the one that is pointed at shows all
//! that it holds beside them, or below where there is little room.

mod detail;
mod further;
mod told;

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use crate::domain::event::{AgentActivity, Event};
use crate::domain::ids::{RequestId, UnixMillis};
use crate::domain::run::RunState;
use crate::text::truncate;
use crate::tui::documents::Text;
use crate::tui::found;
use crate::tui::hints;
use crate::tui::keymap::{IsWriting, Keymap};
use crate::tui::layout::take_below;
use crate::tui::markdown;
use crate::tui::page::{Mark, Marked, Page, gutter};
use crate::tui::part::Part;
use crate::tui::theme;
use crate::tui::transcript::Standing;
use crate::tui::transcript::short_path;
use crate::tui::words::Clock;
use crate::tui::wrap::{cut, width, wrap, wrap_own, wrap_text};
use detail::Detail;
use further::Further;
use told::{Kind, Told, told};

/// How many events are kept, the latest.
const MAX_EVENTS: usize = 1_000;
/// How many are kept beside them that came before, while somebody reads or looks for those.
const MAX_FURTHER: usize = 10_000;
/// How many bytes of an agent's text are kept with its event.
const MAX_TEXT: usize = 4_096;
/// How many lines of log.md's end are shown.
const N_LOG_LINES: usize = 500;
/// From how many columns on what an event holds stands beside the list.
const BESIDE: u16 = 119;
/// How many columns a row of the list takes at most.
const WIDEST: u16 = 112;
/// Columns of the time and of the name.
const HEAD: usize = 19;

/// The events, as rows.
#[derive(Debug, Default)]
pub struct Record {
    /// The latest.
    rows: VecDeque<Row>,
    /// Which part of the log they tell.
    part: Part,
    further: Further,
    /// Whether it is a piece of the past, made to be put in front of another.
    is_piece: bool,
    n_seen: u64,
    filter: Filter,
    picked: Option<i64>,
    /// What was asked for and is not answered yet, in words.
    asked: BTreeMap<RequestId, String>,
}

/// One event.
#[derive(Debug)]
struct Row {
    /// Its number on this screen; what came earlier has lower ones.
    n: i64,
    /// The number of its event in the log; 0 where that log is gone.
    seq: u64,
    at: UnixMillis,
    told: Told,
    event: Event,
}

impl Row {
    /// Whose it is and what it says, where that has these letters, given in lower case.
    fn listed(
        &self,
        find: &str,
        state: Option<&RunState>,
    ) -> Option<(&Self, &'static str, String)> {
        let (who, text) = self.told.in_words(state);
        let has = find.is_empty() || who.contains(find) || text.to_lowercase().contains(find);
        has.then_some((self, who, text))
    }
}

/// Which events are listed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
enum Filter {
    #[default]
    All,
    Only(Kind),
}

impl Filter {
    fn next(self) -> Self {
        match self {
            Self::All => Self::Only(Kind::You),
            Self::Only(Kind::You) => Self::Only(Kind::Agent),
            Self::Only(Kind::Agent) => Self::Only(Kind::Program),
            Self::Only(Kind::Program) => Self::Only(Kind::Trouble),
            Self::Only(Kind::Trouble) => Self::All,
        }
    }

    fn lists(self, row: &Row) -> bool {
        match self {
            Self::All => true,
            Self::Only(kind) => row.told.kind == kind,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Only(Kind::You) => "what you did",
            Self::Only(Kind::Agent) => "what agents did",
            Self::Only(Kind::Program) => "what the program did",
            Self::Only(Kind::Trouble) => "trouble",
        }
    }
}

impl Record {
    /// Takes an event in, where there is something to say of it.
    pub fn on_event(&mut self, at: UnixMillis, event: &Event) {
        if let Event::RunCreated(_) = event {
            // Another log begins; of the one before it only what is here can be told.
            self.rows.iter_mut().for_each(|row| row.seq = 0);
            self.part = Part::from_the_first();
            self.further = Further::default();
        }
        self.part.on_event();
        let Some(told) = told(event, &mut self.asked) else {
            return;
        };
        self.n_seen += 1;
        let n = self.rows.back().map_or(0, |last| last.n + 1);
        self.rows.push_back(Row {
            n,
            seq: self.part.last(),
            at,
            told,
            event: kept(event),
        });
        while self.rows.len() > MAX_EVENTS && !self.is_piece {
            self.forget_first();
        }
    }

    /// Lists other events.
    pub fn turn(&mut self) {
        self.filter = self.filter.next();
        self.picked = None;
        self.further = Further::default();
    }

    /// Points at the next listed event that has these letters, given in lower case, or the one before.
    pub fn go(&mut self, is_next: bool, (find, state): (&str, Option<&RunState>)) -> Option<Mark> {
        let listed: Vec<i64> = self.listed(find, state).map(|(row, ..)| row.n).collect();
        let at = listed.iter().position(|n| Some(*n) == self.picked);
        let next = match (at, is_next) {
            // The latest is what one looks at first.
            (None, _) => listed.len().checked_sub(1)?,
            (Some(at), true) => at + 1,
            (Some(at), false) => at.checked_sub(1)?,
        };
        self.picked = Some(*listed.get(next)?);
        self.picked.map(Mark::Row)
    }

    /// Tells whether only some of the events are listed.
    pub fn is_filtered(&self) -> bool {
        self.filter != Filter::All
    }

    /// Points at an event.
    pub fn point_at(&mut self, n: i64) {
        self.picked = Some(n);
    }

    /// Points at what was pointed at before.
    pub fn put_back(&mut self, picked: Option<i64>) {
        self.picked = picked;
    }

    /// Which of the listed events that have these letters, given in lower case, is pointed at, from 1, and how
    /// many have them; 0 where it is none of them.
    pub fn place_of(&self, find: &str, state: Option<&RunState>) -> (usize, usize) {
        let listed: Vec<i64> = self.listed(find, state).map(|(row, ..)| row.n).collect();
        let at = listed.iter().position(|n| Some(*n) == self.picked);
        (at.map_or(0, |at| at + 1), listed.len())
    }

    /// The event that is pointed at.
    pub fn picked(&self) -> Option<i64> {
        self.picked
    }

    /// Points at nothing; tells whether something was pointed at.
    pub fn pick_nothing(&mut self) -> bool {
        self.picked.take().is_some()
    }

    /// The event that is pointed at: whose it is and when it was, and all that it holds.
    pub fn picked_whole(
        &self,
        state: Option<&RunState>,
        (clock, repository): (Clock, &str),
    ) -> Option<(String, String)> {
        let row = self.picked_row()?;
        let (who, words) = row.told.in_words(state);
        let detail = Detail::new(&row.event, &words);
        let title = format!("{who}, {}", clock.second(row.at));
        Some((title, local(&detail.text(), clock, repository)))
    }

    fn picked_row(&self) -> Option<&Row> {
        let picked = self.picked?;
        self.all().find(|row| row.n == picked)
    }

    /// The rows that are listed, whose they are and what they say.
    fn listed<'a>(
        &'a self,
        find: &'a str,
        state: Option<&'a RunState>,
    ) -> impl Iterator<Item = (&'a Row, &'static str, String)> + 'a {
        let listed = self.all().filter(move |row| self.filter.lists(row));
        listed.filter_map(move |row| row.listed(find, state))
    }

    /// All rows, those that came before the latest first.
    fn all(&self) -> impl Iterator<Item = &Row> {
        self.further.rows.iter().chain(&self.rows)
    }
}

/// What Log shows beside the events.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// `log.md`
    pub log: &'a Text,
    /// The letters that an event must have, in lower case.
    pub find: &'a str,
    /// The run.
    pub state: Option<&'a RunState>,
    /// The user's time of day.
    pub clock: Clock,
    /// The keys in force.
    pub keymap: &'a Keymap,
    /// The repository's path, which is left out of others.
    pub repository: &'a str,
}

/// Draws both; follows the end until the user scrolls.
pub fn draw(page: &mut Page, record: &mut Record, frame: &mut Frame, area: Rect, about: About<'_>) {
    let mut area = area;
    record.settle((about.find, about.state));
    if let Some(row) = record.picked_row().filter(|_| area.height > 8) {
        let pane = match area.width >= BESIDE {
            true => (take_beside(&mut area), Borders::LEFT | Borders::TOP),
            false => {
                let rows = (area.height / 3).clamp(4, 16);
                (take_below(&mut area, usize::from(rows)), Borders::TOP)
            }
        };
        draw_detail(row, frame, pane, about);
    }
    area.width = area.width.min(WIDEST);
    let columns = usize::from(area.width);
    let n_turns = about
        .state
        .map_or(0, |state| state.course.total_turn_count());
    let mut hasher = DefaultHasher::new();
    (columns, about.log.revision, record.n_seen, n_turns).hash(&mut hasher);
    record.further.to.hash(&mut hasher);
    (record.filter, record.picked, about.find, about.clock).hash(&mut hasher);
    record.standing().hash(&mut hasher);
    page.lay_out_around(hasher.finish(), || lay_out(record, about, columns));
    page.say_aside(&match record.filter {
        Filter::All => String::new(),
        filter => format!("listed: {}", filter.name()),
    });
    page.draw(frame, area);
    record.on_shown(page.is_away(), about.find);
}

/// The event as it is kept: a long text is in the chat whole.
fn kept(event: &Event) -> Event {
    match event {
        Event::Agent {
            turn,
            role,
            news: AgentActivity::Text { text },
        } => Event::Agent {
            turn: turn.clone(),
            role: *role,
            news: AgentActivity::Text {
                text: truncate::to_bytes(text, MAX_TEXT),
            },
        },
        event => event.clone(),
    }
}

/// Takes the right of an area for what an event holds.
fn take_beside(area: &mut Rect) -> Rect {
    let width = area.width * 9 / 20;
    area.width -= width;
    Rect {
        x: area.right(),
        width,
        ..*area
    }
}

/// All that an event holds, as far as it fits.
fn draw_detail(row: &Row, frame: &mut Frame, (area, sides): (Rect, Borders), about: About<'_>) {
    let (who, words) = row.told.in_words(about.state);
    let key = about.keymap.named("open", IsWriting::No);
    let title = format!(" {who}, {} · ", about.clock.second(row.at));
    let hint = format!("{key} shows all ");
    let room = usize::from(area.width).saturating_sub(width(&hint));
    let block = Block::new()
        .borders(sides)
        .border_style(theme::QUIET)
        .title(Line::from(vec![
            Span::styled(cut(&title, room), theme::QUIET),
            Span::styled(hint, hints::marked(theme::QUIET)),
        ]));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let columns = usize::from(inner.width).saturating_sub(1);
    let words = drafts(&local(&words, about.clock, about.repository));
    let mut lines = Detail::new(&row.event, &words).lines(columns);
    let rows = usize::from(inner.height);
    if lines.len() > rows {
        lines.truncate(rows.saturating_sub(1));
        lines.push(Line::styled(
            cut(&format!("… {key} shows all"), columns),
            theme::QUIET,
        ));
    }
    frame.render_widget(Paragraph::new(gutter(lines, false)), inner);
}

/// A row's text with the drafts of documents called so, wherever they lie.
fn drafts(text: &str) -> String {
    let words: Vec<String> = text.split(' ').map(short_path).collect();
    words.join(" ")
}

/// A text with files named from the repository on, and in the user's time of day.
fn local(text: &str, clock: Clock, repository: &str) -> String {
    let text = match repository {
        "" => text.to_owned(),
        root => text.replace(&format!("{}/", root.trim_end_matches('/')), ""),
    };
    clock.local(&text)
}

fn lay_out(record: &Record, about: About<'_>, columns: usize) -> Marked {
    let columns = columns.saturating_sub(1);
    let mut laid = Marked::default();
    let mut push = |lines: Vec<Line<'static>>| laid.lines.extend(gutter(lines, false));
    push(vec![Line::styled("── log of the steps ", theme::QUIET)]);
    match &about.log.text {
        Some(text) => {
            let n_lines = text.lines().count();
            let tail: Vec<&str> = text
                .lines()
                .skip(n_lines.saturating_sub(N_LOG_LINES))
                .collect();
            push(markdown::lay_out(&tail.join("\n"), columns, theme::PLAIN));
        }
        None => push(wrap_own("It is empty.", columns, theme::QUIET)),
    }
    let listed = match (record.filter, about.find) {
        (Filter::All, "") => String::new(),
        (filter, "") => format!("· listed: {} ", filter.name()),
        (filter, find) => format!("· listed: {} with \"{find}\" ", filter.name()),
    };
    push(vec![
        Line::default(),
        Line::styled(cut(&format!("── events {listed}"), columns), theme::QUIET),
    ]);
    if let Some(words) = record.reach_in_words(about.find, about.keymap) {
        push(wrap_text(&words, columns, theme::QUIET));
    }
    let n_before = laid.lines.len();
    for (row, who, text) in record.listed(about.find, about.state) {
        laid.marks.insert(Mark::Row(row.n), laid.lines.len());
        let text = drafts(&local(&text, about.clock, about.repository));
        let lines = row_lines((row, who, &text), about.clock, columns);
        let lines = found::lit(lines, about.find, record.picked == Some(row.n));
        laid.lines
            .extend(gutter(lines, record.picked == Some(row.n)));
    }
    if laid.lines.len() == n_before && record.standing() == Standing::Whole {
        let key = about.keymap.named("filter", IsWriting::No);
        let none = match record.rows.is_empty() {
            true => "None yet.".to_owned(),
            false => format!("None; {key} lists others."),
        };
        let none = wrap(&hints::spans(&none, theme::QUIET), columns, 0);
        laid.lines.extend(gutter(none, false));
    }
    laid
}

fn row_lines(
    (row, who, text): (&Row, &str, &str),
    clock: Clock,
    columns: usize,
) -> Vec<Line<'static>> {
    let style = style_of(row.told.kind, who);
    let sign = match row.told.kind {
        Kind::Trouble => "! ",
        Kind::You | Kind::Agent | Kind::Program => "",
    };
    // Where there is little room, whose it is goes before the time does.
    let head = match columns < 60 {
        true => format!("{} ", clock.minute(row.at)),
        false => format!("{} ", clock.second(row.at)),
    };
    let who = match columns < 60 {
        true => format!("{:<4} ", short(who)),
        false => format!("{who:<9} "),
    };
    let used = crate::tui::wrap::width(&head) + crate::tui::wrap::width(&who);
    let text = format!("{sign}{text}");
    let text = cut(&text, columns.saturating_sub(used.min(HEAD)));
    let spans = vec![
        Span::styled(head, theme::QUIET),
        Span::styled(who, style),
        Span::styled(
            text,
            match row.told.kind {
                Kind::Trouble => theme::BAD,
                Kind::You | Kind::Agent | Kind::Program => theme::PLAIN,
            },
        ),
    ];
    vec![Line::from(spans)]
}

/// Whose it is, where there is little room.
fn short(who: &str) -> &'static str {
    match who {
        "planner" => "plan",
        "reviewer" => "rev",
        "you" => "you",
        "agent" => "call",
        "trouble" => "",
        _ => "prog",
    }
}

fn style_of(kind: Kind, who: &str) -> Style {
    use crate::domain::turn::Role;
    let role = [Role::Planner, Role::Reviewer];
    let role = role.into_iter().find(|role| role.name() == who);
    match (kind, role) {
        (_, Some(role)) => theme::role(role),
        (Kind::You, None) => theme::YOU,
        (Kind::Agent | Kind::Program, None) => theme::QUIET,
        (Kind::Trouble, None) => theme::BAD,
    }
}
