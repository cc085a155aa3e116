/**
 * The way to one provider's endpoint, below its SDK: sees what the SDKs do not tell apart or lose. A wrong address
 * becomes an `AddressFailure`, an error body of any shape one that the SDK reads, and a request that met a closed
 * connection is sent once more.
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

/** Keeps in mind whether the endpoint has ever answered as an API does: make one for each provider's settings. */
export function endpointFetch({ fetch: own }: Pick<ProviderSettings, "fetch">, clock: Clock): Fetch {
  // The guard's own way out looks after closed connections itself.
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

/** An answer whose type says nothing is looked into: some servers send events under the type of a page. */
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

/** The refusal in a shape that SDKs read, at most `MAX_ERROR_BODY_BYTES` of it. */
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

/** The body was unpacked on its way here, so what describes it packed is not true any more. */
function answerOf({ status, statusText, headers, url }: Response, body: BodyInit): Response {
  const kept = new Headers(headers);
  kept.delete("content-encoding");
  kept.delete("content-length");
  const answer = new Response(body, { status, statusText, headers: kept });
  Object.defineProperty(answer, "url", { value: url });
  return answer;
}
