import { afterEach, expect } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { createSeal } from "#lib/ids/sealed.ts";
import { Dispatcher } from "#src/delivery/webhooks/dispatcher.ts";
import { createSend } from "#src/delivery/webhooks/send.ts";
import { Webhooks } from "#src/delivery/webhooks/webhooks.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { createAnnounce } from "#src/storage/outbox/announcer.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { WorkLease } from "#src/storage/work-lease.ts";
import { type Dialect, databases } from "../../money/databases.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../support/loggers.ts";
import { pause } from "../../support/pause.ts";
import { LateOutbox } from "./late-outbox.ts";
import { Receiver } from "./receiver.ts";

/**
 * Starts what the tests of a file need. The function makes a database with what has cores deliver from it, which ends with the
 * test.
 */
export function delivering() {
  const newDatabase = databases();
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) {
      await cleanup();
    }
  });
  return async (dialect: Dialect = "sqlite") => {
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
  };
}

/**
 * Lets time pass, in steps of a second, until something is so: at most so many seconds of the clock. Each step leaves
 * sockets and databases at most a fifth of a second of real time.
 */
export async function passUntil(
  clock: ManualClock,
  seconds: number,
  isSo: () => boolean,
  stepMs = 1000,
): Promise<void> {
  for (let passed = 0; !isSo() && passed < seconds * 1000; passed += stepMs) {
    await clock.advanceAsync(stepMs);
    for (let looks = 0; !isSo() && looks < 40; looks++) {
      await pause(5, "real sockets and databases work meanwhile");
    }
  }
  expect(isSo()).toBe(true);
}

/** Has a core work step by step until something is so, each attempt ended before time goes on: at most so many steps. */
export async function turnUntil(
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

/** The references of what a receiver was told of an account, in order. */
export const references = (receiver: Receiver, account: string) =>
  receiver.received.filter(({ event }) => event.data.account_id === account).map(({ event }) => event.data.reference);
