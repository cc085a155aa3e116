import { expect, test } from "vitest";
import { fileDumpNote, promoteBackground } from "./command-text.js";

test.each([
  ["npm start &", "npm start", true],
  ["  npm start&  ", "npm start", true],
  ["a && b", "a && b", false],
  ["a &&", "a &&", false],
  ["a |&", "a |&", false],
  ["sleep 1 & wait", "sleep 1 & wait", false],
  ["&", "", true],
  ["a 2>&", "a 2>&", false],
  ["a <&", "a <&", false],
  ["echo \\&", "echo \\&", false],
  ["echo \\\\&", "echo \\\\", true],
  ["echo \\\\\\&", "echo \\\\\\&", false],
  ["a & b &", "a & b", true],
])("the command %j becomes %j, in the background: %j", (input, command, isBackground) => {
  expect(promoteBackground(input)).toEqual({ command, isBackground });
});

test.each([
  ["cat README.md", true],
  ["  cat README.md", true],
  ["catalog build", false],
  ["echo x | cat -", false],
  ["rg --include-all foo", true],
  ["grep -l foo src", true],
  ["rg foo -l", true],
  ["grep -rn foo src", false],
  ["ls -l", false],
])("%j is advised to use read_file: %j", (command, isAdvised) => {
  expect(fileDumpNote(command) !== undefined).toBe(isAdvised);
});
