/** Schemas of template specs, by provisioner. Texts may contain `${name}` placeholders for parameters. */
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

/** Templates must not set Parley's own variables, which configure the agent. */
const environmentSchema = z
  .record(
    z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/, "is not a valid variable name")
      .refine((name) => !name.startsWith("PARLEY_"), "starts with PARLEY_, which is reserved for the agent"),
    z.string().max(8_192),
  )
  .refine((it) => Object.keys(it).length <= 200, "has more than 200 variables");

export const localSpecSchema = z.strictObject({
  /** For the agent and all that runs in the workspace. */
  environment: environmentSchema.optional(),
});

/** A number, or a text that is one once its parameters are filled in. */
function numberWithin(min: number, max: number) {
  const asNumber = (value: unknown) => {
    if (typeof value !== "string") return value;
    return PLACEHOLDER.test(value) ? min : value.trim() === "" ? value : Number(value);
  };
  return z.preprocess(asNumber, z.number().min(min).max(max));
}

const absolutePath = text(4_096).refine(
  (it) => it.startsWith("/") || PLACEHOLDER.test(it),
  "is not an absolute path",
);
const address = text(2_048).refine(
  (it) => it.includes("${") || (URL.canParse(it) && /^(?:ws|http)s?:$/.test(new URL(it).protocol)),
  "is not a server address (ws, wss, http or https)",
);

/** Fields of all container provisioners. */
const containerFields = {
  image: text(512).describe("Image name; the default tag is `latest`."),
  /** Command that starts the agent, which reads its settings from the environment. */
  command: z.array(text(4_096)).min(1).max(100).optional(),
  /** Mount point of the volume, and the agent's working directory. */
  directory: absolutePath.default("/workspace"),
  environment: environmentSchema.default({}),
  memoryMb: numberWithin(16, 16_777_216).optional(),
  cpus: numberWithin(0.01, 1_024).optional(),
  /** Where the agent connects; overrides the server's setting. */
  serverUrl: address.optional(),
};

export const dockerSpecSchema = z.strictObject({
  ...containerFields,
  /** A folder on the engine's host that contains the agent program; without it the image must contain it. */
  agentPath: absolutePath.optional(),
  mounts: z
    .array(
      z.strictObject({
        /** A folder on the engine's host, or the name of a volume. */
        source: text(4_096),
        target: absolutePath,
        readOnly: z.boolean().default(false),
      }),
    )
    .max(50)
    .default([]),
  network: text(255).optional(),
  /** User name or id, optionally followed by a colon and a group. */
  user: text(255).optional(),
  pull: z.enum(["missing", "always", "never"]).default("missing"),
});
export type DockerSpec = z.infer<typeof dockerSpecSchema>;

/** Where the agent connects. Throws a permanent `ProvisionerError` when neither the spec nor the server says. */
export function serverUrlOf(
  spec: { serverUrl?: string | undefined },
  options: { serverUrl: string | null },
): string {
  const url = spec.serverUrl ?? options.serverUrl;
  if (url !== null) return url;
  throw new ProvisionerError(
    "Its agent would not know where to connect: set PARLEY_WORKSPACES_SERVER_URL or PARLEY_PUBLIC_URL, or the spec's serverUrl.",
    { isPermanent: true },
  );
}

/** The spec's own command, or the program mounted at `mountedAt`, or that of the image. */
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
  /** An image with the agent program in /opt/parley, which is copied from there; without it `image` must contain it. */
  agentImage: text(512).optional(),
  volumeGb: numberWithin(1, 65_536).default(10),
  storageClass: kubernetesName.optional(),
  /** Default: the server's setting. */
  namespace: kubernetesName.optional(),
  serviceAccount: kubernetesName.optional(),
  imagePullSecrets: z.array(kubernetesName).max(20).default([]),
  nodeSelector: z.record(z.string().min(1).max(317), z.string().max(63)).default({}),
  /** Id of the user that everything runs as and that owns the volume. */
  runAsUser: numberWithin(0, 2_147_483_647).optional(),
});
export type KubernetesSpec = z.infer<typeof kubernetesSpecSchema>;

const SCHEMAS: Partial<Record<WorkspaceProvisioner, z.ZodType>> = {
  local: localSpecSchema,
  docker: dockerSpecSchema,
  kubernetes: kubernetesSpecSchema,
};

/** The problems of a template's spec; none when it is valid. */
export function validateSpec(provisioner: WorkspaceProvisioner, spec: JsonValue): Problem[] {
  const schema = SCHEMAS[provisioner];
  if (schema === undefined) return [{ message: "This server has no such provisioner.", path: [] }];
  const parsed = schema.safeParse(spec);
  if (parsed.success) return [];
  return parsed.error.issues.map(({ message, path }) => ({ message: `${message}.`, path: path.map(String) }));
}

/** The spec with the workspace's parameters filled in. Throws a permanent `ProvisionerError` when it is invalid with them. */
export function readSpec<Schema extends z.ZodType>(
  schema: Schema,
  { spec, parameters }: Pick<ProvisionedWorkspace, "spec" | "parameters">,
): z.infer<Schema> {
  const parsed = schema.safeParse(withParameters(spec, parameters));
  if (parsed.success) return parsed.data;
  throw new ProvisionerError(`The template's spec is not usable: ${z.prettifyError(parsed.error)}`, {
    isPermanent: true,
  });
}
