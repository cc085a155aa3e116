/** The resolver classes of the schema. The side-effect import must stay first: decorators need it at load time. */
import "reflect-metadata";
import { ApiTokenResolver } from "./users/api-token.resolver.js";
import { AuditLogResolver } from "./users/audit-log.resolver.js";
import { ChatCommandsResolver } from "./chats/chat-commands.resolver.js";
import { ChatContextResolver } from "./chats/chat-context.resolver.js";
import { ChatEventsResolver } from "./chats/chat-events.resolver.js";
import { ChatFamilyResolver } from "./chats/chat-family.resolver.js";
import { ChatGitResolver } from "./git/chat-git.resolver.js";
import { ChatListEventsResolver } from "./chats/chat-list-events.resolver.js";
import { ChatMetadataResolver } from "./chats/chat-metadata.resolver.js";
import { ChatReadingResolver } from "./chats/chat-reading.resolver.js";
import { ChatResolver } from "./chats/chat.resolver.js";
import { ChatFilesResolver, FileResolver } from "./files/file.resolver.js";
import { DiffStatusResolver } from "./git/diff-status.resolver.js";
import { GitHostAccountResolver } from "./git/git-host-account.resolver.js";
import {
  ChatCostLinksResolver,
  ChatCostResolver,
  CostSummaryResolver,
  ModelCostResolver,
  UserCostResolver,
  ViewerCostResolver,
} from "./usage/cost.resolver.js";
import { DeploymentResolver, DeploymentSettingsResolver } from "./common/deployment.resolver.js";
import { ChatMessageResolver, QueuedMessageResolver } from "./chats/message.resolver.js";
import { McpServerAdminResolver } from "./mcp/mcp-server-admin.resolver.js";
import { McpConnectionResolver } from "./mcp/mcp-account.resolver.js";
import {
  ChatMcpServersResolver,
  McpAuthRequiredResolver,
  NoticeMcpServerResolver,
  ToolCallMcpServerResolver,
} from "./mcp/mcp-links.resolver.js";
import { McpToolsResolver } from "./mcp/mcp-tools.resolver.js";
import { McpServerResolver } from "./mcp/mcp-server.resolver.js";
import { ModelAdminResolver } from "./models/model-admin.resolver.js";
import { ModelCallResolver } from "./models/model-call.resolver.js";
import { ModelConfigResolver, ModelProviderResolver } from "./models/model.resolver.js";
import { PushKeyResolver, PushResolver } from "./push/push.resolver.js";
import { NodeResolver } from "./common/node.resolver.js";
import {
  UsageLimitOverrideResolver,
  UsageLimitPolicyResolver,
  UsageLimitResolver,
} from "./usage/usage-limit.resolver.js";
import { StorageResolver } from "./files/storage.resolver.js";
import { ProviderKeyRequiredResolver, ProviderKeyResolver } from "./models/provider-key.resolver.js";
import { UserPreferencesResolver, ViewerPreferencesResolver } from "./users/user-preferences.resolver.js";
import { ViewerResolver } from "./users/user.resolver.js";
import { UserAdministrationResolver } from "./users/user-administration.resolver.js";
import { WorkspaceCommandsResolver } from "./workspaces/workspace-commands.resolver.js";
import { WorkspaceMcpResolver, WorkspaceMcpServerResolver } from "./workspaces/workspace-mcp.resolver.js";
import { WorkspaceTemplateResolver } from "./workspaces/workspace-template.resolver.js";
import { WorkspaceResolver } from "./workspaces/workspace.resolver.js";

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
  WorkspaceMcpResolver,
  WorkspaceMcpServerResolver,
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
