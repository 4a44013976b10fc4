//! Follows process substitutions: lists that run next to the command that names them.

use std::rc::Rc;

use super::abstract_value::PossibleValues;
use super::environment::ShellEnvironment;
use super::interpreter::{OutputSubstitution, ShellInterpreter, StandardInput};
use super::syntax_tree::{CommandList, ProcessSubstitutionDirection};

impl ShellInterpreter {
    /// Returns the name that stands for `<(…)` or `>(…)`.
    pub fn interpret_process_substitution(
        &mut self,
        list: &Rc<CommandList>,
        feeds: ProcessSubstitutionDirection,
        env: &ShellEnvironment,
    ) -> String {
        if feeds == ProcessSubstitutionDirection::Output {
            let name = self.open_process_substitution(PossibleValues::unknown());
            let env = self.branch_environment(env);
            self.output_substitutions.push(OutputSubstitution {
                name: name.clone(),
                list: Rc::clone(list),
                environment: env,
                is_fed: false,
            });
            return name;
        }
        let out = self.interpret_concurrent_list(list, env, &StandardInput::Nothing);
        self.open_process_substitution(out)
    }

    /// Follows a list that runs next to the command that names it.
    fn interpret_concurrent_list(
        &mut self,
        list: &CommandList,
        env: &ShellEnvironment,
        feed: &StandardInput,
    ) -> PossibleValues {
        let here = self.current_span();
        self.n_forks += 1;
        let mut out = PossibleValues::unknown();
        if self.budget.enter_level(&here) {
            out = self.interpret_list_in_subshell(list, env, feed);
            self.budget.leave_level();
        }
        self.n_forks -= 1;
        self.set_current_span(&here);
        out
    }

    /// Returns whether a path is the name of a `>(…)`.
    pub fn is_output_substitution(&self, path: &str) -> bool {
        self.output_substitutions
            .iter()
            .any(|waiting| waiting.name == path)
    }

    /// Passes written text to the list of a `>(…)`.
    pub fn feed_output_substitution(&mut self, path: &str, texts: PossibleValues) {
        let Some(waiting) = self
            .output_substitutions
            .iter_mut()
            .find(|waiting| waiting.name == path)
        else {
            return;
        };
        waiting.is_fed = true;
        let (list, env) = (Rc::clone(&waiting.list), waiting.environment.clone());
        self.interpret_concurrent_list(&list, &env, &StandardInput::Values(texts));
    }

    /// Follows the `>(…)` lists of a command that received no known text.
    pub fn finish_output_substitutions(&mut self, n_before: usize) {
        while self.output_substitutions.len() > n_before {
            if let Some(waiting) = self
                .output_substitutions
                .pop()
                .filter(|waiting| !waiting.is_fed)
            {
                self.interpret_concurrent_list(
                    &waiting.list,
                    &waiting.environment,
                    &StandardInput::Unknown,
                );
            }
        }
    }
}
