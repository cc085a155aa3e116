/**
 * What an admin may make of a tool server: from how it was and what is asked to how it will be, or everything that is
 * wrong with it. Pure; secrets pass through and are kept nowhere.
 */
import type { McpAvailability, McpServerSettings, McpTransport } from "./types.js";
import { changeAuth, type McpAuthChange, type StoredSecrets, type SecretUpdates } from "./auth-rules.js";
import { keepOrClear, type Note, type Problem, readAddress, readPlainText } from "./field-rules.js";

/** Absent keeps what is there, or leaves a new server's default; null clears, which not all of them bear. */
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

/** `slug` is given once and for all: it stands in the names of tools that history tells of. */
export type NewMcpServer = McpServerChange & {
  slug: string;
  displayName: string;
  url: string;
  transport: McpTransport;
  auth: McpAuthChange;
};

export type McpServerPlan =
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

export function planNewMcpServer(wanted: NewMcpServer): McpServerPlan {
  const problems: Problem[] = [];
  const slug = wanted.slug.trim();
  const problem = slugProblem(slug);
  if (problem !== null) problems.push({ message: problem, path: ["slug"] });
  return plan({ settings: { ...EMPTY, slug }, secrets: NO_SECRETS }, wanted, problems);
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
  const words = { min: 0, max: MAX_DESCRIPTION_CHARACTERS };
  return {
    displayName:
      displayName == null ? old.displayName : readPlainText(displayName, name, noteAt("displayName")),
    description:
      description === undefined
        ? old.description
        : readPlainText(description ?? "", words, noteAt("description")),
    iconUrl: iconUrl == null ? keepOrClear(iconUrl, old.iconUrl) : readAddress(iconUrl, noteAt("iconUrl")),
    url: url == null ? old.url : readAddress(url, noteAt("url")),
  };
}

/** Null when it may be one. Two underscores are what separates a slug from a tool's name. */
function slugProblem(slug: string): string | null {
  if (slug.length > MAX_SLUG_CHARACTERS) return `A slug has at most ${MAX_SLUG_CHARACTERS} characters.`;
  if (!/^[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?$/.test(slug)) {
    return "A slug has lower-case letters and digits, with - or _ between them.";
  }
  return slug.includes("__")
    ? "A slug has no two underscores in a row: they end it in the names of tools."
    : null;
}

/** Each name once, in the order given; undefined when there is nothing to read. */
function readToolNames(
  given: readonly string[] | null | undefined,
  field: string,
  note: Note,
): string[] | undefined {
  if (given === undefined) return undefined;
  const names = given ?? [];
  if (names.length > MAX_LISTED_TOOLS) note(`A list has at most ${MAX_LISTED_TOOLS} names.`, field);
  for (const [place, name] of names.slice(0, MAX_LISTED_TOOLS).entries()) {
    if (name === "" || name.length > MAX_TOOL_NAME_CHARACTERS || name.includes("\u0000")) {
      note(`A tool's name has 1 to ${MAX_TOOL_NAME_CHARACTERS} characters.`, field, String(place));
    }
  }
  return [...new Set(names)];
}

/** At the list that was given; at both places where both were. */
function noteClash(
  { toolAllowList, toolDenyList }: { toolAllowList: string[]; toolDenyList: string[] },
  change: McpServerChange,
  note: Note,
): void {
  const allowed = new Set(toolAllowList);
  const clash = toolDenyList.find((name) => allowed.has(name));
  if (clash === undefined) return;
  const field = change.toolDenyList ? "toolDenyList" : "toolAllowList";
  const place = (change[field] ?? []).indexOf(clash);
  note("The tool is in both lists: it is either allowed or denied.", field, String(place));
}

/**
 * Whether what people authorised was authorised for something else than this server is now: another address, another
 * kind of authorisation, another OAuth client or other endpoints of it. Tokens are made for exactly these, and must be
 * shown to nobody else.
 */
export function invalidatesAuthorizations(before: McpServerSettings, after: McpServerSettings): boolean {
  const fields = ["url", "authKind", "oauthClientId", "oauthAuthorizeUrl", "oauthTokenUrl"] as const;
  return fields.some((field) => before[field] !== after[field]);
}
