/** Provisioner of external workspaces, whose agents an operator runs: the server only waits for them to connect. */
import { ProvisionerError, type Provisioner } from "./provisioner.js";

const REFUSAL = "An operator starts and stops this workspace's agent, where it is.";

/** Refuses everything but `status`: no template creates external workspaces. */
export function externalProvisioner(): Provisioner {
  const refuse = () => Promise.reject(new ProvisionerError(REFUSAL, { isPermanent: true }));
  return {
    create: refuse,
    start: refuse,
    stop: refuse,
    remove: refuse,
    status: () => Promise.resolve({ kind: "running" }),
  };
}
