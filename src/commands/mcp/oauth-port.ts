/** What the commands ask of those who keep people's authorisations for tool servers. */
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";

export type McpOauthCommands = {
  /** Where browsers reach this deployment. */
  publicUrl(): string;
  /** Other origins that people may be sent back to. */
  allowedOrigins: readonly string[];
  /** `returnTo` is a whole address; `message` is worded for people. */
  begin(
    userId: string,
    server: McpServerRecord,
    returnTo: string | null,
  ): Promise<{ ok: true; authorizationUrl: string; expiresAt: Date } | { ok: false; message: string }>;
  /** Forgets it and has it revoked. */
  disconnect(userId: string, server: McpServerRecord): Promise<unknown>;
};
