//! Databases: what drops, empties or resets them, by programs of their own or by statements.
//!
//! It refuses to know schemas.

use crate::permission::shell::{Input, Simple};

use super::builtin::Builtin;
use super::command::Command;
use super::files::behind;
use super::judge::Scene;

static DROPPED: Builtin = Builtin::dangerous(
    "databases.dropped",
    "removes a database, its tables or their rows",
    &[
        "dropdb|dropuser|pg_dropcluster",
        "mysqladmin ** drop|flush-hosts|shutdown",
        "pg_restore -c|--clean",
        "pg_resetwal|pg_archivecleanup",
        "mongorestore --drop",
        "redis-cli flushall|flushdb|shutdown|debug|swapdb",
        "redis-cli cluster|config|script reset|flush|rewrite|resetstat",
        "etcdctl del --prefix|--from-key",
        "etcdctl ** del --prefix|--from-key",
        "influx delete",
        "influx bucket|org|user|auth delete",
        "cypher-shell ** -e=*delete*",
        "neo4j-admin database delete|load",
        "nodetool clearsnapshot|decommission|removenode|truncatehints|assassinate",
        "clickhouse-client ** --query=drop*",
        "couchbase-cli bucket-delete|bucket-flush|reset-cipher-suites",
    ],
);
static RESET: Builtin = Builtin::dangerous(
    "databases.reset",
    "rebuilds a database from nothing",
    &[
        "rails|rake|bin/rails|bin/rake db:drop|db:reset|db:drop:all|db:purge|db:schema:load|db:migrate:reset|db:truncate_all|db:setup|db:drop:_unsafe",
        "rails|rake ** db:drop|db:reset|db:purge|db:migrate:reset|db:truncate_all",
        "artisan migrate:fresh|migrate:reset|migrate:refresh|db:wipe|migrate:rollback",
        "manage.py flush|reset_db|reset_schema",
        "manage.py migrate * zero",
        "django-admin flush|reset_db",
        "prisma migrate reset",
        "prisma db push --force-reset|--accept-data-loss",
        "sequelize|sequelize-cli db:drop|db:migrate:undo:all",
        "knex migrate:rollback --all",
        "typeorm schema:drop|migration:revert",
        "drizzle-kit drop",
        "alembic downgrade base|-1",
        "flask db downgrade",
        "flyway clean|undo",
        "liquibase drop-all|dropall|rollback",
        "ecto.drop|ecto.reset",
        "mix ecto.drop|ecto.reset|ecto.rollback",
        "diesel database|migration reset|drop|redo|revert",
        "sqlx database|db drop|reset",
        "sea-orm-cli migrate fresh|refresh|reset|down",
        "dotnet ef database drop",
        "goose reset|down-to",
        "migrate drop",
        "migrate ** drop",
        "dbmate drop|down|rollback",
        "atlas schema clean",
        "wp db drop|reset|clean",
        "wp site empty|delete",
        "drush sql-drop|sql:drop",
        "console doctrine:database:drop|doctrine:schema:drop",
        "bin/console doctrine:database:drop|doctrine:schema:drop",
        "supabase db reset",
        "hasura migrate|metadata clear|squash",
        "mikro-orm schema:drop|schema:fresh",
        "bench drop-site",
        "meteor reset",
    ],
);
static EMPTIED: Builtin = Builtin::dangerous(
    "databases.statement",
    "removes tables, databases or all rows by a statement",
    &[],
);
static CHANGED: Builtin = Builtin::confirm(
    "databases.rows",
    "removes or changes rows by a statement",
    &["redis-cli del|unlink", "etcdctl del"],
);

/// What is known of databases.
pub const RULES: &[&Builtin] = &[&DROPPED, &RESET, &EMPTIED, &CHANGED];

/// How a client is told statements: options with them, and whether operands behind the first are some.
struct Client {
    programs: &'static [&'static str],
    options: &'static [&'static str],
    operands_from: Option<usize>,
}

const CLIENTS: &[Client] = &[
    Client {
        programs: &["psql", "pgcli", "cockroach", "usql"],
        options: &["-c", "--command", "-e", "--execute"],
        operands_from: None,
    },
    Client {
        programs: &[
            "mysql",
            "mycli",
            "clickhouse-client",
            "clickhouse",
            "mysqlsh",
        ],
        options: &[
            "-e",
            "--execute",
            "--query",
            "-q",
            "-BNe",
            "-Ne",
            "-sNe",
            "-Nse",
            "-Be",
            "-se",
        ],
        operands_from: None,
    },
    Client {
        programs: &[
            "sqlite3",
            "sqlite",
            "duckdb",
            "sqlcipher",
            "litecli",
            "turso",
        ],
        options: &["-cmd", "-c", "-s"],
        operands_from: Some(1),
    },
    Client {
        programs: &["mongosh"],
        options: &["--eval"],
        operands_from: None,
    },
    Client {
        programs: &[
            "cqlsh",
            "sqlcmd",
            "bcp",
            "influx",
            "isql",
            "trino",
            "presto",
            "snowsql",
            "beeline",
            "hive",
            "impala-shell",
            "spark-sql",
            "vsql",
            "osql",
        ],
        options: &["-e", "-Q", "-q", "--execute", "-execute", "--query"],
        operands_from: None,
    },
    Client {
        programs: &[
            "bq",
            "wp",
            "supabase",
            "wrangler",
            "rails",
            "dbt",
            "heroku",
            "surreal",
            "cypher-shell",
            "artisan",
            "flyctl",
            "osquery",
        ],
        options: &["--command", "-c", "--query", "--execute"],
        operands_from: Some(1),
    },
];

/// Judges clients of databases by the statements that they are told.
pub fn judge(command: &Command<'_>, scene: &Scene<'_>) {
    if command.is(&["curl", "http", "https", "xh"]) {
        return judge_search(command, scene);
    }
    if command.program == "redis-cli"
        && let Input::Text(text) = &command.simple.input
        && text.lines().any(|line| {
            matches!(
                line.trim().to_uppercase().split(' ').next(),
                Some("FLUSHALL" | "FLUSHDB")
            )
        })
    {
        scene.note(&DROPPED, &command.simple.span);
    }
    let Some(client) = CLIENTS
        .iter()
        .find(|client| client.programs.contains(&command.program.as_str()))
    else {
        return;
    };
    let mut statements = behind(command, client.options);
    statements.extend(
        command
            .rest()
            .iter()
            .filter_map(|word| attached(&word.text, client.options)),
    );
    statements.extend(behind_cluster(command, client.options));
    if let Some(from) = client.operands_from {
        statements.extend(command.arguments.texts().skip(from));
    }
    let is_document = command.is(&["mongosh"]);
    for statement in statements {
        judge_statement(statement, is_document, command.simple, scene);
    }
    if let Input::Text(text) = &command.simple.input {
        judge_statement(text, is_document, command.simple, scene);
    }
}

/// `-tAc DROP…`: the last letter of a cluster takes the next word.
fn behind_cluster<'a>(command: &Command<'a>, options: &[&str]) -> Vec<&'a str> {
    let is_cluster = |text: &str| {
        let letters = text.strip_prefix('-').filter(|letters| {
            letters.len() > 1 && letters.chars().all(|c| c.is_ascii_alphabetic())
        });
        let last = letters.and_then(|letters| letters.chars().last());
        last.is_some_and(|last| {
            options
                .iter()
                .any(|option| option.len() == 2 && option.ends_with(last))
        })
    };
    let pairs = command.rest().windows(2);
    pairs
        .filter_map(|pair| match pair {
            [cluster, statement] if is_cluster(&cluster.text) => Some(statement.text.as_str()),
            _ => None,
        })
        .collect()
}

/// `-eDROP…`, `-c'DROP…'`.
fn attached<'a>(word: &'a str, options: &[&str]) -> Option<&'a str> {
    let short = options.iter().filter(|option| option.len() == 2);
    short
        .into_iter()
        .find_map(|option| word.strip_prefix(option))
        .filter(|rest| rest.contains(' '))
}

fn judge_statement(text: &str, is_document: bool, simple: &Simple, scene: &Scene<'_>) {
    if is_document {
        if document_harm(text) {
            scene.note(&EMPTIED, &simple.span);
        }
        return;
    }
    for line in text.lines().map(str::trim_start) {
        let shell = ["\\!", ".shell", ".system", "!", "system "]
            .iter()
            .find_map(|escape| line.strip_prefix(escape));
        if let Some(shell) = shell {
            scene.note_text(shell, &simple.span);
        }
    }
    match statement_harm(text) {
        Harm::None => {}
        Harm::Rows => scene.note(&CHANGED, &simple.span),
        Harm::All => scene.note(&EMPTIED, &simple.span),
    }
}

/// What statements remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Harm {
    /// Nothing.
    None,
    /// Some rows.
    Rows,
    /// Tables, databases, all rows.
    All,
}

/// Looks at statements, strings and comments left out.
pub fn statement_harm(text: &str) -> Harm {
    let bare = without_strings(text).to_uppercase();
    bare.split(';').map(one_harm).max().unwrap_or(Harm::None)
}

fn one_harm(statement: &str) -> Harm {
    let words: Vec<&str> = statement
        .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.' || c == '$'))
        .filter(|word| !word.is_empty())
        .collect();
    let has = |word: &str| words.contains(&word);
    // Statements may follow `EXPLAIN ANALYZE`, `WITH … AS (…)`, `BEGIN` and a client's own words.
    let Some(first) = words.iter().position(|word| {
        !matches!(
            *word,
            "BEGIN" | "EXPLAIN" | "ANALYZE" | "START" | "TRANSACTION" | "IF" | "DO"
        )
    }) else {
        return Harm::None;
    };
    let behind = words.get(first..).unwrap_or_default();
    if behind.len() < 2 && !matches!(behind, ["FLUSHALL" | "FLUSHDB"]) {
        return Harm::None;
    }
    match behind {
        [
            "DROP",
            "DATABASE" | "SCHEMA" | "TABLE" | "TABLESPACE" | "KEYSPACE" | "OWNED" | "ROLE" | "USER"
            | "COLUMN" | "EXTENSION" | "MATERIALIZED" | "TYPE" | "COLLECTION" | "BUCKET"
            | "MEASUREMENT" | "SERIES" | "SERVER" | "PUBLICATION" | "FOREIGN" | "SEQUENCE",
            ..,
        ] => Harm::All,
        ["DROP", "TEMPORARY" | "TEMP", ..] => Harm::Rows,
        ["DROP", ..] => Harm::Rows,
        ["TRUNCATE", ..]
        | ["SHUTDOWN", ..]
        | ["RESET", "MASTER", ..]
        | ["PURGE", "BINARY" | "MASTER", ..] => Harm::All,
        ["ALTER", ..] if has("DROP") => Harm::All,
        ["DELETE" | "UPDATE" | "WITH", _, _, ..] | ["DETACH", "DELETE", ..] => {
            rows_harm(behind, statement)
        }
        ["MATCH", ..] if has("DELETE") => rows_harm(behind, statement),
        ["FLUSHALL" | "FLUSHDB", ..] => Harm::All,
        ["REVOKE", ..] => Harm::Rows,
        _ => Harm::None,
    }
}

fn rows_harm(words: &[&str], statement: &str) -> Harm {
    let has = |word: &str| words.contains(&word);
    let deletes = has("DELETE");
    let is_everywhere = !has("WHERE")
        || statement.contains("WHERE 1=1")
        || statement.contains("WHERE TRUE")
        || statement.contains("WHERE 1 = 1")
        || statement.trim_end().ends_with("WHERE 1");
    match (deletes, words.first().copied()) {
        (true, Some("UPDATE")) => Harm::None,
        (true, _) if is_everywhere => Harm::All,
        (true, _) => Harm::Rows,
        (false, Some("UPDATE")) if is_everywhere => Harm::All,
        (false, _) => Harm::None,
    }
}

/// Strings become `''`, comments a blank.
fn without_strings(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                for inner in chars.by_ref() {
                    if inner == '\'' {
                        break;
                    }
                }
                bare.push_str("''");
            }
            '-' if chars.peek() == Some(&'-') => {
                for inner in chars.by_ref() {
                    if inner == '\n' {
                        break;
                    }
                }
                bare.push(' ');
            }
            '/' if chars.peek() == Some(&'*') => {
                let mut before = ' ';
                for inner in chars.by_ref() {
                    if before == '*' && inner == '/' {
                        break;
                    }
                    before = inner;
                }
                bare.push(' ');
            }
            c => bare.push(c),
        }
    }
    bare
}

fn document_harm(text: &str) -> bool {
    let bare: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let calls = [
        ".dropDatabase(",
        ".drop(",
        ".deleteMany({})",
        ".remove({})",
        ".dropUser(",
        ".dropIndexes(",
        ".dropCollection(",
        ".deleteMany()",
        "dropDatabase:",
        "shutdownServer(",
    ];
    calls.iter().any(|call| bare.contains(call))
}

/// Elasticsearch and its like are emptied over HTTP.
fn judge_search(command: &Command<'_>, scene: &Scene<'_>) {
    let deletes = command.rest().windows(2).any(|pair| matches!(pair, [flag, method] if matches!(flag.text.as_str(), "-X" | "--request" | "-sX" | "-sSX" | "-XDELETE") && method.text.eq_ignore_ascii_case("delete")))
        || command.rest().iter().any(|word| matches!(word.text.as_str(), "-XDELETE" | "--request=DELETE" | "DELETE" | "-sXDELETE"));
    let of_store = |text: &str| {
        text.contains(":9200")
            || text.contains("_all")
            || text.contains(":8983")
            || text.contains(":5984")
            || text.contains(":8086")
            || text.contains("/*")
    };
    let by_query = command
        .rest()
        .iter()
        .any(|word| word.text.contains("_delete_by_query"));
    if by_query || (deletes && command.rest().iter().any(|word| of_store(&word.text))) {
        scene.note(&DROPPED, &command.simple.span);
    }
}
