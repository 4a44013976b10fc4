//! Dialog: the plan on disk is not the one that was reviewed.
//!
//! It says what changed. Enter only shows it: what was not reviewed is never accepted by a stray key.

use ratatui::style::Style;
use similar::{ChangeTag, TextDiff};

use super::{Known, answer, back_to_the_goal, cancel, identity};
use crate::domain::ids::Sha256;
use crate::domain::phase::Phase;
use crate::domain::plan;
use crate::domain::question::QuestionAnswer;
use crate::domain::run::{PlanFileState, RunState};
use crate::text::{count_changed_lines, front_matter};
use crate::tui::command::Command;
use crate::tui::documents::Texts;
use crate::tui::sheet::{Sheet, Then};
use crate::tui::tabs::Tab;
use crate::tui::theme;
use crate::tui::versions::Pair;

pub(super) fn sheet(id: u32, reviewed: &Sha256, state: &RunState, known: &Known<'_>) -> Sheet {
    let mut sheet = Sheet::new(identity(id), "the plan is not the one that was reviewed");
    let file = state.plan.as_ref();
    let is_plan = file.is_some_and(|file| file.reading == PlanFileState::Plan);
    if !is_plan {
        // First: it says why it cannot be accepted, and what changed may be long.
        let text = format!(
            "{}. Edit it (E) before it can be accepted.",
            flaw(known.texts)
        );
        sheet = sheet.says(&text, theme::BAD);
    }
    let changed = pair(reviewed, known.texts);
    match &changed {
        Some(pair) => {
            let (n_more, n_less) = count_changed_lines(&pair.old.1, &pair.new.1);
            let text = format!("since then: +{n_more} −{n_less}");
            sheet = sheet.says(&text, theme::PLAIN);
            for (text, style) in differing(pair) {
                sheet = sheet.says(&text, style);
            }
        }
        None => {
            let text = "the version that was reviewed is not kept any more";
            sheet = sheet.says(text, theme::QUIET);
        }
    }
    if is_plan {
        let accept = answer(id, QuestionAnswer::AcceptAsIs);
        sheet = sheet.offers('y', "accept it as it is", accept);
    }
    // While steps run there is no way back into the review but by stopping.
    if state.phase != Phase::Execute {
        sheet = sheet.offers(
            'r',
            "review it again",
            answer(id, QuestionAnswer::ReviewAgain),
        );
    }
    let n_before = sheet.choices.len();
    let (look, see) = match changed {
        Some(_) => ("see all that changed", Command::View),
        None => ("read the plan", Command::Show(Tab::Plan)),
    };
    sheet
        .offers('v', look, Then::Do(see))
        .offers('b', "stop, back to the goal", back_to_the_goal(id))
        .offers('c', "cancel the run", cancel())
        .first(n_before)
}

/// Why what lies there is no plan.
fn flaw(texts: &Texts) -> String {
    match texts.plan.text.as_deref().map(plan::parse) {
        Some(Err(why)) => why.to_string(),
        Some(Ok(_)) | None => "it is no plan any more".to_owned(),
    }
}

/// How many lines that differ are told in the dialog.
const MOST: usize = 6;

/// The plan that was reviewed and the one that lies there now; `None` where the first is not kept.
pub fn pair(reviewed: &Sha256, texts: &Texts) -> Option<Pair> {
    let now = texts.plan.text.as_deref()?;
    let now = front_matter::parse_document(now)
        .body
        .trim_start_matches('\n');
    let old = texts
        .earlier
        .iter()
        .rfind(|old| old.approval == *reviewed)?;
    Some(Pair {
        old: (
            format!("the plan, reviewed in {}", old.label),
            old.text.clone(),
        ),
        new: ("the plan, now".to_owned(), now.to_owned()),
    })
}

/// The first lines that differ.
fn differing(pair: &Pair) -> Vec<(String, Style)> {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (pair.old.1.lines().collect(), pair.new.1.lines().collect());
    let diff = TextDiff::from_slices(&old, &new);
    let lines = diff.iter_all_changes().filter_map(|change| {
        let (sign, style) = match change.tag() {
            ChangeTag::Delete => ('-', theme::BAD),
            ChangeTag::Insert => ('+', theme::GOOD),
            ChangeTag::Equal => return None,
        };
        let text = change.value().trim_end();
        (!text.is_empty()).then(|| (format!("{sign} {text}"), style))
    });
    lines.take(MOST).collect()
}
