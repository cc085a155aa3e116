import { expect, test } from "vitest";
import { DatabaseUnavailable } from "../../domain/common/outages.js";
import { asOutage, isOutage } from "./outages.js";

const error = (message: string, more: object = {}) => Object.assign(new Error(message), more);
const coded = (code: string) => error("It failed.", { code });

test.each([
  ...["08000", "08006", "53100", "53300", "57014", "57P01", "57P02", "57P03", "58030", "25P03", "25006"],
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EAI_AGAIN", "ENOENT"],
])("%s is an outage", (code) => {
  expect(isOutage(coded(code))).toBe(true);
});

test.each([
  "Connection terminated unexpectedly",
  "Connection terminated due to connection timeout",
  "Client has encountered a connection error and is not queryable",
  "timeout exceeded when trying to connect",
  "Query read timeout",
  "Query runner already released. Cannot run queries anymore.",
])("pg's “%s” is an outage", (message) => {
  expect(isOutage(error(message))).toBe(true);
});

test.each(["23505", "42P01", "40P01", "22P02", "28P01", "3D000", "EACCES", ""])("%s is none", (code) => {
  expect(isOutage(coded(code))).toBe(false);
  expect(asOutage(coded(code))).not.toBeInstanceOf(DatabaseUnavailable);
});

test("it is found behind TypeORM's error and behind those of several addresses, and reported once", () => {
  const cause = coded("57P01");
  expect(isOutage(error("QueryFailedError", { driverError: cause }))).toBe(true);
  expect(isOutage(new AggregateError([coded("ECONNREFUSED"), coded("ECONNREFUSED")]))).toBe(true);
  expect(isOutage(new AggregateError([coded("ECONNREFUSED"), coded("28P01")]))).toBe(false);
  expect(isOutage("57P01")).toBe(false);
  const outage = asOutage(cause);
  expect(outage).toMatchObject({ name: "DatabaseUnavailable", cause });
  expect(asOutage(outage)).toBe(outage);
});
