/** What admins may set for the whole deployment. Pure. */

/** UTF-8 bytes, as of a person's own prompt: it is part of every model call. */
export const MAX_SYSTEM_PROMPT_BYTES = 128 * 1024;
/** Ten years; who wants longer wants never. */
export const MAX_WORKSPACE_TTL_MS = 315_360_000_000;
/** As PARLEY_ACQUIRE_BATCH_SIZE. */
export const MAX_ACQUIRE_BATCH_SIZE = 1_000;

/** As they are stored. */
export type DeploymentSettings = {
  /** Added to Parley's own instructions to the model; empty = nothing. */
  systemPrompt: string;
  /** Null = each template's own. */
  workspaceTtlMs: number | null;
  isDesktopEnabled: boolean;
  /** Most chats that a worker takes at once; null = what each replica's environment says. */
  acquireBatchSize: number | null;
};

export const UNSET_DEPLOYMENT: DeploymentSettings = {
  systemPrompt: "",
  workspaceTtlMs: null,
  isDesktopEnabled: false,
  acquireBatchSize: null,
};

/** What is absent stays. The TTL as it came in, which may be more than a number holds. */
export type DeploymentChange = {
  systemPrompt?: string;
  workspaceTtlMs?: bigint | null;
  isDesktopEnabled?: boolean;
  acquireBatchSize?: number | null;
};

export type DeploymentProblem = { message: string; path: string[] };

/** Everything that is wrong with the change, each with its field; empty when it may be made. */
export function problemsOfDeployment(change: DeploymentChange): DeploymentProblem[] {
  const { systemPrompt, workspaceTtlMs, acquireBatchSize } = change;
  const problems: DeploymentProblem[] = [];
  if (systemPrompt !== undefined && utf8Bytes(systemPrompt) > MAX_SYSTEM_PROMPT_BYTES) {
    const message = `A prompt has at most ${MAX_SYSTEM_PROMPT_BYTES} bytes.`;
    problems.push({ message, path: ["systemPrompt"] });
  }
  if (workspaceTtlMs != null && (workspaceTtlMs < 1n || workspaceTtlMs > BigInt(MAX_WORKSPACE_TTL_MS))) {
    const message = `A time is from 1 to ${MAX_WORKSPACE_TTL_MS} ms, ten years; null leaves each template's own.`;
    problems.push({ message, path: ["workspaceTtlMs"] });
  }
  if (acquireBatchSize != null && (acquireBatchSize < 1 || acquireBatchSize > MAX_ACQUIRE_BATCH_SIZE)) {
    const message = `A worker takes from 1 to ${MAX_ACQUIRE_BATCH_SIZE} chats at once; null = as the environment says.`;
    problems.push({ message, path: ["acquireBatchSize"] });
  }
  return problems;
}

/** `change` has no problems. */
export function changedDeployment(
  settings: DeploymentSettings,
  change: DeploymentChange,
): DeploymentSettings {
  const { workspaceTtlMs, ...rest } = change;
  if (workspaceTtlMs === undefined) return { ...settings, ...rest };
  return {
    ...settings,
    ...rest,
    workspaceTtlMs: workspaceTtlMs === null ? null : Number(workspaceTtlMs),
  };
}

const encoder = new TextEncoder();
function utf8Bytes(text: string): number {
  return encoder.encode(text).length;
}
