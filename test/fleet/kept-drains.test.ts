import { describe, expect, test } from "@jest/globals";
import { ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { KeptDrains } from "#src/fleet/kept-drains.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { databases, dialects } from "../money/databases.ts";
import { silentLogger } from "../support/loggers.ts";
import { fixture } from "./fixture.ts";

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  test("a drain holds on every core and after a restart, until somebody resumes the server", async () => {
    const url = await newDatabase(dialect);
    const storage = await openStorage(url);
    const startCore = () => {
      const { fleet, clock } = fixture([1, 1]);
      return { fleet, drains: new KeptDrains({ storage, fleet, clock, logger: silentLogger }) };
    };
    const draining = ({ fleet }: ReturnType<typeof startCore>) =>
      fleet.servers().filter(({ state }) => state === ServerState.DRAINING).length;
    const [one, other] = [startCore(), startCore()];
    const [server] = one.fleet.servers();
    const id = server?.id ?? "";
    one.fleet.drain(id);
    await one.drains.keep(id, true);
    await one.drains.keep(id, true);
    await Promise.all([one, other].map(({ drains }) => drains.apply()));
    const restarted = startCore();
    await restarted.drains.apply();
    expect([one, other, restarted].map(draining)).toEqual([1, 1, 1]);
    other.fleet.resume(id);
    await other.drains.keep(id, false);
    await Promise.all([one, other, restarted].map(({ drains }) => drains.apply()));
    expect([one, other, restarted].map(draining)).toEqual([0, 0, 0]);
    await storage.close();
  });

  test("what was read before a change is not believed after it", async () => {
    const storage = await openStorage(await newDatabase(dialect));
    const { fleet, clock } = fixture([1]);
    const drains = new KeptDrains({ storage, fleet, clock, logger: silentLogger });
    const [server] = fleet.servers();
    const id = server?.id ?? "";
    const reading = drains.apply();
    fleet.drain(id);
    await drains.keep(id, true);
    await reading;
    expect(fleet.servers()[0]?.state).toBe(ServerState.DRAINING);
    await storage.close();
  });
});

test("a drain that is still being stored is not undone by what is read meanwhile", async () => {
  const storage = await openStorage(await newDatabase("postgresql"));
  const { fleet, clock } = fixture([1]);
  const drains = new KeptDrains({ storage, fleet, clock, logger: silentLogger });
  const id = fleet.servers()[0]?.id ?? "";
  const other = storage.orm.em.fork();
  await other.begin();
  await other.execute("lock table setting in share mode");
  fleet.drain(id);
  const keeping = drains.keep(id, true);
  await drains.apply();
  expect(fleet.servers()[0]?.state).toBe(ServerState.DRAINING);
  await other.rollback();
  await keeping;
  fleet.resume(id);
  await drains.apply();
  expect(fleet.servers()[0]?.state).toBe(ServerState.DRAINING);
  await storage.close();
});

test("what the database says holds again after a drain that could not be stored", async () => {
  const storage = await openStorage(await newDatabase("sqlite"));
  const { fleet, clock } = fixture([1]);
  const drains = new KeptDrains({ storage, fleet, clock, logger: silentLogger });
  const id = fleet.servers()[0]?.id ?? "";
  const em = storage.orm.em.fork();
  await em.execute("create trigger no before insert on setting begin select raise(abort, 'no'); end");
  fleet.drain(id);
  await expect(drains.keep(id, true)).rejects.toThrow("no");
  await drains.apply();
  expect(fleet.servers()[0]?.state).toBe(ServerState.HEALTHY);
  await storage.close();
});
