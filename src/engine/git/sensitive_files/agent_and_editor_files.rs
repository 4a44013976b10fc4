//! Lists the files that agents, editors and shells read when they are opened here the next time.

use super::{SensitiveFile, SensitiveFileReader, below, ending, exactly, inside, starting};

const CLAUDE: &str = "claude follows it in your next session";
const CODEX: &str = "codex follows it in your next session";
const AGENTS: &str = "agents follow it in your next session";
const SERVERS: &str = "agents start its programs in your next session";
const EDITOR: &str = "your editor follows it, and may run programs from it";
const SHELL: &str = "your shell runs it, or finds programs through it, when you enter the folder";
const CONTAINER: &str = "your editor builds and starts a container from it";

#[rustfmt::skip]
pub(super) const AGENT_AND_EDITOR_FILES: &[SensitiveFile] = &[
    below(".claude", SensitiveFileReader::Anybody, CLAUDE),
    exactly("CLAUDE.md", SensitiveFileReader::Anybody, CLAUDE),
    exactly("CLAUDE.local.md", SensitiveFileReader::Anybody, CLAUDE),
    exactly(".mcp.json", SensitiveFileReader::Anybody, SERVERS),
    below(".codex", SensitiveFileReader::Anybody, CODEX),
    below(".agents", SensitiveFileReader::Anybody, AGENTS),
    exactly("AGENTS.md", SensitiveFileReader::Anybody, AGENTS),
    exactly("AGENTS.override.md", SensitiveFileReader::Anybody, AGENTS),
    exactly("AGENT.md", SensitiveFileReader::Anybody, AGENTS),
    exactly("GEMINI.md", SensitiveFileReader::Anybody, AGENTS),
    below(".gemini", SensitiveFileReader::Anybody, AGENTS),
    below(".cursor", SensitiveFileReader::Anybody, AGENTS),
    exactly(".cursorrules", SensitiveFileReader::Anybody, AGENTS),
    exactly(".windsurfrules", SensitiveFileReader::Anybody, AGENTS),
    below(".windsurf", SensitiveFileReader::Anybody, AGENTS),
    starting(".clinerules", SensitiveFileReader::Anybody, AGENTS),
    below(".clinerules", SensitiveFileReader::Anybody, AGENTS),
    below(".roo", SensitiveFileReader::Anybody, AGENTS),
    inside(".github", "copilot-instructions.md", SensitiveFileReader::Anybody, AGENTS),
    exactly("opencode.json", SensitiveFileReader::Anybody, AGENTS),
    exactly("opencode.jsonc", SensitiveFileReader::Anybody, AGENTS),
    below(".opencode", SensitiveFileReader::Anybody, AGENTS),
    starting(".aider.conf", SensitiveFileReader::Anybody, AGENTS),
    inside(".vscode", "tasks.json", SensitiveFileReader::Anybody, EDITOR),
    inside(".vscode", "settings.json", SensitiveFileReader::Anybody, EDITOR),
    inside(".vscode", "launch.json", SensitiveFileReader::Anybody, EDITOR),
    inside(".vscode", "mcp.json", SensitiveFileReader::Anybody, SERVERS),
    ending(".code-workspace", SensitiveFileReader::Anybody, EDITOR),
    below(".idea/runConfigurations", SensitiveFileReader::Anybody, EDITOR),
    inside(".idea", "workspace.xml", SensitiveFileReader::Anybody, EDITOR),
    inside(".idea", "externalTools.xml", SensitiveFileReader::Anybody, EDITOR),
    below(".run", SensitiveFileReader::Anybody, EDITOR),
    below(".zed", SensitiveFileReader::Anybody, EDITOR),
    below(".fleet", SensitiveFileReader::Anybody, EDITOR),
    below(".helix", SensitiveFileReader::Anybody, EDITOR),
    exactly(".exrc", SensitiveFileReader::Anybody, EDITOR),
    exactly(".nvimrc", SensitiveFileReader::Anybody, EDITOR),
    exactly(".nvim.lua", SensitiveFileReader::Anybody, EDITOR),
    exactly(".vimrc", SensitiveFileReader::Anybody, EDITOR),
    exactly(".dir-locals.el", SensitiveFileReader::Anybody, EDITOR),
    below(".devcontainer", SensitiveFileReader::Anybody, CONTAINER),
    exactly(".devcontainer.json", SensitiveFileReader::Anybody, CONTAINER),
    exactly(".envrc", SensitiveFileReader::Anybody, SHELL),
    exactly(".tool-versions", SensitiveFileReader::Anybody, SHELL),
    exactly("mise.toml", SensitiveFileReader::Anybody, SHELL),
    exactly("mise.local.toml", SensitiveFileReader::Anybody, SHELL),
    exactly(".mise.toml", SensitiveFileReader::Anybody, SHELL),
    exactly(".mise.local.toml", SensitiveFileReader::Anybody, SHELL),
    below(".mise", SensitiveFileReader::Anybody, SHELL),
];
