/** Pages of the authorization flow for MCP servers. Pure. */
import type { McpOauthResult, McpOauthConsent } from "../../domain/mcp/oauth-flow.js";
import { html, Html } from "../common/html.js";

/** Content of a page: its title, its body, and the script that it runs, if any. */
export type Page = { status: number; title: string; body: Html; script?: string };

const STYLE = `body { font: 16px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 15vh auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } button { font: inherit; padding: .5rem 1.5rem; } code { overflow-wrap: anywhere; }`;

/** `proof` shows that the form came from this page in this browser. */
export function consentPage(
  { serverName, userName, username, host }: McpOauthConsent,
  form: { action: string; ticket: string; proof: string },
): Page {
  const body = html`<h1>Connect ${serverName}?</h1>
    <p>
      Chats of the Parley account <strong>${userName}</strong> (${username}) will be able to use ${serverName}
      in your name. If this is not your account, close this page: someone else sent you here.
    </p>
    <p>You continue to <code>${host}</code>, where you sign in and agree.</p>
    <form method="post" action="${form.action}">
      <input type="hidden" name="ticket" value="${form.ticket}" />
      <input type="hidden" name="proof" value="${form.proof}" />
      <button type="submit">Connect</button>
    </form>`;
  return { status: 200, title: `Connect ${serverName}`, body };
}

export const overPage: Page = {
  status: 400,
  title: "Nothing to connect",
  body: html`<h1>This link is no longer valid</h1>
    <p>It was used already, has expired, or was opened in another browser. Start again in Parley.</p>`,
};

/** Posts `message` to the window that opened this one, if that is of `origin`. */
export function connectedPage(
  { serverName }: { serverName: string },
  notification: { origin: string; message: object },
): Page {
  const [message, origin] = [notification.message, notification.origin].map(toScript);
  return {
    status: 200,
    title: "Connected",
    body: html`<h1>${serverName} is connected</h1>
      <p>You may close this window.</p>`,
    script: `window.opener?.postMessage(${message}, ${origin});`,
  };
}

export function failedPage(end: Exclude<McpOauthResult, { kind: "connected" }>): Page {
  switch (end.kind) {
    case "over":
      return overPage;
    case "declined":
      return problem(400, end.serverName, html`The answer was: <q>${end.reason}</q>`);
    case "changed":
      return problem(
        400,
        end.serverName,
        html`Its settings were changed in the meantime. Start again in Parley.`,
      );
    case "failed":
      return problem(
        502,
        end.serverName,
        html`${end.reason} Admins find details in the log under the reference <code>${end.reference}</code>.`,
      );
  }
}

function problem(status: number, serverName: string, what: Html): Page {
  const body = html`<h1>${serverName} is not connected</h1>
    <p>${what}</p>`;
  return { status, title: "Not connected", body };
}

/** The whole document; its style and script are allowed by the nonce alone. */
export function renderPage({ title, body, script }: Page, nonce: string): string {
  const run =
    script === undefined
      ? ""
      : html`<script nonce="${nonce}">
          ${new Html(script)};
        </script>`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Parley</title>
        <style nonce="${nonce}">
          ${new Html(STYLE)}
        </style>
      </head>
      <body>
        ${body} ${run}
      </body>
    </html> `.text;
}

/**
 * Allows only our own style and script. No `form-action`: browsers also apply it to the redirects after the form, and
 * those lead through unknown hosts.
 */
export function contentPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** JSON that is safe within a script element. */
function toScript(value: unknown): string {
  return JSON.stringify(value).replace(/</g, "\\u003c");
}
