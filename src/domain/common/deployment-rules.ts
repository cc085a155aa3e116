/** Validation of deployment-wide settings. Pure. */

/** UTF-8 bytes, the same as for a user's own prompt: it is part of every model call. */
export const MAX_SYSTEM_PROMPT_BYTES = 128 * 1024;
/** Ten years; for longer there is `null`, never. */
export const MAX_WORKSPACE_TTL_MS = 315_360_000_000;
/** As PARLEY_ACQUIRE_BATCH_SIZE. */
export const MAX_ACQUIRE_BATCH_SIZE = 1_000;

/** Deployment settings as they are stored. */
export type DeploymentSettings = {
  /** Added to Parley's own instructions to the model; empty = nothing. */
  systemPrompt: string;
  /** Idle time after which workspaces stop; null = each template's own. */
  workspaceTtlMs: number | null;
  isDesktopEnabled: boolean;
  /** Limit of chats that a worker claims at once; null = each replica's environment decides. */
  acquireBatchSize: number | null;
};

export const UNSET_DEPLOYMENT: DeploymentSettings = {
  systemPrompt: "",
  workspaceTtlMs: null,
  isDesktopEnabled: false,
  acquireBatchSize: null,
};

/** A change of settings; absent fields stay. The TTL is unvalidated and may exceed a number. */
export type DeploymentChange = {
  systemPrompt?: string;
  workspaceTtlMs?: bigint | null;
  isDesktopEnabled?: boolean;
  acquireBatchSize?: number | null;
};

export type DeploymentProblem = { message: string; path: string[] };

/** All problems of the change, each with its field; empty when it is valid. */
export function problemsOfDeployment(change: DeploymentChange): DeploymentProblem[] {
  const { systemPrompt, workspaceTtlMs, acquireBatchSize } = change;
  const problems: DeploymentProblem[] = [];
  if (systemPrompt !== undefined && utf8Bytes(systemPrompt) > MAX_SYSTEM_PROMPT_BYTES) {
    const message = `A prompt may have at most ${MAX_SYSTEM_PROMPT_BYTES} bytes.`;
    problems.push({ message, path: ["systemPrompt"] });
  }
  if (workspaceTtlMs != null && (workspaceTtlMs < 1n || workspaceTtlMs > BigInt(MAX_WORKSPACE_TTL_MS))) {
    const message = `The time must be 1 to ${MAX_WORKSPACE_TTL_MS} ms (ten years); null leaves each template's own.`;
    problems.push({ message, path: ["workspaceTtlMs"] });
  }
  if (acquireBatchSize != null && (acquireBatchSize < 1 || acquireBatchSize > MAX_ACQUIRE_BATCH_SIZE)) {
    const message = `The batch size must be 1 to ${MAX_ACQUIRE_BATCH_SIZE} chats; null leaves it to the environment.`;
    problems.push({ message, path: ["acquireBatchSize"] });
  }
  return problems;
}

/** The settings after a valid change. */
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
