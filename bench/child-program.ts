/** Child side of a program that the bench starts: receives settings, reports its address, answers requests, and ends. */

/** Interface of a bench program. */
export type BenchProgram = {
  url: string;
  /** Answers the bench's question; there is only one kind, so it carries nothing. */
  answer(): unknown;
  close(): Promise<void>;
};

/** Messages from the bench: settings first, then questions, then the end. */
export type ToProgram = { type: "start"; settings: unknown } | { type: "question" } | { type: "stop" };
/** Messages to the bench, one for each of its own. */
export type FromProgram =
  { type: "ready"; url: string } | { type: "answer"; value: unknown } | { type: "stopped"; value: unknown };

/** Runs until stopped, or until the bench is gone for any reason. A failed start ends the process. */
export async function serveBench(open: (settings: unknown) => Promise<BenchProgram>): Promise<void> {
  process.on("disconnect", () => process.exit(0));
  let program: BenchProgram | null = null;
  const take = async (message: ToProgram) => {
    switch (message.type) {
      case "start":
        program = await open(message.settings);
        return reply({ type: "ready", url: program.url });
      case "question":
        return reply({ type: "answer", value: program?.answer() });
      case "stop":
        await program?.close();
        return reply({ type: "stopped", value: program?.answer() });
    }
  };
  await new Promise<void>((_resolve, reject) => {
    process.on("message", (message: ToProgram) => void take(message).catch(reject));
  });
}

function reply(message: FromProgram): void {
  process.send?.(message);
}
