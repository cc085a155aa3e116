/** `fetch` for remote MCP servers with the same message limit as over stdio. */
import type { Fetch } from "./types.js";

/** Longest message of an MCP server: an image of a few megabytes as base64. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

const LINE_FEED = 0x0a;

/** Like `base`; reading the body fails when a JSON body, or one line of an event stream, exceeds the limit. */
export function boundedFetch(base: Fetch): Fetch {
  return async (url, init) => bounded(await base(url, init));
}

function bounded(response: Response): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get("content-type")?.includes("text/event-stream") ?? false;
  let length = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const lastEnd = isStream ? chunk.lastIndexOf(LINE_FEED) : -1;
      length = lastEnd < 0 ? length + chunk.length : chunk.length - 1 - lastEnd;
      if (length > MAX_MESSAGE_BYTES) controller.error(new Error("The MCP server's answer is too long."));
      else controller.enqueue(chunk);
    },
  });
  return withBody(response, response.body.pipeThrough(count));
}

/** The same response with another body, derived from its own. */
function withBody(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText, headers, url } = response;
  const copy = new Response(body, { status, statusText, headers });
  // The library compares it with the requested address.
  Object.defineProperty(copy, "url", { value: url });
  return copy;
}
