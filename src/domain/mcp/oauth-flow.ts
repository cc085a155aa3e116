/**
 * A person's way to an authorisation for a tool server, as the browser's pages ask of it. The `ticket` is in the
 * address of our first page, the state of the answer is made of it, and `browser` is what the one browser shows that
 * went on with it: whoever has a part of these has nothing.
 */

/** What the page asks consent to. */
export type McpOauthConsent = {
  serverName: string;
  userName: string;
  username: string;
  /** Where the browser is to go: the authorisation server's host. */
  host: string;
};

/**
 * `over`: unknown, expired, finished already, or another browser's. `declined`: the authorisation server or the person
 * there said no, in `reason`. `failed`: the authorisation server did not do its part; `reference` finds the log's line.
 */
export type McpOauthResult =
  | { kind: "connected"; serverId: string; serverName: string; returnTo: string | null }
  | { kind: "over" }
  | { kind: "declined"; serverName: string; reason: string }
  | { kind: "changed"; serverName: string }
  | { kind: "failed"; serverName: string; reason: string; reference: string };

/** What came back with the browser. */
export type McpOauthCallback = {
  state: string;
  code: string | null;
  issuer: string | null;
  /** An error's code and description, as the server wrote them. */
  error: { code: string; description: string } | null;
};

export interface McpOauthPages {
  /** Null: there is no such ticket, or it has expired. */
  readConsent(ticket: string): Promise<McpOauthConsent | null>;
  /** The person said yes in this browser. Where it goes; null: the ticket is over, or another browser's. */
  authorize(ticket: string, browser: string): Promise<string | null>;
  /** Each state ends once. */
  finish(answer: McpOauthCallback, browser: string): Promise<McpOauthResult>;
}
