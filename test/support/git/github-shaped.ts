// Server that imitates the GitHub Enterprise API as far as Parley uses it: users, projects, pull requests, comparisons.
import {
  type Answering,
  numbersOf,
  projectAt,
  type ShapedAnswer,
  type ShapedHost,
  type ShapedProject,
  type ShapedPull,
  type ShapedRequest,
  startShapedHost,
  unifiedOf,
} from "./git-host-server.js";

const ROOT = "/api/v3";

const github: Answering = {
  headers: { "x-github-enterprise-version": "3.18.0", "x-github-request-id": "tests" },
  unauthorized: { status: 401, body: { message: "Bad credentials" } },
  isOpen: (path) => path === `${ROOT}/meta`,
  answer: (request, host) => (request.path.startsWith(ROOT) ? answer(request, host) : null),
};

export function startGitHubShaped(): Promise<ShapedHost> {
  return startShapedHost(github);
}

function answer(request: ShapedRequest, host: ShapedHost): ShapedAnswer | null {
  const path = request.path.slice(ROOT.length);
  if (path === "/meta") return ok({ installed_version: "3.18.0" });
  if (path === "/user") return ok({ login: request.login });
  const [, name = "", rest = ""] = /^\/repos\/([^/]+\/[^/]+)(.*)$/.exec(path) ?? [];
  const project = projectAt(host, name);
  return project
    ? ofProject(request, { host: host.host, name, project, rest: decodeURIComponent(rest) })
    : null;
}

type Route = { host: string; name: string; project: ShapedProject; rest: string };

function ofProject(request: ShapedRequest, route: Route): ShapedAnswer | null {
  const { project, rest, name } = route;
  const wantsDiff = request.accept.includes("diff");
  if (rest === "") return ok({ full_name: name, default_branch: project.defaultBranch });
  const [, basehead] = /^\/compare\/(.+)$/.exec(rest) ?? [];
  if (basehead) return comparison(route, basehead, wantsDiff);
  if (rest === "/pulls") {
    const [owner = "", branch = ""] = (request.query.get("head") ?? "").split(":");
    const isAsked = (pull: ShapedPull) =>
      name.startsWith(`${owner}/`) && pull.branch === branch && pull.state === request.query.get("state");
    return ok(project.pulls.filter(isAsked).map((pull) => shown(route, pull)));
  }
  const [, number, about] = /^\/pulls\/(\d+)(\/reviews)?$/.exec(rest) ?? [];
  const pull = project.pulls.find((it) => it.number === Number(number));
  if (!pull) return null;
  if (about) return ok(pull.reviews.map(({ reviewer, state }) => ({ user: { login: reviewer }, state })));
  if (wantsDiff) return { status: 200, body: unifiedOf(project.branches.get(pull.branch) ?? []) };
  return ok(shown(route, pull));
}

function shown({ host, name, project }: Route, pull: ShapedPull): object {
  const { additions, deletions, files } = numbersOf(project.branches.get(pull.branch) ?? []);
  return {
    ...{ number: pull.number, title: pull.title, draft: pull.isDraft, additions, deletions },
    changed_files: files,
    state: pull.state === "open" ? "open" : "closed",
    merged_at: pull.state === "merged" ? "2026-01-02T03:04:05Z" : null,
    html_url: `${host}/${name}/pull/${pull.number}`,
    user: pull.author === null ? null : { login: pull.author },
    head: { ref: pull.branch },
    base: { ref: project.defaultBranch },
  };
}

function comparison(
  { host, name, project }: Route,
  basehead: string,
  wantsDiff: boolean,
): ShapedAnswer | null {
  const [base, branch = ""] = basehead.split("...");
  const files = project.branches.get(branch);
  if (base !== project.defaultBranch || !files) return null;
  if (wantsDiff) return { status: 200, body: unifiedOf(files) };
  return ok({
    html_url: `${host}/${name}/compare/${basehead}`,
    files: files.map((file) => ({ filename: file.path, ...numbersOf([file]) })),
  });
}

function ok(body: unknown): ShapedAnswer {
  return { status: 200, body };
}
