// Subagent port for tools that do not use it.
import type { Agents } from "../../../src/engine/subagents/ports.js";

const unexpected = () => Promise.reject(new Error("Nobody was expected to ask for subagents."));

export const noAgents: Agents = {
  spawn: unexpected,
  wait: unexpected,
  message: unexpected,
  interrupt: unexpected,
  list: unexpected,
};
