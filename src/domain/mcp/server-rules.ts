/**
 * Validation of new and changed MCP servers: from the current settings and a change to the new settings, or all problems.
 * Pure; secrets pass through and are not retained.
 */
import type { McpAvailability, McpServerSettings, McpTransport } from "./types.js";
import { changeAuth, type McpAuthChange, type StoredSecrets, type SecretUpdates } from "./auth-rules.js";
import { keepOrClear, type Note, type Problem, readAddress, readPlainText } from "./field-rules.js";

/** Absent keeps the value, or a new server's default; null clears it, which not all fields allow. */
export type McpServerChange = {
  displayName?: string | null | undefined;
  description?: string | null | undefined;
  iconUrl?: string | null | undefined;
  url?: string | null | undefined;
  transport?: McpTransport | null | undefined;
  auth?: McpAuthChange | null | undefined;
  availability?: McpAvailability | null | undefined;
  toolAllowList?: string[] | null | undefined;
  toolDenyList?: string[] | null | undefined;
  isEnabled?: boolean | null | undefined;
  isPrivateNetworkAllowed?: boolean | null | undefined;
};

const NEVER_CLEARED = [
  "displayName",
  "url",
  "transport",
  "auth",
  "availability",
  "isEnabled",
  "isPrivateNetworkAllowed",
] as const satisfies readonly (keyof McpServerChange)[];

/** `slug` never changes: it is part of tool names in chat histories. */
export type NewMcpServer = McpServerChange & {
  slug: string;
  displayName: string;
  url: string;
  transport: McpTransport;
  auth: McpAuthChange;
};

type McpServerPlan =
  { ok: true; settings: McpServerSettings; secrets: SecretUpdates } | { ok: false; problems: Problem[] };

const MAX_SLUG_CHARACTERS = 32;
const MAX_NAME_CHARACTERS = 100;
const MAX_DESCRIPTION_CHARACTERS = 2_000;
const MAX_LISTED_TOOLS = 200;
const MAX_TOOL_NAME_CHARACTERS = 256;

const EMPTY: McpServerSettings = {
  slug: "",
  displayName: "",
  description: "",
  iconUrl: null,
  url: "",
  transport: "streamable_http",
  authKind: "none",
  oauthClientId: null,
  oauthAuthorizeUrl: null,
  oauthTokenUrl: null,
  oauthScopes: [],
  apiKeyHeader: null,
  toolAllowList: [],
  toolDenyList: [],
  availability: "default_off",
  isEnabled: false,
  allowsPrivateAddresses: false,
};

const NO_SECRETS: StoredSecrets = { hasOauthClientSecret: false, hasApiKey: false, headerNames: [] };

export function planNewMcpServer(input: NewMcpServer): McpServerPlan {
  const problems: Problem[] = [];
  const slug = input.slug.trim();
  const problem = slugProblem(slug);
  if (problem !== null) problems.push({ message: problem, path: ["slug"] });
  return plan({ settings: { ...EMPTY, slug }, secrets: NO_SECRETS }, input, problems);
}

export function planMcpServerChange(
  before: { settings: McpServerSettings; secrets: StoredSecrets },
  change: McpServerChange,
): McpServerPlan {
  return plan(before, change, []);
}

function plan(
  before: { settings: McpServerSettings; secrets: StoredSecrets },
  change: McpServerChange,
  problems: Problem[],
): McpServerPlan {
  const note: Note = (message, ...path) => problems.push({ message, path });
  for (const field of NEVER_CLEARED) {
    if (change[field] === null) note("This cannot be cleared. Leave it out to keep it.", field);
  }
  const old = before.settings;
  const described = describe(old, change, note);
  const lists = {
    toolAllowList: readToolNames(change.toolAllowList, "toolAllowList", note) ?? old.toolAllowList,
    toolDenyList: readToolNames(change.toolDenyList, "toolDenyList", note) ?? old.toolDenyList,
  };
  noteClash(lists, change, note);
  const auth = changeAuth(
    { settings: old, secrets: before.secrets, movesTo: described.url === old.url ? null : described.url },
    change.auth ?? undefined,
    note,
  );
  const settings: McpServerSettings = {
    ...old,
    ...described,
    ...lists,
    ...auth.settings,
    transport: change.transport ?? old.transport,
    availability: change.availability ?? old.availability,
    isEnabled: change.isEnabled ?? old.isEnabled,
    allowsPrivateAddresses: change.isPrivateNetworkAllowed ?? old.allowsPrivateAddresses,
  };
  return problems.length > 0 ? { ok: false, problems } : { ok: true, settings, secrets: auth.secrets };
}

function describe(old: McpServerSettings, change: McpServerChange, note: Note) {
  const { displayName, description, iconUrl, url } = change;
  const noteAt = (field: string) => (message: string) => note(message, field);
  const name = { min: 1, max: MAX_NAME_CHARACTERS };
  const text = { min: 0, max: MAX_DESCRIPTION_CHARACTERS };
  return {
    displayName:
      displayName == null ? old.displayName : readPlainText(displayName, name, noteAt("displayName")),
    description:
      description === undefined
        ? old.description
        : readPlainText(description ?? "", text, noteAt("description")),
    iconUrl: iconUrl == null ? keepOrClear(iconUrl, old.iconUrl) : readAddress(iconUrl, noteAt("iconUrl")),
    url: url == null ? old.url : readAddress(url, noteAt("url")),
  };
}

/** The problem of a slug; null when it is valid. Two underscores separate a slug from a tool's name. */
function slugProblem(slug: string): string | null {
  if (slug.length > MAX_SLUG_CHARACTERS) return `A slug may have at most ${MAX_SLUG_CHARACTERS} characters.`;
  if (!/^[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?$/.test(slug)) {
    return "A slug must consist of lower-case letters and digits, with - or _ between them.";
  }
  return slug.includes("__")
    ? "A slug must not have two underscores in a row: they separate it from the tool's name."
    : null;
}

/** The names without duplicates, in their order; undefined when the field is absent. */
function readToolNames(
  input: readonly string[] | null | undefined,
  field: string,
  note: Note,
): string[] | undefined {
  if (input === undefined) return undefined;
  const names = input ?? [];
  if (names.length > MAX_LISTED_TOOLS) note(`A list may have at most ${MAX_LISTED_TOOLS} names.`, field);
  for (const [index, name] of names.slice(0, MAX_LISTED_TOOLS).entries()) {
    if (name === "" || name.length > MAX_TOOL_NAME_CHARACTERS || name.includes("\u0000")) {
      note(`A tool name must have 1 to ${MAX_TOOL_NAME_CHARACTERS} characters.`, field, String(index));
    }
  }
  return [...new Set(names)];
}

/** Reports a tool in both lists, at a list that the change contains. */
function noteClash(
  { toolAllowList, toolDenyList }: { toolAllowList: string[]; toolDenyList: string[] },
  change: McpServerChange,
  note: Note,
): void {
  const allowed = new Set(toolAllowList);
  const clash = toolDenyList.find((name) => allowed.has(name));
  if (clash === undefined) return;
  const field = change.toolDenyList ? "toolDenyList" : "toolAllowList";
  const index = (change[field] ?? []).indexOf(clash);
  note("The tool is in both lists; it can only be allowed or denied.", field, String(index));
}

/**
 * Whether a change invalidates users' authorizations: a new address, kind of authorization, OAuth client or endpoint.
 * Tokens are issued for exactly these and must not be sent anywhere else.
 */
export function invalidatesAuthorizations(before: McpServerSettings, after: McpServerSettings): boolean {
  const fields = ["url", "authKind", "oauthClientId", "oauthAuthorizeUrl", "oauthTokenUrl"] as const;
  return fields.some((field) => before[field] !== after[field]);
}
