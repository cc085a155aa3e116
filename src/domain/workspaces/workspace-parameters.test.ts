import { expect, test } from "vitest";
import {
  problemsOfParameters,
  resolveParameters,
  unknownPlaceholders,
  withParameters,
  type TemplateParameter,
} from "./workspace-parameters.js";
import { generatedWorkspaceName, problemOfWorkspaceName } from "./template-rules.js";

const parameter = (name: string, more: Partial<TemplateParameter> = {}): TemplateParameter => ({
  ...{ name, displayName: name, description: "", isRequired: false, defaultValue: null, options: null },
  ...more,
});
const PARAMETERS = [
  parameter("size", { options: ["small", "large"], defaultValue: "small" }),
  parameter("repository", { isRequired: true }),
  parameter("note"),
];

test("a given value takes precedence over the default", () => {
  expect(resolveParameters(PARAMETERS, [{ name: "repository", value: "https://x.example" }])).toEqual({
    ok: true,
    values: { size: "small", repository: "https://x.example", note: "" },
  });
});

test("all problems of the values are reported with their paths", () => {
  const input = [
    { name: "size", value: "huge" },
    { name: "colour", value: "red" },
    { name: "note", value: "a" },
    { name: "note", value: "b" },
  ];
  const result = resolveParameters(PARAMETERS, input);
  expect(result.ok ? [] : result.problems.map(({ path }) => path.join("."))).toEqual([
    ...["parameters.0.value", "parameters.1.name", "parameters.3", "parameters"],
  ]);
});

test("a value stays within its text, whatever it contains", () => {
  const spec = { image: "node:${version}", list: ["${a}${a}", 7, null], "${a}": "$${unknown}" };
  expect(withParameters(spec, { version: '22", "privileged": "true', a: "${version}" })).toEqual({
    ...{ image: 'node:22", "privileged": "true', list: ["${version}${version}", 7, null] },
    "${a}": "$${unknown}",
  });
});

test("a template's own problems are reported", () => {
  expect({
    placeholders: unknownPlaceholders({ a: "${size} ${sise}" }, PARAMETERS),
    parameters: problemsOfParameters([
      parameter("Size", { displayName: " " }),
      parameter("a", { options: [] }),
      parameter("a", { options: ["x"], defaultValue: "y" }),
    ]).map(({ path }) => path.join(".")),
  }).toEqual({
    placeholders: ["sise"],
    parameters: [
      ...["parameters.0.name", "parameters.0.displayName", "parameters.1.options"],
      ...["parameters.2.defaultValue", "parameters.2.name"],
    ],
  });
});

test.each([
  ["Web shop!", "web-shop-3f2a"],
  ["Größe", "gro-e-3f2a"],
  ["***", "workspace-3f2a"],
  ["a-very-long-name-that-would-not-fit-anywhere", "a-very-long-name-that-would-3f2a"],
])("a name is made of %s", (seed, name) => {
  expect([generatedWorkspaceName(seed, "3f2a"), problemOfWorkspaceName(name)]).toEqual([name, null]);
});
