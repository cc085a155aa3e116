/** `fetch` for tool servers elsewhere: no message of theirs may be longer than one over stdio. */
import { MAX_MESSAGE_BYTES } from "./stdio-transport.js";

const LINE_FEED = 0x0a;

/** As `fetch`; reading the body fails when a JSON body, or one line of an event stream, is too long. */
export async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  const isStream = response.headers.get("content-type")?.includes("text/event-stream") ?? false;
  let length = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const lastEnd = isStream ? chunk.lastIndexOf(LINE_FEED) : -1;
      length = lastEnd < 0 ? length + chunk.length : chunk.length - 1 - lastEnd;
      if (length > MAX_MESSAGE_BYTES) controller.error(new Error("The tool server's answer is too long."));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  const bounded = new Response(response.body.pipeThrough(count), { status, statusText, headers });
  // The library compares it with the address that it asked for.
  Object.defineProperty(bounded, "url", { value: response.url });
  return bounded;
}
