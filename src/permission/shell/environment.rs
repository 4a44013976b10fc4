//! The state of a shell: variables, functions and aliases, each with all its possible values.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::abstract_value::AbstractValue;
use super::syntax_tree::CommandNode;

/// The value that one variable may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariableValue {
    One(AbstractValue),
    Array(Vec<AbstractValue>),
}

impl VariableValue {
    /// Returns how many steps a copy of it takes.
    pub fn copy_cost(&self) -> usize {
        match self {
            Self::One(value) => value.copy_cost(),
            Self::Array(values) => values.iter().map(AbstractValue::copy_cost).sum(),
        }
    }
}

/// The possible meanings of each name.
type NameTable<T> = Rc<BTreeMap<Rc<str>, Rc<Vec<T>>>>;

/// The state of a shell; cheap to copy for a branch.
#[derive(Debug, Clone, Default)]
pub struct ShellEnvironment {
    variables: NameTable<VariableValue>,
    functions: NameTable<FunctionMeaning>,
    aliases: NameTable<AbstractValue>,
}

/// What a called name may be.
#[derive(Debug, Clone)]
pub enum FunctionMeaning {
    /// This body; it equals only itself.
    Body(Rc<CommandNode>),
    /// No function: the program of that name.
    Program,
}

impl PartialEq for FunctionMeaning {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Body(ours), Self::Body(theirs)) => Rc::ptr_eq(ours, theirs),
            (Self::Program, Self::Program) => true,
            (Self::Body(_) | Self::Program, _) => false,
        }
    }
}

/// The most meanings of one name that are followed.
const MAX_MEANINGS: usize = 32;

impl ShellEnvironment {
    /// Returns everything that a variable may contain; an unset variable comes from outside.
    pub fn variable_values(&self, name: &str) -> Vec<VariableValue> {
        match self.variables.get(name) {
            Some(values) => values.to_vec(),
            None => vec![inherited_value(name)],
        }
    }

    pub fn is_set(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    pub fn set_variable(&mut self, name: &str, values: Vec<VariableValue>) {
        let values = if values.len() > MAX_MEANINGS {
            vec![VariableValue::One(AbstractValue::unknown())]
        } else {
            values
        };
        Rc::make_mut(&mut self.variables).insert(name.into(), Rc::new(values));
    }

    pub fn set_single_value(&mut self, name: &str, value: AbstractValue) {
        self.set_variable(name, vec![VariableValue::One(value)]);
    }

    pub fn functions(&self, name: &str) -> Vec<FunctionMeaning> {
        self.functions
            .get(name)
            .map_or_else(Vec::new, |found| found.to_vec())
    }

    pub fn define_function(&mut self, name: &str, function: FunctionMeaning) {
        Rc::make_mut(&mut self.functions).insert(name.into(), Rc::new(vec![function]));
    }

    /// Whether a function is exported to another shell is not followed: it may be missing there.
    pub fn mark_functions_uncertain(&mut self) {
        let is_doubtful =
            |functions: &Rc<Vec<FunctionMeaning>>| functions.contains(&FunctionMeaning::Program);
        if !self.functions.values().all(is_doubtful) {
            for functions in Rc::make_mut(&mut self.functions).values_mut() {
                if !functions.contains(&FunctionMeaning::Program) {
                    Rc::make_mut(functions).push(FunctionMeaning::Program);
                }
            }
        }
    }

    pub fn aliases(&self, name: &str) -> Vec<AbstractValue> {
        self.aliases
            .get(name)
            .map_or_else(Vec::new, |found| found.to_vec())
    }

    pub fn set_alias(&mut self, name: &str, value: AbstractValue) {
        Rc::make_mut(&mut self.aliases).insert(name.into(), Rc::new(vec![value]));
    }

    /// Makes a variable empty and a function uncertain.
    pub fn unset(&mut self, name: &str) {
        if let Some(functions) = Rc::make_mut(&mut self.functions).get_mut(name) {
            Rc::make_mut(functions).push(FunctionMeaning::Program);
        }
        self.set_single_value(name, AbstractValue::default());
    }

    /// Merges the state that another branch may leave; returns whether that adds anything.
    pub fn merge(&mut self, other: &Self) -> bool {
        let variables = merge_tables(&mut self.variables, &other.variables, inherited_meaning);
        let functions = merge_tables(&mut self.functions, &other.functions, |_| {
            Some(FunctionMeaning::Program)
        });
        let aliases = merge_tables(&mut self.aliases, &other.aliases, |_| None);
        variables | functions | aliases
    }

    /// Returns the number of functions.
    pub fn n_functions(&self) -> usize {
        self.functions.len()
    }

    /// Returns the number of names.
    pub fn n_names(&self) -> usize {
        self.variables.len() + self.functions.len() + self.aliases.len()
    }

    /// Returns how many steps a merge with another state takes.
    pub fn merge_cost(&self, other: &Self) -> usize {
        1 + merge_table_cost(&self.variables, &other.variables)
            + merge_table_cost(&self.functions, &other.functions)
            + merge_table_cost(&self.aliases, &other.aliases)
    }
}

fn merge_table_cost<T>(ours: &NameTable<T>, theirs: &NameTable<T>) -> usize {
    if Rc::ptr_eq(ours, theirs) {
        0
    } else {
        3 * (ours.len() + theirs.len())
    }
}

fn merge_tables<T: Clone + PartialEq>(
    ours: &mut NameTable<T>,
    theirs: &NameTable<T>,
    outside: impl Fn(&str) -> Option<T>,
) -> bool {
    if Rc::ptr_eq(ours, theirs) {
        return false;
    }
    let mut added: Vec<(Rc<str>, Rc<Vec<T>>)> = Vec::new();
    for (name, values) in theirs.iter() {
        let known = match ours.get(name) {
            Some(known) if Rc::ptr_eq(known, values) => continue,
            Some(known) => Rc::clone(known),
            None => Rc::new(outside(name).into_iter().collect()),
        };
        let new: Vec<T> = values
            .iter()
            .filter(|value| !known.contains(value))
            .cloned()
            .collect();
        if !new.is_empty() {
            let mut both: Vec<T> = known.iter().cloned().chain(new).collect();
            if let (true, Some(unknown)) = (both.len() > MAX_MEANINGS, outside("")) {
                both = vec![unknown];
            }
            added.push((Rc::clone(name), Rc::new(both)));
        }
    }
    for (name, known) in ours.iter() {
        if let (None, Some(value)) = (theirs.get(name), outside(name))
            && !known.contains(&value)
        {
            let both = known.iter().cloned().chain([value]).collect();
            added.push((Rc::clone(name), Rc::new(both)));
        }
    }
    let adds = !added.is_empty();
    if adds {
        Rc::make_mut(ours).extend(added);
    }
    adds
}

fn inherited_meaning(name: &str) -> Option<VariableValue> {
    Some(inherited_value(name))
}

/// Returns the value of a variable that the text never set.
fn inherited_value(name: &str) -> VariableValue {
    let known = match name {
        "HOME" => "~",
        "PWD" => ".",
        "IFS" => " \t\n",
        "SHELL" | "BASH" => "/bin/bash",
        "0" => "bash",
        "@" | "*" => return VariableValue::Array(vec![AbstractValue::unknown()]),
        _ => return VariableValue::One(AbstractValue::unknown()),
    };
    VariableValue::One(AbstractValue::known(known))
}
