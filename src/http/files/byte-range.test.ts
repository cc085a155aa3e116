import { expect, test } from "vitest";
import { readRange } from "./byte-range.js";

test.each<[string | undefined, number, ReturnType<typeof readRange>]>([
  [undefined, 10, "whole"],
  ["bytes=0-3", 10, { first: 0, last: 3 }],
  ["bytes=3-3", 10, { first: 3, last: 3 }],
  ["bytes=4-", 10, { first: 4, last: 9 }],
  ["bytes=4-99", 10, { first: 4, last: 9 }],
  ["bytes=-3", 10, { first: 7, last: 9 }],
  ["bytes=-99", 10, { first: 0, last: 9 }],
  [" bytes=0-0 ", 10, { first: 0, last: 0 }],
  ["bytes=10-", 10, "unsatisfiable"],
  ["bytes=-0", 10, "unsatisfiable"],
  ["bytes=0-", 0, "unsatisfiable"],
  ["bytes=-5", 0, "unsatisfiable"],
  ["bytes=5-2", 10, "whole"],
  ["bytes=0-1,4-5", 10, "whole"],
  ["lines=1-2", 10, "whole"],
  ["bytes=-", 10, "whole"],
  ["bytes=a-b", 10, "whole"],
  ["bytes=1-99999999999999999999", 10, "whole"],
])("the range %j of a file of %d bytes is %j", (header, size, range) => {
  expect(readRange(header, size)).toEqual(range);
});
