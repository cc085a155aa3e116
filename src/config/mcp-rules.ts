// Rules that allow entries of workspaces' `.mcp.json` without asking a user.
import type { Accepted } from "./variable.js";

/** `hosts`: as in URLs, with the port unless it is the protocol's own. */
export type McpRules = { isEverything: boolean; hashes: readonly string[]; hosts: readonly string[] };

export const mcpRules: Accepted<McpRules> = {
  expected: "`*`, or rules such as host:mcp.example.com and sha256:… (64 digits), separated by commas",
  secret: false,
  parse(text) {
    const rules = text.split(",").map((rule) => rule.trim());
    const isEverything = rules.includes("*");
    const hashes = rules.filter((rule) => /^sha256:[0-9a-f]{64}$/.test(rule));
    const hosts = rules.flatMap((rule) => hostOf(rule) ?? []);
    const others = rules.filter((rule) => rule !== "*" && rule !== "");
    return others.length === hashes.length + hosts.length ? { isEverything, hashes, hosts } : undefined;
  },
};

function hostOf(rule: string): string | undefined {
  const host = /^host:([^\s/?#\\$@*]+)$/.exec(rule)?.[1];
  return host !== undefined && URL.canParse(`https://${host}`) ? new URL(`https://${host}`).host : undefined;
}
