// OpenTelemetry collector: accepts OTLP over HTTP in JSON and stores the spans.
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

type OtlpValue = {
  stringValue?: string;
  intValue?: number | string;
  doubleValue?: number;
  boolValue?: boolean;
};
type OtlpAttribute = { key: string; value: OtlpValue };
type OtlpSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: OtlpAttribute[];
  links?: { traceId: string; spanId: string }[];
  status: { code?: number; message?: string };
};
type OtlpRequest = {
  resourceSpans: { resource: { attributes: OtlpAttribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[];
};

export type ReceivedSpan = Omit<OtlpSpan, "attributes"> & {
  facts: Record<string, unknown>;
  resource: Record<string, unknown>;
};

export type OtlpReceiver = {
  url: string;
  spans: ReceivedSpan[];
  /** Of each batch. */
  requests: { path: string; headers: IncomingMessage["headers"] }[];
  /** Status of the responses to later batches. */
  status: number;
  close(): Promise<void>;
};

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      receiver.requests.push({ path: request.url ?? "", headers: request.headers });
      if (receiver.status === 200) receiver.spans.push(...spansOf(body as OtlpRequest));
      response.writeHead(receiver.status, { "content-type": "application/json" }).end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    requests: [],
    status: 200,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return receiver;
}

function spansOf({ resourceSpans }: OtlpRequest): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ attributes, ...span }) => ({
        ...span,
        facts: factsOf(attributes),
        resource: factsOf(resource.attributes),
      })),
    ),
  );
}

function factsOf(attributes: OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? Number(value.intValue ?? value.doubleValue),
    ]),
  );
}
