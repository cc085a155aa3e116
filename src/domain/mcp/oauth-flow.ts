/**
 * OAuth flow by which a user authorizes Parley at an MCP server, as the browser pages use it. The `ticket` is in the URL
 * of the first page, the OAuth state is derived from it, and `browser` is a secret of the one browser that continued
 * with it. None of these is usable without the others.
 */

/** What the consent page shows. */
export type McpOauthConsent = {
  serverName: string;
  userName: string;
  username: string;
  /** The authorization server's host, where the browser goes next. */
  host: string;
};

/**
 * `over`: unknown, expired, already finished, or another browser's. `declined`: the authorization server or the user
 * declined, see `reason`. `changed`: the server's settings changed meanwhile. `failed`: the authorization server failed;
 * `reference` identifies the log entry.
 */
export type McpOauthResult =
  | { kind: "connected"; serverId: string; serverName: string; returnTo: string | null }
  | { kind: "over" }
  | { kind: "declined"; serverName: string; reason: string }
  | { kind: "changed"; serverName: string }
  | { kind: "failed"; serverName: string; reason: string; reference: string };

/** Parameters of the OAuth redirect. */
export type McpOauthCallback = {
  state: string;
  code: string | null;
  issuer: string | null;
  /** The error code and description as the server sent them. */
  error: { code: string; description: string } | null;
};

export interface McpOauthPages {
  /** Data of the consent page; null for an unknown or expired ticket. */
  readConsent(ticket: string): Promise<McpOauthConsent | null>;
  /** Records the user's consent in this browser and returns the authorization URL; null when the ticket is over or another browser's. */
  authorize(ticket: string, browser: string): Promise<string | null>;
  /** Completes the flow. Each state can be finished once. */
  finish(answer: McpOauthCallback, browser: string): Promise<McpOauthResult>;
}
