/** All resolvers, for the schema. The import for its effect must stay first: decorators need it while they load. */
import "reflect-metadata";
import { ChatCommandsResolver } from "./chat-commands.resolver.js";
import { ChatContextResolver } from "./chat-context.resolver.js";
import { ChatEventsResolver } from "./chat-events.resolver.js";
import { ChatGitResolver } from "./chat-git.resolver.js";
import { ChatListEventsResolver } from "./chat-list-events.resolver.js";
import { ChatMetadataResolver } from "./chat-metadata.resolver.js";
import { ChatReadingResolver } from "./chat-reading.resolver.js";
import { ChatResolver } from "./chat.resolver.js";
import { GitConnectionResolver } from "./git-connection.resolver.js";
import { DeploymentResolver } from "./deployment.resolver.js";
import { ChatMessageResolver, QueuedMessageResolver } from "./message.resolver.js";
import { ModelConfigResolver, ModelProviderResolver } from "./model.resolver.js";
import { NodeResolver } from "./node.resolver.js";
import { UserPreferencesResolver, ViewerPreferencesResolver } from "./user-preferences.resolver.js";
import { ViewerResolver } from "./user.resolver.js";
import { WorkspaceResolver } from "./workspace.resolver.js";

export const resolvers = [
  ViewerResolver,
  ViewerPreferencesResolver,
  UserPreferencesResolver,
  ChatResolver,
  ChatMessageResolver,
  QueuedMessageResolver,
  ChatCommandsResolver,
  ChatContextResolver,
  ChatMetadataResolver,
  ChatEventsResolver,
  ChatListEventsResolver,
  ChatReadingResolver,
  ChatGitResolver,
  ModelProviderResolver,
  ModelConfigResolver,
  WorkspaceResolver,
  DeploymentResolver,
  GitConnectionResolver,
  NodeResolver,
] as const;
