import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "@jest/globals";
import { eventually } from "../support/eventually.ts";
import { createSite, freePorts } from "../support/tollgate.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const launcher = fileURLToPath(new URL("../../bin/tollgate.js", import.meta.url));
/** Makes Node.js say that it is an old one. */
const pretendOld = `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.0.0"})`;
const simulatorArguments = ["sim", "--port", "0", "--log", "json"];

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) {
    child.kill("SIGKILL");
  }
});

/** Starts a service in one of the ways that people do and waits until it answers. */
async function start(command: string, args: readonly string[], env = process.env) {
  const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  started.push(child);
  const errors: string[] = [];
  child.stderr.on("data", (data: Buffer) => errors.push(data.toString()));
  const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  const { http: address, pid } = await new Promise<{ http: string; pid: number }>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      if (line.includes('"msg":"tollgate ready"')) {
        resolve(JSON.parse(line));
      }
    });
    void exited.then(([code]) => reject(new Error(`ended with ${code}: ${errors.join("")}`)));
  });
  expect(await answers(address)).toBe(true);
  return { child, exited, address, pid };
}

async function answers(address: string): Promise<boolean> {
  return fetch(`http://${address}/v1/models`).then(
    (response) => response.ok,
    () => false,
  );
}

const untilGone = (address: string) => eventually("nothing answers any more", async () => !(await answers(address)));

const old = [process.execPath, ["--import", pretendOld, launcher, ...simulatorArguments]] as const;

test.each([
  ["the program itself", process.execPath, [launcher, ...simulatorArguments]],
  ["the program on an old Node.js", ...old],
])(
  "%s ends with 0 on SIGTERM",
  async (_, command, args) => {
    const { child, exited, address } = await start(command, args);
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
    expect(await answers(address)).toBe(false);
  },
  60_000,
);

test("a signal that comes twice at once, as Ctrl-C does under npm, is one", async () => {
  const { child, exited } = await start(process.execPath, [launcher, ...simulatorArguments]);
  child.kill("SIGINT");
  child.kill("SIGINT");
  expect(await exited).toEqual([0, null]);
}, 60_000);

test.each([
  ["the launcher is killed", ...old, "SIGKILL"],
  ["npx is asked to end", "npx", ["tollgate", ...simulatorArguments], "SIGTERM"],
  ["npx is killed", "npx", ["tollgate", ...simulatorArguments], "SIGKILL"],
] as const)(
  "the service ends when %s",
  async (_, command, args, signal) => {
    const { child, exited, address } = await start(command, args);
    child.kill(signal);
    await exited;
    await untilGone(address);
  },
  60_000,
);

test("npm start ends with 0 on SIGTERM", async () => {
  const site = await createSite();
  const config = await site.configure(freePorts);
  const args = ["start", "--silent", "--", "--config", config, "--log", "json"];
  const { child, exited, address } = await start("npm", args, site.env);
  child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  expect(await answers(address)).toBe(false);
  await site.remove();
}, 60_000);

test("the service ends with npx also after a SIGHUP", async () => {
  const { child, exited, address, pid } = await start("npx", ["tollgate", ...simulatorArguments]);
  const heard = new Promise<void>((resolve) => {
    createInterface(child.stdout as Readable).on("line", (line) => {
      if (line.includes("nothing to reload")) {
        resolve();
      }
    });
  });
  process.kill(pid, "SIGHUP");
  await heard;
  child.kill("SIGTERM");
  await exited;
  await untilGone(address);
}, 60_000);

test("an old Node.js hands the exit code on", async () => {
  const child = spawn(process.execPath, ["--import", pretendOld, launcher, "nonsense"], { stdio: "ignore" });
  expect((await once(child, "exit"))[0]).toBe(1);
});
