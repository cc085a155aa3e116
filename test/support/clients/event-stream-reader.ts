// Reader of a Server-Sent Events stream, written without any library of ours.

export type Message = { event: string; data: unknown };

export type StreamRequest = {
  variables?: Record<string, unknown>;
  operationName?: string;
  token?: string | null;
  accept?: string;
};

export class EventStreamReader {
  readonly #body: ReadableStreamDefaultReader<string>;
  readonly #abort: AbortController;
  #text = "";
  #hasEnded = false;

  private constructor(
    readonly response: Response,
    abort: AbortController,
  ) {
    this.#abort = abort;
    if (!response.body) throw new Error("The response has no body.");
    this.#body = response.body.pipeThrough(new TextDecoderStream()).getReader();
  }

  static async open(
    { streamUrl }: { streamUrl: string },
    query: string,
    { token = "pt_good", accept = "text/event-stream", ...rest }: StreamRequest = {},
  ): Promise<EventStreamReader> {
    const abort = new AbortController();
    const response = await fetch(streamUrl, {
      method: "POST",
      signal: abort.signal,
      headers: {
        "content-type": "application/json",
        accept,
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ query, ...rest }),
    });
    return new EventStreamReader(response, abort);
  }

  /** The next message that is not a comment; null at the end of the response. */
  async next(): Promise<Message | null> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const message = parse(this.#text.slice(0, end));
        this.#text = this.#text.slice(end + 2);
        if (message) return message;
        continue;
      }
      if (this.#hasEnded) return null;
      const { value, done } = await this.#body.read();
      this.#hasEnded = done;
      this.#text += value ?? "";
    }
  }

  /** Everything up to the end of the response. */
  async rest(): Promise<Message[]> {
    const messages: Message[] = [];
    for (let message = await this.next(); message; message = await this.next()) messages.push(message);
    return messages;
  }

  /** Aborts the request, as a closed tab does. */
  leave(): void {
    this.#abort.abort();
  }
}

/** Null for comments, which keep the connection alive. */
function parse(text: string): Message | null {
  if (text.startsWith(":")) return null;
  const fields = new Map(
    text
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const data = fields.get("data");
  return { event: fields.get("event") ?? "message", data: data ? (JSON.parse(data) as unknown) : null };
}
