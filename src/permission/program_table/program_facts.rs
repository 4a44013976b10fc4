//! The types of a row of the table of programs.
//!
//! A fact about a family of programs stands in one row of it; the others say whose they share.

use serde::Deserialize;

use super::program_facts;

/// Everything that is known of one program.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProgramFacts {
    /// A command whose judgement the row decides.
    pub example: String,
    /// The judgement: the class, `reads` for a command that is proven to only read, or the pattern that is suggested for
    /// an approval, `exact` if there is none.
    pub gives: String,
    pub traits: Vec<ProgramTrait>,
    /// Its other names, which the guard takes for it: `gsed` for `sed`.
    pub aliases: Vec<String>,
    /// The program and first word that its name means: `docker-compose` means `docker compose`.
    pub stands_for: Vec<String>,
    /// First operands that are, or are followed by, the program that matters: `artisan` after `php`.
    pub carries: Vec<String>,
    /// Which options take a value, mainly those before the sub-command; without it, any may.
    pub value_options: Option<ValueOptions>,
    /// Options that mean the same.
    pub same_options: Vec<Vec<String>>,
    /// Options with which it only shows what it would do.
    pub dry_run: Vec<String>,
    /// Options whose value it runs as a shell text.
    pub command_options: Vec<String>,
    /// Words with which it fetches bytes from another machine.
    pub fetch_words: Vec<String>,
    /// Set for programs that convert bytes: the options without which they do not decode, none if they always do.
    pub decode_options: Option<Vec<String>>,
    /// How many of its first words say what is done, for an approval of similar calls.
    pub approval_words: Option<usize>,
    /// Sub-commands after which one more word says what is done.
    pub approval_subcommands: Vec<String>,
    wrapper: Option<SharedFacts<WrapperSpec>>,
    reader: Option<SharedFacts<ReaderProgram>>,
    interpreter: Option<SharedFacts<CodeInterpreter>>,
    statements: Option<SharedFacts<DatabaseClient>>,
    archive: Option<SharedFacts<ArchiveExtractor>>,
    writes: Option<SharedFacts<FileWriter>>,
    /// What it prints, if that is known without running it.
    pub prints: Option<PrintedOutput>,
}

/// Facts of a program's own, or the name of the program whose facts it shares.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum SharedFacts<T> {
    Own(Box<T>),
    SameAs(String),
}

/// What a program is, or how its words are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramTrait {
    /// Its name may contain a version: `python3.12`.
    Versioned,
    /// Its arguments are only text; phrases of the user are not looked for in them.
    TextOnly,
    /// Its words are data and no command to run.
    Data,
    /// Its words are data, but it runs a project's programs: what looks like a removal among them is one.
    ProjectRunner,
    /// It is looked for after an unknown program, which may run it.
    OftenWrapped,
    /// In code, a list of texts that begins with it is a command: `["git", "push"]`.
    ListedInCode,
    /// It removes or overwrites, if an option or a mode follows.
    Removal,
    /// Its words are data, except after one such as `run` or `exec`.
    RunWord,
    /// `run` takes a name of its own, and the words after it belong to that.
    OwnRun,
    /// Every word may begin a command to run elsewhere.
    Remote,
    /// Every argument with spaces is a text for a shell.
    ScriptArguments,
    /// An option names another program, whose arguments follow later.
    Entrypoint,
    /// Its `command_options` mean something else in some sub-commands: a value counts if it begins like a command.
    AmbiguousOptions,
    /// Its SQL statements may name a program.
    CopyToProgram,
    /// Runs the text after `+!`.
    Pager,
    /// Fetches bytes from another machine.
    Fetcher,
    /// Only prints settings of the shell.
    ShellSettings,
    /// Prints settings for the shell when a word such as `init` asks for them.
    ShellHook,
    /// A shell: what it is given to run is a shell text.
    Shell,
    /// A function of this name is followed even if nothing in the text calls it.
    FollowedFunction,
    /// A file name pattern in the program's place is tested against it.
    GlobCandidate,
    /// Runs the recipes in a makefile.
    Make,
    /// Runs a script in its own language, which the text may have written before.
    ScriptInterpreter,
    /// Runs its command and changes nothing that matters for reading.
    HarmlessWrapper,
    /// Prints parts of what it opens, or its names and sizes, whatever its options are.
    PrintsContents,
    /// Only shows that files exist, not what is in them.
    ShowsNames,
    /// Shows where a link leads and does not follow it.
    ShowsLinks,
    /// `--version` only prints its version.
    TellsVersion,
    /// The word `version` only prints its version.
    VersionWord,
    /// Runs other commands, or does much harm in few words: only the exact command is suggested for an approval.
    ExactApproval,
    /// A shell whose text is followed.
    FollowedShell,
    /// A shell whose text may be proven to only read.
    ProvenShell,
    /// A builtin that runs a text in this shell.
    ScriptBuiltin,
    /// Its operands may assign arrays.
    Declaration,
    /// Sets variables for the programs that run later.
    SetsVariables,
    /// Takes a name or a number, and evaluates an index in it.
    EvaluatesIndex,
    /// Changes the working folder.
    ChangesFolder,
    /// Copies, moves or links the operands before its last one to that.
    CopiesFiles,
    /// Writes its input into the files that its operands name.
    CopiesInput,
    /// Fetches a file, which may run later in the same text.
    FollowedDownload,
    /// Names the file that it fetches after the address.
    NamesDownload,
    /// Runs or installs the file that its first operand names.
    RunsNamedFile,
    /// Makes readable code of letters that nobody can read.
    HidesCode,
    /// What it prints for an interpreter is taken for a file of the project.
    LocalSource,
    /// Prints only what it is given, and no settings of its own.
    GivenOutput,
    /// Connects its input and output with the network.
    NetworkPipe,
    /// Sends a request of any kind to an address.
    HttpClient,
    /// Runs containers.
    ContainerEngine,
    /// Prints only some of the processes in its input, or those that use a file.
    ProcessFilter,
    /// Prints some of the lines that it reads, unchanged.
    SelectsLines,
    /// Removes files in a shell of Windows.
    WindowsRemoval,
    /// A `--` after the first word of its command is for itself: `npm exec rm -- -rf x`.
    OwnDashes,
    /// Its rows say what it does, and yet any word may begin a command that it runs.
    LaterCommand,
    /// A word such as `-auto-approve` is one option and not many letters.
    WholeWordOptions,
    /// `-v` does more than print its version.
    VerboseV,
}

/// Which options of a program take a value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueOptions {
    /// Their letters.
    pub short: String,
    /// Their names, without dashes.
    pub long: Vec<String>,
}

/// How a program that runs another command reads its words.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WrapperSpec {
    pub kind: WrapperKind,
    /// One of these words must come before the command (`docker exec`); if the list is empty, none is needed.
    pub verbs: Vec<String>,
    /// Short options that take a value.
    pub short_values: String,
    /// Long options that take the next word as their value.
    pub long_values: Vec<String>,
    /// Options whose value is a shell text.
    pub script_options: Vec<String>,
    /// The number of operands before the command.
    pub n_operands: usize,
    pub command_form: CommandForm,
    /// Whether the words up to a `--` belong to the program: `mise x node@20 -- command`.
    pub skips_to_dashes: bool,
}

impl Default for WrapperSpec {
    fn default() -> Self {
        Self {
            kind: WrapperKind::Known,
            verbs: Vec::new(),
            short_values: String::new(),
            long_values: Vec::new(),
            script_options: Vec::new(),
            n_operands: 0,
            command_form: CommandForm::Words,
            skips_to_dashes: false,
        }
    }
}

/// What a wrapper does to its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WrapperKind {
    /// Runs it with other rights (`sudo`, `doas`, `su`, `pkexec`, `runuser`).
    Privilege,
    /// Runs it unchanged (`env`, `nice`, `timeout`).
    Known,
    /// Probably runs it: the wrapper is unknown, but a later word names a program that is often wrapped.
    Unknown,
    /// Runs it on another machine or in a container (`ssh`, `docker exec`).
    Remote,
    /// Runs it once for each of many arguments (`xargs`, `find -exec`, `parallel`).
    ForEachArgument,
    /// Reads a text as shell commands (`sh -c`, `eval`, `source`, `trap`, an alias, a function's body).
    Shell,
}

/// How a wrapper is given its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandForm {
    Words,
    /// As words that are joined and read as shell text.
    JoinedScript,
    /// Each operand is a shell text of its own.
    ScriptPerWord,
    /// Only as the value of an option.
    OptionOnly,
}

/// A program that only reads, with its options.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReaderProgram {
    /// What its operands are.
    pub operands: OperandKind,
    /// Options whose value is text and not a path; with `=` at the end, only in the same word.
    #[serde(default)]
    pub text_options: Vec<String>,
    /// Other options and words with which it only reads; for programs that are checked by a function.
    #[serde(default)]
    pub plain_options: Vec<String>,
    /// Sub-commands that only read with any option that is not refused.
    #[serde(default)]
    pub subcommands: Vec<String>,
    /// Options that make it do more than read, or never end.
    #[serde(default)]
    pub refused_options: Vec<String>,
    /// Whether no option at all makes it write or run something.
    #[serde(default)]
    pub any_option: bool,
    /// Whether its operands never name files.
    #[serde(default)]
    pub no_files: bool,
}

/// What the operands of a reading program are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperandKind {
    Paths,
    /// At most one path: a second one would be written.
    OnePath,
    /// A pattern or program first, unless an option gives it, then paths.
    TextThenPaths,
    Texts,
    None,
    /// Checked by a function for this program.
    Custom,
}

/// An interpreter, and how it is given code.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeInterpreter {
    pub language: CodeLanguage,
    /// Options whose next word or attached value is code; a single letter may end a cluster.
    pub code_options: Vec<String>,
    /// Whether it reads code from standard input when no code is given.
    #[serde(default)]
    pub reads_input: bool,
}

/// A language, as far as its strings and comments differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CodeLanguage {
    Python,
    JavaScript,
    Perl,
    Ruby,
    Php,
    Lua,
    PowerShell,
    Awk,
    /// Commands of vi and similar editors.
    Editor,
    Other,
}

/// How a client of a database is given statements.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseClient {
    /// Options whose value is a statement.
    pub options: Vec<String>,
    /// How many operands come before those that are statements; without it, none is one.
    pub first_operand: Option<usize>,
}

/// A program that writes many files into a folder that its arguments name.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ArchiveExtractor {
    /// Its first word, if only that sub-command writes; empty if there is none.
    pub verbs: Vec<String>,
    /// Whether the sub-command may also be a later word.
    pub any_word: bool,
    /// Options whose value, in the next word or attached, is the folder.
    pub folder_options: Vec<String>,
    /// Whether the last of several operands may be the folder.
    pub last_operand: bool,
    /// Whether it writes into the working folder when no folder is named.
    pub working_folder: bool,
    /// Whether its options are those of tar.
    pub tar_options: bool,
}

/// Which files a program writes because its arguments name them.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileWriter {
    /// What it writes if none of its options names a file.
    pub operands: WrittenOperands,
    /// Options whose value it writes, or into whose folder; it may be the next word if `value_options` says so.
    pub options: Vec<String>,
    /// The same, for programs without `value_options`: their value is the next word, or after `=`.
    pub word_options: Vec<String>,
    /// Whether it never empties a file that is there.
    pub keeps_contents: bool,
    /// Options with which it does not empty a file that is there.
    pub append_options: Vec<String>,
}

/// Which operands a program writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WrittenOperands {
    #[default]
    None,
    All,
    /// Those with an absolute path; others do no harm.
    Absolute,
    /// The last one, if there are several.
    Last,
    Second,
    /// The text after `of=`.
    OutputFile,
    /// All, with an option that begins with `-i`.
    InPlace,
    /// Found by a function for this program.
    Custom,
}

/// What a program prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrintedOutput {
    Nothing,
    /// What it reads. The order of lines, and how many there are, do not matter.
    Contents,
    /// The last part of the path that is its first operand.
    BaseName,
}

impl ProgramFacts {
    /// Returns how it runs another command, if it does.
    pub fn wrapper(&'static self) -> Option<&'static WrapperSpec> {
        self.wrapper.as_ref()?.resolve(|facts| &facts.wrapper)
    }

    /// Returns how it is proven to only read, if it can be.
    pub fn reader(&'static self) -> Option<&'static ReaderProgram> {
        self.reader.as_ref()?.resolve(|facts| &facts.reader)
    }

    /// Returns how it is given code, if it runs any.
    pub fn interpreter(&'static self) -> Option<&'static CodeInterpreter> {
        self.interpreter
            .as_ref()?
            .resolve(|facts| &facts.interpreter)
    }

    /// Returns how it is given statements, if it is a client of a database.
    pub fn statements(&'static self) -> Option<&'static DatabaseClient> {
        self.statements.as_ref()?.resolve(|facts| &facts.statements)
    }

    /// Returns where it unpacks to, if it does.
    pub fn archive(&'static self) -> Option<&'static ArchiveExtractor> {
        self.archive.as_ref()?.resolve(|facts| &facts.archive)
    }

    /// Returns which files it writes, if its arguments name any.
    pub fn writes(&'static self) -> Option<&'static FileWriter> {
        self.writes.as_ref()?.resolve(|facts| &facts.writes)
    }
}

#[cfg(test)]
impl ProgramFacts {
    /// Returns whether each row that it shares facts of has them.
    pub fn shares_known_facts(&'static self) -> bool {
        (self.wrapper.is_none() || self.wrapper().is_some())
            && (self.reader.is_none() || self.reader().is_some())
            && (self.interpreter.is_none() || self.interpreter().is_some())
            && (self.statements.is_none() || self.statements().is_some())
            && (self.archive.is_none() || self.archive().is_some())
            && (self.writes.is_none() || self.writes().is_some())
    }
}

impl<T> SharedFacts<T> {
    /// Returns the facts; one step leads from a shared fact to the row that has it.
    fn resolve(
        &'static self,
        of: fn(&'static ProgramFacts) -> &'static Option<Self>,
    ) -> Option<&'static T> {
        match self {
            Self::Own(facts) => Some(facts),
            Self::SameAs(name) => match of(program_facts(name)) {
                Some(Self::Own(facts)) => Some(facts),
                Some(Self::SameAs(_)) | None => None,
            },
        }
    }
}
