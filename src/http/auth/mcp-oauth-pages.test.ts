import { expect, test } from "vitest";
import { html, Html } from "../common/html.js";
import { connectedPage, consentPage, contentPolicy, failedPage, renderPage } from "./mcp-oauth-pages.js";

const EVIL = `"><script>alert('x')</script>&`;

test("interpolated values are escaped, once", () => {
  expect(html`<p title="${EVIL}">${html`<b>${"a < b"}</b>`}</p>`.text).toBe(
    `<p title="&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;"><b>a &lt; b</b></p>`,
  );
  expect(html`${new Html("<hr>")}${"undefined"}`.text).toBe("<hr>undefined");
});

test("no name, host, error or value of a form runs as a script", () => {
  const question = { serverName: EVIL, userName: EVIL, username: EVIL, host: EVIL };
  const pages = [
    consentPage(question, { action: EVIL, ticket: EVIL, proof: EVIL }),
    failedPage({ kind: "declined", serverName: EVIL, reason: EVIL }),
    failedPage({ kind: "changed", serverName: EVIL }),
    failedPage({ kind: "failed", serverName: EVIL, reason: EVIL, reference: EVIL }),
    connectedPage({ serverName: EVIL }, { origin: EVIL, message: { type: EVIL } }),
  ];
  for (const page of pages) {
    const text = renderPage(page, "n0nce");
    expect(text).not.toContain(EVIL);
    expect(text.match(/<script/g) ?? []).toHaveLength(page.script === undefined ? 0 : 1);
  }
});

test("a page only runs scripts with its nonce, and cannot be framed", () => {
  expect(contentPolicy("abc").split("; ")).toEqual([
    "default-src 'none'",
    "style-src 'nonce-abc'",
    "script-src 'nonce-abc'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]);
});
