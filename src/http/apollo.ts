/** The HTTP door's GraphQL half: Apollo Server with our bounds, our masking and the statuses of the HTTP spec. */
import { ApolloServer, type ApolloServerPlugin, type GraphQLRequestContext } from "@apollo/server";
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from "@apollo/server/plugin/disabled";
import type { GraphQLSchema } from "graphql";
import type { Log } from "../lib/log.js";
import type { DocumentGate } from "./document-gate.js";
import type { ErrorMask } from "./errors.js";
import { badUserInput } from "./refusals.js";

export type ApolloOptions = { schema: GraphQLSchema; gate: DocumentGate; mask: ErrorMask; log: Log };

/** Whatever `createContext` gives. Apollo copies it shallowly, so it must be a plain object. */
export type OperationContext = object;

/** A started Apollo Server; the caller stops it. */
export async function startApollo(options: ApolloOptions): Promise<ApolloServer<OperationContext>> {
  const { schema, gate, mask, log } = options;
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
      admitOperations(gate),
      answerWellFormedRequestsWith200(),
    ],
  });
  await apollo.start();
  return apollo;
}

function admitOperations(gate: DocumentGate): ApolloServerPlugin<OperationContext> {
  return {
    requestDidStart: async () => ({
      async didResolveOperation({ document, operation, request }) {
        // Apollo itself refuses a request whose operation cannot be told.
        if (!operation) return;
        if (operation.operation === "subscription") {
          throw badUserInput(
            "Subscriptions are served over WebSocket at this address (graphql-transport-ws), and as event streams at /graphql/stream (graphql-sse).",
          );
        }
        const refusal = gate.refuseOperation(document, operation, request.variables);
        if (refusal) throw refusal;
      },
    }),
  };
}

/** Codes of refusals that are about the document or its variables, not about the HTTP request. */
const DOCUMENT_CODES: ReadonlySet<unknown> = new Set([
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
