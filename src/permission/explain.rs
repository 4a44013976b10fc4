//! Every rule that has a word in a decision, for people who ask why.
//!
//! It refuses to decide.

use super::check;
use super::context::Context;
use super::rule::{Facts, Form, Rule};
use super::{Call, Reach};

/// The rules about one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked<'a> {
    /// The permission that is needed.
    pub permission: String,
    /// The text that the rules were held against.
    pub target: String,
    /// Those that match, in their order: the last one counts. Restrictions of an untrusted project stand behind them.
    pub rules: Vec<&'a Rule>,
}

/// Lists the rules that match what a call needs.
pub fn rules_about<'a>(call: &Call, context: &'a Context) -> Vec<Looked<'a>> {
    let reach = check::reach(call);
    let facts = Facts {
        is_contained: reach == Some(Reach::Contained),
        leaves_sandbox: reach == Some(Reach::LeavesSandbox),
        only_reads: false,
    };
    let mut looked = Vec::new();
    for check in check::of(call, context).checks {
        let others = check.inner.iter().chain(&check.looks);
        let forms = check
            .forms
            .iter()
            .cloned()
            .chain(others.map(|text| Form::of(text)));
        for form in forms {
            let rules = context
                .rules
                .list()
                .iter()
                .chain(context.rules.restrictions());
            looked.push(Looked {
                permission: check.permission.clone(),
                target: form.texts.first().cloned().unwrap_or_default(),
                rules: rules
                    .filter(|rule| rule.is_about(&check.permission, facts) && rule.takes(&form))
                    .collect(),
            });
        }
    }
    looked
}
