/** A connection to a workspace's agent whose owner hears when the agent does not answer. */
import { AgentUnreachable, type AgentConnection } from "./agent-client/agent-connection.js";

/** Passes everything on. `onLost` is called before the caller hears of an `AgentUnreachable`. */
export function noticingLoss(connection: AgentConnection, onLost: () => void): AgentConnection {
  const notice = (error: unknown) => {
    if (error instanceof AgentUnreachable) onLost();
  };
  return new Proxy(connection, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...given: unknown[]): unknown => {
        const answer: unknown = Reflect.apply(member, target, given);
        if (answer instanceof Promise) answer.catch(notice);
        return answer;
      };
    },
  });
}
