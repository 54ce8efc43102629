import { afterEach, describe, expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { parseUsd } from "#lib/money/money.ts";
import { UsageOutbox } from "#src/delivery/usage/usage-outbox.ts";
import { UsageSender } from "#src/delivery/usage/usage-sender.ts";
import { createSend } from "#src/delivery/webhooks/send.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { UsageEvent } from "#src/storage/entities/metering/usage-event.ts";
import { WorkLease } from "#src/storage/work-lease.ts";
import { databases, dialects } from "../../money/databases.ts";
import { never, openMetering, request, testModel, usd } from "../../money/fixture.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../support/loggers.ts";
import { CloudEventReceiver } from "./cloud-event-receiver.ts";

const newDatabase = databases();
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) {
    await cleanup();
  }
});

async function open(dialect: (typeof dialects)[number], usageEvents = true) {
  const clock = new ManualClock(Date.now());
  const metering = await openMetering({ clock, url: await newDatabase(dialect), usageEvents });
  const { storage, ledger, time } = metering;
  cleanups.push(() => clock.until(metering.close()));
  const receiver = await CloudEventReceiver.start();
  cleanups.push(() => receiver[Symbol.asyncDispose]());
  const outbox = new UsageOutbox({ storage, clock: time });
  const counts = { taken: 0, refused: 0, dropped: 0, waiting: 0 };
  const core = () =>
    new UsageSender({
      ...{
        outbox,
        clock: time,
        logger: silentLogger,
        url: receiver.url,
        source: "test",
        token: "secret",
        keepDays: 30,
      },
      lease: new WorkLease({ storage, clock: time, random: systemRandom, name: "usage events" }),
      send: createSend({ allow: ["127.0.0.0/8"], lookup: async () => ["127.0.0.1"], clock }),
      observer: {
        taken: (events) => {
          counts.taken += events;
        },
        refused: () => {
          counts.refused += 1;
        },
        dropped: (events) => {
          counts.dropped += events;
        },
        backlog: (waiting) => {
          counts.waiting = waiting;
        },
      },
    });
  return {
    ...{ clock, time, storage, store: metering.store, receiver, outbox, counts, core, account: metering.account },
    /** Charges so many requests, a millisecond apart. */
    async spend(accountId: string, requests: number) {
      for (let count = 0; count < requests; count++) {
        const hold = await clock.until(
          ledger.hold(request(accountId, { inputTokens: 5, outputTokens: 10 }, { keyId: "key" }), never),
        );
        clock.advance(1);
        await clock.until(hold.settle({ inputTokens: 5, outputTokens: 10 }, "completed", { surface: "chat" }));
      }
    },
  };
}

describe.each(dialects)("%s", (dialect) => {
  test("each receipt is sent once as an event that the SDK of CloudEvents takes, the oldest first", async () => {
    const { account, spend, core, receiver, storage, counts } = await open(dialect);
    const [ada, bob] = [await account({ paid: usd }), await account({ paid: usd })];
    await spend(ada, 3);
    await spend(bob, 2);
    const sender = core();
    await sender.turn();
    await sender.turn();
    expect(receiver.batches.map((batch) => batch.length)).toEqual([5]);
    expect([...receiver.authorizations]).toEqual(["Bearer secret"]);
    expect([...receiver.contentTypes]).toEqual(["application/cloudevents-batch+json"]); // OpenMeter takes no parameter
    expect(counts).toEqual({ taken: 5, refused: 0, dropped: 0, waiting: 0 });
    const order = { settledAt: "asc" } as const;
    const receipts = await storage.orm.em.fork().find(Usage, {}, { orderBy: order });
    expect(receiver.events.map(({ id }) => id)).toEqual(
      receipts.map(({ requestId, runId }) => `${requestId}/${runId}`),
    );
    expect(receiver.events.map(({ subject }) => subject)).toEqual([ada, ada, ada, bob, bob]);
    const [first] = receiver.events;
    expect(first).toMatchObject({
      source: "test",
      type: "tollgate.request.charged",
      datacontenttype: "application/json",
    });
    expect(first?.time).toBe(receipts[0]?.settledAt.toISOString());
    expect(first?.data).toEqual({
      ...{ request_id: receipts[0]?.requestId, run_id: receipts[0]?.runId, account_id: ada, key_id: "key" },
      ...{ model: testModel, input_tokens: 5, output_tokens: 10, total_tokens: 15, status: "completed" },
      ...{ surface: "chat", cost_usd: "0.0000035" },
    });
    const cost = receiver.events.reduce((sum, { data }) => sum + (parseUsd(String(data?.cost_usd)) ?? 0n), 0n);
    expect(cost).toBe(BigInt(receipts.reduce((sum, receipt) => sum + receipt.cost, 0)));
  }, 60_000);

  test("facts that are not known are left out: OpenMeter refuses a batch with null in it", async () => {
    const { account, spend, core, receiver } = await open(dialect);
    await spend(await account({ paid: usd }), 1);
    await core().turn();
    expect(receiver.batches).toHaveLength(1);
    expect(JSON.stringify(receiver.batches)).not.toContain("null");
  }, 60_000);

  test("what a receiver does not take, or takes and does not say so, comes again, in order and by the same ids", async () => {
    const { account, spend, core, receiver, counts, clock } = await open(dialect);
    const id = await account({ paid: usd });
    await spend(id, 130);
    const answers = [500, 204, 503];
    receiver.answer = () => answers.shift() ?? 202;
    const sender = core();
    await sender.turn();
    expect(counts).toMatchObject({ taken: 0, refused: 1, waiting: 130 });
    await sender.turn();
    expect(receiver.batches).toHaveLength(1); // it rests
    clock.advance(2000);
    await sender.turn();
    expect(counts).toMatchObject({ taken: 100, refused: 2, waiting: 30 });
    clock.advance(60_000);
    await core().turn(); // another core goes on
    expect(counts).toMatchObject({ taken: 130, refused: 2, waiting: 0 });
    expect(receiver.batches.map((batch) => batch.length)).toEqual([100, 100, 30, 30]);
    const times = receiver.events.map(({ time }) => String(time));
    expect(receiver.events).toHaveLength(130);
    expect(times).toEqual([...times].sort());
  }, 60_000);

  test("a charge that is stored again is no further event, and without a receiver there is none", async () => {
    const { account, spend, outbox, store, storage, clock } = await open(dialect);
    const id = await account({ paid: usd });
    await spend(id, 1);
    const em = storage.orm.em.fork();
    const [usage] = await em.find(Usage, {});
    const { requestId, runId, accountId, keyId, model, inputTokens, outputTokens, cost, settledAt } = usage as Usage;
    const again = { requestId, runId, accountId, keyId, model, inputTokens, outputTokens, cost };
    const charge = { ...again, shortfall: 0, status: "completed", settledAt: settledAt.getTime(), lines: [] } as const;
    expect(await clock.until(store.settle([charge]))).toEqual(["repeated"]);
    expect(await outbox.next(10)).toHaveLength(1);

    const without = await open(dialect, false);
    await without.spend(await without.account({ paid: usd }), 1);
    expect(await without.outbox.next(10)).toEqual([]);
  }, 60_000);

  test("events that were not taken for too long are dropped, and counted", async () => {
    const { account, spend, core, receiver, counts, storage, outbox } = await open(dialect);
    await spend(await account({ paid: usd }), 3);
    const old = new Date(Date.now() - 31 * 86_400_000);
    const [first] = await outbox.next(1);
    await storage.orm.em.fork().nativeUpdate(UsageEvent, { runId: first?.runId ?? "" }, { at: old });
    receiver.answer = () => 500;
    const sender = core();
    await sender.turn();
    await sender.purge();
    expect(counts).toMatchObject({ taken: 0, refused: 1, dropped: 1 });
    expect((await outbox.backlog()).waiting).toBe(2);
  }, 60_000);
});
