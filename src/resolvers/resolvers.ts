/** All resolvers, for the schema. The import for its effect must stay first: decorators need it while they load. */
import "reflect-metadata";
import { ApiTokenResolver } from "./api-token.resolver.js";
import { AuditLogResolver } from "./audit-log.resolver.js";
import { ChatCommandsResolver } from "./chat-commands.resolver.js";
import { ChatContextResolver } from "./chat-context.resolver.js";
import { ChatEventsResolver } from "./chat-events.resolver.js";
import { ChatFamilyResolver } from "./chat-family.resolver.js";
import { ChatGitResolver } from "./chat-git.resolver.js";
import { ChatListEventsResolver } from "./chat-list-events.resolver.js";
import { ChatMetadataResolver } from "./chat-metadata.resolver.js";
import { ChatReadingResolver } from "./chat-reading.resolver.js";
import { ChatResolver } from "./chat.resolver.js";
import { ChatFilesResolver, FileResolver } from "./file.resolver.js";
import { DiffStatusResolver } from "./diff-status.resolver.js";
import { GitHostAccountResolver } from "./git-host-account.resolver.js";
import {
  ChatCostLinksResolver,
  ChatCostResolver,
  CostSummaryResolver,
  ModelCostResolver,
  UserCostResolver,
  ViewerCostResolver,
} from "./cost.resolver.js";
import { DeploymentResolver, DeploymentSettingsResolver } from "./deployment.resolver.js";
import { ChatMessageResolver, QueuedMessageResolver } from "./message.resolver.js";
import { McpServerAdminResolver } from "./mcp-server-admin.resolver.js";
import { McpConnectionResolver } from "./mcp-connection.resolver.js";
import {
  ChatMcpServersResolver,
  McpAuthRequiredResolver,
  NoticeMcpServerResolver,
  ToolCallMcpServerResolver,
} from "./mcp-links.resolver.js";
import { McpToolsResolver } from "./mcp-tools.resolver.js";
import { McpServerResolver } from "./mcp-server.resolver.js";
import { ModelAdminResolver } from "./model-admin.resolver.js";
import { ModelCallResolver } from "./model-call.resolver.js";
import { ModelConfigResolver, ModelProviderResolver } from "./model.resolver.js";
import { PushKeyResolver, PushResolver } from "./push.resolver.js";
import { NodeResolver } from "./node.resolver.js";
import {
  UsageLimitOverrideResolver,
  UsageLimitPolicyResolver,
  UsageLimitResolver,
} from "./usage-limit.resolver.js";
import { StorageResolver } from "./storage.resolver.js";
import { ProviderKeyRequiredResolver, ProviderKeyResolver } from "./provider-key.resolver.js";
import { UserPreferencesResolver, ViewerPreferencesResolver } from "./user-preferences.resolver.js";
import { ViewerResolver } from "./user.resolver.js";
import { UserAdministrationResolver } from "./user-administration.resolver.js";
import { WorkspaceCommandsResolver } from "./workspace-commands.resolver.js";
import { WorkspaceTemplateResolver } from "./workspace-template.resolver.js";
import { WorkspaceResolver } from "./workspace.resolver.js";

export const resolvers = [
  PushResolver,
  PushKeyResolver,
  ViewerResolver,
  ApiTokenResolver,
  UserAdministrationResolver,
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
  ChatFamilyResolver,
  ChatGitResolver,
  ModelProviderResolver,
  ModelCallResolver,
  ModelConfigResolver,
  ModelAdminResolver,
  ProviderKeyResolver,
  ProviderKeyRequiredResolver,
  McpServerResolver,
  McpServerAdminResolver,
  McpConnectionResolver,
  ChatMcpServersResolver,
  ToolCallMcpServerResolver,
  NoticeMcpServerResolver,
  McpAuthRequiredResolver,
  McpToolsResolver,
  WorkspaceResolver,
  WorkspaceCommandsResolver,
  WorkspaceTemplateResolver,
  DeploymentResolver,
  DeploymentSettingsResolver,
  GitHostAccountResolver,
  DiffStatusResolver,
  FileResolver,
  ChatFilesResolver,
  AuditLogResolver,
  ViewerCostResolver,
  ChatCostResolver,
  CostSummaryResolver,
  ModelCostResolver,
  ChatCostLinksResolver,
  UserCostResolver,
  UsageLimitResolver,
  UsageLimitPolicyResolver,
  UsageLimitOverrideResolver,
  StorageResolver,
  NodeResolver,
] as const;
