import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Ways to wait for a fixed time. Tests use `eventually` and `pause` of test/support instead. */
const fixedWaits = /(?<!\.)\bsetTimeout\(|setTimeout as |import \{ setTimeout \}|Atomics\.wait\(/;

test("no test waits for a fixed time but by pause, which gives a reason", () => {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".ts") && !path.startsWith("support/") && !path.startsWith("bench/"),
  );
  const offenders = files.filter((path) => fixedWaits.test(readFileSync(join(root, path), "utf8")));
  expect(offenders).toEqual([]);
});
