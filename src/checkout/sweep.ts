import type { SqlEntityManager } from "@mikro-orm/sql";
import { NIL } from "uuid";
import { dayMs } from "#lib/time/days.ts";
import { repeat } from "#lib/time/repeat.ts";
import { ProviderPayment } from "#src/storage/entities/checkout/provider-payment.ts";
import { Withdrawal } from "#src/storage/entities/checkout/withdrawal.ts";
import { endingWork, type WorkLease, whileRenewing } from "#src/storage/work-lease.ts";
import type { Charges } from "./auto-top-up/charges.ts";
import type { Crossings } from "./auto-top-up/crossings.ts";
import type { Dependencies } from "./dependencies.ts";
import { demandProvider } from "./faults.ts";
import type { Payments } from "./payments.ts";
import { RefusedByProvider } from "./provider.ts";
import type { Elsewhere } from "./returns/elsewhere.ts";
import type { Withdrawals } from "./returns/withdrawals.ts";

/** Milliseconds between two looks at balances and at what is due. */
const everyMs = 5000;
/** Milliseconds from the start to the first look. */
const firstMs = 1000;
/** Rows asked about in one go. */
const atOnce = 100;
/** Milliseconds until something that failed is asked about again. */
const againMs = 60_000;
/** Milliseconds until something that the provider refuses is asked about again: it changes with the provider's key at most. */
const refusedMs = 3_600_000;
/**
 * A session lives for a day. A wish that has none after this was given up, and so is a session that the provider has refused
 * to tell of for as long.
 */
const givenUpMs = dayMs + 3_600_000;

/** What the sweep looks after. */
export interface Swept {
  readonly payments: Payments;
  readonly charges: Charges;
  readonly crossings: Crossings;
  readonly withdrawals: Withdrawals;
  readonly elsewhere: Elsewhere;
}

/**
 * Asks the provider about what its events may have left out: a lost event costs a customer ten minutes. Every core asks
 * about everything that is open once after its start; afterwards one core at a time asks about what is due.
 */
export class Sweep {
  readonly #deps: Dependencies;
  readonly #swept: Swept;
  readonly #lease: Pick<WorkLease, "hold" | "release">;
  #hasAskedAll = false;

  constructor(deps: Dependencies, swept: Swept, lease: Pick<WorkLease, "hold" | "release">) {
    this.#deps = deps;
    this.#swept = swept;
    this.#lease = lease;
  }

  /** Returns the function that ends it, and lets another core take over at once. `pauseMs`: between two looks. */
  start(pauseMs = everyMs): () => Promise<void> {
    const { clock, logger } = this.#deps;
    const first = Math.min(firstMs, pauseMs);
    const stop = repeat(clock, pauseMs, logger, "ask the payment provider", () => this.run(), first);
    return endingWork(this.#lease, [stop]);
  }

  /** Looks once. */
  async run(): Promise<void> {
    if (!this.#hasAskedAll) {
      await this.ask(new Date(Date.UTC(9999, 0)));
      this.#hasAskedAll = true;
    }
    if (await this.#lease.hold()) {
      await whileRenewing(this.#lease, this.#deps, "ask the payment provider", async () => {
        await this.ask(new Date(this.#deps.clock.now()));
        await this.#swept.crossings.look();
      });
    }
  }

  /** Asks about everything that is due by a time. */
  async ask(dueBy: Date): Promise<void> {
    const find = { limit: atOnce, orderBy: { id: "asc" } } as const;
    const dueAfter = (id: string) => ({ askAt: { $ne: null, $lte: dueBy }, id: { $gt: id } });
    await this.#each(
      (em, after) => em.find(ProviderPayment, dueAfter(after), find),
      (row) =>
        this.#askPayment(row).then(
          () => this.#noteAnswer(row),
          (error: unknown) => this.#giveUp(row, error),
        ),
      (em, { id }, askAt) => em.nativeUpdate(ProviderPayment, { id, askAt: { $ne: null } }, { askAt }),
    );
    await this.#each(
      (em, after) => em.find(Withdrawal, dueAfter(after), find),
      (row) => this.#carryOn(row),
      (em, { id }, askAt) => em.nativeUpdate(Withdrawal, { id, askAt: { $ne: null } }, { askAt }),
    );
  }

  /** Acts on each row, a page at a time. What fails is put off: for an hour where the provider refuses it. */
  async #each<Row extends { readonly id: string }>(
    find: (em: SqlEntityManager, after: string) => Promise<readonly Row[]>,
    act: (row: Row) => Promise<void>,
    putOff: (em: SqlEntityManager, row: Row, askAt: Date) => Promise<unknown>,
  ): Promise<void> {
    const { storage, clock, logger } = this.#deps;
    for (let after: string | undefined = NIL; after !== undefined; ) {
      const rows: readonly Row[] = await find(storage.orm.em.fork(), after);
      for (const row of rows) {
        await act(row).catch(async (error: unknown) => {
          const [restMs, rest] = error instanceof RefusedByProvider ? [refusedMs, "an hour"] : [againMs, "a minute"];
          logger.warn({ err: error, id: row.id }, `the payment provider is asked again in ${rest}`);
          await putOff(storage.orm.em.fork(), row, new Date(clock.now() + restMs));
        });
      }
      after = rows.at(-1)?.id;
    }
  }

  async #askPayment(row: ProviderPayment): Promise<void> {
    const { provider, storage, clock } = this.#deps;
    const { payments, charges } = this.#swept;
    const open = { id: row.id, askAt: row.askAt };
    // Noted first: what crediting itself notes comes later and stays.
    await storage.orm.em.fork().nativeUpdate(ProviderPayment, open, { askAt: new Date(clock.now() + dayMs) });
    if (row.origin === "auto" && row.state === "open") {
      await charges.carryOn(row);
    } else if (row.session) {
      await payments.credit(await demandProvider(provider).checkout.read(row.session));
    } else if (row.reference) {
      await payments.credit(await demandProvider(provider).charge.read(row.reference));
    } else if (clock.now() - row.createdAt.getTime() > givenUpMs) {
      await this.#expire(row);
    }
  }

  /**
   * Ends an open session that the provider has refused to tell of for too long, such as one of its test mode: not at once, as a
   * wrong key is refused as well. Throws the error otherwise.
   */
  async #giveUp(row: ProviderPayment, error: unknown): Promise<void> {
    const { storage, clock, logger } = this.#deps;
    const { id, state, session, refusedAt } = row;
    if (state !== "open" || !session || !(error instanceof RefusedByProvider)) {
      throw error;
    }
    const now = clock.now();
    const since = refusedAt?.getTime() ?? now;
    if (!refusedAt) {
      await storage.orm.em.fork().nativeUpdate(ProviderPayment, { id }, { refusedAt: new Date(now) });
    }
    if (now - since < givenUpMs) {
      throw error;
    }
    logger.warn(
      { err: error, id, session },
      "a checkout has expired: the payment provider has refused to tell of it for a day; its event credits it if it was paid",
    );
    await this.#expire(row);
  }

  /** Forgets that the provider has refused to tell of a payment: it does so anew, if ever. */
  async #noteAnswer({ id, refusedAt }: ProviderPayment): Promise<void> {
    if (refusedAt) {
      await this.#deps.storage.orm.em.fork().nativeUpdate(ProviderPayment, { id }, { refusedAt: null });
    }
  }

  /** Ends a payment unless it was paid meanwhile. */
  async #expire({ id }: ProviderPayment): Promise<void> {
    const open = { id, state: "open" as const };
    await this.#deps.storage.orm.em.fork().nativeUpdate(ProviderPayment, open, { state: "expired", askAt: null });
  }

  async #carryOn(row: Withdrawal): Promise<void> {
    if (row.kind === "refund") {
      await this.#swept.withdrawals.carryOn(row.id);
      return;
    }
    const em = this.#deps.storage.orm.em.fork();
    await this.#swept.elsewhere.follow(await em.findOneOrFail(ProviderPayment, row.paymentId));
  }
}
