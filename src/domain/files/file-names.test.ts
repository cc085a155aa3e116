// Sanitizing of file names.
import { expect, test } from "vitest";
import { plainFileName, textTypeOfName } from "./file-names.js";

test.each([
  ["chart.png", "chart.png"],
  ["../../etc/passwd", "passwd"],
  ["C:\\Users\\ann\\Größe 1.pdf", "Größe 1.pdf"],
  ["invoice\u202efdp.exe", "invoicefdp.exe"],
  ["a\r\nx-evil: 1\u0000.txt", "ax-evil: 1.txt"],
  ["half \ud800.txt", "half \ufffd.txt"],
  [".env", ".env"],
  ["..", null],
  [" / ", null],
  ["\u2066\u2069", null],
  ["", null],
])("%j becomes %j", (name, plain) => {
  expect(plainFileName(name)).toBe(plain);
});

test("a long name is truncated between characters and keeps its extension", () => {
  const cut = plainFileName(`${"ä".repeat(200)}.tar`) ?? "";
  expect([Buffer.byteLength(cut), cut.endsWith("ä.tar"), cut.includes("\ufffd")]).toEqual([254, true, false]);
  expect(plainFileName("x".repeat(300))).toBe("x".repeat(255));
});

test("the type of a text file follows from its extension alone", () => {
  expect(["a.MD", "data.JSON", "Makefile", "x.constructor", "page.html"].map(textTypeOfName)).toEqual([
    "text/markdown",
    "application/json",
    "text/plain",
    "text/plain",
    "text/html",
  ]);
});
