// Server that imitates the GitLab API as far as Parley uses it: users, projects, merge requests, comparisons, numbers.
import {
  type Answering,
  numbersOf,
  projectAt,
  type ShapedAnswer,
  type ShapedFile,
  type ShapedHost,
  type ShapedProject,
  type ShapedPull,
  type ShapedRequest,
  startShapedHost,
} from "./git-host-server.js";

const ROOT = "/api/v4";

const gitlab: Answering = {
  headers: { "x-gitlab-meta": '{"correlation_id":"tests","version":"1"}' },
  unauthorized: { status: 401, body: { message: "401 Unauthorized" } },
  // Its identification needs a token, too; the refusal identifies it.
  isOpen: () => false,
  answer: (request, host) =>
    request.path === "/api/graphql" ? statistics(request, host) : answer(request, host),
};

export function startGitLabShaped(): Promise<ShapedHost> {
  return startShapedHost(gitlab);
}

function answer(request: ShapedRequest, host: ShapedHost): ShapedAnswer | null {
  if (!request.path.startsWith(ROOT)) return null;
  const path = request.path.slice(ROOT.length);
  if (path === "/user") return ok({ username: request.login });
  const [, encoded = "", rest = ""] = /^\/projects\/([^/]+)(.*)$/.exec(path) ?? [];
  const name = decodeURIComponent(encoded);
  const project = projectAt(host, name);
  return project ? ofProject(request, { host: host.host, name, project, rest }) : null;
}

type Route = { host: string; name: string; project: ShapedProject; rest: string };

function ofProject(request: ShapedRequest, route: Route): ShapedAnswer | null {
  const { project, rest, host, name } = route;
  if (rest === "") return ok({ default_branch: project.defaultBranch, web_url: `${host}/${name}` });
  if (rest === "/repository/compare") {
    const files = project.branches.get(request.query.get("to") ?? "");
    const isKnown = request.query.get("from") === project.defaultBranch && files;
    return isKnown ? ok({ diffs: files.map(differing) }) : null;
  }
  if (rest === "/merge_requests") {
    const state = request.query.get("state") === "opened" ? "open" : request.query.get("state");
    const branch = request.query.get("source_branch");
    return ok(
      project.pulls
        .filter((pull) => pull.branch === branch && pull.state === state)
        .map((pull) => shown(route, pull)),
    );
  }
  const [, number, about] = /^\/merge_requests\/(\d+)(\/\w+)?$/.exec(rest) ?? [];
  const pull = project.pulls.find((it) => it.number === Number(number));
  if (!pull) return null;
  const page = Number(request.query.get("page") ?? "1");
  if (about === "/reviewers") return ok(reviewersOf(pull));
  if (about === "/diffs")
    return ok((project.branches.get(pull.branch) ?? []).slice((page - 1) * 100, page * 100).map(differing));
  return ok(shown(route, pull));
}

/** The last decisive review of each reviewer. */
function reviewersOf({ reviews }: ShapedPull): object[] {
  const states: Record<string, string> = { APPROVED: "approved", CHANGES_REQUESTED: "requested_changes" };
  const last = new Map(reviews.map(({ reviewer, state }) => [reviewer, states[state] ?? "reviewed"]));
  return [...last].map(([username, state]) => ({ user: { username }, state }));
}

function shown({ host, name, project }: Route, pull: ShapedPull): object {
  return {
    ...{ iid: pull.number, title: pull.title, draft: pull.isDraft },
    state: pull.state === "open" ? "opened" : pull.state,
    web_url: `${host}/${name}/-/merge_requests/${pull.number}`,
    ...{ source_branch: pull.branch, target_branch: project.defaultBranch },
    author: pull.author === null ? null : { username: pull.author },
  };
}

function differing({ path, hunk, isNew = false }: ShapedFile): object {
  const modes = { a_mode: isNew ? "0" : "100644", b_mode: "100644" };
  const flags = { new_file: isNew, renamed_file: false, deleted_file: false };
  return { old_path: path, new_path: path, ...modes, ...flags, diff: hunk };
}

function statistics({ body, method }: ShapedRequest, host: ShapedHost): ShapedAnswer | null {
  if (method !== "POST") return null;
  const { variables } = JSON.parse(body) as { variables: { path: string; iid: string } };
  const project = projectAt(host, variables.path);
  const pull = project?.pulls.find(({ number }) => String(number) === variables.iid);
  const numbers = numbersOf(project?.branches.get(pull?.branch ?? "") ?? []);
  const { additions, deletions, files: fileCount } = numbers;
  const mergeRequest = pull ? { diffStatsSummary: { additions, deletions, fileCount } } : null;
  return ok({ data: { project: project ? { mergeRequest } : null } });
}

function ok(body: unknown): ShapedAnswer {
  return { status: 200, body };
}
