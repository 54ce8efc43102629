import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type PostgresqlServer, startPostgresql } from "../../scripts/test-services/postgres-server.ts";
import { eventually } from "../support/eventually.ts";
import { asRoot, mountSmallDisk, type SmallDisk } from "../support/small-disk.ts";
import { discrepancies } from "./books.ts";
import { Load } from "./load.ts";
import { type Metronome, startMetronome } from "./metronome.ts";
import { startService } from "./service.ts";

// A real PostgreSQL whose write-ahead log has a file system of its own, which is full, and then has room again.

const clients = 6;
const shortTokens = 20;
/** Of a stream that runs for six seconds. */
const longTokens = 1200;

let disk: SmallDisk;
let postgresql: PostgresqlServer;
let metronome: Metronome;
beforeAll(async () => {
  disk = mountSmallDisk(24);
  [postgresql, metronome] = await Promise.all([startPostgresql(), startMetronome()]);
  const [data] = await postgresql.ask("show data_directory");
  const log = join(String(data?.data_directory), "pg_wal");
  await postgresql.shutDown();
  asRoot("cp", "-a", log, disk.folder);
  asRoot("rm", "-r", log);
  asRoot("ln", "-s", join(disk.folder, "pg_wal"), log);
  await postgresql.restart();
}, 120_000);
afterAll(async () => {
  await metronome?.close();
  await postgresql?.stop();
  disk.remove();
}, 60_000);

/** Takes all the room that is left. Returns the function that gives it back. */
function fill(folder: string): () => void {
  const path = join(folder, "filler");
  for (let bytes = 2 ** 20; bytes >= 4096; ) {
    try {
      writeFileSync(path, Buffer.alloc(bytes), { flag: "a" });
    } catch {
      bytes /= 2;
    }
  }
  return () => rmSync(path);
}

test("a primary that cannot write its log ends: new requests get 503, what runs goes on, no charge is lost, and cores go on with it once it has room", async () => {
  const service = await startService(metronome.url, { TOLLGATE_STORAGE_URL: await postgresql.createDatabase() });
  const { account, key } = await service.books.customer(100n);
  const load = new Load(key);
  try {
    load.start(clients, service.urls, shortTokens);
    await eventually("requests are done", () => load.acknowledged.length >= 2 * clients);
    const streams = service.urls.map((url) => load.stream(url, longTokens));
    const running = load.asked.slice(-streams.length);
    await eventually("streams run", () => running.every(({ seen }) => seen > 0));

    const makeRoom = fill(disk.folder);
    const isOver = (fault: { code?: unknown }) => fault.code === "ECONNREFUSED";
    const write = "select pg_logical_emit_message(true, 'filler', repeat('x', 100000))";
    await eventually("the server ends", () => postgresql.ask(write).then(() => false, isOver));
    const refused = () => load.asked.filter(({ status }) => status === 503).length;
    await eventually("new requests are refused", () => refused() >= 2 * clients);
    expect((await Promise.all(streams)).filter(({ acknowledged }) => acknowledged === undefined)).toEqual([]);

    makeRoom();
    await postgresql.restart();
    const acknowledged = load.acknowledged.length;
    await eventually("requests are done again", () => load.acknowledged.length >= acknowledged + 2 * clients);
    await load.finish();
    const begun = load.asked.filter(({ status }) => status === 200);
    expect(new Set(load.asked.map(({ status }) => status))).toEqual(new Set([200, 503]));
    expect(load.acknowledged).toHaveLength(begun.length);
    await eventually("what waited is stored", async () => (await service.books.requests(account)) >= begun.length);
    const receipts = await service.books.receiptsOf(load);
    expect(discrepancies(load.acknowledged, receipts)).toEqual([]);
    expect(await service.books.requests(account)).toBe(begun.length);
    expect(await service.books.reconcile()).toMatchObject({ ok: true, debtPicoUsd: "0" });
  } finally {
    await Promise.all([load.finish(), service.stop()]);
    await service.remove();
  }
}, 240_000);
