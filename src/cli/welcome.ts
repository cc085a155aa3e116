/** The text that a started server prints: its address, the first token, and commands to try. */
import type { Parley } from "../compose/server.js";
import type { RunningServer } from "../compose/start/server-lock.js";
import type { Config } from "../config/config.js";

type Started = Pick<Parley, "url" | "takenPort" | "adminToken" | "modelName" | "isDemoModel">;

/** What a second start on the same data folder says. */
export function runsAlready({ pid, url }: RunningServer, { dataDir }: Pick<Config, "dataDir">): string {
  const where = url === null ? "It is still starting." : `Open ${url}/graphql`;
  return [
    `Parley runs already, as process ${pid}, with the data in ${dataDir}.`,
    "",
    `  ${where}`,
    "",
    `Stop it with Ctrl-C in its terminal, or with: kill ${pid}`,
    "PARLEY_PORT starts another server on the same data, PARLEY_DATA_DIR one with data of its own.",
    "",
  ].join("\n");
}

export function welcome(started: Started): string {
  const { url } = started;
  if (url === null) return "Parley is running as a worker.\n";
  return [
    `Parley listens on ${url}/graphql`,
    ...(started.takenPort === null
      ? []
      : [`Port ${started.takenPort} is taken by another program; PARLEY_PORT chooses one.`]),
    `Model: ${started.modelName}`,
    ...(started.isDemoModel
      ? ["       Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY and restart to use a real one."]
      : []),
    "",
    ...tokenLines(url, started.adminToken),
    ...trial(url),
    "",
  ].join("\n");
}

function tokenLines(url: string, token: string | null): string[] {
  if (token === null) {
    return ["You need a token: the one printed at the first start, or a new one from `npx parley token`."];
  }
  return [
    "The administrator's token, printed only once; store it safely:",
    "",
    `  export PARLEY_TOKEN=${token}`,
    "",
    `In a browser: ${url}/graphql#token=${token}`,
  ];
}

function trial(url: string): string[] {
  const create =
    `mutation { createChat(input: { parts: [{ text: { text: "run \`ls\`, then read package.json" } }] }) ` +
    `{ chat { id } userErrors { message } } }`;
  const show =
    `{ chats(first: 1) { nodes { id title status messages(last: 50) { nodes { role parts { ... on TextPart { text } ` +
    `... on ToolCallPart { toolName arguments } ... on ToolResultPart { result isError } } } } } } }`;
  return ["", "Start a chat about the workspace, then read it:", "", curl(url, create), "", curl(url, show)];
}

function curl(url: string, query: string): string {
  return [
    `  curl -s ${url}/graphql -H "authorization: Bearer $PARLEY_TOKEN" -H 'content-type: application/json' \\`,
    `    -d '${JSON.stringify({ query })}'`,
  ].join("\n");
}
