// Base of the test git hosts that imitate GitHub and GitLab: projects with branches and pull requests, and tokens.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** `hunk` as in `@@ -1 +1,2 @@\n one\n+two\n`. */
export type ShapedFile = { path: string; hunk: string; isNew?: boolean };

export type ShapedPull = {
  number: number;
  branch: string;
  title: string;
  state: "open" | "closed" | "merged";
  isDraft: boolean;
  author: string | null;
  /** In the order in which they were given; `state` in GitHub's words. */
  reviews: { reviewer: string; state: "APPROVED" | "CHANGES_REQUESTED" | "COMMENTED" | "DISMISSED" }[];
};

export type ShapedProject = {
  defaultBranch: string;
  /** What each differs by from the default branch. */
  branches: Map<string, ShapedFile[]>;
  pulls: ShapedPull[];
};

export type ShapedAnswer = { status: number; headers?: Record<string, string>; body: unknown };

export type ShapedHost = {
  /** The host as users enter it. */
  host: string;
  /** The remote origin of a project. */
  originOf(path: string): string;
  /** By path, as in `ada/greeter`. */
  projects: Map<string, ShapedProject>;
  /** Logins by valid token; delete one to revoke it. */
  logins: Map<string, string>;
  /** Requests as `GET /user`, in order; includes probes. */
  asked: string[];
  /** Response of every request while set. */
  failing: ShapedAnswer | null;
  /** Responses wait for it while set. */
  held: Promise<void> | null;
  /** Resolves when the next request arrives, even if its response has to wait. */
  arrival(): Promise<void>;
  /** Adds a pull request, open and without reviews unless said otherwise. */
  open(path: string, pull: Pick<ShapedPull, "number" | "branch"> & Partial<ShapedPull>): ShapedPull;
  close(): Promise<void>;
};

export type ShapedRequest = {
  method: string;
  /** Behind the root of the API. */
  path: string;
  query: URLSearchParams;
  accept: string;
  body: string;
  /** Login of the token's user; null without a token. */
  login: string | null;
};

export type Answering = {
  /** Of all answers. */
  headers: Record<string, string>;
  /** Null: not found. */
  answer(request: ShapedRequest, host: ShapedHost): ShapedAnswer | null;
  /** Response to a missing or revoked token. */
  unauthorized: ShapedAnswer;
  /** Paths that need no token. */
  isOpen(path: string): boolean;
};

export async function startShapedHost(answering: Answering): Promise<ShapedHost> {
  const server = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const waiting: (() => void)[] = [];
  const shaped: ShapedHost = {
    host: `http://127.0.0.1:${port}`,
    originOf: (path) => `http://127.0.0.1:${port}/${path}.git`,
    projects: new Map(),
    logins: new Map([["token-of-ada", "ada"]]),
    asked: [],
    failing: null,
    held: null,
    arrival: () => new Promise((resolve) => waiting.push(resolve)),
    open(path, given) {
      const pull: ShapedPull = {
        ...{ title: "Say hello", state: "open", isDraft: false, author: "ada", reviews: [] },
        ...given,
      };
      projectAt(shaped, path)?.pulls.push(pull);
      return pull;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", shaped.host);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    shaped.asked.push(`${request.method} ${url.pathname}${url.search}`);
    for (const arrived of waiting.splice(0)) arrived();
    await shaped.held;
    const token = /^(?:token|bearer) (.+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const asked: ShapedRequest = {
      method: request.method ?? "GET",
      path: url.pathname,
      query: url.searchParams,
      accept: request.headers.accept ?? "",
      body: Buffer.concat(chunks).toString("utf8"),
      login: shaped.logins.get(token) ?? null,
    };
    const reply = url.pathname.endsWith("/info/refs")
      ? answerToGit(request.headers.authorization !== undefined)
      : answerOf(answering, asked, shaped);
    const isText = typeof reply.body === "string";
    const type = isText ? "text/plain; charset=utf-8" : "application/json; charset=utf-8";
    response.writeHead(reply.status, { "content-type": type, ...answering.headers, ...reply.headers });
    response.end(isText ? reply.body : JSON.stringify(reply.body));
  };
  return shaped;
}

/** Git over HTTP: asks for a password, then finds nothing. */
function answerToGit(isAuthorized: boolean): ShapedAnswer {
  if (isAuthorized) return { status: 404, body: "no repository" };
  return { status: 401, headers: { "www-authenticate": 'Basic realm="git"' }, body: "who is there?" };
}

function answerOf(answering: Answering, asked: ShapedRequest, shaped: ShapedHost): ShapedAnswer {
  if (shaped.failing) return shaped.failing;
  if (asked.login === null && !answering.isOpen(asked.path)) return answering.unauthorized;
  return answering.answer(asked, shaped) ?? { status: 404, body: { message: "404 Not Found" } };
}

export function projectAt(shaped: ShapedHost, path: string): ShapedProject | undefined {
  return shaped.projects.get(path);
}

/** A project with `main` and one branch that changes two files. */
export function greeterProject(branch = "hello"): ShapedProject {
  const files: ShapedFile[] = [
    { path: "README.md", hunk: "@@ -1,2 +1,2 @@\n # Greeter\n-Silent\n+It says hello\n" },
    { path: "hello.txt", hunk: "@@ -0,0 +1,2 @@\n+hello\n+again\n", isNew: true },
  ];
  return { defaultBranch: "main", branches: new Map([[branch, files]]), pulls: [] };
}

export function numbersOf(files: readonly ShapedFile[]) {
  const lines = files.flatMap(({ hunk }) => hunk.split("\n"));
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return { additions: count("+"), deletions: count("-"), files: files.length };
}

/** As git prints it. */
export function unifiedOf(files: readonly ShapedFile[]): string {
  const one = ({ path, hunk, isNew }: ShapedFile) =>
    `diff --git a/${path} b/${path}\n${isNew ? "new file mode 100644\n" : ""}--- ${isNew ? "/dev/null" : `a/${path}`}\n+++ b/${path}\n${hunk}`;
  return files.map(one).join("");
}
