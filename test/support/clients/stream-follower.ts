// Follows one chat over Server-Sent Events and applies them to a transcript that outlives the connection.
import type { ApiClient } from "./api-client.js";
import { EventStreamReader } from "./event-stream-reader.js";
import { type ChatEvent, CHAT_EVENTS_DOCUMENT, Transcript } from "./transcript.js";

type Answer = { data?: { chatEvents: ChatEvent } | null; errors?: { extensions: { code: string } }[] };

export class StreamFollower {
  /** Codes of the errors that ended the stream. */
  readonly errors: string[] = [];

  private constructor(
    readonly stream: EventStreamReader,
    readonly transcript: Transcript,
  ) {}

  static async open(
    api: ApiClient,
    chatId: string,
    transcript = new Transcript(null),
  ): Promise<StreamFollower> {
    transcript.reopened();
    const endpoint = { streamUrl: `${api.url}/graphql/stream` };
    const variables = { chatId, after: transcript.cursor };
    const request = { token: api.token, variables };
    return new StreamFollower(
      await EventStreamReader.open(endpoint, CHAT_EVENTS_DOCUMENT, request),
      transcript,
    );
  }

  /** Reads until the condition holds; throws when the stream ends before. */
  async until(isSo: (transcript: Transcript) => boolean): Promise<void> {
    while (!isSo(this.transcript)) {
      if (!(await this.#read())) throw new Error(`The stream ended early: ${this.errors.join()}`);
    }
  }

  /** Reads to the stream's end. */
  async untilEnd(): Promise<void> {
    while (await this.#read());
  }

  async #read(): Promise<boolean> {
    const message = await this.stream.next();
    if (message?.event !== "next") return false;
    const { data, errors } = message.data as Answer;
    if (data) this.transcript.apply(data.chatEvents);
    this.errors.push(...(errors ?? []).map(({ extensions }) => extensions.code));
    return !errors;
  }
}
