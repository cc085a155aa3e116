/** What a message is made of. */
import { Field, ID, Int, ObjectType, createUnionType } from "type-graphql";
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import type { NoticeLevel } from "../../domain/chats/message-parts.js";
import { NoticeLevelEnum } from "../common/enums.js";
import { File } from "../files/file.type.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { JsonScalar } from "../scalars/json.js";
import { UrlScalar } from "../scalars/url.js";

@ObjectType("TextPart", { simpleResolvers: true, description: "Plain text, as Markdown." })
export class TextPart {
  readonly __typename!: "TextPart";

  @Field(() => String, { description: "The text." })
  text!: string;
}

@ObjectType("ReasoningPart", { simpleResolvers: true, description: "The model's thinking." })
export class ReasoningPart {
  readonly __typename!: "ReasoningPart";

  @Field(() => String, { description: "What the vendor shows of it; may be a summary." })
  text!: string;

  @Field(() => Boolean, { description: "Whether the vendor hid the words." })
  isRedacted!: boolean;
}

@ObjectType("ToolCallPart", { simpleResolvers: true, description: "The model asks for a tool." })
export class ToolCallPart {
  readonly __typename!: "ToolCallPart";
  mcpServerId!: string | null;

  @Field(() => ID, { description: "Ties the result to this call." })
  toolCallId!: string;

  @Field(() => String, { description: "The tool's name." })
  toolName!: string;

  @Field(() => JsonScalar, { description: "An object in the form that the tool's schema asks for." })
  arguments!: JsonObject;

  @Field(() => Boolean, {
    description: "Run by the model's own vendor (for example web search), not by us.",
  })
  isProviderExecuted!: boolean;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description:
      "When the model had asked for it; how long it took is in its result. Null in messages of earlier versions.",
  })
  startedAt!: number | null;
}

@ObjectType("ToolResultPart", { simpleResolvers: true, description: "The answer to one tool call." })
export class ToolResultPart {
  readonly __typename!: "ToolResultPart";

  @Field(() => ID, { description: "The call that this answers." })
  toolCallId!: string;

  @Field(() => String, { description: "The tool's name." })
  toolName!: string;

  @Field(() => JsonScalar, {
    nullable: true,
    description: "What the tool returned, in a shape of the tool's own; null is what a tool may return, too.",
  })
  result!: JsonValue;

  @Field(() => Boolean, { description: "Whether the tool failed." })
  isError!: boolean;

  @Field(() => [File], {
    description: "Pictures, documents and the like that the tool gave besides its words.",
  })
  files!: File[];

  @Field(() => Boolean, { description: "Run by the model's own vendor, not by us." })
  isProviderExecuted!: boolean;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description:
      "When the tool began to run: with the other calls of the answer, as soon as that is whole. Of calls that the client or the vendor runs, and of those that outlive a server, when the model had asked. Null in messages of earlier versions.",
  })
  startedAt!: number | null;

  @Field(() => Int, {
    nullable: true,
    description: "Milliseconds from `startedAt` to this result. Null in messages of earlier versions.",
  })
  durationMs!: number | null;
}

@ObjectType("SourcePart", { simpleResolvers: true, description: "A page that the model cites." })
export class SourcePart {
  readonly __typename!: "SourcePart";

  @Field(() => String, { nullable: true, description: "The page's title, when the vendor tells it." })
  title!: string | null;

  @Field(() => UrlScalar, { description: "The page." })
  url!: string;
}

@ObjectType("FileReferencePart", {
  simpleResolvers: true,
  description: "A pointer into a file in the workspace, with the lines as they were when it was sent.",
})
export class FileReferencePart {
  readonly __typename!: "FileReferencePart";

  @Field(() => String, { description: "The file's path in the workspace." })
  path!: string;

  @Field(() => Int, { description: "The first line, counted from 1." })
  startLine!: number;

  @Field(() => Int, { description: "The last line, included." })
  endLine!: number;

  @Field(() => String, { description: "The lines themselves." })
  content!: string;
}

@ObjectType("FilePart", { simpleResolvers: true, description: "An uploaded file, by reference." })
export class FilePart {
  readonly __typename!: "FilePart";

  @Field(() => File, { description: "The file." })
  file!: File;
}

@ObjectType("NoticePart", {
  simpleResolvers: true,
  description: "What Parley itself tells people, at the beginning of an answer. No model ever sees it.",
})
export class NoticePart {
  readonly __typename!: "NoticePart";
  mcpServerId!: string | null;

  @Field(() => NoticeLevelEnum, { description: "How much it asks of its reader." })
  level!: NoticeLevel;

  @Field(() => String, { description: "A sentence for people; at most 1,000 characters." })
  text!: string;
}

export const MessagePartUnion = createUnionType({
  name: "MessagePart",
  description: "One piece of a message. May grow: ignore members that you do not know.",
  types: () =>
    [
      TextPart,
      ReasoningPart,
      ToolCallPart,
      ToolResultPart,
      SourcePart,
      FilePart,
      FileReferencePart,
      NoticePart,
    ] as const,
  resolveType: (part) => part.__typename,
});
export type MessagePart = typeof MessagePartUnion;
