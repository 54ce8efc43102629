import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client, type PoolClient } from "pg";
import { checkStorage } from "#src/cli/check/findings/storage.ts";
import { isUnreachable } from "#src/storage/availability/unreachable.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { History } from "#src/storage/postgresql/history.ts";
import { serversOf } from "#src/storage/postgresql/servers.ts";
import type { PostgresqlStorage } from "#src/storage/storage.ts";
import { type PostgresqlServer, startPostgresql } from "../../../scripts/test-services/postgres-server.ts";
import { eventually } from "../../support/eventually.ts";

let primary: PostgresqlServer;
let standby: PostgresqlServer;
/** An address that leads to either of them, as a DNS name does that moves. */
let door: Server;
let leadsTo: PostgresqlServer;
const ways = new Set<Socket>();

beforeAll(async () => {
  primary = await startPostgresql();
  standby = await primary.startStandby();
  leadsTo = standby;
  door = createServer((socket) => {
    const way = connect(leadsTo.port, "127.0.0.1");
    ways.add(socket);
    socket.on("error", () => way.destroy()).on("close", () => way.destroy());
    way.on("error", () => socket.destroy()).on("close", () => socket.destroy());
    socket.pipe(way).pipe(socket);
  });
  await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
}, 120_000);
afterAll(async () => {
  door.close();
  await standby.stop();
  await primary.stop();
}, 60_000);

/** Moves the address. What came by it before breaks. */
function lead(to: PostgresqlServer): void {
  leadsTo = to;
  for (const way of ways) {
    way.destroy();
  }
  ways.clear();
}

async function open(url: string): Promise<PostgresqlStorage> {
  const storage = await openStorage(url);
  if (storage.dialect !== "postgresql") {
    throw new Error("not PostgreSQL");
  }
  return storage;
}

/** The port of the server that a new connection of the pool leads to. */
async function newConnection({ pool }: PostgresqlStorage): Promise<number> {
  const client: PoolClient & { port?: number } = await pool.connect();
  client.release(true);
  return Number(client.port);
}

const refusal = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

test("the address of each server is read, whatever the password holds", () => {
  expect(serversOf("postgresql://u:p,w@a:5432,[::1]:1,c/db?target_session_attrs=read-write")).toEqual([
    "postgresql://u:p,w@a:5432/db?target_session_attrs=read-write",
    "postgresql://u:p,w@[::1]:1/db?target_session_attrs=read-write",
    "postgresql://u:p,w@c/db?target_session_attrs=read-write",
  ]);
  for (const url of ["postgresql://u@a/db", "postgresql://a", "postgresql://a?host=/tmp,b", "sqlite:a,b.db", ""]) {
    expect(serversOf(url)).toEqual([url]);
  }
});

test("of several servers the one that takes writes is used; after a promotion, the new one; nothing acknowledged is lost", async () => {
  const one = new URL(await primary.createDatabase());
  const both = one.href.replace(one.host, `127.0.0.1:${standby.port},${one.host}`);
  const url = `${both}?target_session_attrs=read-write`;
  const moved = one.href.replace(one.host, `127.0.0.1:${(door.address() as { port: number }).port}`);
  const storage = await open(url);
  expect(await newConnection(storage)).toBe(primary.port);
  expect(await checkStorage(url)).toMatchObject({
    status: "ok",
    message: expect.stringContaining(`127.0.0.1:${primary.port}`),
  });

  await primary.setSynchronous(true);
  await storage.pool.query("create table note (id int primary key)");
  const acknowledged: number[] = [];
  let [ended, next] = [false, 0];
  const write = async () => {
    while (!ended) {
      const id = next++;
      const fault = await refusal(storage.pool.query("insert into note values ($1)", [id]));
      if (fault === undefined) {
        acknowledged.push(id);
      } else {
        expect({ fault, unreachable: isUnreachable(fault) }).toEqual({ fault, unreachable: true });
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  };
  const writers = [write(), write(), write(), write()];
  await eventually("writes are acknowledged", () => acknowledged.length > 100);
  await primary.crash();
  const before = acknowledged.length;
  const away = await refusal(newConnection(storage));
  expect(String(away)).toContain(`127.0.0.1:${standby.port} is a standby`);
  await standby.promote();
  await eventually("the new primary takes writes", () => acknowledged.length > before + 100);
  ended = true;
  await Promise.all(writers);
  expect(await newConnection(storage)).toBe(standby.port);
  const { rows } = await storage.pool.query<{ id: number }>("select id from note");
  const stored = new Set(rows.map(({ id }) => id));
  expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);

  // The old primary comes back beside the new one, and would take writes.
  const byName = await open(moved);
  await primary.restart();
  lead(primary);
  const back = new Client({ connectionString: one.href });
  await back.connect();
  expect((await back.query("select pg_is_in_recovery() as standby")).rows).toEqual([{ standby: false }]);
  await back.end();
  expect(await newConnection(storage)).toBe(standby.port);
  const refused = await eventually("the old primary is refused", async () => {
    const fault = await refusal(newConnection(byName));
    return String(fault).includes("timeline") && fault;
  });
  expect(String(refused)).toMatch(/this database is on timeline 1, and this core has written to timeline 2/);
  expect(isUnreachable(refused)).toBe(true);
  lead(standby);
  expect((await byName.pool.query("select count(*)::int > 100 as whole from note")).rows).toEqual([{ whole: true }]);

  // A process that knows nothing yet takes the one that was promoted last.
  const late = await open(url.replace(/(127[^,]*),([^/]*)/, "$2,$1"));
  expect(await newConnection(late)).toBe(standby.port);
  await Promise.all([storage, byName, late].map((each) => each.close()));
}, 120_000);

test("servers of which none takes writes are told, each with its reason", async () => {
  const nobody = `postgresql://postgres:password@127.0.0.1:1,127.0.0.1:2/postgres`;
  const refused = await refusal(openStorage(nobody));
  expect(String(refused)).toMatch(/PostgreSQL: none of the servers takes writes: .*ECONNREFUSED.*; .*ECONNREFUSED/);
  expect(isUnreachable(refused)).toBe(true);
  expect(await checkStorage(nobody)).toMatchObject({
    status: "wrong",
    message: expect.stringContaining("none of the servers takes writes"),
  });
});

test("a server that the process has outlived is told once, with the advice that fits", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-history-"));
  const file = join(folder, "database-history.json");
  const [{ system } = {}] = await standby.ask("select system_identifier::text as system from pg_control_system()");
  writeFileSync(file, JSON.stringify({ system, timeline: 99 }));
  const url = `postgresql://postgres:password@127.0.0.1:${standby.port}/postgres`;
  const refused = await refusal(openStorage(url, undefined, undefined, { history: new History(file) }));
  expect(String(refused)).toMatch(
    /^Error: PostgreSQL: this database is on timeline 2, .* remove \S*, which names the timeline, and restart the core$/,
  );
  expect(isUnreachable(refused)).toBe(true);
  rmSync(folder, { recursive: true });
});
