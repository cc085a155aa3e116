/** Parser for `.mcp.json`: the MCP servers that it configures, and the problems of invalid entries. Pure. */
import { z } from "zod";
import { entryText, MAX_ENTRY_CHARACTERS, type WorkspaceMcpEntry } from "../../domain/mcp/workspace-entry.js";
import { hashOf } from "../../lib/hash.js";
import type { Environment } from "../process/environment.js";
import { MCP_NAME_SEPARATOR } from "../protocol/mcp.js";
import { expandBraced, expandVariables } from "./expand.js";

/** Transport of one server, with all variables expanded. Equal configurations are the same server. */
export type ServerConfig = { source: EntrySource } & (
  | { transport: "stdio"; command: string; args: string[]; env: Environment }
  | { transport: "http" | "sse"; url: string; headers: Record<string, string> }
);

/** What a configuration was made from, and what a permission must name for it to run. */
export type EntrySource = { entry: WorkspaceMcpEntry; hash: string };

/** `problem` is a sentence for the author of the entry. */
export type ServerEntry = { name: string } & ({ config: ServerConfig } | { problem: string });

export type ConfigText =
  { kind: "entries"; entries: ServerEntry[] } | { kind: "unreadable"; problem: string };

const fileSchema = z.looseObject({ mcpServers: z.record(z.string(), z.unknown()).default({}) });

const entrySchema = z.looseObject({
  type: z.string().optional(),
  command: z.string().optional(),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.coerce.string()).default({}),
  url: z.string().optional(),
  headers: z.record(z.string(), z.string()).default({}),
});

/** Other programs use the other names. */
const HTTP_NAMES = new Set(["http", "streamable-http", "streamableHttp"]);

/** Entries sorted by name. A file without `mcpServers` has none. */
export function parseConfig(text: string, environment: Environment): ConfigText {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    return { kind: "unreadable", problem: `It is not JSON: ${error instanceof Error ? error.message : ""}` };
  }
  const file = fileSchema.safeParse(value);
  if (!file.success) return { kind: "unreadable", problem: `It has another shape: ${issueText(file.error)}` };
  const entries = Object.entries(file.data.mcpServers)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, entry]) => parseEntry(name, entry, environment));
  return { kind: "entries", entries };
}

function parseEntry(name: string, value: unknown, environment: Environment): ServerEntry {
  const nameProblem = problemWithName(name);
  if (nameProblem !== undefined) return { name, problem: nameProblem };
  const entry = entrySchema.safeParse(value);
  if (!entry.success) return { name, problem: issueText(entry.error) };
  const written = writtenEntry(name, entry.data);
  if (typeof written === "string") return { name, problem: written };
  const text = entryText(written);
  if (text.length > MAX_ENTRY_CHARACTERS) {
    return { name: name.slice(0, SHOWN_NAME_CHARACTERS), problem: TOO_LONG };
  }
  const config = configOf({ entry: written, hash: hashOf(text) }, environment);
  return typeof config === "string" ? { name, problem: config } : { name, config };
}

/** Of a name that is too long to be one. */
const SHOWN_NAME_CHARACTERS = 100;
const TOO_LONG = `An entry has at most ${MAX_ENTRY_CHARACTERS} characters, so that it can be shown in full before it is allowed.`;

/** A name must be separable from the tool's in `name__tool`. */
function problemWithName(name: string): string | undefined {
  if (name.trim() === "") return "A server needs a name.";
  if (name.includes(MCP_NAME_SEPARATOR)) return `A server's name must not contain "${MCP_NAME_SEPARATOR}".`;
  if (name.startsWith("_") || name.endsWith("_")) return 'A server\'s name must not begin or end with "_".';
  return undefined;
}

/** The entry in the form that is allowed and hashed, or its problem. */
function writtenEntry(name: string, entry: z.infer<typeof entrySchema>): WorkspaceMcpEntry | string {
  const type = entry.type?.trim() ?? "";
  const transport = type === "" ? impliedTransport(entry) : HTTP_NAMES.has(type) ? "http" : type;
  if (transport === undefined) return "Either a command or a url is required.";
  const { command = "", args, env, url = "", headers } = entry;
  if (transport === "stdio") return { name, transport, command, args, env: mapValues(env) };
  if (transport === "http" || transport === "sse")
    return { name, transport, url, headers: mapValues(headers) };
  return `The type ${JSON.stringify(type.slice(0, SHOWN_NAME_CHARACTERS))} is not known; it may be stdio, http or sse.`;
}

/** The configuration that the entry stands for in this environment, or its problem. */
function configOf(source: EntrySource, environment: Environment): ServerConfig | string {
  const { entry } = source;
  const expand = (text: string) => expandBraced(text, environment);
  if (entry.transport === "stdio") {
    const { transport } = entry;
    const command = expand(entry.command);
    if (command.trim() === "") return "A server of type stdio needs a command.";
    const env = mapValues(entry.env, (text) => expandVariables(text, environment));
    return { source, transport, command, args: entry.args.map(expand), env };
  }
  const { transport } = entry;
  const url = expand(entry.url);
  const protocol = URL.canParse(url) ? new URL(url).protocol : "";
  if (protocol !== "http:" && protocol !== "https:") {
    return `A server of type ${transport} needs a url that begins with http:// or https://.`;
  }
  return { source, transport, url, headers: mapValues(entry.headers, expand) };
}

function impliedTransport({ command, url }: z.infer<typeof entrySchema>): "stdio" | "http" | undefined {
  if (command !== undefined && command !== "") return "stdio";
  return url === undefined || url === "" ? undefined : "http";
}

/** Sorted by name, so that the order in the file makes no difference. */
function mapValues(
  record: Record<string, string>,
  map: (text: string) => string = (text) => text,
): Record<string, string> {
  const names = Object.keys(record).sort();
  return Object.fromEntries(names.map((name) => [name, map(record[name] ?? "")]));
}

function issueText(error: z.ZodError): string {
  const issue = error.issues[0];
  const path = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  return `${path}${issue?.message ?? "unknown shape"}`;
}
