import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { isUnreachable } from "#src/storage/availability/unreachable.ts";
import type { Budget } from "#src/wire/principal.ts";
import type { Dice } from "../world/dice.ts";
import type { History } from "../world/history.ts";
import type { Timeline } from "../world/timeline.ts";
import type { Customer } from "./customers.ts";
import { type Life, type Machine, modelNames } from "./machine.ts";
import { recur } from "./recur.ts";
import type { Traffic } from "./traffic.ts";

/** What moves. */
export interface Movement {
  readonly accountId: string;
  readonly reference: string;
  readonly amount: number;
  readonly kind: "paid" | "grant" | "free" | "refund";
  readonly expiresAt?: Date;
}

/** A movement of money, as its operator knows it. */
export interface Deed extends Movement {
  state: "asked" | "done" | "refused" | "unknown";
  /** The credit that it was answered with. Undefined: it was not. */
  lotId: string | undefined;
  mayBeLost: boolean;
  /** When it ended, or when it ends at the latest: on a core that died, its end is never known. */
  endsAt: number;
}

/** The longest time of a movement of money, in milliseconds. */
const mostDeedMs = 10_000;

/** The expected reasons for refusing a refund or a top-up. */
const usual: ReadonlySet<string> = new Set(["REFUND_EXCEEDS_BALANCE", "LEDGER_UNAVAILABLE", "PAYMENT_24H_LIMIT"]);

/** Operators who move money and change prices while requests run. */
export class Operators {
  readonly deeds: Deed[] = [];
  readonly #timeline: Timeline;
  readonly #dice: Dice;
  readonly #history: History;
  readonly #machines: readonly Machine[];
  readonly #customers: readonly Customer[];
  readonly #traffic: Traffic;
  #end: () => void = () => {};
  /** Whether keys without limits get some while their requests run. */
  givesFirstLimits = false;
  /** The limits that were set, in their order. */
  readonly limits: { readonly keyId: string; readonly limit: number; readonly at: number }[] = [];
  /** Called with each limit that a key gets. */
  onLimit: (keyId: string, budget: Budget) => void = () => {};

  constructor(parts: {
    timeline: Timeline;
    dice: Dice;
    history: History;
    machines: readonly Machine[];
    customers: readonly Customer[];
    traffic: Traffic;
  }) {
    this.#timeline = parts.timeline;
    this.#dice = parts.dice;
    this.#history = parts.history;
    this.#machines = parts.machines;
    this.#customers = parts.customers;
    this.#traffic = parts.traffic;
  }

  begin(meanMs: number): void {
    this.#end = recur(this.#timeline, this.#dice, meanMs, () => this.#act());
  }

  stop(): void {
    this.#end();
  }

  #act(): void {
    const { life } = this.#dice.pick(this.#machines);
    const customer = this.#dice.pick(this.#customers);
    const drawn = this.#dice.fraction();
    if (life === undefined) {
      return;
    }
    life.process.reach(() => {
      if (drawn < 0.7) {
        this.credit(customer, life);
      } else if (drawn < 0.8) {
        this.#refund(customer, life);
      } else if (drawn < 0.9) {
        this.#limit(customer);
      } else {
        this.#movePrice(life);
      }
    });
  }

  /** Tops an account up, or grants it money. */
  credit(customer: Customer, life: Life): void {
    const kind = this.#dice.pick(["paid", "paid", "grant", "free"] as const);
    const amount = Math.max(1, Math.floor(customer.purse * (0.2 + this.#dice.fraction())));
    const lapses = this.#dice.chance(0.3) && { expiresAt: this.#lapsing() };
    this.move({ accountId: customer.accountId, kind, amount, reference: this.#dice.uuid(), ...lapses }, life);
  }

  /** An expiry date: some money expires during the world's life, some long after it. */
  #lapsing(): Date {
    const ms = this.#dice.chance(0.5) ? this.#dice.between(1000, 120_000) : this.#dice.between(3_600_000, 7_200_000);
    return new Date(this.#timeline.beginning + this.#timeline.now + ms);
  }

  #refund(customer: Customer, life: Life): void {
    const amount = Math.max(1, Math.floor(customer.purse * this.#dice.fraction()));
    this.move({ accountId: customer.accountId, kind: "refund", amount, reference: this.#dice.uuid() }, life);
  }

  /** Changes the limit of a key's budget. */
  #limit({ callers, budgetLimits, purse }: Customer): void {
    const at = this.#dice.between(0, callers.length - 1);
    const caller = callers[at];
    if (caller?.budget !== undefined) {
      const limit = Math.floor(purse * this.#dice.pick([0.01, 0.3, 1, 3]));
      const { id } = caller.budget;
      budgetLimits.set(id, Math.max(limit, budgetLimits.get(id) ?? 0));
      callers[at] = { ...caller, budget: { ...caller.budget, limit } };
      this.#setLimit(id, { ...caller.budget, limit });
    } else if (caller !== undefined && this.givesFirstLimits && caller.keyId !== "") {
      const { keyId } = caller;
      const budget = { id: keyId, limit: purse, period: this.#dice.pick(["total", "day", "week"] as const) };
      budgetLimits.set(keyId, budget.limit);
      callers[at] = { ...caller, budget };
      this.#setLimit(keyId, budget);
    }
  }

  #setLimit(keyId: string, budget: Budget): void {
    this.limits.push({ keyId, limit: budget.limit, at: this.#timeline.beginning + this.#timeline.now });
    this.onLimit(keyId, budget);
  }

  /** Whether a refund of an account is running, or ran within the last `ms`. */
  refunds(accountId: string, ms: number): boolean {
    const since = this.#timeline.now - ms;
    return this.deeds.some(
      ({ kind, accountId: of, endsAt }) => kind === "refund" && of === accountId && endsAt >= since,
    );
  }

  /** Moves money, perhaps again, or something else by the name of an earlier movement. */
  move(movement: Movement, { money: { funds } }: Life): void {
    const { accountId, reference, amount, kind, expiresAt } = movement;
    const others = this.deeds.filter((deed) => deed.reference === reference);
    const endsAt = this.#timeline.now + mostDeedMs;
    const deed: Deed = {
      accountId,
      reference,
      amount,
      kind,
      state: "asked",
      lotId: undefined,
      mayBeLost: false,
      endsAt,
    };
    this.deeds.push(deed);
    const moved =
      kind === "refund"
        ? funds.refund({ accountId, amount, reference })
        : funds.credit({ accountId, kind, amount, reference, ...(expiresAt && { expiresAt }) });
    moved.then(
      ({ lotId }) => {
        Object.assign(deed, { state: "done", endsAt: this.#timeline.now, lotId });
        const other = others.find((one) => one.state === "done" && !one.mayBeLost && one.lotId !== lotId);
        if (other !== undefined && !deed.mayBeLost) {
          this.#history.violation("deeds", `a ${kind} that was asked for again is ${lotId}, and was ${other.lotId}`);
        }
      },
      (error: unknown) => {
        const reason = Reason[readDetail(error)?.reason ?? 0] ?? "";
        const state = reason === "REFUND_EXCEEDS_BALANCE" ? "refused" : "unknown";
        Object.assign(deed, { state, endsAt: this.#timeline.now });
        const isMisused = others.some((one) => !isSame(one, movement)) && reason === "PAYMENT_REFERENCE_CONFLICT";
        if (!usual.has(reason) && !isMisused && !/terminated/.test((error as Error).message)) {
          this.#history.violation("reasons", `a ${kind} failed: ${(error as Error).stack}`);
        }
      },
    );
  }

  /** Changes a price. From now on judges use the highest price so far. Only a database that is away may refuse it. */
  #movePrice({ money }: Life): void {
    const model = this.#dice.pick(modelNames);
    const rates = { input: this.#dice.between(100_000, 3_000_000), output: this.#dice.between(100_000, 3_000_000) };
    this.mayCost(model, rates);
    money.prices.set(model, rates).catch((error: unknown) => {
      this.#history.note(`a price did not move: ${String(error)}`);
      if (!isUnreachable(error)) {
        this.#history.violation("reasons", `setting a price failed: ${(error as Error).stack}`);
      }
    });
  }

  /** Notes the highest possible price: the live price floats up to twice its base. */
  mayCost(model: string, { input, output }: { readonly input: number; readonly output: number }): void {
    const known = this.#traffic.dearest.get(model) ?? { input: 0, output: 0 };
    this.#traffic.dearest.set(model, {
      input: Math.max(known.input, 2 * input),
      output: Math.max(known.output, 2 * output),
    });
  }
}

/** Whether two movements are the same. */
const isSame = (one: Movement, { accountId, kind, amount }: Movement): boolean =>
  one.accountId === accountId && one.kind === kind && one.amount === amount;
