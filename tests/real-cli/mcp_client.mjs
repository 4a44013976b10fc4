// The official MCP client in the place of a CLI's own: it keeps one server for all calls of a conversation, as they do.
//
// A scripted agent starts this when its conversation begins, to be the keeper of the server, and once a call, with the
// server's command line; that one reads the call on standard input, passes it on to the keeper and prints the answer.
// The tool `lab` is no tool of the server: its arguments are steps for the keeper and a file for what came of each.
// Refuses to know what the answers should be.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import readline from "node:readline";
import { fileURLToPath } from "node:url";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import Ajv from "ajv";

const began = process.cwd();
const [mode, ...words] = process.argv.slice(2);
if (mode === "--keep") await keep(words[0], words.slice(1));
else if (mode === "--start") await start(words);
else await relay([mode, ...words]);

/** Goes where the address of this server's socket is short, however long the path to there is. */
function enter(server) {
  process.chdir(os.tmpdir());
  const name = createHash("sha256").update(server.join("\0")).digest("hex").slice(0, 12);
  return `mcp-${name}`;
}

/** Becomes the keeper of this server where there is none: a child of the CLI before its first call, as the CLIs do it. */
async function start(server) {
  const socket = enter(server);
  try {
    (await connect(socket)).destroy();
    process.stdout.write("ready\n");
  } catch {
    process.chdir(began);
    await keep(socket, server);
  }
}

/** Passes one call on to the keeper of this server, which is started where there is none. */
async function relay(server) {
  const socket = enter(server);
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const frame = JSON.parse(line);
    if (frame.method !== "tools/call") continue;
    const answer = await ask(await reach(socket, server), frame.params);
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: frame.id, ...answer })}\n`);
  }
}

function connect(socket) {
  return new Promise((done, failed) => {
    const stream = net.connect(socket, () => done(stream));
    stream.once("error", failed);
  });
}

async function reach(socket, server) {
  try {
    return await connect(socket);
  } catch {
    const self = fileURLToPath(import.meta.url);
    const log = fs.openSync(`${socket}.log`, "a");
    const keeper = spawn(process.execPath, [self, "--keep", socket, ...server], {
      cwd: began,
      detached: true,
      stdio: ["ignore", "pipe", log],
    });
    await new Promise((done) => {
      keeper.stdout.once("data", done);
      keeper.once("exit", done);
    });
    keeper.stdout.destroy();
    keeper.unref();
    return connect(socket);
  }
}

function ask(stream, params) {
  return new Promise((done) => {
    readline.createInterface({ input: stream }).once("line", (line) => {
      stream.end();
      done(JSON.parse(line));
    });
    stream.write(`${JSON.stringify(params)}\n`);
  });
}

/** Holds one connection to the server for as long as that is there. */
async function keep(socket, [command, ...args]) {
  const client = new Client({ name: "lab", version: "0" });
  let changes = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (changes += 1));
  await client.connect(new StdioClientTransport({ command, args, env: process.env }));
  client.onclose = () => {
    fs.rmSync(socket, { force: true });
    process.exit();
  };
  const lab = { client, server: { command, args }, changes: () => changes };
  const listener = net.createServer((stream) => {
    stream.on("error", () => {});
    readline.createInterface({ input: stream }).once("line", async (line) => {
      const params = JSON.parse(line);
      const done = params.name === "lab" ? perform(lab, params) : call(client, params);
      stream.end(`${JSON.stringify(await done)}\n`);
    });
  });
  process.chdir(os.tmpdir());
  // One that was ended with its CLI's process left this.
  fs.rmSync(socket, { force: true });
  listener.listen(socket, () => process.stdout.write("ready\n"));
}

async function call(client, params, options) {
  try {
    return { result: await client.callTool(params, undefined, options) };
  } catch (error) {
    return { error: { code: error.code ?? 0, message: String(error.message ?? error) } };
  }
}

async function perform(lab, { arguments: { steps, into }, _meta }) {
  const seen = [];
  for (const step of steps) seen.push(await one(lab, step, _meta));
  fs.writeFileSync(into, JSON.stringify(seen));
  return { result: { content: [{ type: "text", text: "done" }] } };
}

async function one({ client, server, changes }, step, _meta) {
  if (step.list) {
    const { tools } = await client.listTools();
    // Compiling a schema fails unless it is one.
    for (const tool of tools) new Ajv({ strict: true, strictTypes: false, validateFormats: false }).compile(tool.inputSchema);
    return { names: tools.map((tool) => tool.name), told: tools.every((tool) => tool.description), changes: changes() };
  }
  if (step.who) {
    return { server: client.getServerVersion(), can: client.getServerCapabilities(), instructions: client.getInstructions() };
  }
  if (step.cancel) {
    // Cancelled as soon as a file shows that it is under way.
    const stop = new AbortController();
    const came = call(client, { _meta, ...step.cancel }, { signal: stop.signal });
    await says(step.file, step.once);
    stop.abort("the lab wants no more");
    const cancelled = await came;
    await says(step.file, step.then);
    return cancelled;
  }
  if (step.frames) return raw(server, step.frames, step.answers);
  if (step.token !== undefined) {
    const file = path.join(os.tmpdir(), "another-token");
    fs.writeFileSync(file, step.token);
    const at = server.args.indexOf("--token") + 1;
    return ended({ ...server, args: server.args.with(at, file) });
  }
  const { pad, ...params } = step;
  if (pad) params.arguments[pad.key] = "x".repeat(pad.bytes);
  return call(client, { _meta, ...params });
}

/** Waits until a file holds a text. */
async function says(file, text) {
  while (!fs.readFileSync(file, "utf8").includes(text)) await new Promise((done) => setTimeout(done, 10));
}

/** Says lines as they stand to another copy of the server, and gives the answers to those ids. */
async function raw({ command, args }, lines, ids) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const answers = {};
  for (const line of lines) child.stdin.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
  for await (const line of readline.createInterface({ input: child.stdout })) {
    const frame = JSON.parse(line);
    if (frame.id !== undefined && frame.id !== null) answers[frame.id] = frame;
    if (ids.every((id) => answers[id])) break;
  }
  child.stdin.end();
  return answers;
}

/** Starts a copy of the server that should not go on, and tells how it ended. */
function ended({ command, args }) {
  const child = spawn(command, args, { stdio: ["pipe", "ignore", "pipe"] });
  let told = "";
  child.stderr.on("data", (data) => void (told += data));
  return new Promise((done) => child.on("close", (code) => done({ code, told })));
}
