// The control channel between agent and servers, and the socket between commands and agent, under odd input.
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { GitCredentials } from "../../src/workspaces/agent-client/agent-connection.js";
import { ASK_PASSWORD, askingServers } from "./asking-servers.js";
import { finish, openAgent, type RunningAgent } from "./process/process-agent.js";
import { eventually } from "../support/eventually.js";

const TOKEN = `token_${randomBytes(20).toString("hex")}`;
const input: GitCredentials = { outcome: "given", username: "oauth2", password: TOKEN };

let agent: RunningAgent;
beforeAll(async () => {
  agent = await openAgent({ logLevel: "silent" });
});
afterAll(() => agent.stop());
const servers = askingServers(() => agent);

const run = (command: string) => finish(agent.connection.forChat("chat-1"), command);

test("[K9] only who has the agent's token opens a line", async () => {
  const statusOf = (token: string, path: string) =>
    new Promise((resolve, reject) => {
      const url = new URL(path, agent.url.replace("http", "ws"));
      const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
      socket.once("unexpected-response", (_request, response) => resolve(response.statusCode));
      socket.once("open", () => (socket.terminate(), resolve("open")));
      socket.once("error", reject);
    });
  expect([
    await statusOf("wrong", "/v1/control-channel"),
    await statusOf(agent.token, "/v1/control-channel"),
    await statusOf(agent.token, "/v1/other-line"),
  ]).toEqual([401, "open", 404]);
});

test("[K9] a server that sends malformed or too large messages is disconnected", async () => {
  const closeCodeAfter = (words: string) =>
    new Promise((resolve, reject) => {
      const url = new URL("/v1/control-channel", agent.url.replace("http", "ws"));
      const socket = new WebSocket(url, { headers: { authorization: `Bearer ${agent.token}` } });
      socket.once("open", () => socket.send(words));
      socket.once("close", resolve);
      socket.once("error", reject);
    });
  const answers = ["{}", "nonsense", '{"id":1,"answer":{"outcome":"given"}}', "x".repeat(40_000)];
  expect(await Promise.all(answers.map(closeCodeAfter))).toEqual([1008, 1008, 1008, 1009]);
});

test("[K11] nonsense on the commands' socket is refused, too much of it cut off, and the next question answered", async () => {
  await servers.open(input);
  const path = (await run('printf %s "$(dirname "$GIT_ASKPASS")/socket"')).output;
  const answerTo = (words: string) =>
    new Promise<string>((resolve) => {
      let text = "";
      const socket = connect(path);
      socket.on("data", (bytes: Buffer) => (text += bytes.toString()));
      socket.on("error", () => undefined);
      socket.once("close", () => resolve(text));
      socket.end(words);
    });
  const refused = '{"refusal":"The request is not one of this agent\'s askpass program."}';
  const sent = ["", "\u0000", "[]", '{"prompt":1,"directory":"/"}', "x".repeat(10_000_000)];
  expect(await Promise.all(sent.map(answerTo))).toEqual([refused, refused, refused, refused, ""]);
  expect((await run(ASK_PASSWORD)).output).toBe(`${TOKEN}\n`);
});

test("[K11] of more questions than may wait, the last are refused, and the others get their answers", async () => {
  await servers.open(servers.hang);
  const path = (await run('printf %s "$(dirname "$GIT_ASKPASS")/socket"')).output;
  const key = (await run('printf %s "$PARLEY_AGENT_ASKPASS_KEY"')).output;
  const question = JSON.stringify({
    prompt: "Password for 'https://github.com': ",
    key,
    directory: agent.folder,
  });
  const answers: string[] = [];
  const asking = Array.from(
    { length: 40 },
    () =>
      new Promise<void>((resolve) => {
        const socket = connect(path);
        socket.on("data", (bytes: Buffer) => answers.push(bytes.toString()));
        socket.once("close", () => resolve());
        socket.end(question);
      }),
  );
  await eventually(() => expect([servers.waiting.length, answers.length]).toEqual([32, 8]));
  for (const answer of servers.waiting) answer(input);
  await Promise.all(asking);
  expect(answers.filter((it) => it === JSON.stringify({ answer: TOKEN }))).toHaveLength(32);
  expect(answers.filter((it) => it.includes("Too many commands ask"))).toHaveLength(8);
});
