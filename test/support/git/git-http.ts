// Git host: git's own HTTP server behind basic authentication, with one bare repository.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export type GitHost = {
  /** Origin, without a path. */
  url: string;
  /** Of the repository `greeter`, one commit on `main`. */
  repositoryUrl: string;
  /** The credentials of all requests, in order, as `user:password`. */
  shown: string[];
  /** Runs git in the bare repository. */
  git(...words: string[]): Promise<string>;
  close(): Promise<void>;
};

/** Accepts the token as password, with any user name. */
export async function startGitHost(token: string): Promise<GitHost> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "parley-git-host-")));
  const bare = join(folder, "greeter.git");
  const env = { PATH: process.env["PATH"], HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };
  const git = async (...words: string[]) => (await run("git", words, { cwd: bare, env })).stdout;
  await run("git", ["init", "--quiet", "--bare", "--initial-branch=main", bare], { env });
  // The empty tree, which git knows without storing it.
  const tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
  const author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  const commit = (await git(...author, "commit-tree", tree, "-m", "Begin")).trim();
  await git("update-ref", "refs/heads/main", commit);
  const shown: string[] = [];
  const server = createServer((request, response) => {
    const [, basic = ""] = /^Basic (.+)$/.exec(request.headers.authorization ?? "") ?? [];
    const account = Buffer.from(basic, "base64").toString("utf8");
    if (account !== "") shown.push(account);
    if (account.slice(account.indexOf(":") + 1) === token) return serveGit(request, response, folder);
    response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end("Who are you?\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("A TCP server has a port.");
  const url = `http://127.0.0.1:${address.port}`;
  return {
    url,
    repositoryUrl: `${url}/greeter.git`,
    shown,
    git,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** `git http-backend` speaks CGI. */
function serveGit(request: IncomingMessage, response: ServerResponse, folder: string): void {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://host");
  const backend = spawn("git", ["http-backend"], {
    stdio: ["pipe", "pipe", "inherit"],
    env: {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: pathname,
      QUERY_STRING: searchParams.toString(),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      // Authenticated users may push.
      REMOTE_USER: "somebody",
      REMOTE_ADDR: "127.0.0.1",
    },
  });
  request.pipe(backend.stdin);
  backend.stdin.on("error", () => undefined);
  let head = Buffer.alloc(0);
  const readHead = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) return;
    backend.stdout.off("data", readHead);
    const headers = head
      .subarray(0, end)
      .toString()
      .split("\r\n")
      .map((line) => line.split(": ", 2) as [string, string]);
    const status = headers.find(([name]) => name.toLowerCase() === "status")?.[1];
    response.writeHead(status === undefined ? 200 : Number.parseInt(status, 10), Object.fromEntries(headers));
    response.write(head.subarray(end + 4));
    backend.stdout.pipe(response);
  };
  backend.stdout.on("data", readHead);
}
