// Writes the API's schema, sorted, to schema.graphql: run it after every change in src/schema or src/resolvers.
// node --import @oxc-node/core/register scripts/emit-schema.ts
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { resolvers } from "../src/resolvers/resolvers.js";
import { buildParleySchema, printParleySchema } from "../src/schema/build.js";

const path = join(import.meta.dirname, "..", "schema.graphql");
writeFileSync(path, printParleySchema(buildParleySchema(resolvers)));
