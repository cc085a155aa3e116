/** The JSON lines that the agent program prints on stdout. */
import { z } from "zod";

/** Printed once by an agent that listens, when it can be reached. */
export const listeningLineSchema = z.object({
  event: z.literal("listening"),
  url: z.url(),
  instanceId: z.string(),
});
export type ListeningLine = z.infer<typeof listeningLineSchema>;
/** Printed by an agent that dials out, each time that a server has registered it. */
export type RegisteredLine = { event: "registered"; server: string; instanceId: string };
