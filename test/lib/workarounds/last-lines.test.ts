import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { expect, test } from "@jest/globals";
import { pause } from "../../support/pause.ts";

const files = {
  pino: pathToFileURL(createRequire(import.meta.url).resolve("pino")).href,
  lastLines: new URL("../../../lib/workarounds/last-lines.ts", import.meta.url).href,
};

/** Starts a program that still has lines to write when it is told to end. */
function start(isBounded: boolean) {
  const program = `
    import { pino } from ${JSON.stringify(files.pino)};
    import { boundLastLines } from ${JSON.stringify(files.lastLines)};
    const output = pino.destination({ dest: 1, sync: false, minLength: 16_000 });
    output.on("error", () => {});
    ${isBounded ? "boundLastLines(output);" : ""}
    output.write("x".repeat(3000));
    process.stdin.once("data", () => process.exit(3));`;
  const options = ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", program];
  return spawn(process.execPath, options, { stdio: ["pipe", "pipe", "inherit"] });
}

test("a process whose last lines nobody reads ends", async () => {
  const child = start(true);
  child.stdout.destroy();
  child.stdin.write("end");
  expect(await once(child, "close")).toEqual([3, null]);
});

test("what is read is whole", async () => {
  const child = start(true);
  child.stdin.write("end");
  let length = 0;
  child.stdout.on("data", (data: Buffer) => {
    length += data.length;
  });
  expect(await once(child, "close")).toEqual([3, null]);
  expect(length).toBe(3000);
});

test("still needed: without it a process goes on for ever", async () => {
  const child = start(false);
  child.stdout.destroy();
  const ended = once(child, "close");
  child.stdin.write("end");
  await pause(3000, "it may not end by itself");
  expect(child.exitCode).toBeNull();
  child.kill("SIGKILL");
  await ended;
});
