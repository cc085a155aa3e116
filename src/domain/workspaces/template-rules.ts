/** What admins may set of templates, and people of workspaces made from them. Pure. */
import type { JsonObject, JsonValue } from "../common/json.js";
import type { Problem } from "../mcp/field-rules.js";
import { MIN_TTL_MS } from "./workspace-lifecycle.js";
import { problemsOfParameters, type TemplateParameter, unknownPlaceholders } from "./workspace-parameters.js";
import type { WorkspaceProvisioner } from "./workspace.js";

export type TemplateSetup = {
  /** What tools and scripts call it; it never changes. */
  name: string;
  displayName: string;
  description: string;
  readme: string | null;
  provisioner: WorkspaceProvisioner;
  spec: JsonObject;
  parameters: TemplateParameter[];
  /** Null = its workspaces never stop by themselves. */
  defaultTtlMs: number | null;
  allowTtlOverride: boolean;
  isEnabled: boolean;
};

/** As it comes in: the spec may be anything, and the time more than a number holds. */
export type TemplateInput = Omit<TemplateSetup, "spec" | "defaultTtlMs"> & {
  spec: JsonValue;
  defaultTtlMs: bigint | null;
};
/** What is absent stays. */
export type TemplateChange = Partial<Omit<TemplateInput, "name" | "provisioner">>;

/** What a provisioner says of a spec; `path` begins within it. Parameters are still `${name}`s. */
export type ValidateSpec = (provisioner: WorkspaceProvisioner, spec: JsonValue) => Problem[];

const MAX_DISPLAY_NAME_CHARACTERS = 100;
const MAX_DESCRIPTION_CHARACTERS = 1_000;
const MAX_README_CHARACTERS = 64 * 1024;
const MAX_SPEC_CHARACTERS = 64 * 1024;
/** Ten years; who wants longer wants never. As the deployment's own. */
const MAX_TTL_MS = 315_360_000_000;
const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;
const SLUG_RULE = "1 to 40 small letters, digits and hyphens, no hyphen at either end";

export type Plan = { ok: true; setup: TemplateSetup } | { ok: false; problems: Problem[] };

/** The template as it will be, or everything that is wrong with it, each with its field. */
export function planTemplate(wanted: TemplateInput, judgeSpec: ValidateSpec): Plan {
  const problems = [
    ...problemsOfTexts(wanted),
    ...problemsOfTtl(wanted.defaultTtlMs),
    ...problemsOfParameters(wanted.parameters),
    ...problemsOfSpec(wanted, judgeSpec),
  ];
  if (problems.length > 0) return { ok: false, problems };
  const { spec, defaultTtlMs } = wanted;
  return {
    ok: true,
    setup: {
      ...wanted,
      displayName: wanted.displayName.trim(),
      spec: isObject(spec) ? spec : {},
      defaultTtlMs: defaultTtlMs === null ? null : Number(defaultTtlMs),
    },
  };
}

export function planTemplateChange(
  before: TemplateSetup,
  change: TemplateChange,
  judgeSpec: ValidateSpec,
): Plan {
  const defaultTtlMs = before.defaultTtlMs === null ? null : BigInt(before.defaultTtlMs);
  return planTemplate({ ...before, defaultTtlMs, ...change }, judgeSpec);
}

function problemsOfTexts({ name, displayName, description, readme }: TemplateInput): Problem[] {
  const problems: Problem[] = [];
  const note = (message: string, field: string) => void problems.push({ message, path: [field] });
  if (!SLUG.test(name)) note(`A template's name is ${SLUG_RULE}.`, "name");
  if (displayName.trim() === "" || displayName.length > MAX_DISPLAY_NAME_CHARACTERS) {
    note(`A display name has 1 to ${MAX_DISPLAY_NAME_CHARACTERS} characters.`, "displayName");
  }
  if (description.length > MAX_DESCRIPTION_CHARACTERS) {
    note(`A description has at most ${MAX_DESCRIPTION_CHARACTERS} characters.`, "description");
  }
  if (readme !== null && readme.length > MAX_README_CHARACTERS) {
    note(`A readme has at most ${MAX_README_CHARACTERS} characters.`, "readme");
  }
  for (const [field, text] of Object.entries({ displayName, description, readme })) {
    if (text?.includes("\u0000")) note("A text cannot hold U+0000.", field);
  }
  return problems;
}

function problemsOfTtl(ttlMs: bigint | null): Problem[] {
  if (ttlMs === null || (ttlMs >= BigInt(MIN_TTL_MS) && ttlMs <= BigInt(MAX_TTL_MS))) return [];
  const message = `An idle time is from ${MIN_TTL_MS} ms, a minute, to ${MAX_TTL_MS} ms, ten years; null = never.`;
  return [{ message, path: ["defaultTtlMs"] }];
}

function problemsOfSpec({ provisioner, spec, parameters }: TemplateInput, judgeSpec: ValidateSpec): Problem[] {
  const path = ["spec"];
  if (provisioner === "external") {
    const message =
      "External workspaces are made by an operator, with `parley workspace add`, not from templates.";
    return [{ message, path: ["provisioner"] }];
  }
  if (!isObject(spec)) return [{ message: "A spec is an object.", path }];
  if (JSON.stringify(spec).length > MAX_SPEC_CHARACTERS) {
    return [{ message: `A spec has at most ${MAX_SPEC_CHARACTERS} characters as JSON.`, path }];
  }
  const unknown = unknownPlaceholders(spec, parameters).map((name) => ({
    message: `The spec refers to \${${name}}, but there is no such parameter.`,
    path,
  }));
  const judged = judgeSpec(provisioner, spec).map((it) => ({ ...it, path: [...path, ...it.path] }));
  return [...unknown, ...judged];
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Null when a workspace may have the name. */
export function problemOfWorkspaceName(name: string): Problem | null {
  return SLUG.test(name) ? null : { message: `A workspace's name is ${SLUG_RULE}.`, path: ["name"] };
}

/** With what is appended it stays a name. */
const MAX_BASE_CHARACTERS = 27;

/** A name made of what there is, as `web-shop-3f2a`; `suffix` is 4 characters that tell it from others. */
export function generatedWorkspaceName(seed: string, suffix: string): string {
  const base = seed
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_BASE_CHARACTERS)
    .replace(/^-+|-+$/g, "");
  return `${base === "" ? "workspace" : base}-${suffix}`;
}
