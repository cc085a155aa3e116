import { describe, expect, test } from "vitest";
import { HeadTailBuffer } from "./head-tail-buffer.js";

const KIB = 1024;
const LINE = `${"x".repeat(63)}\n`;

function read(...chunks: (string | Buffer)[]) {
  const buffer = new HeadTailBuffer();
  for (const chunk of chunks) buffer.write(Buffer.from(chunk));
  return buffer.read();
}

describe("output that fits", () => {
  test.each([
    ["nothing", ""],
    ["a word", "hello"],
    ["exactly the head", LINE.repeat(256)],
    ["head and tail", LINE.repeat(512)],
    ["a line over the seam of head and tail", `${LINE.repeat(255)}${"y".repeat(200)}\n${LINE}`],
    ["a character over the seam", `${LINE.repeat(255)}${"y".repeat(63)}€ and more`],
  ])("is given back as it came: %s", (_, text) => {
    expect(read(text)).toEqual({ output: text });
  });

  test("may come in chunks that split characters", () => {
    const bytes = Buffer.from("a€😀z");
    expect(read(...[...bytes].map((byte) => Buffer.of(byte)))).toEqual({ output: "a€😀z" });
  });
});

describe("output that does not fit", () => {
  test("keeps the beginning and the end and says what is missing", () => {
    const { output, truncation } = read("first\n", LINE.repeat(10_000), "last\n");
    expect(truncation).toEqual({
      originalBytes: 640_011,
      retainedBytes: 32 * KIB,
      omittedBytes: 640_011 - 32 * KIB,
      strategy: "head_tail",
    });
    expect([output.slice(0, 6), output.slice(-5)]).toEqual(["first\n", "last\n"]);
    expect(output).toContain(`\n\n... [omitted ${640_011 - 32 * KIB} bytes] ...\n\n`);
  });

  test("is the same however it was written", () => {
    const bytes = Buffer.from(Array.from({ length: 9_000 }, (_, line) => `line ${line}\n`).join(""));
    const whole = read(bytes);
    const sizes = [1, 7, 1000, 16 * KIB, 16 * KIB + 1, 40_000];
    const results = sizes.map((size) => {
      const buffer = new HeadTailBuffer();
      for (let start = 0; start < bytes.length; start += size)
        buffer.write(bytes.subarray(start, start + size));
      return buffer.read();
    });
    expect(results).toEqual(sizes.map(() => whole));
  });

  test("is cut between characters on both sides", () => {
    const { output, truncation } = read(`a${"€\n".repeat(100_000)}`);
    expect(output).not.toContain("\uFFFD");
    expect(truncation).toEqual({
      originalBytes: 400_001,
      retainedBytes: truncation?.retainedBytes,
      omittedBytes: 400_001 - (truncation?.retainedBytes ?? 0),
      strategy: "head_tail",
    });
  });

  test("stays small for ten megabytes without a newline", () => {
    const { output, truncation } = read(Buffer.alloc(10 * KIB * KIB, "x"));
    const line = `${"x".repeat(2032)} ... [truncated]`;
    const gap = 10 * KIB * KIB - 32 * KIB;
    expect(output).toBe(`${line}\n\n... [omitted ${gap} bytes] ...\n\n${line}`);
    expect(truncation?.retainedBytes).toBe(2 * 2032);
  });
});

describe("a long line", () => {
  test("of the maximum length is retained whole", () => {
    const text = `${"x".repeat(2048)}\nnext`;
    expect(read(text)).toEqual({ output: text });
  });

  test("is cut, and what was cut is counted", () => {
    expect(read(`${"x".repeat(2049)}\nnext\n`)).toEqual({
      output: `${"x".repeat(2032)} ... [truncated]\nnext\n`,
      truncation: { originalBytes: 2055, retainedBytes: 2038, omittedBytes: 17, strategy: "head_tail" },
    });
  });

  test("is cut between characters", () => {
    expect(read("€".repeat(1000)).output).toBe(`${"€".repeat(677)} ... [truncated]`);
  });
});
