import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "@jest/globals";

const program = fileURLToPath(new URL("count-slowly.ts", import.meta.url));

/** In a process of its own: the workaround is for a whole process, and tests share theirs. */
async function countSlowly(state: "mended" | "bare", pinging: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, state, pinging], {
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  return JSON.parse(stdout);
}

describe.each(["server", "client"])("while the %s pings", (pinging) => {
  test("a call outlives the age of its connection", async () => {
    expect(await countSlowly("mended", pinging)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  });

  test("grpc-js alone cuts the call, so the workaround is still needed", async () => {
    expect(await countSlowly("bare", pinging)).toBe("UNAVAILABLE");
  });
});
