//! What a shell remembers: variables, functions and aliases, each with everything that it may be.
//!
//! It refuses to know how values come about.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::syntax::Command;
use super::value::Value;

/// What one variable may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Variable {
    One(Value),
    Array(Vec<Value>),
}

impl Variable {
    /// How many steps a copy of it takes.
    pub fn cost(&self) -> usize {
        match self {
            Self::One(value) => value.cost(),
            Self::Array(values) => values.iter().map(Value::cost).sum(),
        }
    }
}

/// A name's possible meanings.
type Table<T> = Rc<BTreeMap<Rc<str>, Rc<Vec<T>>>>;

/// The state of a shell; cheap to copy for a branch.
#[derive(Debug, Clone, Default)]
pub struct Env {
    variables: Table<Variable>,
    functions: Table<Function>,
    aliases: Table<Value>,
}

/// What a name that is called may be.
#[derive(Debug, Clone)]
pub enum Function {
    /// This body; the same only as itself.
    Body(Rc<Command>),
    /// No function: the program of that name.
    Program,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Body(ours), Self::Body(theirs)) => Rc::ptr_eq(ours, theirs),
            (Self::Program, Self::Program) => true,
            (Self::Body(_) | Self::Program, _) => false,
        }
    }
}

/// The most meanings of one name that are told apart.
const MOST: usize = 32;

impl Env {
    /// Everything that a variable may hold; what was never set comes from outside.
    pub fn get(&self, name: &str) -> Vec<Variable> {
        match self.variables.get(name) {
            Some(values) => values.to_vec(),
            None => vec![from_outside(name)],
        }
    }

    pub fn is_set(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    pub fn set(&mut self, name: &str, values: Vec<Variable>) {
        let values = if values.len() > MOST {
            vec![Variable::One(Value::unknown())]
        } else {
            values
        };
        Rc::make_mut(&mut self.variables).insert(name.into(), Rc::new(values));
    }

    pub fn set_text(&mut self, name: &str, value: Value) {
        self.set(name, vec![Variable::One(value)]);
    }

    pub fn functions(&self, name: &str) -> Vec<Function> {
        self.functions
            .get(name)
            .map_or_else(Vec::new, |found| found.to_vec())
    }

    pub fn define(&mut self, name: &str, function: Function) {
        Rc::make_mut(&mut self.functions).insert(name.into(), Rc::new(vec![function]));
    }

    /// Whether a function is exported to another shell is not followed: there it may be missing.
    pub fn doubt_functions(&mut self) {
        let is_doubtful = |functions: &Rc<Vec<Function>>| functions.contains(&Function::Program);
        if !self.functions.values().all(is_doubtful) {
            for functions in Rc::make_mut(&mut self.functions).values_mut() {
                if !functions.contains(&Function::Program) {
                    Rc::make_mut(functions).push(Function::Program);
                }
            }
        }
    }

    pub fn aliases(&self, name: &str) -> Vec<Value> {
        self.aliases
            .get(name)
            .map_or_else(Vec::new, |found| found.to_vec())
    }

    pub fn set_alias(&mut self, name: &str, value: Value) {
        Rc::make_mut(&mut self.aliases).insert(name.into(), Rc::new(vec![value]));
    }

    /// Leaves a variable empty and a function in doubt.
    pub fn forget(&mut self, name: &str) {
        if let Some(functions) = Rc::make_mut(&mut self.functions).get_mut(name) {
            Rc::make_mut(functions).push(Function::Program);
        }
        self.set_text(name, Value::default());
    }

    /// Takes in what another course of events may have left; tells whether that adds anything.
    pub fn merge(&mut self, other: &Self) -> bool {
        let variables = merge(&mut self.variables, &other.variables, from_outside_at);
        let functions = merge(&mut self.functions, &other.functions, |_| {
            Some(Function::Program)
        });
        let aliases = merge(&mut self.aliases, &other.aliases, |_| None);
        variables | functions | aliases
    }

    /// How many functions it holds.
    pub fn n_functions(&self) -> usize {
        self.functions.len()
    }

    /// How many names it holds.
    pub fn size(&self) -> usize {
        self.variables.len() + self.functions.len() + self.aliases.len()
    }

    /// How many steps a merge with another state takes.
    pub fn cost(&self, other: &Self) -> usize {
        1 + size_of_two(&self.variables, &other.variables)
            + size_of_two(&self.functions, &other.functions)
            + size_of_two(&self.aliases, &other.aliases)
    }
}

fn size_of_two<T>(ours: &Table<T>, theirs: &Table<T>) -> usize {
    match Rc::ptr_eq(ours, theirs) {
        true => 0,
        false => 3 * (ours.len() + theirs.len()),
    }
}

fn merge<T: Clone + PartialEq>(
    ours: &mut Table<T>,
    theirs: &Table<T>,
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
            if let (true, Some(unknown)) = (both.len() > MOST, outside("")) {
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

fn from_outside_at(name: &str) -> Option<Variable> {
    Some(from_outside(name))
}

/// What a variable holds that the text never set.
fn from_outside(name: &str) -> Variable {
    let known = match name {
        "HOME" => "~",
        "PWD" => ".",
        "IFS" => " \t\n",
        "SHELL" | "BASH" => "/bin/bash",
        "0" => "bash",
        "@" | "*" => return Variable::Array(vec![Value::unknown()]),
        _ => return Variable::One(Value::unknown()),
    };
    Variable::One(Value::known(known))
}
