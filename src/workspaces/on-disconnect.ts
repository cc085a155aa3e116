/** Disconnect notification for a connection to a workspace's agent. */
import { AgentUnreachable, type AgentConnection } from "./agent-client/agent-connection.js";

/**
 * The same connection; `onLost` is called whenever one of its methods rejects with `AgentUnreachable`, before the caller
 * gets the rejection.
 */
export function onDisconnect(connection: AgentConnection, onLost: () => void): AgentConnection {
  const check = (error: unknown) => {
    if (error instanceof AgentUnreachable) onLost();
  };
  return new Proxy(connection, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => {
        const result: unknown = Reflect.apply(member, target, args);
        if (result instanceof Promise) result.catch(check);
        return result;
      };
    },
  });
}
