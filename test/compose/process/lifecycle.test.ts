import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "@jest/globals";

const module = new URL("../../../src/compose/process/lifecycle.ts", import.meta.url).href;

/** A process with these parts, as source text, that ends itself. Returns its exit code and the log's lines. */
async function run(parts: string): Promise<{ code: number; lines: unknown[] }> {
  const program = `
    const { Lifecycle } = await import(${JSON.stringify(module)});
    const log = (fields, msg) => console.log(JSON.stringify({ ...fields, msg }));
    const lifecycle = new Lifecycle({ info: log, warn: log, error: log }, { grace_s: 0 }, 50);
    ${parts}
    lifecycle.ready({});
    setInterval(() => {}, 1000);
    process.kill(process.pid, "SIGTERM");`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (data) => {
    output += data;
  });
  const [code] = await once(child, "close");
  const lines = output.trim().split("\n");
  return { code, lines: lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg !== "tollgate ready") };
}

test("parts end newest first, and the process with 0", async () => {
  const part = (name: string) => `lifecycle.onStop("${name}", async () => log({}, "${name} ends"));`;
  const { code, lines } = await run(part("first") + part("second"));
  expect(code).toBe(0);
  expect(lines).toMatchObject([{ msg: "draining" }, { msg: "second ends" }, { msg: "first ends" }, { msg: "stopped" }]);
});

test.each([
  [
    "never ends",
    `() => new Promise(() => {})`,
    { part: "the part", msg: expect.stringMatching(/^could not stop in time/) },
  ],
  ["fails", `async () => { throw new Error("broken"); }`, { msg: "could not stop in order" }],
])("a part that %s is named, and the process ends with 1", async (_, stop, last) => {
  const { code, lines } = await run(`lifecycle.onStop("the part", ${stop});`);
  expect(code).toBe(1);
  expect(lines).toMatchObject([{ msg: "draining" }, last]);
});

test("a part that fails keeps no other from its end", async () => {
  const failing = `lifecycle.onStop("failing", async () => { throw new Error("broken"); });`;
  const { code, lines } = await run(
    `lifecycle.onStop("the ledger", async () => log({}, "the ledger ends"));${failing}${failing}`,
  );
  expect(code).toBe(1);
  expect(lines).toMatchObject([
    { msg: "draining" },
    { part: "failing", msg: "could not stop in order" },
    { part: "failing", msg: "could not stop in order" },
    { msg: "the ledger ends" },
  ]);
});
