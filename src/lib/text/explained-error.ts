/** What an operator is to read as it is: the message says all that is known, and a stack would say nothing more. */
export class ExplainedError extends Error {
  override readonly name = "ExplainedError";
}
