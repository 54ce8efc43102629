import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";

const main = fileURLToPath(new URL("main.ts", import.meta.url));
const small = ["--requests", "50", "--traffic-ms", "20", "--faults-ms", "500", "--threads", "1"];
const broken = ["--break", "running requests hold nothing"];

/** Runs `npm run simulate` with these arguments. Resolves with its exit code and what it printed. */
async function run(...args: readonly string[]): Promise<{ code: number; printed: string }> {
  const options = { env: { ...process.env, NODE_OPTIONS: "" } };
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [main, ...small, ...args], options);
    return { code: 0, printed: stdout };
  } catch (error) {
    const { code, stdout } = error as { readonly code: number; readonly stdout: string };
    return { code, printed: stdout };
  }
}

test("a run ends with 0 when its world keeps every promise", async () => {
  expect(await run("--seed", "1")).toMatchObject({ code: 0, printed: expect.stringContaining("violations: []") });
}, 120_000);

test.each([
  ["one world", "1"],
  ["several worlds", "2"],
])(
  "a run of %s ends with 1 when a promise is broken",
  async (_, seeds) => {
    const { code, printed } = await run("--seed", "1", "--seeds", seeds, ...broken);
    expect(printed).toContain("spending: at");
    expect(code).toBe(1);
  },
  120_000,
);
