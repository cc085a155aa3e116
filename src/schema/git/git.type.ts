/** What differs from the last commit in the repositories that a chat works in. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import { DateTimeScalar } from "../scalars/date-time.js";
import { UserError } from "../common/user-error.interface.js";

@ObjectType("GitRepository", {
  simpleResolvers: true,
  description: "One repository that a chat works in, as its working tree stands.",
})
export class GitRepository {
  @Field(() => String, { description: "The working tree's absolute path in the workspace." })
  root!: string;

  @Field(() => String, { nullable: true, description: "The branch; null when none is checked out." })
  branch!: string | null;

  @Field(() => String, {
    nullable: true,
    description: "The address of the remote called origin, without passwords or tokens; null without one.",
  })
  remoteOrigin!: string | null;

  @Field(() => String, {
    description:
      "All that differs from the last commit, staged or not, as `git diff HEAD` says it, and after it each untracked file as a new one. Bytes that are not UTF-8 are shown as U+FFFD.",
  })
  unifiedDiff!: string;

  @Field(() => Boolean, {
    description: "Whether the diff is too large to be shown; `unifiedDiff` then says so in one line instead.",
  })
  isTruncated!: boolean;
}

@ObjectType("GitSnapshot", {
  simpleResolvers: true,
  description: "All repositories that a chat works in, at one moment.",
})
export class GitSnapshot {
  @Field(() => [GitRepository], { description: "Sorted by root; at most 32." })
  repositories!: GitRepository[];

  @Field(() => DateTimeScalar, { description: "When the workspace was last looked at." })
  scannedAt!: number;
}

@InputType("RefreshChatGitInput", { description: "A chat whose repositories are to be looked at now." })
export class RefreshChatGitInput {
  @Field(() => ID, { description: "The chat." })
  chatId!: string;
}

@ObjectType("RefreshChatGitPayload", {
  simpleResolvers: true,
  description: "The chat's repositories as they are now.",
})
export class RefreshChatGitPayload {
  @Field(() => GitSnapshot, {
    nullable: true,
    description: "Made after the request; null when it was refused.",
  })
  git!: GitSnapshot | null;

  @Field(() => [UserError], { description: "Why nothing was looked at; empty on success." })
  userErrors!: UserError[];
}
