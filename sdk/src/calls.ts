/** Queries and mutations: one request, one response, never retried automatically. */
import { errorOfAnswer, ParleyError, type AnswerError } from "./parley-error.js";
import type { Request, Socket } from "./socket.js";
import { closeReasonOf } from "./socket.js";
import { readToken, refusedToken, type TokenSource } from "./token.js";

export type CallOptions = { signal?: AbortSignal };

export type Fetch = (url: string, init: FetchRequest) => Promise<FetchResponse>;

/** The subset of `fetch` that the client uses. */
export type FetchRequest = {
  method: string;
  headers: Record<string, string>;
  body: string;
  signal?: AbortSignal;
};
export type FetchResponse = { status: number; json(): Promise<unknown> };

export type HttpOptions = { url: string; token: TokenSource; fetch: Fetch };

const UNAUTHORIZED_STATUS = 401;

/** Runs an operation over HTTP. A refused token is fetched again once, if the token source is a function. */
export async function callOverHttp(
  options: HttpOptions,
  request: Request,
  { signal }: CallOptions,
): Promise<unknown> {
  let response = await send(options, request, { signal, isRefused: false });
  const mayFetchToken = typeof options.token === "function";
  if (response.status === UNAUTHORIZED_STATUS && mayFetchToken) {
    response = await send(options, request, { signal, isRefused: true });
  }
  if (response.status === UNAUTHORIZED_STATUS) throw refusedToken(undefined);
  let answer: unknown;
  try {
    answer = await response.json();
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new ParleyError("BAD_RESPONSE", `The server answered ${response.status} without JSON.`, { cause });
  }
  return resultOf(answer);
}

async function send(
  { url, token, fetch }: HttpOptions,
  request: Request,
  { signal, isRefused }: { signal?: AbortSignal; isRefused: boolean },
): Promise<FetchResponse> {
  const authorization = `Bearer ${await readToken(token, isRefused)}`;
  const headers = { "content-type": "application/json", accept: "application/json", authorization };
  try {
    return await fetch(url, { method: "POST", headers, body: JSON.stringify(request), signal });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new ParleyError("CONNECTION_LOST", "The server could not be reached.", { cause });
  }
}

/** Runs an operation over the socket, beside the streams. */
export function callOverSocket(socket: Socket, request: Request, { signal }: CallOptions): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const lost = (cause: unknown) =>
      new ParleyError("CONNECTION_LOST", "The connection was lost before the response arrived.", { cause });
    const abort = () => {
      end();
      reject(signal?.reason);
    };
    const settle = (then: () => void) => {
      signal?.removeEventListener("abort", abort);
      then();
    };
    if (signal?.aborted) return reject(signal.reason);
    signal?.addEventListener("abort", abort);
    const end = socket.subscribe(request, {
      next: (answer) => settle(() => resolve(answer)),
      error: (reason) => {
        const cause = closeReasonOf(reason);
        if (Array.isArray(cause)) return settle(() => reject(errorOfAnswer(cause as AnswerError[])));
        settle(() => reject(cause instanceof ParleyError ? cause : lost(cause)));
      },
      complete: () => settle(() => reject(lost(undefined))),
    });
  }).then(resultOf);
}

function resultOf(answer: unknown): unknown {
  const { data, errors } = (answer ?? {}) as { data?: unknown; errors?: readonly AnswerError[] };
  if (errors && errors.length > 0) throw errorOfAnswer(errors);
  if (data === undefined || data === null)
    throw new ParleyError("BAD_RESPONSE", "The response contains no data.");
  return data;
}
