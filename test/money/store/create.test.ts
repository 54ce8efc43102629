import { afterEach, expect, jest, test } from "@jest/globals";
import { Pool, type PoolClient } from "pg";
import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { createLedgerStore } from "#src/money/store/create.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { databases } from "../databases.ts";

const newDatabase = databases();
afterEach(() => void jest.restoreAllMocks());

test("a server that stops while the connection behind a pooler is given back ends no process", async () => {
  const url = await newDatabase("postgresql");
  const storage = await openStorage(url);
  const life = { clock: systemClock, ended() {} };
  const store = createLedgerStore(storage, systemRandom, "core", { ...life, listenUrl: url });
  const connecting = jest.spyOn(Pool.prototype, "connect");
  await store.listen(() => {});
  const client = (await connecting.mock.results.at(-1)?.value) as unknown as PoolClient;
  await store.end();
  const goodbye = new Error("terminating connection due to administrator command");
  expect(() => client.emit("error", goodbye)).not.toThrow();
  await storage.close();
}, 60_000);
