//! Files that agents, editors and shells obey when they are opened here the next time.

use super::{BeforeTests, Reader, below, ending, exactly, inside, starting};

const CLAUDE: &str = "claude obeys it in your next session";
const CODEX: &str = "codex obeys it in your next session";
const AGENTS: &str = "agents obey it in your next session";
const SERVERS: &str = "agents start its programs in your next session";
const EDITOR: &str = "your editor obeys it, and may run programs by it";
const SHELL: &str = "your shell runs it, or takes programs by it, when you enter the folder";
const CONTAINER: &str = "your editor builds and starts a container by it";

#[rustfmt::skip]
pub(super) const SESSIONS: &[BeforeTests] = &[
    below(".claude", Reader::Anybody, CLAUDE),
    exactly("CLAUDE.md", Reader::Anybody, CLAUDE),
    exactly("CLAUDE.local.md", Reader::Anybody, CLAUDE),
    exactly(".mcp.json", Reader::Anybody, SERVERS),
    below(".codex", Reader::Anybody, CODEX),
    below(".agents", Reader::Anybody, AGENTS),
    exactly("AGENTS.md", Reader::Anybody, AGENTS),
    exactly("AGENTS.override.md", Reader::Anybody, AGENTS),
    exactly("AGENT.md", Reader::Anybody, AGENTS),
    exactly("GEMINI.md", Reader::Anybody, AGENTS),
    below(".gemini", Reader::Anybody, AGENTS),
    below(".cursor", Reader::Anybody, AGENTS),
    exactly(".cursorrules", Reader::Anybody, AGENTS),
    exactly(".windsurfrules", Reader::Anybody, AGENTS),
    below(".windsurf", Reader::Anybody, AGENTS),
    starting(".clinerules", Reader::Anybody, AGENTS),
    below(".clinerules", Reader::Anybody, AGENTS),
    below(".roo", Reader::Anybody, AGENTS),
    inside(".github", "copilot-instructions.md", Reader::Anybody, AGENTS),
    exactly("opencode.json", Reader::Anybody, AGENTS),
    exactly("opencode.jsonc", Reader::Anybody, AGENTS),
    below(".opencode", Reader::Anybody, AGENTS),
    starting(".aider.conf", Reader::Anybody, AGENTS),
    inside(".vscode", "tasks.json", Reader::Anybody, EDITOR),
    inside(".vscode", "settings.json", Reader::Anybody, EDITOR),
    inside(".vscode", "launch.json", Reader::Anybody, EDITOR),
    inside(".vscode", "mcp.json", Reader::Anybody, SERVERS),
    ending(".code-workspace", Reader::Anybody, EDITOR),
    below(".idea/runConfigurations", Reader::Anybody, EDITOR),
    inside(".idea", "workspace.xml", Reader::Anybody, EDITOR),
    inside(".idea", "externalTools.xml", Reader::Anybody, EDITOR),
    below(".run", Reader::Anybody, EDITOR),
    below(".zed", Reader::Anybody, EDITOR),
    below(".fleet", Reader::Anybody, EDITOR),
    below(".helix", Reader::Anybody, EDITOR),
    exactly(".exrc", Reader::Anybody, EDITOR),
    exactly(".nvimrc", Reader::Anybody, EDITOR),
    exactly(".nvim.lua", Reader::Anybody, EDITOR),
    exactly(".vimrc", Reader::Anybody, EDITOR),
    exactly(".dir-locals.el", Reader::Anybody, EDITOR),
    below(".devcontainer", Reader::Anybody, CONTAINER),
    exactly(".devcontainer.json", Reader::Anybody, CONTAINER),
    exactly(".envrc", Reader::Anybody, SHELL),
    exactly(".tool-versions", Reader::Anybody, SHELL),
    exactly("mise.toml", Reader::Anybody, SHELL),
    exactly("mise.local.toml", Reader::Anybody, SHELL),
    exactly(".mise.toml", Reader::Anybody, SHELL),
    exactly(".mise.local.toml", Reader::Anybody, SHELL),
    below(".mise", Reader::Anybody, SHELL),
];
