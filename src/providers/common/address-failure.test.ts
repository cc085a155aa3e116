import { describe, expect, test } from "vitest";
import { addressFailureOf, isPage, isPathUnknown, mayBePage, displayAddress } from "./address-failure.js";

/** The error as thrown by `fetch`. */
const failed = (code: string) =>
  new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) });

test.each<[string, string, boolean]>([
  ["ECONNREFUSED", "the connection was refused", true],
  ["ENOTFOUND", "there is no host of that name", true],
  ["EAI_AGAIN", "its host name could not be resolved", true],
  ["EHOSTUNREACH", "there is no route to the host", true],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "its TLS certificate is self-signed", false],
  ["CERT_HAS_EXPIRED", "its TLS certificate has expired", false],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "its TLS certificate is for another host", false],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "it does not speak TLS; an http address may be meant", false],
  ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", "the TLS handshake failed", false],
  ["HPE_INVALID_CONSTANT", "it does not answer in HTTP; an https address may be meant", false],
])("%s: %s", (code, reason, isRetryable) => {
  expect(addressFailureOf(failed(code), false)).toMatchObject({ reason, isRetryable });
  // An address that worked before is down; a certificate that has expired since is still a configuration error.
  expect(addressFailureOf(failed(code), true)?.reason).toBe(isRetryable ? undefined : reason);
});

test.each(["ECONNRESET", "UND_ERR_SOCKET", "UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT"])(
  "%s may be an outage",
  (code) => {
    expect(addressFailureOf(failed(code), false)).toBeUndefined();
  },
);

test.each([
  ["https://user:secret@host.example/v1/?key=secret#secret", "https://host.example/v1"],
  ["http://[::1]:8080", "http://[::1]:8080"],
  ["nonsense", "its address"],
])("%s is shown as %s", (address, shown) => {
  expect(displayAddress(address)).toBe(shown);
});

describe("a 404", () => {
  test.each([
    "",
    "Not Found",
    "404 page not found",
    "The requested URL was not found",
    "Invalid URL (POST /v1/v1/chat/completions)",
    "Resource not found",
    "Cannot POST /chat/completions",
    "no Route matched with those values",
    "Unrecognized request URL (POST /x). Please see the documentation.",
    "No such endpoint: /x",
  ])("%j speaks of the path", (words) => expect(isPathUnknown(words)).toBe(true));
  test.each([
    "model: nope",
    'model "llama" not found, try pulling it first',
    "The model `x` does not exist or you do not have access to it.",
    "The API deployment for this resource does not exist.",
    "No endpoints found for vendor/model.",
    "models/x is not found for API version v1beta",
  ])("%j speaks of the model", (words) => expect(isPathUnknown(words)).toBe(false));
});

test.each<[number, string | null, string, boolean]>([
  [200, "text/html", "<!doctype html><title>Sign in</title>", true],
  [200, null, "\n<html>", true],
  [200, "text/html", 'data: {"choices":[]}', false],
  [200, "text/event-stream", "<html>", false],
  [401, "text/html", "<html>401", false],
  [403, "text/html", "<HTML>blocked", true],
  [413, "text/html", "<html>too large", false],
  [502, "text/html", "<html>bad gateway", false],
])("HTTP %i, %s, %j: a page is %s", (status, type, beginning, expected) => {
  expect(mayBePage(status, type) && isPage(beginning)).toBe(expected);
});
