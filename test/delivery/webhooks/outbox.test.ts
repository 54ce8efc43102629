import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { Outbox } from "#src/delivery/webhooks/outbox.ts";
import { Event } from "#src/storage/entities/event.ts";
import { dialects } from "../../money/databases.ts";
import { eventually } from "../../support/eventually.ts";
import { pause } from "../../support/pause.ts";
import { delivering, references } from "./delivering.ts";

const start = delivering();

describe.each(dialects)("%s", (dialect) => {
  test("the backlog tells how many deliveries wait, and how old the oldest is", async () => {
    const { storage, clock, webhooks, endpoint, tell } = await start(dialect);
    const outbox = new Outbox({ storage, clock, random: systemRandom });
    expect(await outbox.backlog()).toEqual({ waiting: 0, oldestMs: 0 });
    await webhooks.create((await endpoint()).url, ["account.topped_up"]);
    const [first, second] = [v7(), v7()];
    for (const account of [first, first, second]) {
      await tell(account, "r");
      clock.advance(1000);
    }
    await outbox.spread();
    clock.advance(5000);
    expect(await outbox.backlog()).toEqual({ waiting: 3, oldestMs: 8000 });
  });

  test("a list of what is due that comes after a delivery's end does not send it again", async () => {
    const { webhooks, core, endpoint, tell, outbox } = await start(dialect);
    const receiver = await endpoint();
    await webhooks.create(receiver.url, ["account.topped_up"]);
    await tell(v7(), "once");
    const dispatcher = core();
    const answers = [outbox.holdBack("due"), outbox.holdBack("due")];
    await outbox.spread();
    const turns = [dispatcher.turn(), dispatcher.turn()];
    await Promise.all(answers.map(({ came }) => came));
    answers[0]?.release();
    await Promise.race(turns);
    await eventually("the delivery is over", () => dispatcher.underway === 0);
    answers[1]?.release();
    await Promise.all(turns);
    await eventually("nothing is under way", () => dispatcher.underway === 0);
    expect(receiver.received.map(({ event }) => event.data.reference)).toEqual(["once"]);
  });

  test("a core whose lease another one took while a delivery ended starts no further one", async () => {
    const { clock, webhooks, core, endpoint, tell, outbox, newLease } = await start(dialect);
    const receiver = await endpoint();
    await webhooks.create(receiver.url, ["account.topped_up"]);
    const account = v7();
    for (const reference of ["first", "second"]) {
      await tell(account, reference);
      clock.advance(1);
    }
    const dispatcher = core();
    const written = outbox.holdBack("finish");
    await dispatcher.turn();
    await written.came;
    clock.advance(20_000);
    expect(await newLease().hold()).toBe(true);
    written.release();
    await eventually("the first is over", () => dispatcher.underway === 0);
    await dispatcher.turn();
    await pause(100, "nothing may be sent");
    expect(references(receiver, account)).toEqual(["first"]);
  });
});

test("a delivery that is sent again while its event leaves the database fails, and is tried as seldom as any other", async () => {
  const { storage, webhooks, core, endpoint, tell, outbox } = await start();
  const receiver = await endpoint();
  const { webhook } = await webhooks.create(receiver.url, ["account.topped_up"]);
  await tell(v7(), "old");
  await outbox.spread();
  await storage.orm.em.fork().nativeDelete(Event, {});
  const dispatcher = core();
  await dispatcher.turn();
  const [delivery] = await eventually("it has failed", async () => {
    const found = await webhooks.deliveries(webhook.id, { after: undefined, limit: 1 });
    return found[0]?.attempts === 1 ? found : undefined;
  });
  expect(delivery).toMatchObject({ status: "pending", error: "the event is not kept any more" });
  await eventually("nothing is under way", () => dispatcher.underway === 0);
  expect(receiver.received).toEqual([]);
});

test("an event that comes while the one before it ends is not forgotten", async () => {
  const { storage, clock, webhooks, outbox, tell } = await start("postgresql");
  if (storage.dialect !== "postgresql") {
    throw new Error("SQLite has one transaction after the other");
  }
  await webhooks.create("https://example.com", ["account.topped_up"]);
  const account = systemRandom.uuid();
  await tell(account, "first");
  await outbox.spread();
  const [first] = await outbox.due([], 10);
  clock.advance(1);
  await tell(account, "second");
  const { pool } = storage;
  const blocked = async () =>
    (await pool.query("select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"))
      .rows.length;
  const client = await pool.connect();
  await client.query("begin; select 1 from event for update");
  const spreading = outbox.spread(); // comes as far as its last statement
  await eventually("the event is being spread", async () => (await blocked()) === 1);
  let isOver = false;
  const ended = first && outbox.finish(first, new Date(clock.now()), { ok: true, status: 200, error: "" });
  const ending = ended?.then((status) => {
    isOver = true;
    return status;
  });
  await eventually("the delivery has ended, or waits", async () => isOver || (await blocked()) === 2);
  await client.query("rollback");
  client.release();
  expect(await spreading).toBe(1);
  expect(await ending).toBe("delivered");
  expect(await outbox.due([], 10)).toMatchObject([{ lane: account, attempts: 0 }]);
});
