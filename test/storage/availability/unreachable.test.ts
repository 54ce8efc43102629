import { expect, test } from "@jest/globals";
import { isUnreachable } from "#src/storage/availability/unreachable.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { startPostgresql } from "../../../scripts/test-services/postgres-server.ts";

const coded = (code: string) => Object.assign(new Error("some words"), { code });

test.each([
  ["a refused connection", coded("ECONNREFUSED"), true],
  ["a host without an address", coded("ENOTFOUND"), true],
  ["both addresses of a host refused", new AggregateError([coded("ECONNREFUSED"), coded("ECONNREFUSED")]), true],
  ["a server that ends", coded("57P01"), true],
  ["a server that starts", coded("57P03"), true],
  ["a lost connection, in the ORM's error", new Error("select 1 - it broke", { cause: coded("08006") }), true],
  ["a server that gave a transaction up", coded("25P03"), true],
  ["a server whose disk is full", coded("53100"), true],
  ["a server whose disk fails", coded("58030"), true],
  ["a question that needs more temporary files than it may have", coded("53400"), false],
  ["a file on a full disk", Object.assign(new Error("database or disk is full"), { errcode: 13 }), true],
  [
    "a file on a disk that fails, by its extended code",
    Object.assign(new Error("disk I/O error"), { errcode: 778 }),
    true,
  ],
  ["a file that another process keeps", Object.assign(new Error("database is locked"), { errcode: 5 }), false],
  ["no answer in time", new Error("Query read timeout"), true],
  ["no connection in time", new Error("timeout exceeded when trying to connect"), true],
  ["a broken connection", new Error("Connection terminated unexpectedly"), true],
  ["a broken constraint", coded("23505"), false],
  ["a cancelled statement", coded("57014"), false],
  ["a file that is not there", coded("ENOENT"), false],
  ["a bug", new TypeError("undefined is not a function"), false],
  ["no error", "ECONNREFUSED", false],
])("%s", (_, error, expected) => {
  expect(isUnreachable(error)).toBe(expected);
});

test("what every way into a server that has gone says", async () => {
  const server = await startPostgresql();
  const storage = await openStorage(await server.createDatabase());
  try {
    expect(isUnreachable(await refusal(storage.orm.em.fork().execute("select * from nothing")))).toBe(false);
    const held = await storage.snapshot();
    await server.crash();
    const refusals = [
      await refusal(storage.orm.em.fork().execute("select 1")),
      await refusal(storage.snapshot()),
      await refusal(held.rows("select 1").next()),
    ];
    await held.close();
    expect(refusals.map(isUnreachable)).toEqual([true, true, true]);
  } finally {
    await storage.close();
    await server.restart(); // one that has crashed cannot be stopped
    await server.stop();
  }
});

const refusal = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );
