/** The HTTP door's GraphQL half: Apollo Server with our bounds, our masking and the statuses of the HTTP spec. */
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
import { tooMuchUnderWay } from "../../resolvers/common/answer-budget.js";
import { boundAnswer, roomIn } from "./answer-size.js";
import type { DocumentGate } from "./document-gate.js";
import type { ErrorMask } from "./errors.js";
import { tellOperation } from "../ops/measured-requests.js";
import { operationSpan, tellErrors } from "./operation-span.js";
import { addressIn, type RateGate } from "../common/rate-gate.js";
import { badUserInput } from "./refusals.js";
import { refuseScopes } from "./scope-gate.js";
import { placeIn } from "./user-work.js";

export type ApolloOptions = {
  schema: GraphQLSchema;
  gate: DocumentGate;
  rateGate: RateGate;
  traces: Traces;
  /** Bytes of one answer's JSON. */
  maxAnswerBytes: number;
  mask: ErrorMask;
  log: Log;
};

/** Of a text's SHA-256 in hex, with which Apollo's names for documents end. */
const HASH_CHARACTERS = 64;

/** What `createContext` gives. Apollo copies it shallowly, so it must be a plain object. */
export type OperationContext = { viewer: Viewer };

/** A started Apollo Server; the caller stops it. */
export async function startApollo(options: ApolloOptions): Promise<ApolloServer<OperationContext>> {
  const { schema, gate, rateGate, traces, maxAnswerBytes, mask, log } = options;
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
    // The route has read every document before it comes here.
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
      boundAnswers(maxAnswerBytes, mask),
      followOperations(traces),
      admitOperations(gate, rateGate),
      answerWellFormedRequestsWith200(),
    ],
  });
  await apollo.start();
  return apollo;
}

/** What runs for an operation is part of its span from where it is known. */
function followOperations(traces: Traces): ApolloServerPlugin<OperationContext> {
  return {
    requestDidStart: async () => {
      let span = NO_SPAN;
      return {
        async didResolveOperation({ operation }) {
          const doing = currentContext();
          if (!operation || !doing) return;
          span = traces.open(operationSpan(operation));
          // One request is one operation: nothing else is done for it.
          doing.trace = span.trace;
        },
        async willSendResponse({ response }) {
          const errors = response.body.kind === "single" ? response.body.singleResult.errors : undefined;
          tellErrors(span, errors ?? []);
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
        // Apollo itself refuses a request whose operation cannot be told.
        if (!operation) return;
        tellOperation(contextValue, operation.operation);
        if (operation.operation === "subscription") {
          throw badUserInput(
            "Subscriptions are served over WebSocket at this address (graphql-transport-ws), and as event streams at /graphql/stream (graphql-sse).",
          );
        }
        const place = placeIn(contextValue);
        const cost = place.measure(() => gate.judge(document, operation, request.variables));
        if (cost instanceof GraphQLError) throw cost;
        const refusal =
          (roomIn(contextValue)?.isFull ? tooMuchUnderWay() : undefined) ??
          refuseScopes(document, operation, contextValue.viewer) ??
          (await rateGate.refuseOperation(document, operation, {
            viewer: contextValue.viewer,
            address: addressIn(contextValue),
          }));
        if (refusal) throw refusal;
        const noPlace = operation.operation === "mutation" ? await place.mutate() : undefined;
        if (noPlace) throw noPlace;
        place.run(cost);
      },
    }),
  };
}

/** Before anything else looks at the answer: what is too large becomes the error that says so. */
function boundAnswers(maxBytes: number, mask: ErrorMask): ApolloServerPlugin<OperationContext> {
  return {
    requestDidStart: async () => ({
      async willSendResponse({ response, operation, contextValue }) {
        const hold = roomIn(contextValue);
        if (response.body.kind !== "single" || hold === null) return;
        const { singleResult } = response.body;
        // Its errors are masked already, and small.
        const bounds = { maxBytes, hold, isMutation: operation?.operation === "mutation" };
        const { data, errors } = boundAnswer({ data: singleResult.data }, bounds);
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

/** The GraphQL-over-HTTP spec wants 200 for them, except for clients that accept its own media type. */
function answerWellFormedRequestsWith200(): ApolloServerPlugin<OperationContext> {
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
