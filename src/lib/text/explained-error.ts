/** An error whose message explains everything to an operator; printed without a stack. */
export class ExplainedError extends Error {
  override readonly name = "ExplainedError";
}
