//! The interpreters as a table: their language, and how they are given code.
//!
//! It refuses to judge.

use super::super::code_analysis::CodeLanguage;

/// How a program is given code.
pub struct CodeInterpreter {
    /// The programs' plain names.
    pub programs: &'static [&'static str],
    /// The language.
    pub language: CodeLanguage,
    /// Options whose next word, or attached value, is code; a single letter may end a cluster.
    pub code_options: &'static [&'static str],
    /// Whether it reads code from standard input when it is given none.
    pub reads_input: bool,
}

/// The interpreters.
pub const INTERPRETERS: &[CodeInterpreter] = &[
    CodeInterpreter {
        programs: &[
            "python",
            "jython",
            "micropython",
            "python-config",
            "bpython",
            "xonsh",
            "sage",
            "timeit",
        ],
        language: CodeLanguage::Python,
        code_options: &["-c"],
        reads_input: true,
    },
    CodeInterpreter {
        programs: &[
            "node",
            "bun",
            "ts-node",
            "tsx",
            "zx",
            "qjs",
            "d8",
            "electron",
            "babel-node",
            "esno",
            "vite-node",
        ],
        language: CodeLanguage::JavaScript,
        code_options: &["-e", "-p", "--eval", "--print", "-pe"],
        reads_input: true,
    },
    CodeInterpreter {
        programs: &["deno"],
        language: CodeLanguage::JavaScript,
        code_options: &["eval", "-e"],
        reads_input: false,
    },
    CodeInterpreter {
        programs: &["perl", "raku", "perl6"],
        language: CodeLanguage::Perl,
        code_options: &["-e", "-E"],
        reads_input: true,
    },
    CodeInterpreter {
        programs: &["ruby", "jruby", "irb", "crystal", "mruby", "truffleruby"],
        language: CodeLanguage::Ruby,
        code_options: &["-e", "eval"],
        reads_input: true,
    },
    CodeInterpreter {
        programs: &["rake"],
        language: CodeLanguage::Ruby,
        code_options: &["-e", "-E", "-p", "--execute"],
        reads_input: false,
    },
    CodeInterpreter {
        programs: &["mix"],
        language: CodeLanguage::Other,
        code_options: &["-e", "--eval", "eval"],
        reads_input: false,
    },
    CodeInterpreter {
        programs: &["m4", "dc"],
        language: CodeLanguage::Other,
        code_options: &["-e"],
        reads_input: true,
    },
    CodeInterpreter {
        programs: &["rails", "bin/rails"],
        language: CodeLanguage::Ruby,
        code_options: &["runner", "r"],
        reads_input: false,
    },
    CodeInterpreter {
        programs: &["php", "hhvm", "artisan"],
        language: CodeLanguage::Php,
        code_options: &["-r", "--run", "-B", "-R", "-E", "--execute"],
        reads_input: true,
    },
    CodeInterpreter {
        programs: &["lua", "texlua", "nvim-lua"],
        language: CodeLanguage::Lua,
        code_options: &["-e"],
        reads_input: true,
    },
    CodeInterpreter {
        programs: &["rscript", "r", "littler"],
        language: CodeLanguage::Other,
        code_options: &["-e"],
        reads_input: true,
    },
    CodeInterpreter {
        programs: &["julia"],
        language: CodeLanguage::Other,
        code_options: &["-e", "-E", "--eval", "--print"],
        reads_input: true,
    },
    CodeInterpreter {
        programs: &["pwsh"],
        language: CodeLanguage::PowerShell,
        code_options: &["-c", "-command", "-Command", "-C", "/c"],
        reads_input: true,
    },
    CodeInterpreter {
        programs: &["awk"],
        language: CodeLanguage::Awk,
        code_options: &["-e", "--source"],
        reads_input: false,
    },
    CodeInterpreter {
        programs: &["osascript"],
        language: CodeLanguage::Other,
        code_options: &["-e"],
        reads_input: true,
    },
    CodeInterpreter {
        programs: &[
            "groovy",
            "scala",
            "elixir",
            "erl",
            "ghc",
            "ocaml",
            "racket",
            "guile",
            "sbcl",
            "clisp",
            "emacs",
            "clojure",
            "clj",
            "bb",
            "nim",
            "swipl",
            "tclsh",
            "expect",
            "jshell",
            "kotlin",
            "swift",
            "gdb",
            "lldb",
            "octave",
            "mono",
            "csi",
            "dotnet-script",
            "manage.py",
            "gforth",
            "io",
            "janet",
            "gjs",
            "wish",
        ],
        language: CodeLanguage::Other,
        code_options: &["-e", "--eval", "-eval", "-c", "-ex", "--exec", "-g"],
        reads_input: false,
    },
    CodeInterpreter {
        programs: &["vim", "vi", "nvim", "ex", "view", "ed"],
        language: CodeLanguage::Editor,
        code_options: &["-c", "--cmd"],
        reads_input: true,
    },
];
