// Keeps the layout: which layer may import which, which packages belong where, names of folders, and a few habits.
// Reads the source as text: import lines are regular enough for that, and comments are removed first.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");
const LONGEST_FILE_LINES = 400;

/** What chats, models and the rest are about. Each storey has a folder for each noun that it knows, and `common`. */
const NOUNS = ["chats", "models", "mcp", "workspaces", "usage", "users", "git", "files", "push"];
/** Folders of a storey besides those of the nouns. */
const STOREYS: Record<string, string[]> = {
  "src/domain": [],
  "src/schema": ["scalars"],
  "src/resolvers": [],
  "src/commands": [],
  "src/services": [],
  "src/store": ["embedded-postgres"],
};
/** Source files at one level; tests beside them are not counted. */
const MAX_FILES_PER_FOLDER = 25;

/**
 * The layers, most particular first: a file is in the first layer whose path begins its own. `mayImport` lists path
 * prefixes besides the layer's own folder.
 */
const layers: { path: string; mayImport: string[] }[] = [
  { path: "src/server.ts", mayImport: ["src/"] },
  {
    path: "src/cli/",
    mayImport: ["src/compose/", "src/config/", "src/store/", "src/workspaces/", "src/domain/", "src/lib/"],
  },
  { path: "src/compose/", mayImport: ["src/"] },
  { path: "src/config/", mayImport: [] },
  {
    path: "src/http/",
    mayImport: ["src/resolvers/", "src/events/", "src/workspaces/", "src/domain/", "src/lib/"],
  },
  {
    path: "src/resolvers/",
    mayImport: ["src/schema/", "src/commands/", "src/store/", "src/events/", "src/domain/", "src/lib/"],
  },
  { path: "src/schema/", mayImport: ["src/domain/"] },
  { path: "src/commands/", mayImport: ["src/engine/transitions/", "src/store/", "src/domain/", "src/lib/"] },
  { path: "src/engine/transitions/", mayImport: ["src/store/", "src/events/", "src/domain/", "src/lib/"] },
  { path: "src/engine/turn/", mayImport: ["src/providers/types", "src/domain/", "src/lib/"] },
  { path: "src/engine/prompt/", mayImport: ["src/providers/types", "src/domain/", "src/lib/"] },
  {
    path: "src/engine/tools/",
    mayImport: ["src/workspaces/", "src/engine/subagents/", "src/domain/", "src/lib/"],
  },
  {
    path: "src/engine/",
    mayImport: [
      "src/engine/",
      "src/services/",
      "src/store/",
      "src/events/",
      "src/providers/types",
      "src/workspaces/",
      "src/mcp/",
      "src/domain/",
      "src/lib/",
    ],
  },
  {
    path: "src/services/",
    mayImport: [
      "src/commands/",
      "src/engine/transitions/",
      "src/engine/turn/",
      "src/engine/prompt/",
      "src/engine/tools/",
      "src/store/",
      "src/events/",
      "src/providers/types",
      "src/workspaces/",
      "src/mcp/",
      "src/domain/",
      "src/lib/",
    ],
  },
  { path: "src/identity/", mayImport: ["src/store/", "src/domain/", "src/lib/"] },
  { path: "src/demo-model/", mayImport: ["src/domain/", "src/lib/"] },
  { path: "src/adapters/", mayImport: ["src/domain/", "src/lib/"] },
  { path: "src/telemetry/", mayImport: ["src/domain/", "src/lib/"] },
  { path: "src/git-hosts/", mayImport: ["src/domain/", "src/lib/"] },
  { path: "src/mcp/", mayImport: ["src/domain/", "src/lib/"] },
  { path: "src/providers/", mayImport: ["src/domain/", "src/lib/"] },
  { path: "src/events/", mayImport: ["src/domain/", "src/lib/"] },
  { path: "src/store/", mayImport: ["src/domain/", "src/lib/", "migrations/"] },
  { path: "src/workspaces/", mayImport: ["src/agent/protocol", "src/domain/", "src/lib/"] },
  {
    path: "src/agent/",
    mayImport: [
      "src/mcp/",
      "src/domain/chats/message-parts",
      "src/domain/common/json",
      "src/domain/mcp/workspace-entry",
      "src/lib/",
    ],
  },
  { path: "src/domain/", mayImport: [] },
  { path: "src/lib/", mayImport: [] },
  { path: "migrations/", mayImport: [] },
];

/** Packages that only some rooms may import, because those rooms are there to hide them. */
const packages: { name: RegExp; homes: string[] }[] = [
  // Every other program is started there, with an environment that its starter chose.
  {
    name: /^(node:)?child_process$|^(@lydell\/)?node-pty$|^execa$|^cross-spawn$/,
    homes: ["src/lib/child-process.ts"],
  },
  { name: /^(openai|@anthropic-ai\/.*|@google\/genai)(\/|$)/, homes: ["src/providers/"] },
  { name: /^(typeorm|pg)(\/|$)/, homes: ["src/store/", "migrations/"] },
  { name: /^@modelcontextprotocol\/sdk(\/|$)/, homes: ["src/mcp/", "src/agent/mcp/stdio-transport.ts"] },
  { name: /^(dockerode|@kubernetes\/client-node)(\/|$)/, homes: ["src/workspaces/provisioners/"] },
  { name: /^@octokit\//, homes: ["src/git-hosts/"] },
  { name: /^web-push(\/|$)/, homes: ["src/adapters/web-push.ts"] },
  { name: /^@aws-sdk\/client-s3(\/|$)/, homes: ["src/adapters/s3.ts"] },
  { name: /^prom-client(\/|$)/, homes: ["src/telemetry/", "src/agent/metrics.ts"] },
  { name: /^(openid-client|jose)(\/|$)/, homes: ["src/identity/"] },
  { name: /^rate-limiter-flexible(\/|$)/, homes: ["src/adapters/rate-limits/"] },
  { name: /^@opentelemetry\//, homes: ["src/telemetry/"] },
  { name: /^(redis|@redis\/.*|ioredis)(\/|$)/, homes: ["src/events/"] },
];

/** Words that only some files may use. Tests are exempt, and so is what they stand on. */
const words: { word: RegExp; within: string[]; except: string[]; advice: string }[] = [
  {
    word: /\bprocess\.env\b/,
    within: ["src/", "migrations/"],
    except: [
      "src/config/config.ts",
      "src/agent/settings.ts",
      "src/agent/process/environment.ts",
      "src/lib/initial-environment.ts",
    ],
    advice: "reads the environment; add the variable to src/config/config.ts and pass the value in",
  },
  {
    word: /\bDate\.now\b|\bnew Date\(\)|\bset(Timeout|Interval)\b|\bperformance\.now\b/,
    within: ["src/engine/turn/", "src/domain/"],
    except: [],
    advice: "reads the machine's clock; take a Clock (src/lib/clock.ts) or the time as an argument",
  },
  {
    word: /(?:[:<|&]|=>|\bas|\bextends|\bsatisfies)\s*any\b(?!\s*[(.])|,\s*any\s*[,>]|=\s*any\s*;/,
    within: ["src/", "migrations/", "test/", "bench/"],
    except: [],
    advice: "says `any`; use `unknown` and find out what it is",
  },
  {
    word: /^export default\b/m,
    within: ["src/", "migrations/", "test/", "bench/"],
    except: ["test/support/summary-reporter.ts"],
    advice: "has a default export; give what it exports a name",
  },
];

type Source = { path: string; text: string; code: string; imports: string[]; isTest: boolean };

const sources = ["src", "migrations", "test", "bench"].flatMap(readSources);
const paths = new Set(sources.map((source) => source.path));

function readSources(folder: string): Source[] {
  if (!existsSync(join(root, folder))) return [];
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".ts"))
    .map((name) => {
      const path = join(folder, name);
      const text = readFileSync(join(root, path), "utf8");
      const code = withoutComments(text);
      return { path, text, code: withoutTexts(code), imports: importsOf(code), isTest: isTest(path) };
    });
}

function isTest(path: string): boolean {
  return path.endsWith(".test.ts") || path.startsWith("test/") || path.startsWith("bench/");
}

/** Strings are matched too, so that `//` within them is left alone; line ends stay, so that line numbers do. */
function withoutComments(text: string): string {
  return text.replace(
    /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*/g,
    (all: string, literal: string | undefined) => literal ?? all.replace(/[^\n]/g, ""),
  );
}

function withoutTexts(code: string): string {
  return code.replace(/"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g, '""');
}

function importsOf(code: string): string[] {
  const found = code.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^;"']*?\bfrom\s*["']([^"']+)["']|\bimport\(?\s*["']([^"']+)["']/g,
  );
  return [...found].map((match) => match[1] ?? match[2] ?? "");
}

/** The project path of a relative import, or the name of a package. */
function target(source: Source, specifier: string): string {
  if (!specifier.startsWith(".")) return specifier;
  return relative(root, resolve(root, dirname(source.path), specifier)).replace(/\.js$/, ".ts");
}

function layerOf(path: string): { path: string; mayImport: string[] } | undefined {
  return layers.find((layer) => path.startsWith(layer.path));
}

const production = sources.filter((source) => !source.isTest);

test("every source file is in a layer", () => {
  expect(
    production
      .filter((source) => layerOf(source.path) === undefined)
      .map(({ path }) => `${path} is in no layer; move it into one, or add its layer here.`),
  ).toEqual([]);
});

test("layers import only what they may", () => {
  const wrong = production.flatMap((source) => {
    const layer = layerOf(source.path);
    return source.imports
      .filter((specifier) => specifier.startsWith("."))
      .map((specifier) => target(source, specifier))
      .filter((path) => layer && ![layer.path, ...layer.mayImport].some((prefix) => path.startsWith(prefix)))
      .map((path) => {
        const allowed = [...(layer?.mayImport ?? [])].join(", ") || "nothing of ours";
        return `${source.path} may not import ${path}: ${layer?.path} may import ${allowed}. Move the code, or pass in what it needs.`;
      });
  });
  expect(wrong).toEqual([]);
});

test("every storey has a folder per noun, and no others", () => {
  const wrong = Object.entries(STOREYS).flatMap(([storey, more]) =>
    readdirSync(join(root, storey), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && ![...NOUNS, "common", ...more].includes(entry.name))
      .map(({ name }) => `${storey}/${name} is no noun; use one of ${NOUNS.join(", ")} or common.`),
  );
  expect(wrong).toEqual([]);
});

test("no folder has more files than one can take in", () => {
  const counts = new Map<string, number>();
  for (const { path } of production) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  counts.delete("migrations");
  const wrong = [...counts]
    .filter(([, files]) => files > MAX_FILES_PER_FOLDER)
    .map(([folder, files]) => `${folder} has ${files} files; give the ones that belong together a folder.`);
  expect(wrong).toEqual([]);
});

test("imports lead to files that exist", () => {
  const wrong = sources.flatMap((source) =>
    source.imports
      .filter((specifier) => specifier.startsWith(".") && specifier.endsWith(".js"))
      .map((specifier) => target(source, specifier))
      .filter((path) => !paths.has(path) && !existsSync(join(root, path)))
      .map((path) => `${source.path} imports ${path}, which does not exist.`),
  );
  expect(wrong).toEqual([]);
});

test("packages are imported only where they are wrapped", () => {
  const wrong = production.flatMap((source) =>
    source.imports.flatMap((specifier) =>
      packages
        .filter(
          ({ name, homes }) => name.test(specifier) && !homes.some((home) => source.path.startsWith(home)),
        )
        .map(
          (rule) =>
            `${source.path} may not import "${specifier}": such code goes into ${rule.homes.join(" or ")}.`,
        ),
    ),
  );
  expect(wrong).toEqual([]);
});

test("of the commands only serve loads the server", () => {
  const ofServe = ["src/cli/serve.ts", "src/cli/welcome.ts"];
  const loading = sources
    .filter(({ path }) => path.startsWith("src/cli/") && !ofServe.includes(path))
    // `import()` when the command runs is fine.
    .filter(({ text }) => /^import (?!type )[^;]*\/(compose\/server|serve)\.js"/m.test(text));
  expect(loading.map(({ path }) => path)).toEqual([]);
});

test("modules that test files share have no hooks of their own", () => {
  // Files of a worker share their modules, so such a hook would belong to the first of them only.
  const setUps = ["test/support/leaks/check-leaks.ts"];
  const hooked = sources
    .filter(({ path }) => path.startsWith("test/") && !path.endsWith(".test.ts") && !setUps.includes(path))
    .filter(({ code }) => /^(before|after)(All|Each)\(/m.test(code));
  expect(hooked.map(({ path }) => path)).toEqual([]);
});

test("no file imports itself by a detour", () => {
  expect(
    findCycles().map((cycle) => `${cycle.join(" -> ")} is a circle; move what they share into a third file.`),
  ).toEqual([]);
});

/** Each circle of imports once, as the path that leads back to its beginning. Type-only imports count too. */
function findCycles(): string[][] {
  const edges = new Map(
    sources.map((source) => [source.path, source.imports.map((it) => target(source, it))]),
  );
  const done = new Set<string>();
  const cycles: string[][] = [];
  const walk = (path: string, trail: string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.push([...trail.slice(start), path]);
    if (start >= 0 || done.has(path)) return;
    for (const next of edges.get(path) ?? []) if (paths.has(next)) walk(next, [...trail, path]);
    done.add(path);
  };
  for (const path of paths) walk(path, []);
  return cycles;
}

test.each(words)("no file $advice", ({ word, within, except, advice }) => {
  const inTests = within.includes("test/");
  const wrong = sources
    .filter(
      (source) =>
        (inTests || !source.isTest) && within.some((beginning) => source.path.startsWith(beginning)),
    )
    .filter((source) => !except.includes(source.path) && word.test(source.code))
    .map((source) => `${source.path}:${lineOf(source.code, word)} ${advice}.`);
  expect(wrong).toEqual([]);
});

/** Comments left their line ends behind, so the number is right. */
function lineOf(code: string, word: RegExp): number {
  return code.slice(0, code.search(word)).split("\n").length;
}

test("no file is longer than one sitting's reading", () => {
  const wrong = sources
    .map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }))
    .filter(({ lines }) => lines > LONGEST_FILE_LINES)
    .map(
      ({ path, lines }) =>
        `${path} has ${lines} lines; split it where policy, state and input or output meet.`,
    );
  expect(wrong).toEqual([]);
});
