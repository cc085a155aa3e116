/** Validation of workspace templates and workspace names. Pure. */
import type { JsonObject, JsonValue } from "../common/json.js";
import type { Problem } from "../mcp/field-rules.js";
import { MIN_TTL_MS } from "./workspace-lifecycle.js";
import { problemsOfParameters, type TemplateParameter, unknownPlaceholders } from "./workspace-parameters.js";
import type { WorkspaceProvisioner } from "./workspace.js";

export type TemplateSetup = {
  /** The name that tools and scripts use; it never changes. */
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

/** Unvalidated input: the spec may be anything, and the TTL may exceed a number. */
export type TemplateInput = Omit<TemplateSetup, "spec" | "defaultTtlMs"> & {
  spec: JsonValue;
  defaultTtlMs: bigint | null;
};
/** Absent fields stay. */
export type TemplateChange = Partial<Omit<TemplateInput, "name" | "provisioner">>;

/** A provisioner's validation of a spec; each problem's path begins within it. Parameters are not substituted yet. */
export type ValidateSpec = (provisioner: WorkspaceProvisioner, spec: JsonValue) => Problem[];

const MAX_DISPLAY_NAME_CHARACTERS = 100;
const MAX_DESCRIPTION_CHARACTERS = 1_000;
const MAX_README_CHARACTERS = 64 * 1024;
const MAX_SPEC_CHARACTERS = 64 * 1024;
/** Ten years, the same as for the deployment; for longer there is `null`, never. */
const MAX_TTL_MS = 315_360_000_000;
const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;
const SLUG_RULE = "1 to 40 lower-case letters, digits and hyphens, without a hyphen at either end";

type Plan = { ok: true; setup: TemplateSetup } | { ok: false; problems: Problem[] };

/** The validated template, or all problems, each with its field. */
export function planTemplate(input: TemplateInput, validateSpec: ValidateSpec): Plan {
  const problems = [
    ...problemsOfTexts(input),
    ...problemsOfTtl(input.defaultTtlMs),
    ...problemsOfParameters(input.parameters),
    ...problemsOfSpec(input, validateSpec),
  ];
  if (problems.length > 0) return { ok: false, problems };
  const { spec, defaultTtlMs } = input;
  return {
    ok: true,
    setup: {
      ...input,
      displayName: input.displayName.trim(),
      spec: isObject(spec) ? spec : {},
      defaultTtlMs: defaultTtlMs === null ? null : Number(defaultTtlMs),
    },
  };
}

export function planTemplateChange(
  before: TemplateSetup,
  change: TemplateChange,
  validateSpec: ValidateSpec,
): Plan {
  const defaultTtlMs = before.defaultTtlMs === null ? null : BigInt(before.defaultTtlMs);
  return planTemplate({ ...before, defaultTtlMs, ...change }, validateSpec);
}

function problemsOfTexts({ name, displayName, description, readme }: TemplateInput): Problem[] {
  const problems: Problem[] = [];
  const note = (message: string, field: string) => void problems.push({ message, path: [field] });
  if (!SLUG.test(name)) note(`A template name must be ${SLUG_RULE}.`, "name");
  if (displayName.trim() === "" || displayName.length > MAX_DISPLAY_NAME_CHARACTERS) {
    note(`A display name must have 1 to ${MAX_DISPLAY_NAME_CHARACTERS} characters.`, "displayName");
  }
  if (description.length > MAX_DESCRIPTION_CHARACTERS) {
    note(`A description may have at most ${MAX_DESCRIPTION_CHARACTERS} characters.`, "description");
  }
  if (readme !== null && readme.length > MAX_README_CHARACTERS) {
    note(`A readme may have at most ${MAX_README_CHARACTERS} characters.`, "readme");
  }
  for (const [field, text] of Object.entries({ displayName, description, readme })) {
    if (text?.includes("\u0000")) note("A text must not contain U+0000.", field);
  }
  return problems;
}

function problemsOfTtl(ttlMs: bigint | null): Problem[] {
  if (ttlMs === null || (ttlMs >= BigInt(MIN_TTL_MS) && ttlMs <= BigInt(MAX_TTL_MS))) return [];
  const message = `The idle time must be ${MIN_TTL_MS} ms (a minute) to ${MAX_TTL_MS} ms (ten years); null = never.`;
  return [{ message, path: ["defaultTtlMs"] }];
}

function problemsOfSpec(
  { provisioner, spec, parameters }: TemplateInput,
  validateSpec: ValidateSpec,
): Problem[] {
  const path = ["spec"];
  if (provisioner === "external") {
    const message =
      "External workspaces are added by an operator with `parley workspace add`, not created from templates.";
    return [{ message, path: ["provisioner"] }];
  }
  if (!isObject(spec)) return [{ message: "A spec must be an object.", path }];
  if (JSON.stringify(spec).length > MAX_SPEC_CHARACTERS) {
    return [{ message: `A spec may have at most ${MAX_SPEC_CHARACTERS} characters as JSON.`, path }];
  }
  const unknown = unknownPlaceholders(spec, parameters).map((name) => ({
    message: `The spec refers to \${${name}}, but there is no such parameter.`,
    path,
  }));
  const invalid = validateSpec(provisioner, spec).map((it) => ({ ...it, path: [...path, ...it.path] }));
  return [...unknown, ...invalid];
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The problem of a workspace name; null when it is valid. */
export function problemOfWorkspaceName(name: string): Problem | null {
  return SLUG.test(name) ? null : { message: `A workspace name must be ${SLUG_RULE}.`, path: ["name"] };
}

/** Leaves space for the suffix. */
const MAX_BASE_CHARACTERS = 27;

/** A workspace name derived from `seed`, as `web-shop-3f2a`; `suffix` is 4 characters that make it unique. */
export function generatedWorkspaceName(seed: string, suffix: string): string {
  const base = seed
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_BASE_CHARACTERS)
    .replace(/^-+|-+$/g, "");
  return `${base === "" ? "workspace" : base}-${suffix}`;
}
