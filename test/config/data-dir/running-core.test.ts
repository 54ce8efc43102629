import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { announceRunning, isAlive, readRunning } from "#src/config/data-dir/running-core.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tollgate-"));
});
afterEach(() => rm(folder, { recursive: true }));

const write = (text: string) => writeFile(join(folder, "running.json"), text);
const core = { pid: process.pid, host: hostname(), grpc: "127.0.0.1:50051" };

test("a core says where it runs, to its user alone", async () => {
  await announceRunning(folder, { http: "127.0.0.1:8080", grpc: core.grpc });
  expect(await readRunning(folder)).toEqual({ ...core, http: "127.0.0.1:8080" });
  expect((await stat(join(folder, "running.json"))).mode & 0o777).toBe(0o600);
});

/** Starts a core, for what it says of itself; it ends in order when something is written to it. */
async function startCore(grpc: string) {
  const module = new URL("../../../src/config/data-dir/running-core.ts", import.meta.url).href;
  const script = `
    const { announceRunning } = await import(${JSON.stringify(module)});
    await announceRunning(${JSON.stringify(folder)}, { grpc: ${JSON.stringify(grpc)} });
    process.stdout.write("said");
    process.stdin.once("data", () => process.exit(0));`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return {
    pid: child.pid,
    async end(how: "in order" | "killed") {
      const exited = once(child, "exit");
      if (how === "killed") {
        child.kill("SIGKILL");
      } else {
        child.stdin.write("end");
      }
      await exited;
    },
  };
}

test.each(["exits", "is replaced"])("a process that %s removes what it said and no other's", async (how) => {
  const child = await startCore("127.0.0.1:1");
  expect(await readRunning(folder)).toMatchObject({ pid: child.pid });
  if (how === "is replaced") {
    await write(JSON.stringify(core));
  }
  await child.end("in order");
  expect(await readRunning(folder)).toEqual(how === "is replaced" ? core : undefined);
});

test.each(["in order", "killed"] as const)(
  "when the newer of two cores has ended %s, the older one is found again",
  async (how) => {
    const older = await startCore("127.0.0.1:1");
    const newer = await startCore("127.0.0.1:2");
    expect(await readRunning(folder)).toMatchObject({ pid: newer.pid, grpc: "127.0.0.1:2" });
    await newer.end(how);
    expect(await readRunning(folder)).toMatchObject({ pid: older.pid, grpc: "127.0.0.1:1" });
    await older.end(how);
    const left = await readRunning(folder);
    expect(left?.pid).toBe(how === "killed" ? newer.pid : undefined);
    await announceRunning(folder, { grpc: core.grpc });
    expect([await readRunning(folder), await readdir(folder)]).toEqual([core, ["running.json"]]);
  },
);

test("a data directory without a core, or with one of another machine, names none", async () => {
  expect(await readRunning(folder)).toBeUndefined();
  expect(await readRunning(join(folder, "nowhere"))).toBeUndefined();
  await write(JSON.stringify({ ...core, host: "another" }));
  expect(await readRunning(folder)).toBeUndefined();
});

test.each([
  "",
  "{",
  "null",
  "[]",
  '{"pid":1}',
  '{"pid":"1","host":"h","grpc":"a:1"}',
  '{"pid":-1,"host":"h","grpc":"a"}',
])("%j is refused", async (text) => {
  await write(text);
  await expect(readRunning(folder)).rejects.toThrow("does not say where a core runs");
  expect(await readFile(join(folder, "running.json"), "utf8")).toBe(text);
});

test("a process that has ended is not alive", async () => {
  const child = spawn(process.execPath, ["--version"], { stdio: "ignore" });
  await once(child, "exit");
  expect([isAlive({ pid: process.pid }), isAlive({ pid: child.pid ?? 0 })]).toEqual([true, false]);
});
