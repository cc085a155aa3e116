/** A viewer's permissions, by which a user interface shows or hides features. Commands authorize independently. */
import { scopesOf, type Viewer } from "./viewer.js";

const ADMIN_PERMISSIONS = [
  "read_all_chats",
  "read_all_costs",
  "read_audit_log",
  "manage_users",
  "manage_models",
  "manage_mcp_servers",
  "manage_limits",
  "manage_deployment",
] as const;

export type Permission = "use_chats" | (typeof ADMIN_PERMISSIONS)[number];

export function permissionsOf(viewer: Viewer): Permission[] {
  const own: Permission[] = scopesOf(viewer).includes("chat") ? ["use_chats"] : [];
  return viewer.role === "admin" ? [...own, ...ADMIN_PERMISSIONS] : own;
}
