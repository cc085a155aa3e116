/** The parts of a message. */
import { Field, ID, Int, ObjectType, createUnionType } from "type-graphql";
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import type { NoticeLevel } from "../../domain/chats/message-parts.js";
import { NoticeLevelEnum } from "../common/enums.js";
import { File } from "../files/file.type.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { JsonScalar } from "../scalars/json.js";
import { UrlScalar } from "../scalars/url.js";

@ObjectType("TextPart", { simpleResolvers: true, description: "Markdown text." })
export class TextPart {
  readonly __typename!: "TextPart";

  @Field(() => String, { description: "The text." })
  text!: string;
}

@ObjectType("ReasoningPart", { simpleResolvers: true, description: "The model's reasoning." })
export class ReasoningPart {
  readonly __typename!: "ReasoningPart";

  @Field(() => String, { description: "The reasoning text shown by the vendor; may be a summary." })
  text!: string;

  @Field(() => Boolean, { description: "Whether the vendor hid the text." })
  isRedacted!: boolean;
}

@ObjectType("ToolCallPart", { simpleResolvers: true, description: "A tool call requested by the model." })
export class ToolCallPart {
  readonly __typename!: "ToolCallPart";
  mcpServerId!: string | null;

  @Field(() => ID, { description: "ID that links the call to its result." })
  toolCallId!: string;

  @Field(() => String, { description: "The tool's name." })
  toolName!: string;

  @Field(() => JsonScalar, { description: "The arguments: an object that follows the tool's schema." })
  arguments!: JsonObject;

  @Field(() => Boolean, {
    description: "Whether the tool is run by the model's vendor (for example web search) and not by Parley.",
  })
  isProviderExecuted!: boolean;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description:
      "When the model finished requesting the call; its duration is in the result. Null in messages saved by earlier versions.",
  })
  startedAt!: number | null;
}

@ObjectType("ToolResultPart", { simpleResolvers: true, description: "The result of a tool call." })
export class ToolResultPart {
  readonly __typename!: "ToolResultPart";

  @Field(() => ID, { description: "ID of the tool call." })
  toolCallId!: string;

  @Field(() => String, { description: "The tool's name." })
  toolName!: string;

  @Field(() => JsonScalar, {
    nullable: true,
    description: "The tool's return value, in a format defined by the tool. May be null.",
  })
  result!: JsonValue;

  @Field(() => Boolean, { description: "Whether the tool failed." })
  isError!: boolean;

  @Field(() => [File], {
    description: "Files returned by the tool, such as images and documents.",
  })
  files!: File[];

  @Field(() => Boolean, { description: "Whether the tool was run by the model's vendor and not by Parley." })
  isProviderExecuted!: boolean;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description:
      "When the tool started: together with the other calls of the response, once that is complete. For calls run by the client or the vendor, and for those that outlive a server, when the model finished requesting the call. Null in messages saved by earlier versions.",
  })
  startedAt!: number | null;

  @Field(() => Int, {
    nullable: true,
    description:
      "Time from `startedAt` to this result, in milliseconds. Null in messages saved by earlier versions.",
  })
  durationMs!: number | null;
}

@ObjectType("SourcePart", { simpleResolvers: true, description: "A page cited by the model." })
export class SourcePart {
  readonly __typename!: "SourcePart";

  @Field(() => String, { nullable: true, description: "The page's title, if the vendor reports it." })
  title!: string | null;

  @Field(() => UrlScalar, { description: "The page's URL." })
  url!: string;
}

@ObjectType("FileReferencePart", {
  simpleResolvers: true,
  description:
    "A reference to lines of a file in the workspace, with their content when the message was sent.",
})
export class FileReferencePart {
  readonly __typename!: "FileReferencePart";

  @Field(() => String, { description: "The file's path in the workspace." })
  path!: string;

  @Field(() => Int, { description: "The first line, counted from 1." })
  startLine!: number;

  @Field(() => Int, { description: "The last line, inclusive." })
  endLine!: number;

  @Field(() => String, { description: "The content of the lines." })
  content!: string;
}

@ObjectType("FilePart", { simpleResolvers: true, description: "An uploaded file." })
export class FilePart {
  readonly __typename!: "FilePart";

  @Field(() => File, { description: "The file." })
  file!: File;
}

@ObjectType("NoticePart", {
  simpleResolvers: true,
  description: "A notice from Parley to the user at the beginning of a response. Never sent to a model.",
})
export class NoticePart {
  readonly __typename!: "NoticePart";
  mcpServerId!: string | null;

  @Field(() => NoticeLevelEnum, { description: "The notice's severity." })
  level!: NoticeLevel;

  @Field(() => String, { description: "The text to show to the user; at most 1,000 characters." })
  text!: string;
}

export const MessagePartUnion = createUnionType({
  name: "MessagePart",
  description: "A part of a message. New members may be added: ignore unknown ones.",
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
