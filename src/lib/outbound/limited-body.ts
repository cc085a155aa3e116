/** A response body with a size limit. Errors with OutboundLimitExceeded beyond it. */
import { OutboundLimitExceeded } from "./refused.js";

/** `maxBytes` null = unlimited. `onEnd` is called when the body ends, fails or is cancelled. */
export function limitedBody(
  source: ReadableStream<Uint8Array>,
  maxBytes: number | null,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let length = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          onEnd();
          controller.close();
          return;
        }
        length += value.length;
        if (maxBytes !== null && length > maxBytes)
          throw new OutboundLimitExceeded(`The answer is longer than ${maxBytes} bytes.`);
        controller.enqueue(value);
      } catch (error) {
        onEnd();
        controller.error(error);
        await reader.cancel(error).catch(() => undefined);
      }
    },
    async cancel(reason) {
      onEnd();
      await reader.cancel(reason);
    },
  });
}
