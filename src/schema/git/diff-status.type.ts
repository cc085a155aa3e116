/** Status of a chat's branch on its Git host. */
import { Field, ID, InputType, Int, ObjectType } from "type-graphql";
import type { PullRequestState } from "../../domain/git/branch-facts.js";
import { PullRequestStateEnum } from "../common/enums.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { UrlScalar } from "../scalars/url.js";
import { UserError } from "../common/user-error.interface.js";

@ObjectType("PullRequest", {
  simpleResolvers: true,
  description: "A pull request on GitHub, or a merge request on GitLab.",
})
export class PullRequest {
  @Field(() => Int, { description: "The pull request's number within its project." })
  number!: number;

  @Field(() => String, { description: "The pull request's title." })
  title!: string;

  @Field(() => PullRequestStateEnum, { description: "The pull request's state." })
  state!: PullRequestState;

  @Field(() => Boolean, { description: "Whether the pull request is a draft." })
  isDraft!: boolean;

  @Field(() => Boolean, {
    description:
      "Whether a reviewer requested changes. For each reviewer, only the last review that approved, requested changes or was dismissed counts.",
  })
  hasChangesRequested!: boolean;

  @Field(() => String, {
    nullable: true,
    description: "The author's login. Null if the account no longer exists.",
  })
  authorLogin!: string | null;
}

@ObjectType("DiffStatus", {
  simpleResolvers: true,
  description:
    "Status on its Git host of the branch that the chat last fetched or pushed. The numbers are those of the pull request, or else of the branch compared with the default branch. 0 if the branch does not exist on the host.",
})
export class DiffStatus {
  @Field(() => UrlScalar, {
    nullable: true,
    description:
      "Web page of the pull request, or else of the comparison. Null if the branch does not exist on the host.",
  })
  url!: string | null;

  @Field(() => Int, { description: "Number of added lines." })
  additions!: number;

  @Field(() => Int, { description: "Number of deleted lines." })
  deletions!: number;

  @Field(() => Int, {
    description: "Number of changed files. Without a pull request, GitHub reports at most 300.",
  })
  changedFiles!: number;

  @Field(() => String, { nullable: true, description: "The branch." })
  headBranch!: string | null;

  @Field(() => String, {
    nullable: true,
    description:
      "The branch that the pull request targets or that the branch is compared with. Null if unknown.",
  })
  baseBranch!: string | null;

  @Field(() => PullRequest, {
    nullable: true,
    description: "The branch's pull request. Null if there is none.",
  })
  pullRequest!: PullRequest | null;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description:
      "When the status was last fetched successfully. Null if it never was. Changes of this field alone do not cause events.",
  })
  refreshedAt!: Date | null;

  @Field(() => Boolean, {
    description:
      "Whether the status may be outdated: the chat has accessed the host since, the last refresh failed, there is no token for the host, or the last refresh was more than an hour ago.",
  })
  isStale!: boolean;
}

@ObjectType("Diff", {
  simpleResolvers: true,
  description: "The changes of a chat's branch, as known to its Git host.",
})
export class Diff {
  @Field(() => String, {
    nullable: true,
    description: "URL of the remote the branch is pushed to, without credentials.",
  })
  remoteOrigin!: string | null;

  @Field(() => String, { nullable: true, description: "The branch." })
  branch!: string | null;

  @Field(() => String, {
    description:
      "The unified diff of the pull request, or else of the branch against the default branch. At most 4 MiB.",
  })
  unified!: string;

  @Field(() => Boolean, {
    description:
      "Whether the diff was omitted because it exceeds that size or the host's own limit. `unified` then contains a one-line notice.",
  })
  isTruncated!: boolean;
}

@InputType("RefreshChatDiffInput", { description: "Input of `refreshChatDiff`." })
export class RefreshChatDiffInput {
  @Field(() => ID, { description: "The chat." })
  chatId!: string;
}

@ObjectType("RefreshChatDiffPayload", {
  simpleResolvers: true,
  description: "The current status of the chat's branch.",
})
export class RefreshChatDiffPayload {
  @Field(() => DiffStatus, {
    nullable: true,
    description: "The diff status as just fetched from the host. Null if the mutation was refused.",
  })
  diffStatus!: DiffStatus | null;

  @Field(() => [UserError], {
    description: "Why the host was not asked or did not respond. Empty on success.",
  })
  userErrors!: UserError[];
}
