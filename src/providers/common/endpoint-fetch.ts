/**
 * `fetch` for one provider's endpoint, used by its SDK. Turns wrong addresses into an `AddressFailure`, converts error
 * bodies of any shape into the one that the SDKs read, and resends a request that met a closed connection.
 */
import type { Clock } from "../../lib/clock.js";
import { resendWhenStale } from "../../lib/outbound/stale-connection.js";
import {
  addressFailureOf,
  isPage,
  isPathUnknown,
  mayBePage,
  pageFailure,
  pathFailure,
  SNIFFED_BYTES,
} from "./address-failure.js";
import { errorMessageIn, MAX_ERROR_BODY_BYTES, reshapeErrorBody } from "./error-body.js";
import type { ProviderSettings } from "../types.js";

type Fetch = NonNullable<ProviderSettings["fetch"]>;

/** Remembers whether the endpoint has ever answered like an API: create one for each provider's settings. */
export function endpointFetch({ fetch: own }: Pick<ProviderSettings, "fetch">, clock: Clock): Fetch {
  // The outbound guard's own fetch handles closed connections itself.
  const send: Fetch =
    own ?? ((url, init) => resendWhenStale(clock, () => fetch(url, init), init?.signal ?? undefined));
  let hasAnswered = false;
  return async (url, init) => {
    const response = await send(url, init).catch((error: unknown) => {
      throw addressFailureOf(error, hasAnswered) ?? error;
    });
    const checked = response.ok ? await refusePages(response) : await readRefusal(response, url, init);
    if (response.ok) hasAnswered = true;
    return checked;
  };
}

/** Inspects the body when the content type is inconclusive: some servers send events as `text/html`. */
async function refusePages(response: Response): Promise<Response> {
  const { status, headers, body } = response;
  if (body === null || !mayBePage(status, headers.get("content-type"))) return response;
  const reader = body.getReader();
  const first = await reader.read();
  const beginning = first.value === undefined ? "" : decode(first.value.subarray(0, SNIFFED_BYTES));
  if (isPage(beginning)) {
    await reader.cancel().catch(() => undefined);
    throw pageFailure(status);
  }
  return answerOf(response, withFirst(first, reader));
}

function withFirst(
  first: ReadableStreamReadResult<Uint8Array>,
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (first.done) controller.close();
      else controller.enqueue(first.value);
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** The error response with a body that the SDKs read, at most `MAX_ERROR_BODY_BYTES`. */
async function readRefusal(response: Response, url: string | URL, init?: RequestInit): Promise<Response> {
  const { status, headers } = response;
  const text = await readBeginning(response.body);
  if (mayBePage(status, headers.get("content-type")) && isPage(text.slice(0, SNIFFED_BYTES)))
    throw pageFailure(status);
  if (status === 404 && isPathUnknown(errorMessageIn(text)))
    throw pathFailure(init?.method ?? "GET", new URL(url).pathname);
  return answerOf(response, reshapeErrorBody(text) ?? text);
}

async function readBeginning(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (body === null) return "";
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  while (length < MAX_ERROR_BODY_BYTES) {
    const { done, value } = await reader.read();
    if (done) return decode(Buffer.concat(chunks));
    chunks.push(value);
    length += value.length;
  }
  await reader.cancel().catch(() => undefined);
  return decode(Buffer.concat(chunks).subarray(0, MAX_ERROR_BODY_BYTES));
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** A copy of the response with another body. The body is decompressed, so the headers that describe it are dropped. */
function answerOf({ status, statusText, headers, url }: Response, body: BodyInit): Response {
  const remaining = new Headers(headers);
  remaining.delete("content-encoding");
  remaining.delete("content-length");
  const answer = new Response(body, { status, statusText, headers: remaining });
  Object.defineProperty(answer, "url", { value: url });
  return answer;
}
