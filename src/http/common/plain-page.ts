/** Minimal HTML page with a short message; it loads nothing. */
import type { FastifyReply } from "fastify";
import { html } from "./html.js";

export type PlainPage = {
  status: number;
  title: string;
  text: string;
  link?: { href: string; text: string };
};

export function sendPage(reply: FastifyReply, { status, title, text, link }: PlainPage): FastifyReply {
  const paragraph = text === "" ? "" : html`<p>${text}</p>`;
  const anchor = link ? html`<p><a href="${link.href}">${link.text}</a></p>` : "";
  const page = html`<!doctype html>
    <html lang="en">
      <meta charset="utf-8" />
      <title>${title}</title>
      <h1>${title}</h1>
      ${paragraph} ${anchor}
    </html> `;
  return reply
    .code(status)
    .header("content-type", "text/html; charset=utf-8")
    .header("content-security-policy", "default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
    .header("referrer-policy", "no-referrer")
    .header("x-content-type-options", "nosniff")
    .header("cache-control", "no-store")
    .send(page.text);
}
