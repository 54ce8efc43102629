import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type DatabaseServer, useServer } from "../../scripts/test-services/postgres-server.ts";
import { eventually } from "../support/eventually.ts";
import { discrepancies } from "./books.ts";
import { Load } from "./load.ts";
import { type Metronome, startMetronome } from "./metronome.ts";
import { startService } from "./service.ts";

// No file of the program can grow any more, as on a full disk; its database is on another one.

let postgresql: DatabaseServer;
let metronome: Metronome;
beforeAll(async () => {
  [postgresql, metronome] = await Promise.all([useServer(), startMetronome()]);
}, 120_000);
afterAll(async () => {
  await metronome.close();
  await postgresql.stop();
});

/** Sets the size in bytes that no file of a process may pass; a write beyond it is an error. */
function limitFiles(pid: number | undefined, bytes: number | "unlimited"): void {
  const { status, stderr } = spawnSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:unlimited`]);
  if (status !== 0) {
    throw new Error(`prlimit: ${stderr}`);
  }
}

test("a journal that cannot be written stops new requests, loses none, and takes up again", async () => {
  const service = await startService(metronome.url, { TOLLGATE_STORAGE_URL: await postgresql.createDatabase() });
  const { account, key } = await service.books.customer(100n);
  const load = new Load(key);
  try {
    load.start(6, service.urls, 100);
    const refused = () => load.asked.filter(({ status }) => status === 503).length;
    await eventually("requests are done", () => load.acknowledged.length >= 12);
    expect(refused()).toBe(0);
    for (const { process } of service.processes) {
      limitFiles(process.pid, 1);
    }
    await eventually("new requests are refused", () => refused() >= 12);
    const acknowledged = load.acknowledged.length;
    for (const { process } of service.processes) {
      limitFiles(process.pid, "unlimited");
    }
    await eventually("requests are done again", () => load.acknowledged.length >= acknowledged + 12);
    await load.finish();

    const receipts = await service.books.receiptsOf(load);
    expect(discrepancies(load.acknowledged, receipts)).toEqual([]);
    expect(load.acknowledged.length).toBe(load.asked.filter(({ status }) => status === 200).length);
    expect(await service.books.requests(account)).toBe(receipts.size);
    expect(await service.books.reconcile()).toMatchObject({ ok: true, debtPicoUsd: "0" });
  } finally {
    await Promise.all([load.finish(), service.stop()]);
    await service.remove();
  }
}, 180_000);
