/** How the branch that a chat works on stands at its git host. */
import { Field, ID, InputType, Int, ObjectType } from "type-graphql";
import type { PullRequestState } from "../../domain/git/branch-facts.js";
import { PullRequestStateEnum } from "../common/enums.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { UrlScalar } from "../scalars/url.js";
import { UserError } from "../common/user-error.interface.js";

@ObjectType("PullRequest", {
  simpleResolvers: true,
  description: "A pull request at GitHub, or a merge request at GitLab.",
})
export class PullRequest {
  @Field(() => Int, { description: "What it is called by within its project." })
  number!: number;

  @Field(() => String, { description: "As at the host." })
  title!: string;

  @Field(() => PullRequestStateEnum, { description: "How it stands." })
  state!: PullRequestState;

  @Field(() => Boolean, { description: "Whether its author still works on it." })
  isDraft!: boolean;

  @Field(() => Boolean, {
    description:
      "Whether some reviewer wants changes: of each reviewer the last review counts that approved, asked for changes or was dismissed.",
  })
  hasChangesRequested!: boolean;

  @Field(() => String, { nullable: true, description: "Who opened it; null when the account is gone." })
  authorLogin!: string | null;
}

@ObjectType("DiffStatus", {
  simpleResolvers: true,
  description:
    "How the branch that a chat last fetched or pushed stands at its git host. The numbers are those of the pull request, else of the branch against the default branch; 0 for a branch that is not there.",
})
export class DiffStatus {
  @Field(() => UrlScalar, {
    nullable: true,
    description: "The page of the pull request, else of the comparison; null while the branch is not there.",
  })
  url!: string | null;

  @Field(() => Int, { description: "Lines added." })
  additions!: number;

  @Field(() => Int, { description: "Lines taken away." })
  deletions!: number;

  @Field(() => Int, { description: "Files that differ; at GitHub at most 300 without a pull request." })
  changedFiles!: number;

  @Field(() => String, { nullable: true, description: "The branch." })
  headBranch!: string | null;

  @Field(() => String, {
    nullable: true,
    description: "What it is to be merged into, or is compared with; null while that is not known.",
  })
  baseBranch!: string | null;

  @Field(() => PullRequest, { nullable: true, description: "Null while the branch has none." })
  pullRequest!: PullRequest | null;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: "When the host was last asked with success; null before the first time. Not told by events.",
  })
  refreshedAt!: Date | null;

  @Field(() => Boolean, {
    description:
      "Whether it may be out of date: the chat has spoken with the host since, the host did not answer when it was asked, there is no token for it, or it was not asked for an hour.",
  })
  isStale!: boolean;
}

@ObjectType("Diff", {
  simpleResolvers: true,
  description: "The changes of the branch that a chat works on, as its git host has them.",
})
export class Diff {
  @Field(() => String, {
    nullable: true,
    description: "Where the branch is pushed to, without passwords or tokens.",
  })
  remoteOrigin!: string | null;

  @Field(() => String, { nullable: true, description: "The branch." })
  branch!: string | null;

  @Field(() => String, {
    description: "Of the pull request, else of the branch against the default branch. At most 4 MiB.",
  })
  unified!: string;

  @Field(() => Boolean, {
    description:
      "Whether it is larger than that, or than the host shows; `unified` then says so in one line instead.",
  })
  isTruncated!: boolean;
}

@InputType("RefreshChatDiffInput", { description: "A chat of whose branch the git host is to be asked now." })
export class RefreshChatDiffInput {
  @Field(() => ID, { description: "The chat." })
  chatId!: string;
}

@ObjectType("RefreshChatDiffPayload", {
  simpleResolvers: true,
  description: "How the chat's branch stands now.",
})
export class RefreshChatDiffPayload {
  @Field(() => DiffStatus, {
    nullable: true,
    description: "As the host has just told it; null when it was refused.",
  })
  diffStatus!: DiffStatus | null;

  @Field(() => [UserError], {
    description: "Why the host was not asked, or did not answer; empty on success.",
  })
  userErrors!: UserError[];
}
