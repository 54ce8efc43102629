import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Event } from "#src/storage/entities/event.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { dialects } from "../../money/databases.ts";
import { eventually } from "../../support/eventually.ts";
import { delivering, passUntil, references, turnUntil } from "./delivering.ts";
import { signatureOf } from "./receiver.ts";

const start = delivering();

describe.each(dialects)("%s", (dialect) => {
  test("a receiver that is down for an hour gets everything, in order per account, each with its id and signature", async () => {
    const { clock, webhooks, core, endpoint, tell, outcomes } = await start(dialect);
    const receiver = await endpoint();
    const { secret } = await webhooks.create(receiver.url, ["account.topped_up"]);
    await webhooks.create((await endpoint()).url, ["books.failed"]); // is told of nothing
    receiver.answer = () => 503;
    const dispatcher = core();
    const [ada, bob] = [v7(), v7()];
    const expected = Array.from({ length: 20 }, (_, n) => `r${n}`);
    for (const reference of expected) {
      await tell(ada, reference);
      await tell(bob, reference);
      clock.advance(1);
    }
    await turnUntil(clock, dispatcher, 60_000, 70, () => clock.monotonic() > 3_600_000);
    expect(outcomes).not.toContain("delivered");
    receiver.answer = () => 200;
    await turnUntil(clock, dispatcher, 60_000, 70, () => receiver.received.length >= 40);
    expect(references(receiver, ada)).toEqual(expected);
    expect(references(receiver, bob)).toEqual(expected);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(40);
    for (const got of receiver.received) {
      expect(got.signature).toBe(signatureOf(got, secret));
      expect(Math.abs(Number(got.timestamp) * 1000 - clock.now())).toBeLessThan(7_200_000);
      expect(JSON.parse(got.body)).toEqual({
        type: "account.topped_up",
        timestamp: expect.any(String),
        data: expect.any(Object),
      });
    }
  }, 120_000);

  test("what waited for 30 days behind an event that is not taken is given up, and what is newer goes on", async () => {
    const { storage, clock, webhooks, core, endpoint, tell, outcomes } = await start(dialect);
    const receiver = await endpoint();
    await webhooks.create(receiver.url, ["account.topped_up"]);
    receiver.answer = () => 500;
    const dispatcher = core();
    const [ada, bob] = [v7(), v7()];
    for (let count = 0; count < 120; count++) {
      await tell(ada, "old");
      clock.advance(1);
    }
    await tell(bob, "old");
    await turnUntil(clock, dispatcher, 1000, 5, () => outcomes.length > 0);
    clock.advance(31 * 86_400_000);
    await tell(ada, "new");
    await dispatcher.turn();
    await eventually("nothing is under way", () => dispatcher.underway === 0);
    outcomes.length = 0;
    await dispatcher.purge();
    expect(outcomes.filter((outcome) => outcome === "failed").length).toBeGreaterThanOrEqual(120);
    expect(await storage.orm.em.fork().count(Event, {})).toBe(1);
    receiver.answer = () => 200;
    await turnUntil(clock, dispatcher, 1000, 5, () => receiver.received.length > 0);
    expect(references(receiver, ada)).toEqual(["new"]);
  }, 60_000);

  test("nothing is told of what was undone", async () => {
    const { storage, clock, webhooks, announce, core, endpoint, tell } = await start(dialect);
    const receiver = await endpoint();
    await webhooks.create(receiver.url, ["account.topped_up"]);
    core().start();
    const undone = inTransaction(storage, async (em) => {
      await announce(em, { type: "account.topped_up", accountId: v7(), data: { reference: "undone" } });
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    const account = v7();
    await tell(account, "done");
    await passUntil(clock, 60, () => receiver.received.length > 0);
    expect(receiver.received.map(({ event }) => event.data.reference)).toEqual(["done"]);
  });

  test("an endpoint is told of nothing that happened before it was made", async () => {
    const { clock, webhooks, core, endpoint, tell } = await start(dialect);
    const receiver = await endpoint();
    const account = v7();
    await tell(account, "before");
    clock.advance(1);
    await webhooks.create(receiver.url, ["account.topped_up"]);
    await tell(account, "after");
    const dispatcher = core();
    await turnUntil(clock, dispatcher, 1000, 5, () => receiver.received.length > 0);
    expect(references(receiver, account)).toEqual(["after"]);
  });

  test("of two cores one delivers, and the other takes over when it ends without a word", async () => {
    const { clock, webhooks, core, endpoint, tell } = await start(dialect);
    const receiver = await endpoint();
    await webhooks.create(receiver.url, ["account.topped_up"]);
    const first = core();
    await first.turn();
    core().start();
    const account = v7();
    await tell(account, "one");
    await clock.pass(3000);
    expect(receiver.received.length).toBe(0); // the first core has the lease, and does not turn
    await passUntil(clock, 60, () => receiver.received.length > 0, 5000);
    await first.turn();
    expect(references(receiver, account)).toEqual(["one"]);
  });
});

test("an event that an endpoint never takes holds up its own account alone, and is given up after three days", async () => {
  const { clock, webhooks, core, endpoint, tell, outcomes } = await start();
  const receiver = await endpoint();
  const { webhook } = await webhooks.create(receiver.url, ["account.topped_up"]);
  receiver.answer = ({ event }) => (event.data.reference === "poison" ? 500 : 200);
  const dispatcher = core();
  const [ada, bob] = [v7(), v7()];
  await tell(ada, "poison");
  clock.advance(1);
  await tell(ada, "after");
  await tell(bob, "well");
  await turnUntil(clock, dispatcher, 1000, 5, () => references(receiver, bob).length === 1);
  await turnUntil(clock, dispatcher, 3_600_000, 80, () => references(receiver, ada).includes("after"));
  expect(outcomes.filter((outcome) => outcome === "failed").length).toBe(1);
  expect(clock.monotonic()).toBeGreaterThanOrEqual(3 * 86_400_000);
  const statuses = (await webhooks.deliveries(webhook.id, { after: undefined, limit: 9 })).map(({ status }) => status);
  expect(statuses.sort()).toEqual(["delivered", "delivered", "failed"]);
});

test("redirects are failures, and until the overlap ends both secrets sign", async () => {
  const { clock, webhooks, core, endpoint, tell } = await start();
  const receiver = await endpoint();
  const { webhook, secret } = await webhooks.create(receiver.url, ["account.topped_up"]);
  const renewed = await webhooks.rotate(webhook.id, 60_000);
  core().start();
  let redirects = 0;
  receiver.answer = () => {
    redirects += 1;
    return redirects === 1 ? 302 : 200;
  };
  const account = v7();
  await tell(account, "during");
  await passUntil(clock, 30, () => receiver.received.length === 1);
  const [during] = receiver.received;
  expect(during?.signature.split(" ")).toEqual(
    during && [signatureOf(during, renewed.secret), signatureOf(during, secret)],
  );
  await clock.pass(60_000);
  await tell(account, "after");
  await passUntil(clock, 30, () => receiver.received.length === 2);
  const after = receiver.received[1];
  expect(after?.signature).toBe(after && signatureOf(after, renewed.secret));
});

test("a core that stops starts nothing of what it hears to be due afterwards", async () => {
  const { webhooks, core, endpoint, tell, outbox } = await start();
  const receiver = await endpoint();
  await webhooks.create(receiver.url, ["account.topped_up"]);
  await tell(v7(), "r");
  const dispatcher = core();
  const due = outbox.holdBack("due");
  const turning = dispatcher.turn();
  await due.came;
  await dispatcher.stop();
  due.release();
  await turning;
  expect(dispatcher.underway).toBe(0);
  expect(receiver.received).toEqual([]);
});
