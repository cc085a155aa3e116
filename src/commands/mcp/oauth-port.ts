/** The OAuth service for MCP servers, as commands use it. */
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";

export type McpOauthCommands = {
  /** Where browsers reach this deployment. */
  publicUrl(): string;
  /** Other origins that a browser may be redirected to. */
  allowedOrigins: readonly string[];
  /** `returnTo` is a whole address; `message` is shown to users. */
  begin(
    userId: string,
    server: McpServerRecord,
    returnTo: string | null,
  ): Promise<{ ok: true; authorizationUrl: string; expiresAt: Date } | { ok: false; message: string }>;
  /** Deletes the authorization and revokes it at the server. */
  disconnect(userId: string, server: McpServerRecord): Promise<unknown>;
};
