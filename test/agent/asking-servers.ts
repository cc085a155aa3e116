// Servers for an agent's questions: the real server end of the control channel, with scripted answers.
import { afterEach, beforeEach } from "vitest";
import type {
  GitCredentials,
  GitCredentialsRequest,
} from "../../src/workspaces/agent-client/agent-connection.js";
import type { ControlChannel } from "../../src/workspaces/control-channel.js";
import type { RunningAgent } from "./process/process-agent.js";

export const refusal: GitCredentials = { outcome: "refused", reason: "There is no token for you." };

/** Git's password prompt, as a command sends it. */
export const ASK_PASSWORD = `"$GIT_ASKPASS" "Password for 'https://ada@github.com': "`;

export type AskingServers = {
  /** Questions received in this test, in order. */
  asked: GitCredentialsRequest[];
  /** Pending answers. */
  waiting: ((answer: GitCredentials) => void)[];
  /** Connects a server that gives this answer. */
  open(answer: GitCredentials | (() => Promise<GitCredentials>)): Promise<ControlChannel>;
  /** A pending answer: resolved through `waiting`, at the latest after the test. */
  hang(): Promise<GitCredentials>;
};

/** One set for each test of the file; its channels are closed after the test. */
export function askingServers(agent: () => RunningAgent): AskingServers {
  const channels: ControlChannel[] = [];
  const servers: AskingServers = {
    asked: [],
    waiting: [],
    async open(answer) {
      const channel = await agent().connection.openControlChannel({
        answer(request) {
          servers.asked.push(request);
          return typeof answer === "function" ? answer() : Promise.resolve(answer);
        },
        onError: () => undefined,
      });
      channels.push(channel);
      return channel;
    },
    hang: () => new Promise((resolve) => servers.waiting.push(resolve)),
  };
  beforeEach(() => {
    servers.asked = [];
  });
  afterEach(async () => {
    for (const channel of channels) channel.close();
    for (const answer of servers.waiting.splice(0)) answer(refusal);
    await Promise.all(channels.splice(0).map(({ ended }) => ended));
  });
  return servers;
}
