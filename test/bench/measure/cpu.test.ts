import { spawn } from "node:child_process";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, test } from "@jest/globals";
import { eventually } from "../../support/eventually.ts";
import { descendants, parseMachine, parseResident, parseSchedstat, parseStat, usage } from "./cpu.ts";

/** The kernel tells what children used in ticks of 10 ms. */
const tick = 10_000;

test("reads parent and CPU time, whatever the command is called", () => {
  const rest = `S 41 42 42 0 -1 4194560 900 0 0 0 150 25 9 9 20 0 11 0 5000 1000000 2000`;
  const expected = { parent: 41, cpu: 1_750_000, ended: 180_000 };
  expect(parseStat(`42 (node) ${rest}`)).toEqual(expected);
  expect(parseStat(`42 (a) b (c) ${rest}`)).toEqual(expected);
});

test("reads the scheduler's counter in microseconds", () => {
  expect(parseSchedstat("886917 12 3\n")).toBe(886.917);
});

test("reads resident memory in bytes, none of a process without memory", () => {
  expect(parseResident("Name:\tnode\nVmHWM:\t   90 kB\nVmRSS:\t   80 kB\nThreads:\t7\n")).toBe(81_920);
  expect(parseResident("Name:\tkthreadd\n")).toBe(0);
});

test("adds up what the machine was busy with, not what it waited for", () => {
  expect(parseMachine("cpu  100 20 30 5000 400 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n")).toBe(1_710_000);
});

test("finds a tree whatever the order of its processes", () => {
  const parents = new Map([
    [30, 20],
    [20, 10],
    [11, 1],
    [10, 1],
  ]);
  expect(descendants(parents, [10]).sort()).toEqual([10, 20, 30]);
  expect(descendants(parents, [30, 11]).sort()).toEqual([11, 30]);
});

test("counts what threads used that have ended", async () => {
  const before = usage([process.pid]).cpu;
  const busy = "const before = process.cpuUsage().user; while (process.cpuUsage().user < before + 200_000);";
  await once(new Worker(busy, { eval: true }), "exit");
  expect(usage([process.pid]).cpu - before).toBeGreaterThan(150_000);
});

test("counts what processes used that have ended, as connections of a database do", async () => {
  const busy = "const before = process.cpuUsage().user; while (process.cpuUsage().user < before + 200_000);";
  const child = spawn(process.execPath, ["-e", `${busy} process.stdin.once("data", () => process.exit())`]);
  const { pid = 0 } = child;
  const used = () => usage([process.pid]).cpu;
  const before = used();
  await eventually("the child has worked", () => usage([pid]).cpu > 200_000);
  const running = used();
  child.stdin.end("\n");
  await once(child, "exit");
  expect(used()).toBeGreaterThan(running - tick);
  expect(used() - before).toBeGreaterThan(150_000);
});

test("a process that ends while its tree is read is counted with its parent", () => {
  const line = (parent: number, ticks: number, ended: number) =>
    `1 (p) S ${parent} 1 1 0 -1 0 0 0 0 0 ${ticks} 0 ${ended} 0 20 0 1 0 0 0 0`;
  let isOver = false;
  const files = () => ({
    "/proc/1/stat": line(0, 5, isOver ? 100 : 0),
    ...(isOver ? {} : { "/proc/2/stat": line(1, 100, 0) }),
  });
  const proc = {
    list: (path: string) => (path === "/proc" ? (isOver ? ["1"] : ["1", "2"]) : []),
    read(path: string) {
      isOver ||= path === "/proc/1/status"; // the parent was read already
      return files()[path as "/proc/1/stat"] ?? "";
    },
  };
  expect(usage([1], proc)).toEqual({ cpu: 1_050_000, resident: 0 });
});
