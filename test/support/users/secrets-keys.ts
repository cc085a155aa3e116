// Key of secrets at rest for test servers: any server with its own database needs one.
import { parseSecretKeys } from "../../../src/config/variable.js";
import { SecretBox } from "../../../src/store/common/secret-box.js";

/** As PARLEY_SECRETS_KEYS has it. */
export const SECRETS_KEYS = `tests:${Buffer.alloc(32, "key of the tests").toString("base64")}`;

/** The key that such servers seal with. */
export const testSecretBox = new SecretBox(parseSecretKeys(SECRETS_KEYS) ?? []);
