/** Workspaces that somebody else runs: the server can only wait for their agents to call. */
import { ProvisionerError, type Provisioner } from "./provisioner.js";

const WORDS = "An operator starts and stops this workspace's agent, where it is.";

/** No template makes external workspaces, so nobody should ask; who does gets an answer for people. */
export function externalProvisioner(): Provisioner {
  const refuse = () => Promise.reject(new ProvisionerError(WORDS, { isLasting: true }));
  return {
    create: refuse,
    start: refuse,
    stop: refuse,
    remove: refuse,
    status: () => Promise.resolve({ kind: "running" }),
  };
}
