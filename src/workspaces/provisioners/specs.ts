/** The specs of templates: what each provisioner can be told to make. Texts may hold `${name}`s of parameters. */
import { z } from "zod";
import type { JsonValue } from "../../domain/common/json.js";
import type { Problem } from "../../domain/mcp/field-rules.js";
import { withParameters } from "../../domain/workspaces/workspace-parameters.js";
import type { WorkspaceProvisioner } from "../../domain/workspaces/workspace.js";
import { ProvisionerError, type ProvisionedWorkspace } from "./provisioner.js";

const PLACEHOLDER = /^\$\{[a-z][a-z0-9_]*\}$/;

const text = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((it) => !it.includes("\0"), "no U+0000");

/** Parley's own variables tell the agent who it is: they are not a template's to set. */
const environmentSchema = z
  .record(
    z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/, "is no name of a variable")
      .refine((name) => !name.startsWith("PARLEY_"), "begins with PARLEY_, which is the agent's own"),
    z.string().max(8_192),
  )
  .refine((it) => Object.keys(it).length <= 200, "has more than 200 variables");

export const localSpecSchema = z.strictObject({
  /** For the agent and all that runs in the workspace. */
  environment: environmentSchema.optional(),
});

/** A number, or a text that is one when the parameters are there. */
function numberWithin(min: number, max: number) {
  const asNumber = (value: unknown) => {
    if (typeof value !== "string") return value;
    return PLACEHOLDER.test(value) ? min : value.trim() === "" ? value : Number(value);
  };
  return z.preprocess(asNumber, z.number().min(min).max(max));
}

const absolutePath = text(4_096).refine(
  (it) => it.startsWith("/") || PLACEHOLDER.test(it),
  "is no absolute path",
);
const address = text(2_048).refine(
  (it) => it.includes("${") || (URL.canParse(it) && /^(?:ws|http)s?:$/.test(new URL(it).protocol)),
  "is no address of a server (ws, wss, http or https)",
);

/** Of containers wherever they run. */
const containerFields = {
  image: text(512).describe("The image; without a tag `latest`."),
  /** How the agent is started; it finds its settings in the environment. */
  command: z.array(text(4_096)).min(1).max(100).optional(),
  /** Where the volume is mounted, and the agent works. */
  directory: absolutePath.default("/workspace"),
  environment: environmentSchema.default({}),
  memoryMb: numberWithin(16, 16_777_216).optional(),
  cpus: numberWithin(0.01, 1_024).optional(),
  /** Where its agent calls, when that is not where all others do. */
  serverUrl: address.optional(),
};

export const dockerSpecSchema = z.strictObject({
  ...containerFields,
  /** A folder of the engine's machine that has this program; without it the image must have it. */
  agentPath: absolutePath.optional(),
  mounts: z
    .array(
      z.strictObject({
        /** A folder of the engine's machine, or the name of a volume. */
        source: text(4_096),
        target: absolutePath,
        readOnly: z.boolean().default(false),
      }),
    )
    .max(50)
    .default([]),
  network: text(255).optional(),
  /** Name or number, and group behind a colon. */
  user: text(255).optional(),
  pull: z.enum(["missing", "always", "never"]).default("missing"),
});
export type DockerSpec = z.infer<typeof dockerSpecSchema>;

/** Where the agent calls. Throws a lasting `ProvisionerError` when nobody has said. */
export function serverUrlOf(
  spec: { serverUrl?: string | undefined },
  options: { serverUrl: string | null },
): string {
  const url = spec.serverUrl ?? options.serverUrl;
  if (url !== null) return url;
  throw new ProvisionerError(
    "Its agent would not know where to call: set PARLEY_WORKSPACES_SERVER_URL or PARLEY_PUBLIC_URL, or the spec's serverUrl.",
    { isLasting: true },
  );
}

/** The spec's own command, or the program that is mounted at `mountedAt`, or that of the image. */
export function agentCommandOf(
  { command, agentPath }: { command?: string[] | undefined; agentPath?: string | undefined },
  mountedAt: string,
): string[] {
  if (command !== undefined) return command;
  return agentPath === undefined ? ["parley", "agent"] : ["node", `${mountedAt}/dist/bin/server.js`, "agent"];
}

const kubernetesName = text(253);

export const kubernetesSpecSchema = z.strictObject({
  ...containerFields,
  /** An image that has this program in /opt/parley, from which it is copied; without it the image must have it. */
  agentImage: text(512).optional(),
  volumeGb: numberWithin(1, 65_536).default(10),
  storageClass: kubernetesName.optional(),
  /** Absent = the server's. */
  namespace: kubernetesName.optional(),
  serviceAccount: kubernetesName.optional(),
  imagePullSecrets: z.array(kubernetesName).max(20).default([]),
  nodeSelector: z.record(z.string().min(1).max(317), z.string().max(63)).default({}),
  /** The number of the user that everything runs as, and that owns the volume. */
  runAsUser: numberWithin(0, 2_147_483_647).optional(),
});
export type KubernetesSpec = z.infer<typeof kubernetesSpecSchema>;

const SCHEMAS: Partial<Record<WorkspaceProvisioner, z.ZodType>> = {
  local: localSpecSchema,
  docker: dockerSpecSchema,
  kubernetes: kubernetesSpecSchema,
};

/** What is wrong with a template's spec. */
export function judgeSpec(provisioner: WorkspaceProvisioner, spec: JsonValue): Problem[] {
  const schema = SCHEMAS[provisioner];
  if (schema === undefined) return [{ message: "This server has no such provisioner.", path: [] }];
  const parsed = schema.safeParse(spec);
  if (parsed.success) return [];
  return parsed.error.issues.map(({ message, path }) => ({ message: `${message}.`, path: path.map(String) }));
}

/** The spec with the workspace's parameters. Rejects with a lasting `ProvisionerError` when it makes no sense with them. */
export function readSpec<Schema extends z.ZodType>(
  schema: Schema,
  { spec, parameters }: Pick<ProvisionedWorkspace, "spec" | "parameters">,
): z.infer<Schema> {
  const parsed = schema.safeParse(withParameters(spec, parameters));
  if (parsed.success) return parsed.data;
  throw new ProvisionerError(`The template's spec is not usable: ${z.prettifyError(parsed.error)}`, {
    isLasting: true,
  });
}
