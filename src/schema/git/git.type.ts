/** Uncommitted changes in the repositories that a chat works in. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import { DateTimeScalar } from "../scalars/date-time.js";
import { UserError } from "../common/user-error.interface.js";

@ObjectType("GitRepository", {
  simpleResolvers: true,
  description: "The working tree of a repository that a chat works in.",
})
export class GitRepository {
  @Field(() => String, { description: "Absolute path of the working tree in the workspace." })
  root!: string;

  @Field(() => String, { nullable: true, description: "The current branch. Null if none is checked out." })
  branch!: string | null;

  @Field(() => String, {
    nullable: true,
    description: "URL of the remote named `origin`, without credentials. Null if there is none.",
  })
  remoteOrigin!: string | null;

  @Field(() => String, {
    description:
      "All uncommitted changes, staged or not, as in `git diff HEAD`, followed by untracked files as new ones. Bytes that are not valid UTF-8 are replaced with U+FFFD.",
  })
  unifiedDiff!: string;

  @Field(() => Boolean, {
    description:
      "Whether the diff was omitted because it is too large. `unifiedDiff` then contains a one-line notice.",
  })
  isTruncated!: boolean;
}

@ObjectType("GitSnapshot", {
  simpleResolvers: true,
  description: "The repositories that a chat works in, at one point in time.",
})
export class GitSnapshot {
  @Field(() => [GitRepository], { description: "The repositories, sorted by root. At most 32." })
  repositories!: GitRepository[];

  @Field(() => DateTimeScalar, { description: "When the workspace was last scanned." })
  scannedAt!: number;
}

@InputType("RefreshChatGitInput", { description: "Input of `refreshChatGit`." })
export class RefreshChatGitInput {
  @Field(() => ID, { description: "The chat." })
  chatId!: string;
}

@ObjectType("RefreshChatGitPayload", {
  simpleResolvers: true,
  description: "The chat's repositories in their current state.",
})
export class RefreshChatGitPayload {
  @Field(() => GitSnapshot, {
    nullable: true,
    description: "A snapshot taken after the request. Null if the mutation was refused.",
  })
  git!: GitSnapshot | null;

  @Field(() => [UserError], { description: "Why no snapshot was taken. Empty on success." })
  userErrors!: UserError[];
}
