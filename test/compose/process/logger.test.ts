import { execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";

const logger = JSON.stringify(new URL("../../../src/compose/process/logger.ts", import.meta.url).href);

/** A program that logs, as the arguments of Node.js. */
const program = (body: string, format = "json") => [
  "--disable-warning=ExperimentalWarning",
  "--input-type=module",
  "--eval",
  `import { createLogger } from ${logger}; const log = createLogger("${format}"); ${body}`,
];

test.each(["process.exit(3)", "", "throw new Error('end')"])("nothing is lost at the end: %s", async (end) => {
  const body = `for (let line = 0; line < 2000; line++) log.info({ line }, "said"); ${end}`;
  const { stdout } = await promisify(execFile)(process.execPath, program(body)).catch((error) => error);
  const lines = stdout.trim().split("\n");
  expect(lines.map((line: string) => JSON.parse(line).line)).toEqual(Array.from({ length: 2000 }, (_, at) => at));
});

test("a line of a quiet process comes without others", async () => {
  const child = spawn(process.execPath, program(`log.info({}, "one"); setInterval(() => {}, 1000)`));
  try {
    for await (const line of createInterface(child.stdout)) {
      expect(JSON.parse(line)).toMatchObject({ msg: "one" });
      break;
    }
  } finally {
    child.kill("SIGKILL");
  }
});

test.each(["json", "pretty"])("an error is logged with its reason, and a reason as it is: %s", async (format) => {
  const body = `const error = new Error("the disk is full", { cause: new Error("no space left") });
    log.error({ error }, "tried"); log.error({ err: error }, "tried"); log.warn({ error: "no answer" }, "sent")`;
  const { stdout } = await promisify(execFile)(process.execPath, program(body, format));
  expect(stdout.match(/the disk is full: no space left/g)?.length).toBeGreaterThanOrEqual(2);
  expect(stdout).toMatch(/"?error"?: ?"no answer"/);
  if (format === "json") {
    const [first, second] = stdout.split("\n").map((line) => line && JSON.parse(line));
    expect(first.error).toMatchObject({ type: "Error", message: "the disk is full: no space left" });
    expect(second.err).toEqual(first.error);
  }
});
