//! Names in code that remove, run, evaluate and fetch.
//!
//! Calls and their arguments are analysed elsewhere.

use super::code_effect::CodeInputSource;

/// Names that remove trees, in any context.
pub const TREE_NAMES: &str = "rmtree rm_rf rm_r remove_tree removetree rimraf rimrafSync removeSync emptyDirSync emptyDir emptydirSync \
    remove_entry_secure remove_entry remove_dir remove_dir_all RemoveAll deleteDirectory deltree rmdir_r \
    secure_delete removeItem rm_rf! deletedir FileTreeDelete removeDirectory";
/// Names that remove trees if a flag for that is among their arguments.
pub const FLAGGED_NAMES: &str =
    "rm rmSync rmdir rmdirSync remove unlink delete Remove deleteRecursively del Delete";
/// Names that remove one file.
pub const REMOVING_NAMES: &str =
    "remove unlink unlinkSync rm rmSync delete rm_f safe_unlink removedirs";
/// Names that run a program or a text.
pub const RUNNING_NAMES: &str = "system popen popen2 popen3 Popen run call check_call check_output getoutput getstatusoutput exec execSync \
    execFile execFileSync spawn spawnSync shell_exec passthru proc_open pcntl_exec execv execve execvp execvpe \
    execl execlp execle spawnl spawnlp spawnv spawnvp posix_spawn execute capture2 capture2e capture3 pipeline sh \
    qx shell create_subprocess_shell create_subprocess_exec execa execaSync execaCommand execaCommandSync posix_spawnp command commandSync \
    startfile readpipe open3 open2 invoke_shell process cmd Command pipe os_system shellescape_run spawnProcess";
/// Running names that are too common in code to count by themselves.
pub const COMMON_NAMES: &str =
    "run call exec execute command process cmd pipe pipeline sh shell Command spawn";
/// Words that show that a program is run.
pub const RUNNING_WORDS: &str = "subprocess child_process os execa shelljs Kernel Open3 IO Deno Bun pty popen2 process Process sh invoke \
    Runtime asyncio";
/// Names that print, compare, search or store a text.
pub const DATA_NAMES: &str = "print println printf eprintln printfn Println Printf putStrLn putStr displayln display princ prin1 pprint notification dialog line occursin cat grepl print_endline inspect paste print puts p pp log info warn warning error debug trace echo printf sprintf write writeln writelines append push add \
    insert extend format assert assertEqual assertIn assertTrue equal equals deepEqual strictEqual toBe toEqual expect test it describe \
    match search findall find finditer sub gsub replace replaceAll split rsplit join startswith startsWith endswith endsWith includes \
    indexOf index rindex count contains has compile fullmatch RegExp Regexp re len str repr dumps loads stringify parse set dict list tuple \
    say die croak fail raise Error Exception ValueError RuntimeError TypeError if while return in not and or strip lower upper \
    write_text write_bytes writeFileSync writeFile appendFileSync file_put_contents open encode quote escape inspect to_s tap text \
    quotemeta shlex Set Map Array from of is isdisjoint strlen mb_strlen message title body describe_command add_argument option help send_message alert \
    confirm prompt setText innerHTML textContent classify check is_dangerous";
/// Names that run their text as code of the same language.
pub const EVALUATING_NAMES: &str = "eval exec Function instance_eval class_eval runInThisContext runInNewContext loadstring load assert compile \
    execfile include require_remote evaluate";
/// Names that fetch or decode.
pub const FETCHING_NAMES: &str = "urlopen urllib urllib2 requests httpx fetch http https axios got b64decode atob decode64 base64_decode \
    decompress fromhex unhexlify LWP Net HTTP OpenURI DownloadString file_get_contents decode_base64 urlretrieve \
    a85decode b32decode URI marshal curl_exec fromCharCode unpack";
/// Names that set file modes.
pub const MODE_NAMES: &str = "chmod chmodSync lchmod fchmod chmod_R";
/// Names that open or write files.
pub const WRITING_NAMES: &str = "open openSync createWriteStream writeFile writeFileSync appendFileSync write_text write_bytes file_put_contents fopen write \
    copyfile copy copyFileSync move rename sysopen";
/// Writing names whose second text is the file that is written.
pub const COPYING_NAMES: &str = "copyfile copy copyFileSync move rename";
/// Names that send a statement to a database.
pub const STATEMENT_NAMES: &str = "execute executescript query raw exec execSql executemany do run text prepare mysqli_query pg_query";
/// Names that empty a database.
pub const DROPPING_NAMES: &str = "dropDatabase flushall flushdb drop_database drop_all";
/// Names that list files.
pub const LISTING_NAMES: &str = "walk rglob scandir walkSync RecursiveDirectoryIterator finddepth find glob iglob listdir readdirSync readdir entries children";
/// Names of input from outside the code.
pub const SOURCE_NAMES: &[(CodeInputSource, &str)] = &[
    (
        CodeInputSource::Arguments,
        "argv ARGV args arg _SERVER shift ARGF getopt parse_args commandArgs",
    ),
    (
        CodeInputSource::Environment,
        "env ENV environ environb getenv _ENV",
    ),
    (
        CodeInputSource::Input,
        "stdin STDIN gets readline readlines input fgets read readFileSync _ ARGF stream_get_contents",
    ),
];
/// Modules for running programs.
pub const RUNNING_MODULES: &str =
    "subprocess os child_process Kernel Deno Bun Open3 execa shelljs pty";
/// Shells, which run the text after them.
pub const SHELL_NAMES: &str = "sh bash zsh dash ksh fish";
