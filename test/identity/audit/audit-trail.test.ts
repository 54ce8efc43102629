import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "@jest/globals";
import { MemberRole, Role } from "#gen/tollgate/access/v1/access_pb.js";
import { AuditService } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import { AuditTrail } from "#src/identity/audit/audit-trail.ts";
import { createAuditService } from "#src/services/operators/audit-service.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { principalKey } from "#src/wire/interceptors/access/principal.ts";
import type { Principal } from "#src/wire/principal.ts";
import { databases, dialects } from "../../money/databases.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { readPlans } from "../../support/plans.ts";

const operator = { kind: "operator", id: "", name: "root", role: Role.OWNER } as const;
const newDatabase = databases();
const open: Storage[] = [];
afterEach(async () => {
  for (const storage of open.splice(0)) {
    await storage.close();
  }
});

const event = (target: string) => ({
  ...{ operator: "Ada", operatorId: null, keyId: null, method: "S/M", target, address: "127.0.0.1" },
  ...{ before: { name: "a" }, after: { name: "b", nothing: null } },
});

describe.each(dialects)("%s", (dialect) => {
  async function start() {
    const storage = await openStorage(await newDatabase(dialect));
    open.push(storage);
    const clock = new ManualClock();
    const trail = new AuditTrail({ storage, clock, random: systemRandom });
    const services = [registration(AuditService, createAuditService(trail))];
    const caller = { principal: operator as Principal };
    const asCaller: Interceptor = (next) => (request) => {
      request.contextValues.set(principalKey, caller.principal);
      return next(request);
    };
    const client = createClient(AuditService, createDirectTransport(services, [asCaller]));
    return { storage, clock, trail, caller, client };
  }

  test("changes are found by their target, by who made them and by their time, page by page", async () => {
    const { trail, client, clock } = await start();
    for (const [target, by] of [
      ["a", "Ada"],
      ["b", "Bob"],
      ["a", "Bob"],
      ["b", "Ada"],
    ] as const) {
      await trail.add({ ...event(target), operator: by });
      clock.advance(1000);
    }
    const find = async (asked: Parameters<typeof client.listAuditEvents>[0]) =>
      (await client.listAuditEvents(asked)).auditEvents.map(({ target, operator: by }) => `${target} ${by}`);
    expect(await find({ target: "a" })).toEqual(["a Bob", "a Ada"]);
    expect(await find({ operator: "Ada" })).toEqual(["b Ada", "a Ada"]);
    expect(await find({ operator: "Ada", target: "a" })).toEqual(["a Ada"]);
    const at = (ago: number) => timestampFromDate(new Date(clock.now() - ago));
    expect(await find({ from: at(3000), to: at(1000) })).toEqual(["a Bob", "b Bob"]);
    const first = await client.listAuditEvents({ target: "a", pageSize: 1 });
    expect(await find({ target: "a", pageSize: 1, pageToken: first.nextPageToken })).toEqual(["a Ada"]);
    await expect(find({ target: "b", pageSize: 1, pageToken: first.nextPageToken })).rejects.toMatchObject({
      code: Code.InvalidArgument,
    });
  });

  test("a filter reads by an index in the order of the list, whatever it matches", async () => {
    const { storage, trail, clock } = await start();
    const numbers =
      dialect === "sqlite"
        ? "with recursive one (n) as (select 1 union all select n + 1 from one where n < 20000) "
        : "with one (n) as (select generate_series(1, 20000)) ";
    const id = (text: string) => (dialect === "sqlite" ? text : `(${text})::uuid`);
    const columns = "id, at, operator, method, target, after, address, account_id";
    await storage.orm.em.fork().execute(
      `insert into audit_event (${columns}) ${numbers}
      select ${id("'0199f0a0-0000-7000-8000-0000000' || (10000 + n)")}, ?, case n % 2 when 0 then 'root' else 'Ada' end, 'S/M',
        'thing ' || (n % 100), '{}', '', ${id("'0199f0a0-0000-7000-8000-00000000000' || (n % 5)")} from one`,
      [new Date(clock.now())],
    );
    await storage.orm.em.fork().execute("analyze audit_event");
    const accountId = "0199f0a0-0000-7000-8000-000000000001";
    const key = `${clock.now()}_${systemRandom.uuid()}`;
    for (const filter of [
      { target: "nothing" },
      { operator: "nobody" },
      { target: "thing 1", operator: "nobody" },
      { target: "nothing", accountId },
      { operator: "nobody", accountId },
      { target: "nothing", operator: "nobody", accountId, to: new Date(clock.now() + 1) },
    ]) {
      for (const after of [undefined, key]) {
        const [plan] = await readPlans(storage, () => trail.list(filter, { after, limit: 101 }));
        expect(plan?.steps).toMatch(/audit_event_(target|operator|account_id)_at_id_index/);
        expect(plan?.steps).not.toMatch(/TEMP B-TREE|^SCAN|Seq Scan/m);
      }
    }
  });

  test("an owner sees what the members and keys of its own account changed, and nobody else's", async () => {
    const { trail, client, caller } = await start();
    const [own, other] = [systemRandom.uuid(), systemRandom.uuid()];
    await trail.add({ ...event("own"), accountId: own, personId: systemRandom.uuid() });
    await trail.add({ ...event("other"), accountId: other });
    await trail.add(event("of an operator"));
    const targets = async (accountId: string) =>
      (await client.listAuditEvents({ accountId })).auditEvents.map(({ target }) => target);
    expect(await targets("")).toEqual(["of an operator", "other", "own"]);
    expect(await targets(other)).toEqual(["other"]);
    caller.principal = { kind: "caller", accountId: own, keyId: "", personId: "p", memberRole: MemberRole.OWNER };
    expect(await targets("")).toEqual(["own"]);
    expect(await targets(own)).toEqual(["own"]);
    await expect(targets(other)).rejects.toThrow("its own account alone");
  });

  test("changes are listed newest first, page by page, from a time on", async () => {
    const { clock, trail, client } = await start();
    const times: number[] = [];
    for (let i = 0; i < 7; i++) {
      times.push(clock.now());
      await trail.add(event(`t${i}`));
      clock.advance(i % 2 === 0 ? 0 : 1000); // some at the same moment
    }
    const seen: string[] = [];
    let pageToken = "";
    do {
      const page = await client.listAuditEvents({ pageSize: 2, pageToken });
      seen.push(...page.auditEvents.map(({ target }) => target));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(seen).toEqual(["t6", "t5", "t4", "t3", "t2", "t1", "t0"]);
    const from = timestampFromDate(new Date(times[4] ?? 0));
    const { auditEvents, nextPageToken } = await client.listAuditEvents({ from, pageSize: 2 });
    const rest = await client.listAuditEvents({ from, pageSize: 2, pageToken: nextPageToken });
    const since = [...auditEvents, ...rest.auditEvents];
    expect(since.map(({ target }) => target)).toEqual(["t6", "t5", "t4"]);
    expect(since[0]).toMatchObject({
      operator: "Ada",
      operatorId: "",
      before: { name: "a" },
      after: { nothing: null },
    });
    const wrong = await client.listAuditEvents({ pageToken: nextPageToken }).catch((error: unknown) => error);
    expect(ConnectError.from(wrong).code).toBe(Code.InvalidArgument);
  });

  test.each(["update audit_event set operator = 'Eve'", "delete from audit_event"])(
    "the database itself refuses to %s",
    async (sql) => {
      const { storage, trail } = await start();
      await trail.add(event("kept"));
      await expect(storage.orm.em.fork().execute(sql)).rejects.toThrow("append-only");
      expect((await trail.list({ from: undefined }, { after: undefined, limit: 9 })).length).toBe(1);
    },
  );

  if (dialect === "sqlite") {
    test.each(["id", "rowid"])("nor does an event of the same %s take another's place", async (column) => {
      const { storage, trail } = await start();
      await trail.add(event("kept"));
      const columns = "operator, method, target, after, address, at";
      const [other, copied] = column === "id" ? ["id", "id"] : ["rowid, id", "rowid, 'another'"];
      const replaced = `replace into audit_event (${other}, ${columns}) select ${copied}, 'Eve', method, target, after, address, at from audit_event`;
      await expect(storage.orm.em.fork().execute(replaced)).rejects.toThrow("append-only");
      const [kept] = await trail.list({ from: undefined }, { after: undefined, limit: 9 });
      expect(kept).toMatchObject({ operator: event("kept").operator, target: "kept" });
    });
  }

  if (dialect === "postgresql") {
    test("nor is it emptied at once", async () => {
      const { storage } = await start();
      await expect(storage.orm.em.fork().execute("truncate audit_event")).rejects.toThrow("append-only");
    });
  }

  test("a change that is undone leaves no trace", async () => {
    const { storage, trail } = await start();
    const undone = inTransaction(storage, async (em) => {
      await trail.addWithin(em, event("undone"));
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    expect(await trail.list({ from: undefined }, { after: undefined, limit: 9 })).toEqual([]);
  });

  test("texts beyond what a row takes are cut, and the change is noted all the same", async () => {
    const { trail } = await start();
    const operator = `${"a".repeat(200)} <${"b".repeat(200)}@example.com>`;
    await trail.add({ ...event("x".repeat(1000)), operator, after: { name: "y".repeat(100_000), nul: "\u0000" } });
    const [row] = await trail.list({ from: undefined, operator }, { after: undefined, limit: 9 });
    expect([row?.target.length, row?.operator.length]).toEqual([255, 255]);
    expect(JSON.parse(row?.after ?? "")).toEqual({ left_out: expect.stringMatching(/^\d+ characters$/) });
  });
});
