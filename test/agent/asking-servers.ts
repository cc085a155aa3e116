// Servers that an agent can ask: the real end of their lines, with answers that the test makes up.
import { afterEach, beforeEach } from "vitest";
import type {
  GitCredentials,
  GitCredentialsRequest,
} from "../../src/workspaces/agent-client/agent-connection.js";
import type { ControlChannel } from "../../src/workspaces/control-channel.js";
import type { RunningAgent } from "./process/process-agent.js";

export const refusal: GitCredentials = { outcome: "refused", reason: "There is no token for you." };

/** Git's question for a password, as a command puts it. */
export const ASK_PASSWORD = `"$GIT_ASKPASS" "Password for 'https://ada@github.com': "`;

export type AskingServers = {
  /** What they were asked in this test, in order. */
  asked: GitCredentialsRequest[];
  /** Pending answers. */
  waiting: ((answer: GitCredentials) => void)[];
  /** A server that answers so. */
  open(answer: GitCredentials | (() => Promise<GitCredentials>)): Promise<ControlChannel>;
  /** The answer of a server that takes its time. */
  hang(): Promise<GitCredentials>;
};

/** Fresh for each test of the file; their channels close with it. */
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
