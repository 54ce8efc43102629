import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Command } from "commander";
import { createProgram } from "#src/cli/program.ts";
import { eventually } from "../support/eventually.ts";
import {
  createSite,
  freeBasePort,
  freePorts,
  program,
  type Site,
  startTollgate,
  type Tollgate,
} from "../support/tollgate.ts";

// What `tollgate … | head -1` leaves of a command: nothing. Of each group of commands those that need no argument are tried, as
// programs of their own, for only those have a pipe.

const staying = ["serve", "core", "facade", "docs", "sim"];
const atOnce = 3;

let site: Site;
let service: Tollgate;
let config: string;
beforeAll(async () => {
  site = await createSite();
  config = await site.configure(freePorts);
  service = await startTollgate(site, "serve", "--config", config);
}, 60_000);
afterAll(async () => {
  await service.stop();
  await site.remove();
});

/** One command of each group, with what it needs. */
async function sample(): Promise<string[][]> {
  const { commands } = await createProgram({ environment: {}, print: () => {}, note: () => {}, progress: () => {} });
  return commands
    .filter((command) => !staying.includes(command.name()))
    .flatMap((command) => {
      const [first] = leaves(command).filter(isComplete);
      return first === undefined ? [[command.name(), "--help"]] : [toLine(first)];
    });
}

function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}

function isComplete({ registeredArguments, options }: Command): boolean {
  return !registeredArguments.some(({ required }) => required) && !options.some(({ mandatory }) => mandatory);
}

function toLine(command: Command): string[] {
  const names: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) {
    names.unshift(at.name());
  }
  const has = (long: string) => command.options.some((option) => option.long === long);
  return [
    ...names,
    ...(has("--url") ? ["--url", `http://${service.addresses.admin}/readyz`] : []),
    ...(has("--config") ? ["--config", config] : []),
    ...(has("--core") ? ["--core", service.addresses.grpc ?? ""] : []),
  ];
}

/** Runs a command whose answer nobody reads. Returns what is left of it. */
async function runUnread(line: readonly string[]) {
  const child = spawn(process.execPath, [program, ...line], { cwd: site.folder, env: site.env });
  child.stdout.destroy();
  let notes = "";
  child.stderr.on("data", (data: Buffer) => {
    notes += data;
  });
  const [code] = await once(child, "close");
  return { line: line.join(" "), code, notes };
}

test("a command of every group ends without a word once nobody reads its answer", async () => {
  const waiting = await sample();
  expect(waiting.map(([name]) => name)).toEqual(expect.arrayContaining(["check", "accounts", "requests", "audit"]));
  const ended: Awaited<ReturnType<typeof runUnread>>[] = [];
  const work = async () => {
    for (let line = waiting.shift(); line !== undefined; line = waiting.shift()) {
      ended.push(await runUnread(line));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const isSilent = (notes: string) => !/EPIPE|^\s+at /m.test(notes) && notes.split("\n").length <= 2;
  const isRight = (code: number) => [0, 1, 2].includes(code);
  expect(ended.filter(({ code, notes }) => !isRight(code) || !isSilent(notes))).toEqual([]);
  expect(ended.filter(({ code }) => code === 0).length).toBeGreaterThan(ended.length / 2);
}, 240_000);

/** Where Linux has a disk that is always full. */
const fullDisk = "/dev/full";

(existsSync(fullDisk) ? test : test.skip)("an answer for which a disk has no room ends with one line", async () => {
  const full = openSync(fullDisk, "w");
  const core = ["--core", service.addresses.grpc ?? ""];
  const child = spawn(process.execPath, [program, "accounts", "list", ...core], {
    ...{ cwd: site.folder, env: site.env },
    stdio: ["ignore", full, "pipe"],
  });
  let notes = "";
  child.stderr?.on("data", (data: Buffer) => {
    notes += data;
  });
  const [code] = await once(child, "close");
  closeSync(full);
  expect({ code, notes }).toEqual({
    code: 1,
    notes: "tollgate: the answer cannot be written: ENOSPC: no space left on device, write\n",
  });
});

(existsSync(fullDisk) ? test : test.skip).each(["json", "pretty"])(
  "a service whose log (%s) has no room on its disk serves all the same, and ends in order",
  async (format) => {
    const other = await createSite();
    const full = openSync(fullDisk, "w");
    const base = await freeBasePort();
    const child = spawn(process.execPath, [program, "serve", "--port", String(base), "--log", format], {
      ...{ cwd: other.folder, env: other.env },
      stdio: ["ignore", full, "ignore"],
    });
    const ended = once(child, "close");
    await eventually("it is ready", async () => {
      const response = await fetch(`http://127.0.0.1:${base + 4}/readyz`).catch(() => undefined);
      return response?.ok;
    });
    child.kill("SIGTERM");
    expect((await ended)[0]).toBe(0);
    closeSync(full);
    await other.remove();
  },
  60_000,
);

test.each(["json", "pretty"])(
  "a service whose log (%s) nobody reads any more serves all the same, and ends in order",
  async (format) => {
    const other = await createSite();
    const base = await freeBasePort();
    const child = spawn(process.execPath, [program, "serve", "--port", String(base), "--log", format], {
      ...{ cwd: other.folder, env: other.env },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const ended = once(child, "close");
    child.stdout.resume();
    const isReady = async () => (await fetch(`http://127.0.0.1:${base + 4}/readyz`).catch(() => undefined))?.ok;
    await eventually("it is ready", isReady);
    child.stdout.destroy();
    expect(await isReady()).toBe(true);
    child.kill("SIGTERM");
    expect((await ended)[0]).toBe(0);
    await other.remove();
  },
  60_000,
);
