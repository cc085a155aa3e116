/** The JSON lines that the agent program prints on stdout. */
import { z } from "zod";

/** The one line that an agent that listens prints on stdout once it can be reached. */
export const listeningLineSchema = z.object({
  event: z.literal("listening"),
  url: z.url(),
  instanceId: z.string(),
});
export type ListeningLine = z.infer<typeof listeningLineSchema>;
/** The line that an agent that calls servers prints on stdout each time that one has taken it. */
export type RegisteredLine = { event: "registered"; server: string; instanceId: string };
