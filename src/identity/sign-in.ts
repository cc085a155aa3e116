/**
 * Browser sign-in: redirects the browser to the identity provider, with the attempt's state sealed in a cookie, and creates
 * a session when it comes back. The cookie binds the attempt to one browser without storing anything on the server.
 */
import { signInProblem } from "../domain/users/identity-claims.js";
import { createSession, endSession, type SessionLimits } from "../store/users/sessions.js";
import { storeIdentityTokens, readTokens } from "../store/users/identities.js";
import type { SecretBox, ColumnReference } from "../store/common/secret-box.js";
import { authenticate, type AuthenticateDependencies } from "./authenticate.js";
import { type Attempt, type IdentityProvider, refusalText } from "./provider.js";

/** Long enough for a second factor. */
export const ATTEMPT_MS = 10 * 60_000;
const NOTE: ColumnReference = { table: "cookies", column: "sign_in", rowId: "note" };

export type SignInDependencies = AuthenticateDependencies & {
  secrets: SecretBox;
  provider: IdentityProvider;
  limits: SessionLimits;
  now(): number;
};

type Note = Attempt & { returnTo: string; endsAt: number };

/** `refused`: with a message for the user. `failed`: the provider is broken or unreachable. */
export type SignInOutcome =
  | { kind: "signed-in"; session: string; returnTo: string }
  | { kind: "refused"; message: string }
  | { kind: "failed"; cause: unknown };

export class SignIn {
  constructor(private readonly dependencies: SignInDependencies) {}

  /** Where to redirect the browser, and the note for its cookie. Rejects when the provider cannot be reached. */
  async begin(returnTo: string): Promise<{ url: string; note: string }> {
    const { provider, secrets, now } = this.dependencies;
    const { url, attempt } = await provider.begin();
    const note: Note = { ...attempt, returnTo, endsAt: now() + ATTEMPT_MS };
    return { url, note: secrets.seal(JSON.stringify(note), NOTE) };
  }

  /** `query`: the callback's, unchanged; `sealedNote`: null = the browser has no cookie. Never rejects. */
  async finish(query: string, sealedNote: string | null): Promise<SignInOutcome> {
    const note = sealedNote === null ? null : this.#read(sealedNote);
    if (note === null) {
      return { kind: "refused", message: "This sign-in was begun in another browser, or too long ago." };
    }
    try {
      return await this.#finish(query, note);
    } catch (error) {
      const text = refusalText(error);
      if (text !== null) return { kind: "refused", message: `Your identity provider says: ${text}` };
      return { kind: "failed", cause: error };
    }
  }

  async #finish(query: string, note: Note): Promise<SignInOutcome> {
    const { provider, rules, database, secrets, limits } = this.dependencies;
    const { issuer, subject, claims, tokens } = await provider.finish(query, note);
    const problem = signInProblem(claims, rules);
    if (problem !== null) return { kind: "refused", message: problem };
    const { identityId, user } = await authenticate(this.dependencies, { issuer, subject }, claims);
    if (!user.isActive) return { kind: "refused", message: "Your account was deactivated by an admin." };
    await storeIdentityTokens(database, secrets, { identityId, tokens });
    const session = await createSession(database, { userId: user.id, identityId }, limits);
    return { kind: "signed-in", session, returnTo: note.returnTo };
  }

  /** Ends the session. Resolves to where to sign out of the provider too; null when it has no such page or is unreachable. */
  async leave(session: string, returnTo: string): Promise<string | null> {
    const { database, secrets, provider, log } = this.dependencies;
    const identityId = await endSession(database, session);
    if (identityId === null) return null;
    try {
      const tokens = await readTokens(database, secrets, identityId);
      return await provider.endSessionUrl(tokens?.idToken ?? null, returnTo);
    } catch (error) {
      log.warn({ err: error }, "identity provider unreachable for sign-out");
      return null;
    }
  }

  #read(sealedNote: string): Note | null {
    const opened = this.dependencies.secrets.open(sealedNote, NOTE);
    if (opened.kind !== "opened") return null;
    const note = JSON.parse(opened.text) as Note;
    return note.endsAt > this.dependencies.now() ? note : null;
  }
}
