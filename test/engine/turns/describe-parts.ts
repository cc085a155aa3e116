// Description of message parts in one line, for expectations of tests.
import type { MessagePart } from "../../../src/domain/chats/message-parts.js";

export function describeParts(parts: MessagePart[]): string {
  return parts
    .map((part) => {
      switch (part.type) {
        case "text":
          return part.text;
        case "reasoning":
          return `(${part.text})`;
        case "tool-call":
          return `${part.toolCallId}=${part.toolName}(${JSON.stringify(part.arguments)})`;
        case "tool-result":
          return `${part.toolCallId}${part.isError ? "!" : ""}=${JSON.stringify(part.result)}`;
        case "source":
          return part.url;
        case "file-reference":
          return part.path;
        case "file":
          return part.name;
        case "notice":
          return `[${part.text}]`;
      }
    })
    .join(" ");
}
