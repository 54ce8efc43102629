import { afterEach, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { Operators } from "#src/identity/operators/operators.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { databases, dialects } from "../../money/databases.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

const newDatabase = databases();
const open: Storage[] = [];
afterEach(async () => {
  for (const storage of open.splice(0)) {
    await storage.close();
  }
});

describe.each(dialects)("%s", (dialect) => {
  async function start() {
    const storage = await openStorage(await newDatabase(dialect));
    open.push(storage);
    return { storage, operators: new Operators({ storage, clock: new ManualClock(), random: systemRandom }) };
  }

  const reasonOf = (error: unknown) => readDetail(error)?.reason;

  test("a token is stored nowhere, and a revoked operator is no longer live", async () => {
    const { storage, operators } = await start();
    const { operator, token } = await operators.create("Ada", "billing");
    const rows = await storage.orm.em.getConnection().execute("select * from operator");
    expect(JSON.stringify(rows)).not.toContain(token);
    expect((await operators.live()).map(({ name, role }) => [name, role])).toEqual([["Ada", "billing"]]);
    const revoked = await operators.revoke(operator.id);
    expect(await operators.revoke(operator.id)).toEqual(revoked);
    expect(await operators.live()).toEqual([]);
    expect((await operators.list({ after: undefined, limit: 10 })).map(({ id }) => id)).toEqual([operator.id]);
  });

  test("a name is one live operator's, also when two are made at once", async () => {
    const { operators } = await start();
    const made = await Promise.allSettled([operators.create("Ada", "owner"), operators.create("Ada", "reader")]);
    expect(made.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const refused = made.find(({ status }) => status === "rejected") as PromiseRejectedResult;
    expect(reasonOf(refused.reason)).toBe(Reason.OPERATOR_NAME_TAKEN);
    const [live] = await operators.live();
    await operators.revoke(live?.id ?? "");
    expect((await operators.create("Ada", "reader")).operator.role).toBe("reader");
  });

  test("a revoked operator makes no other, however the call was admitted", async () => {
    const { operators } = await start();
    const { operator } = await operators.create("Ada", "owner");
    await operators.create("Bea", "owner", operator.id);
    await operators.revoke(operator.id);
    const refused = await operators.create("Cleo", "owner", operator.id).catch((error: unknown) => error);
    expect(reasonOf(refused)).toBe(Reason.PERMISSION_DENIED);
  });

  test("an unknown operator cannot be revoked", async () => {
    const { operators } = await start();
    const refused = await operators.revoke(systemRandom.uuid()).catch((error: unknown) => error);
    expect(reasonOf(refused)).toBe(Reason.OPERATOR_NOT_FOUND);
  });
});
