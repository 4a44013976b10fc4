//! Dialog: shall this be discussed, by these, like this?

use crate::text::pluralize;
use crate::tui::action::Action;
use crate::tui::discussing::Planned;
use crate::tui::sheet::{Draft, Sheet, Then};
use crate::tui::theme;
use crate::tui::wrap::one_line;

/// How many lines of the topic are shown.
const LINES: usize = 6;

/// The dialog; nothing is started before the user agrees.
pub fn sheet(planned: &Planned) -> Sheet {
    let topic = &planned.topic;
    let (id, title) = match topic.finding {
        Some(n) => (
            format!("discuss {n}"),
            format!("have finding {n} discussed?"),
        ),
        None => ("discuss".to_owned(), "have this discussed?".to_owned()),
    };
    let mut sheet = Sheet::new(id, &title).until_closed();
    sheet = sheet
        .says(
            &format!("who    {}", one_line(&planned.participants.join(", "))),
            theme::STRONG,
        )
        .says(
            &format!("how    {}", one_line(&planned.terms)),
            theme::QUIET,
        )
        .says(
            &format!("given  {}", one_line(&planned.budget)),
            theme::QUIET,
        );
    // The longest last: where there is little room it is cut, and the title says what it is about.
    let mut lines = topic.text.lines().filter(|line| !line.trim().is_empty());
    for line in lines.by_ref().take(LINES) {
        sheet = sheet.says(line, theme::PLAIN);
    }
    let n_more = lines.count();
    if n_more > 0 {
        sheet = sheet.says(&format!("… +{}", pluralize(n_more, "line")), theme::QUIET);
    }
    sheet = sheet.offers(
        'y',
        "have it discussed, beside the run",
        Then::ActAndBack(vec![Action::Discuss(topic.clone())]),
    );
    if let Some(finding) = topic.finding {
        sheet = sheet.offers(
            'e',
            "word the question otherwise first",
            Then::Write(Draft::Topic { finding }),
        );
    }
    sheet.offers('n', "no discussion", Then::Back)
}
