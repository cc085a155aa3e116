/** Apollo Server for GraphQL over HTTP, with Parley's limits, error mask, and the status codes of the HTTP spec. */
import { ApolloServer, type ApolloServerPlugin, type GraphQLRequestContext } from "@apollo/server";
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from "@apollo/server/plugin/disabled";
import { GraphQLError, type GraphQLSchema } from "graphql";
import { NO_SPAN, type Traces } from "../../domain/common/traces.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { currentContext } from "../../lib/run-context.js";
import type { Log } from "../../lib/log.js";
import { tooManyBytesInFlight } from "../../resolvers/common/response-budget.js";
import { boundResult, reservationIn } from "./response-size.js";
import type { DocumentGate } from "./document-gate.js";
import type { ErrorMask } from "./errors.js";
import { recordOperation } from "../ops/measured-requests.js";
import { operationSpan, recordErrors } from "./operation-span.js";
import { addressIn, type RateGate } from "../common/rate-gate.js";
import { badUserInput } from "./refusals.js";
import { refuseScopes } from "./scope-gate.js";
import { permitIn } from "./user-admission.js";

export type ApolloOptions = {
  schema: GraphQLSchema;
  gate: DocumentGate;
  rateGate: RateGate;
  traces: Traces;
  /** Largest response, in bytes of JSON. */
  maxResponseBytes: number;
  mask: ErrorMask;
  log: Log;
};

/** Length of a SHA-256 in hex, with which Apollo's document keys end. */
const HASH_CHARACTERS = 64;

/** Context of an operation. Apollo copies it shallowly, so it must be a plain object. */
export type OperationContext = { viewer: Viewer };

/** A started Apollo Server; the caller stops it. */
export async function startApollo(options: ApolloOptions): Promise<ApolloServer<OperationContext>> {
  const { schema, gate, rateGate, traces, maxResponseBytes, mask, log } = options;
  const apollo = new ApolloServer<OperationContext>({
    schema,
    introspection: true,
    csrfPrevention: true,
    allowBatchedHttpRequests: false,
    persistedQueries: false,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: gate.maxTokens },
    validationRules: [...gate.rules],
    // The route has parsed and validated every document before.
    documentStore: {
      get: async (key) => gate.find(key.slice(-HASH_CHARACTERS)),
      set: async () => undefined,
      delete: async () => undefined,
    },
    formatError: (_formatted, error) => mask(error),
    logger: {
      debug: (message) => log.debug(message),
      info: (message) => log.debug(message),
      warn: (message) => log.warn(message),
      error: (message) => log.error(message),
    },
    plugins: [
      // It instruments every field: without it a page of 50 rows costs half.
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      boundResponses(maxResponseBytes, mask),
      traceOperations(traces),
      admitOperations(gate, rateGate),
      respondWith200ToWellFormedRequests(),
    ],
  });
  await apollo.start();
  return apollo;
}

/** Opens a span for each operation as soon as it is known. */
function traceOperations(traces: Traces): ApolloServerPlugin<OperationContext> {
  return {
    requestDidStart: async () => {
      let span = NO_SPAN;
      return {
        async didResolveOperation({ operation }) {
          const context = currentContext();
          if (!operation || !context) return;
          span = traces.open(operationSpan(operation));
          // One request is one operation.
          context.trace = span.trace;
        },
        async willSendResponse({ response }) {
          const errors = response.body.kind === "single" ? response.body.singleResult.errors : undefined;
          recordErrors(span, errors ?? []);
          span.end();
        },
      };
    },
  };
}

function admitOperations(gate: DocumentGate, rateGate: RateGate): ApolloServerPlugin<OperationContext> {
  return {
    requestDidStart: async () => ({
      async didResolveOperation({ document, operation, request, contextValue }) {
        // Apollo itself refuses a request without a valid operation name.
        if (!operation) return;
        recordOperation(contextValue, operation.operation);
        if (operation.operation === "subscription") {
          throw badUserInput(
            "Subscriptions are served over WebSocket at this address (graphql-transport-ws), and as event streams at /graphql/stream (graphql-sse).",
          );
        }
        const permit = permitIn(contextValue);
        const cost = permit.measure(() => gate.costOf(document, operation, request.variables));
        if (cost instanceof GraphQLError) throw cost;
        const refusal =
          (reservationIn(contextValue)?.isFull ? tooManyBytesInFlight() : undefined) ??
          refuseScopes(document, operation, contextValue.viewer) ??
          (await rateGate.refuseOperation(document, operation, {
            viewer: contextValue.viewer,
            address: addressIn(contextValue),
          }));
        if (refusal) throw refusal;
        const noPermit = operation.operation === "mutation" ? await permit.acquireMutation() : undefined;
        if (noPermit) throw noPermit;
        permit.start(cost);
      },
    }),
  };
}

/** Replaces responses that are too large by an error. Runs before all other plugins that read the response. */
function boundResponses(maxBytes: number, mask: ErrorMask): ApolloServerPlugin<OperationContext> {
  return {
    requestDidStart: async () => ({
      async willSendResponse({ response, operation, contextValue }) {
        const reservation = reservationIn(contextValue);
        if (response.body.kind !== "single" || reservation === null) return;
        const { singleResult } = response.body;
        // Its errors are masked already, and small.
        const bounds = { maxBytes, reservation, isMutation: operation?.operation === "mutation" };
        const { data, errors } = boundResult({ data: singleResult.data }, bounds);
        if (errors === undefined) return;
        singleResult.data = data ?? null;
        singleResult.errors = errors.map(mask);
        if (errors[0]?.extensions.code === "RATE_LIMITED") response.http.status = 429;
      },
    }),
  };
}

/** Codes of refusals that are about the document or its variables, not about the HTTP request. */
export const DOCUMENT_CODES: ReadonlySet<unknown> = new Set([
  "GRAPHQL_PARSE_FAILED",
  "GRAPHQL_VALIDATION_FAILED",
  "BAD_USER_INPUT",
  "QUERY_TOO_COSTLY",
]);

/** Sets the status 200 that the GraphQL-over-HTTP spec requires, except for clients that accept its own media type. */
function respondWith200ToWellFormedRequests(): ApolloServerPlugin<OperationContext> {
  return {
    requestDidStart: async () => ({
      async willSendResponse({ response, request }: GraphQLRequestContext<OperationContext>) {
        if (response.http.status !== 400 || response.body?.kind !== "single") return;
        if (request.http?.headers.get("accept")?.includes("application/graphql-response+json")) return;
        const code = response.body.singleResult.errors?.[0]?.extensions?.code;
        if (DOCUMENT_CODES.has(code)) response.http.status = 200;
      },
    }),
  };
}
