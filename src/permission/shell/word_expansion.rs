//! Expands words to everything that they may become: braces, variables, substitutions, splitting.

use super::abstract_value::{AbstractValue, PossibleValues, ShellField};
use super::environment::{ShellEnvironment, VariableValue};
use super::interpreter::ShellInterpreter;
use super::syntax_tree::{AssignmentNode, AssignmentValue, RawWord, WordPiece};
use super::{AnalysisLimitKind, UNKNOWN_PLACEHOLDER, brace_expansion, shell_parser};

/// One possible result of expanding words.
pub type FieldList = Vec<ShellField>;

/// What one piece may expand to.
pub enum PieceExpansion {
    /// One text; outside of quotes it is split, unless it is a number.
    Text(AbstractValue),
    Unsplit(AbstractValue),
    /// The elements of an array, each a word of its own.
    Elements(Vec<AbstractValue>),
}

/// A word that is being built.
#[derive(Clone, Default)]
struct PartialWord {
    finished_fields: FieldList,
    current: Option<ShellField>,
}

/// Expands words in one state of the shell, which assignments in them change.
pub struct WordExpander<'a> {
    pub interpreter: &'a mut ShellInterpreter,
    pub env: &'a mut ShellEnvironment,
}

impl WordExpander<'_> {
    /// Returns every possible result of expanding several words together.
    pub fn expand_words(&mut self, raws: &[RawWord]) -> Vec<FieldList> {
        let mut ways: Vec<FieldList> = vec![Vec::new()];
        for raw in raws {
            let of_word = self.expand_word(raw);
            ways = self.combine_expansions(ways, of_word, raw);
        }
        ways
    }

    /// Returns every possible result of expanding one word: none, one or several words each.
    pub fn expand_word(&mut self, raw: &RawWord) -> Vec<FieldList> {
        if let Some(assign) = &raw.assignment {
            let value = self.apply_assignment(assign);
            return value
                .iter()
                .map(|value| {
                    let mut field = ShellField::known(format!("{}=", assign.name));
                    field.value.append(value);
                    field.is_completed_assignment = true;
                    vec![field]
                })
                .collect();
        }
        let Some(words) = brace_expansion::expand_braces(
            &raw.pieces,
            self.interpreter.budget.limits.max_expansions,
        ) else {
            self.interpreter
                .budget
                .record_exceeded_limit(AnalysisLimitKind::Expansions, &raw.span);
            return vec![vec![unknown_field()]];
        };
        if words.len() > 1 {
            self.interpreter
                .budget
                .spend_steps(words.len() * (1 + raw.pieces.len()), &raw.span);
        }
        let mut ways: Vec<FieldList> = vec![Vec::new()];
        for pieces in &words {
            if self.interpreter.budget.is_exhausted() {
                break;
            }
            let of_word = self.expand_into_fields(pieces, raw);
            ways = self.combine_expansions(ways, of_word, raw);
        }
        ways
    }

    /// Combines the results for the first part with those for the next.
    fn combine_expansions(
        &mut self,
        ways: Vec<FieldList>,
        next: Vec<FieldList>,
        raw: &RawWord,
    ) -> Vec<FieldList> {
        let n_ways = ways.len().saturating_mul(next.len());
        let n_fields = ways.first().map_or(0, Vec::len) + next.first().map_or(0, Vec::len);
        if n_ways > self.interpreter.budget.limits.max_expansions {
            self.interpreter
                .budget
                .record_exceeded_limit(AnalysisLimitKind::Expansions, &raw.span);
            return append_fields(ways, &[vec![unknown_field()]]);
        }
        if n_ways > 1
            && !self
                .interpreter
                .budget
                .spend_steps(n_ways.saturating_mul(n_fields), &raw.span)
        {
            return ways;
        }
        append_fields(ways, &next)
    }

    fn expand_into_fields(&mut self, pieces: &[WordPiece], raw: &RawWord) -> Vec<FieldList> {
        let mut partials = vec![PartialWord::default()];
        for piece in pieces {
            if let WordPiece::Text { text, is_quoted } = piece {
                for partial in &mut partials {
                    partial.push_literal(text, *is_quoted);
                }
                continue;
            }
            let is_quoted = is_quoted(piece);
            let expansions = self.expand_piece(piece);
            let n_bytes: usize = expansions.iter().map(PieceExpansion::text_len).sum();
            self.interpreter
                .budget
                .spend_steps(1 + n_bytes / 32, &raw.span);
            let separators = field_separators(self.env);
            if partials.len().saturating_mul(expansions.len())
                > self.interpreter.budget.limits.max_expansions
            {
                self.interpreter
                    .budget
                    .record_exceeded_limit(AnalysisLimitKind::Expansions, &raw.span);
                return vec![vec![unknown_field()]];
            }
            if let ([partial], [expansion]) = (partials.as_mut_slice(), expansions.as_slice()) {
                partial.push_expansion(expansion, is_quoted, separators.as_deref());
                continue;
            }
            partials = partials
                .into_iter()
                .flat_map(|partial| {
                    expansions
                        .iter()
                        .map(|expansion| {
                            partial.with_expansion(expansion, is_quoted, separators.as_deref())
                        })
                        .collect::<Vec<_>>()
                })
                .collect();
        }
        partials.into_iter().map(PartialWord::into_fields).collect()
    }

    /// Expands a run of pieces to one text, without splitting.
    pub fn expand_without_splitting(&mut self, pieces: &[WordPiece]) -> PossibleValues {
        let mut texts = PossibleValues::empty_string();
        for piece in pieces {
            if let WordPiece::Text { text, .. } = piece {
                texts = texts.concat(&PossibleValues::single(AbstractValue::known(text.as_str())));
                continue;
            }
            let expansions = self.expand_piece(piece);
            let n_bytes: usize = expansions.iter().map(PieceExpansion::text_len).sum();
            let here = self.interpreter.current_span();
            self.interpreter.budget.spend_steps(1 + n_bytes / 32, &here);
            let values = expansions
                .into_iter()
                .map(PieceExpansion::into_single_value);
            texts = texts.concat(&PossibleValues::from_values(values));
        }
        texts
    }

    /// Expands a text as a prompt: its command substitutions run.
    pub fn expand_prompt(&mut self, text: &str) -> PossibleValues {
        let here = self.interpreter.current_span();
        if !self.interpreter.budget.enter_level(&here) {
            return PossibleValues::unknown();
        }
        let pieces =
            shell_parser::parse_here_document(text, here.clone(), &mut self.interpreter.budget);
        let texts = self.expand_without_splitting(&pieces);
        self.interpreter.budget.leave_level();
        texts
    }

    /// Expands one piece; commands in it are recorded once.
    fn expand_piece(&mut self, piece: &WordPiece) -> Vec<PieceExpansion> {
        match piece {
            WordPiece::Text { text, .. } => {
                vec![PieceExpansion::Text(AbstractValue::known(text.as_str()))]
            }
            WordPiece::Parameter {
                parameter,
                is_quoted,
            } => self.expand_parameter(parameter, *is_quoted),
            WordPiece::Command { list, .. } => {
                let texts = self
                    .interpreter
                    .interpret_command_substitution(list, self.env);
                texts.iter().cloned().map(PieceExpansion::Text).collect()
            }
            WordPiece::Process { list, feeds } => {
                let name = self
                    .interpreter
                    .interpret_process_substitution(list, *feeds, self.env);
                vec![PieceExpansion::Unsplit(AbstractValue::known(name))]
            }
            WordPiece::Arithmetic(pieces) => {
                let texts = self.expand_without_splitting(pieces);
                if let Some(value) = texts.iter().next() {
                    self.evaluate_index(&value.text);
                    self.evaluate_names(&value.text);
                }
                let number = texts.iter().next().filter(|value| is_decimal(&value.text));
                let value = number.map_or_else(AbstractValue::unknown, |value| {
                    AbstractValue::known(value.text.trim())
                });
                vec![PieceExpansion::Unsplit(value)]
            }
        }
    }

    /// Performs an assignment; returns what the variable may contain now.
    pub fn apply_assignment(&mut self, assign: &AssignmentNode) -> PossibleValues {
        let needs_old = assign.index.is_some() || assign.is_append;
        let old = if needs_old {
            self.env.variable_values(&assign.name)
        } else {
            Vec::new()
        };
        let here = self.interpreter.current_span();
        self.interpreter
            .budget
            .spend_steps(old.iter().map(VariableValue::copy_cost).sum(), &here);
        let new: Vec<VariableValue> = match &assign.value {
            AssignmentValue::One(word) => {
                let texts = self.expand_without_splitting(&word.pieces);
                texts.iter().cloned().map(VariableValue::One).collect()
            }
            AssignmentValue::Array(words) => self
                .expand_words(words)
                .into_iter()
                .map(|fields| {
                    VariableValue::Array(fields.into_iter().map(|field| field.value).collect())
                })
                .collect(),
        };
        let index = assign.index.as_ref().map(|index| {
            let texts = self.expand_without_splitting(&index.pieces);
            let first = texts.iter().next();
            first.and_then(|value| value.text.trim().parse::<usize>().ok())
        });
        let values = match index {
            Some(index) => set_array_element(&old, &new, index),
            None if assign.is_append => append_to_values(&old, &new, self.env.is_set(&assign.name)),
            None => new,
        };
        let texts = PossibleValues::from_values(values.iter().map(|variable| match variable {
            VariableValue::One(value) => value.clone(),
            VariableValue::Array(values) => join_elements(values),
        }));
        self.interpreter
            .budget
            .spend_steps(values.iter().map(VariableValue::copy_cost).sum(), &here);
        self.env.set_variable(&assign.name, values);
        self.interpreter
            .interpret_command_variable(&assign.name, &texts, self.env);
        texts
    }
}

impl PieceExpansion {
    /// Joins all of it to one text.
    pub fn into_single_value(self) -> AbstractValue {
        match self {
            Self::Text(value) | Self::Unsplit(value) => value,
            Self::Elements(values) => join_elements(&values),
        }
    }

    fn text_len(&self) -> usize {
        match self {
            Self::Text(value) | Self::Unsplit(value) => value.text.len(),
            Self::Elements(values) => values.iter().map(|value| value.text.len() + 1).sum(),
        }
    }
}

impl PartialWord {
    fn push_literal(&mut self, text: &str, is_quoted: bool) {
        let field = self.current.get_or_insert_default();
        field.value.append(&AbstractValue::known(text));
        field.is_glob |= !is_quoted && text.contains(['*', '?', '[']);
    }

    fn with_expansion(
        &self,
        expansion: &PieceExpansion,
        is_quoted: bool,
        separators: Option<&str>,
    ) -> Self {
        let mut partial = self.clone();
        partial.push_expansion(expansion, is_quoted, separators);
        partial
    }

    fn push_expansion(
        &mut self,
        expansion: &PieceExpansion,
        is_quoted: bool,
        separators: Option<&str>,
    ) {
        match expansion {
            PieceExpansion::Elements(values) => {
                for (at, value) in values.iter().enumerate() {
                    if at > 0 {
                        self.finish_field();
                    }
                    self.push_value(value, is_quoted, separators);
                }
                if let ([_, ..], Some(field)) = (values.as_slice(), &mut self.current) {
                    field.may_split |= values.iter().any(|value| !value.is_fully_known());
                }
            }
            PieceExpansion::Unsplit(value) => self.push_value(value, true, separators),
            PieceExpansion::Text(value) => self.push_value(value, is_quoted, separators),
        }
    }

    fn finish_field(&mut self) {
        self.finished_fields.extend(self.current.take());
    }

    fn push_value(&mut self, value: &AbstractValue, is_quoted: bool, separators: Option<&str>) {
        if is_quoted {
            self.current.get_or_insert_default().value.append(value);
            return;
        }
        let Some(separators) = separators else {
            let field = self.current.get_or_insert_default();
            field.value.append(value);
            field.may_split = true;
            return;
        };
        let mut parts = value.text.split(|c| separators.contains(c)).peekable();
        while let Some(part) = parts.next() {
            if !part.is_empty() {
                let field = self.current.get_or_insert_default();
                field.value.append(&value.with_text(part.to_owned()));
                field.may_split |= part.contains(UNKNOWN_PLACEHOLDER);
                field.is_glob |= part.contains(['*', '?', '[']);
            }
            if parts.peek().is_some() {
                self.finish_field();
            }
        }
    }

    fn into_fields(mut self) -> FieldList {
        // `[` alone is a program.
        if let Some(field) = self.current.as_mut().filter(|field| field.text() == "[") {
            field.is_glob = false;
        }
        self.finish_field();
        self.finished_fields
    }
}

/// Returns the characters of `IFS`, which separate words, if they are known.
fn field_separators(env: &ShellEnvironment) -> Option<String> {
    match env.variable_values("IFS").as_slice() {
        [VariableValue::One(value)] if value.is_fully_known() => Some(value.text.clone()),
        _ => None,
    }
}

fn unknown_field() -> ShellField {
    ShellField {
        may_split: true,
        value: AbstractValue::unknown(),
        ..ShellField::default()
    }
}

fn append_fields(ways: Vec<FieldList>, next: &[FieldList]) -> Vec<FieldList> {
    if let [only] = next {
        let mut ways = ways;
        for way in &mut ways {
            way.extend(only.iter().cloned());
        }
        return ways;
    }
    ways.iter()
        .flat_map(|way| {
            next.iter()
                .map(move |fields| way.iter().chain(fields).cloned().collect())
        })
        .collect()
}

fn is_quoted(piece: &WordPiece) -> bool {
    match piece {
        WordPiece::Text { is_quoted, .. }
        | WordPiece::Parameter { is_quoted, .. }
        | WordPiece::Command { is_quoted, .. } => *is_quoted,
        WordPiece::Process { .. } | WordPiece::Arithmetic(_) => true,
    }
}

fn is_decimal(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Joins an array to one text.
fn join_elements(values: &[AbstractValue]) -> AbstractValue {
    let mut one = AbstractValue::default();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            one.append(&AbstractValue::known(" "));
        }
        one.append(value);
    }
    one
}

/// Performs `name+=value`.
fn append_to_values(
    old: &[VariableValue],
    new: &[VariableValue],
    is_set: bool,
) -> Vec<VariableValue> {
    let mut values = Vec::new();
    for before in old {
        for after in new {
            values.push(match (before, after) {
                (VariableValue::One(before), VariableValue::One(after)) if is_set => {
                    let mut value = before.clone();
                    value.append(after);
                    VariableValue::One(value)
                }
                (VariableValue::Array(before), VariableValue::Array(after)) => {
                    VariableValue::Array(before.iter().chain(after).cloned().collect())
                }
                (VariableValue::One(before), VariableValue::Array(after)) if is_set => {
                    VariableValue::Array(std::iter::once(before).chain(after).cloned().collect())
                }
                (_, after) => after.clone(),
            });
        }
    }
    values
}

/// The highest index of an array that is followed.
const MAX_ARRAY_INDEX: usize = 64;

/// Performs `name[index]=value`.
fn set_array_element(
    old: &[VariableValue],
    new: &[VariableValue],
    index: Option<usize>,
) -> Vec<VariableValue> {
    let mut arrays = Vec::new();
    for before in old {
        let before = match before {
            VariableValue::Array(values) => values.clone(),
            VariableValue::One(value) if value.is_fully_known() => vec![value.clone()],
            VariableValue::One(_) => Vec::new(),
        };
        for after in new {
            let VariableValue::One(value) = after else {
                continue;
            };
            let mut values = before.clone();
            match index.filter(|index| *index <= MAX_ARRAY_INDEX) {
                Some(index) => {
                    let needed = values.len().max(index + 1);
                    values.resize(needed, AbstractValue::default());
                    values.splice(index..=index, [value.clone()]);
                }
                None => values.push(value.clone()),
            }
            arrays.push(VariableValue::Array(values));
        }
    }
    arrays
}
