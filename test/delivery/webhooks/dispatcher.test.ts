import { afterEach, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { createSeal } from "#lib/ids/sealed.ts";
import { Dispatcher } from "#src/delivery/webhooks/dispatcher.ts";
import { Outbox } from "#src/delivery/webhooks/outbox.ts";
import { createSend } from "#src/delivery/webhooks/send.ts";
import { Webhooks } from "#src/delivery/webhooks/webhooks.ts";
import { Event } from "#src/storage/entities/event.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { createAnnounce } from "#src/storage/outbox/announcer.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { WorkLease } from "#src/storage/work-lease.ts";
import { databases, dialects } from "../../money/databases.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { silentLogger } from "../../support/loggers.ts";
import { pause } from "../../support/pause.ts";
import { Receiver, signatureOf } from "./receiver.ts";

const newDatabase = databases();
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) {
    await cleanup();
  }
});

async function start(dialect: (typeof dialects)[number] = "sqlite") {
  const storage = await openStorage(await newDatabase(dialect));
  cleanups.push(() => storage.close());
  const clock = new ManualClock();
  const random = systemRandom;
  const seal = createSeal([{ version: 1, secret: "pepper" }], random);
  const webhooks = new Webhooks({ storage, clock, random, seal });
  const announce = createAnnounce({ clock, random });
  const outcomes: string[] = [];
  const outbox = new LateOutbox({ storage, clock, random });
  const newLease = () => new WorkLease({ storage, clock, random, name: "webhooks" });
  const core = () => {
    const dispatcher = new Dispatcher({
      ...{ outbox, seal, clock },
      lease: newLease(),
      send: createSend({ allow: ["127.0.0.0/8"], lookup: async () => ["127.0.0.1"], clock }),
      logger: silentLogger,
      observer: { attempted: (outcome) => void outcomes.push(outcome), backlog: () => {} },
    });
    cleanups.push(() => dispatcher.stop());
    return dispatcher;
  };
  const endpoint = async () => {
    const receiver = await Receiver.start();
    cleanups.push(() => receiver[Symbol.asyncDispose]());
    return receiver;
  };
  const tell = (accountId: string, reference: string) =>
    inTransaction(storage, (em) => announce(em, { type: "account.topped_up", accountId, data: { reference } }));
  return { storage, clock, webhooks, announce, outcomes, core, endpoint, tell, outbox, newLease };
}

/** An answer of the outbox that is kept from whoever asked. */
class HeldAnswer {
  readonly #came = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();
  /** Resolves once the database has answered. */
  readonly came = this.#came.promise;

  release(): void {
    this.#released.resolve();
  }

  async keep(): Promise<void> {
    this.#came.resolve();
    await this.#released.promise;
  }
}

/** An outbox whose next answers come as late as a test wants: those of a busy database. */
class LateOutbox extends Outbox {
  readonly #late: Record<"due" | "finish", HeldAnswer[]> = { due: [], finish: [] };

  /** Holds back the answer to the next question of a kind, behind those held back before it. */
  holdBack(question: "due" | "finish"): HeldAnswer {
    const answer = new HeldAnswer();
    this.#late[question].push(answer);
    return answer;
  }

  override async due(...parameters: Parameters<Outbox["due"]>): ReturnType<Outbox["due"]> {
    const held = this.#late.due.shift();
    const due = await super.due(...parameters);
    await held?.keep();
    return due;
  }

  override async finish(...parameters: Parameters<Outbox["finish"]>): ReturnType<Outbox["finish"]> {
    const held = this.#late.finish.shift();
    const status = await super.finish(...parameters);
    await held?.keep();
    return status;
  }
}

/**
 * Lets time pass, in steps of a second, until something is so: at most so many seconds of the clock. Each step leaves
 * sockets and databases at most a fifth of a second of real time.
 */
async function passUntil(clock: ManualClock, seconds: number, isSo: () => boolean, stepMs = 1000): Promise<void> {
  for (let passed = 0; !isSo() && passed < seconds * 1000; passed += stepMs) {
    await clock.advanceAsync(stepMs);
    for (let looks = 0; !isSo() && looks < 40; looks++) {
      await pause(5, "real sockets and databases work meanwhile");
    }
  }
  expect(isSo()).toBe(true);
}

/** Has a core work step by step until something is so, each attempt ended before time goes on: at most so many steps. */
async function turnUntil(
  clock: ManualClock,
  dispatcher: Dispatcher,
  stepMs: number,
  steps: number,
  isSo: () => boolean,
): Promise<void> {
  for (let step = 0; !isSo() && step < steps; step++) {
    clock.advance(stepMs);
    await dispatcher.turn();
    for (let tries = 0; dispatcher.underway > 0 && tries < 2000; tries++) {
      await pause(5, "requests over real sockets end meanwhile");
    }
    expect(dispatcher.underway).toBe(0);
  }
  expect(isSo()).toBe(true);
}

const references = (receiver: Receiver, account: string) =>
  receiver.received.filter(({ event }) => event.data.account_id === account).map(({ event }) => event.data.reference);

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

test("an endpoint that hangs holds no other one up, and is cut off", async () => {
  const { clock, webhooks, core, endpoint, tell, outcomes } = await start();
  const [hanging, other] = [await endpoint(), await endpoint()];
  hanging.answer = () => "hang";
  await webhooks.create(hanging.url, ["account.topped_up"]);
  await webhooks.create(other.url, ["account.topped_up"]);
  core().start();
  const accounts = Array.from({ length: 30 }, () => v7());
  for (const account of accounts) {
    await tell(account, "r");
  }
  await passUntil(clock, 14, () => other.received.length === 30, 500);
  await passUntil(clock, 60, () => outcomes.includes("retried"), 5000);
});

test("endpoints that hang leave places to the others, however many they are and however much waits for them", async () => {
  const { clock, webhooks, core, endpoint, tell, outbox } = await start();
  const [hanging, other] = [await endpoint(), await endpoint()];
  hanging.answer = () => "hang";
  for (let count = 0; count < 20; count++) {
    await webhooks.create(hanging.url, ["account.topped_up"]);
  }
  const accounts = Array.from({ length: 20 }, () => v7());
  for (const account of accounts) {
    await tell(account, "r");
  }
  core().start();
  await outbox.spread();
  await clock.pass(2000); // they have what places there are for them
  await webhooks.create(other.url, ["account.topped_up"]);
  for (const account of accounts) {
    await tell(account, "later");
  }
  await passUntil(clock, 5, () => other.received.length === 20, 500);
}, 60_000);

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
