// Part of the build: copies the tools' prose (src/**/*.md) to where the compiled tools look for it, beside them.
import { cpSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const texts = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter((path) =>
  path.endsWith(".md"),
);
for (const path of texts) cpSync(join(root, "src", path), join(root, "dist", "src", path));
