// The agent as the first process of a container, in a PID namespace of its own. Needs root.
import { expect, test } from "vitest";
import type { AgentConnection } from "../../../src/workspaces/agent-client/agent-connection.js";
import { finish, openAgent, pollUntil } from "./process-agent.js";
import { agentCommand } from "../support.js";
import { has, PID_NAMESPACE_OPTIONS } from "../../support/requirements.js";

const NAMESPACE = ["unshare", ...PID_NAMESPACE_OPTIONS] as const;
/** A minimal init: bash reaps every orphan and forwards its input. */
const INIT = ["bash", "-c", '"$@" <&0 & wait $!', "init"] as const;
const WARNING = "The agent is process 1 and cannot reap orphans";

/** Leaves an orphan that ends at once, and counts the zombies. */
async function countZombies(
  connection: AgentConnection,
  isEnough: (count: number) => boolean,
): Promise<number> {
  await finish(connection, "(setsid sh -c 'exit 0' &); (setsid true &); true");
  const count = async () =>
    Number((await finish(connection, "cat /proc/[0-9]*/stat 2> /dev/null | grep -c ') Z '; true")).output);
  return pollUntil(count, isEnough);
}

test.skipIf(!has("process-namespaces"))(
  "[P29] as process 1 the agent warns: orphans stay as zombies",
  async () => {
    const agent = await openAgent({ command: [...NAMESPACE, ...agentCommand], logLevel: "warn" });
    const pid = (await finish(agent.connection, "echo $PPID")).output;
    const zombies = await countZombies(agent.connection, (count) => count > 0);
    await agent.stop();
    const { lastOutput } = await agent.ended;
    expect([pid, zombies > 0, lastOutput.includes(WARNING)]).toEqual(["1\n", true, true]);
  },
);

test.skipIf(!has("process-namespaces"))(
  "[P29] under an init no zombie stays, and the agent does not warn",
  async () => {
    const agent = await openAgent({ command: [...NAMESPACE, ...INIT, ...agentCommand], logLevel: "warn" });
    const isFirst = (await finish(agent.connection, "echo $PPID")).output === "1\n";
    const zombies = await countZombies(agent.connection, (count) => count === 0);
    await agent.stop();
    const { lastOutput } = await agent.ended;
    expect([isFirst, zombies, lastOutput.includes(WARNING)]).toEqual([false, 0, false]);
  },
);
