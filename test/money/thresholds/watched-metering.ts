import { afterEach, expect } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import type { ModelConfig } from "#src/config/schema.ts";
import { ApiKeys } from "#src/identity/accounts/keys/api-keys.ts";
import { toBudget } from "#src/identity/accounts/keys/key-budget.ts";
import type { Journal } from "#src/money/journal/journal.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import { BudgetEvents } from "#src/money/thresholds/budget-events.ts";
import { BudgetRecounts } from "#src/money/thresholds/budget-recounts.ts";
import { type Dependencies, SpendingWatch } from "#src/money/thresholds/spending-watch.ts";
import { findSpentWindows } from "#src/money/thresholds/spent-windows.ts";
import { Event } from "#src/storage/entities/event.ts";
import { createAnnounce } from "#src/storage/outbox/announcer.ts";
import { movableClock } from "../../storage/movable-clock.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../support/loggers.ts";
import { databases, type dialects } from "../databases.ts";
import { never, openMetering, request, usd } from "../fixture.ts";

/** The price of an output token of the test model, in pico-USD. */
const out = 250_000;
/** Output tokens that a USD pays. */
export const tokensAUsd = usd / out;

export interface Opening {
  readonly wrap?: (store: LedgerStore) => LedgerStore;
  /** When it begins, by the database's clock. */
  readonly at?: number;
  readonly journal?: Journal;
  readonly models?: readonly ModelConfig[];
}

/** Opens metering whose spending is watched, as often as a test wants; what it opened is closed after each test. */
export function watchedMetering() {
  const newDatabase = databases();
  const cleanups: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) {
      await cleanup();
    }
  });
  return async function open(dialect: (typeof dialects)[number], opening: Opening = {}) {
    const { at = Date.now(), wrap, journal, models } = opening;
    const url = await newDatabase(dialect);
    const turn = dialect === "sqlite" ? async () => {} : await movableClock(url);
    await turn(at - Date.now());
    const clock = new ManualClock(at);
    const metering = await openMetering({
      ...{ clock, url },
      ...(wrap && { wrap }),
      ...(journal && { journal }),
      ...(models && { models }),
    });
    const { storage, time, store, prices, ledger, funds, balances } = metering;
    cleanups.push(() => clock.until(metering.close()));
    const random = systemRandom;
    const announce = createAnnounce({ clock: time, random });
    const crossed: number[] = [];
    const watch = (of: Pick<LedgerStore, "unseenTallies" | "markSeen"> = store, others: Partial<Dependencies> = {}) =>
      new SpendingWatch({
        ...{ storage, store: of, balances, clock, logger: silentLogger },
        budgets: new BudgetEvents({ storage, store, prices, announce, crossed: (part) => crossed.push(part) }),
        recounts: new BudgetRecounts({ storage, store, callIn: (accountId) => ledger.callIn(accountId) }),
        findWindows: (charged) => findSpentWindows({ storage, toBudget }, charged),
        lease: { hold: async () => true, release: async () => {} },
        ...others,
      });
    const keys = new ApiKeys({
      storage,
      clock: time,
      random,
      prefix: "tg-",
      pepper: { version: 1, secret: "a pepper" },
    });
    return {
      ...{ url, clock, turn, storage, time, store, ledger, funds, balances, keys, watch, crossed },
      account: metering.account,
      look: () => watch().look(),
      pay: (accountId: string, amount: number) => funds.credit({ accountId, kind: "paid", amount, reference: v7() }),
      /** Charges output tokens, by the key if there is one. */
      async spend(accountId: string, tokens: number, keyId = "") {
        const key = keyId === "" ? undefined : await keys.get(keyId);
        const budget = key && toBudget(key);
        const asked = request(
          accountId,
          { inputTokens: 0, outputTokens: tokens },
          { keyId, ...(budget && { budget }) },
        );
        const hold = await clock.until(ledger.hold(asked, never));
        await clock.until(hold.settle({ inputTokens: 0, outputTokens: tokens }, "completed"));
      },
      /** Types and data of the events of an account, oldest first, without its id. */
      async told(accountId: string) {
        const events = await storage.orm.em.fork().find(Event, { accountId }, { orderBy: { at: "asc", id: "asc" } });
        return events.map(({ type, body }) => {
          const { account_id, ...data } = JSON.parse(body).data;
          expect(account_id).toBe(accountId);
          return [type, data];
        });
      },
    };
  };
}
