import type { History } from "../world/history.ts";
import type { Timeline } from "../world/timeline.ts";
import type { Receipt } from "./bank/store.ts";
import type { LotFacts, PurseKind } from "./protocol.ts";
import { times } from "./protocol.ts";
import { oneWayMs } from "./wan.ts";

/** A request, and what it needs of each of its purses. */
export interface Request {
  readonly id: string;
  readonly keyId: string;
  purses: readonly { readonly id: string; readonly kind: PurseKind; readonly need: number }[];
  /** Its cost when it ends. */
  cost: number;
  readonly runMs: number;
  /** Whether it is waiting already. */
  isPatient: boolean;
}

export type Refusal = "no term" | "revoked" | "exhausted" | "held" | "limit";

interface TrueLot {
  readonly facts: LotFacts;
  /** What it may cost all regions together: now, and at most, since what was lent before a reduction may be spent. */
  now: number;
  amount: number;
  spent: number;
}

/** Milliseconds within which nearly every message of the home shard reaches a region. */
const wordMs = oneWayMs + 20;

interface Running {
  readonly request: Request;
  readonly region: string;
}

/**
 * The true state of the world. Judges each event as it happens. It sees all regions and the home shard at once, and
 * none of them asks it.
 */
export class Truth {
  readonly lots = new Map<string, TrueLot>();
  readonly receipts = new Map<string, Receipt & { readonly region: string }>();
  readonly running = new Map<string, Running>();
  /** Requests whose answers ended, with the region that served them. */
  readonly done = new Map<string, string>();
  /** What the journals of dead regions had noted about running requests. */
  readonly noted = new Map<string, number>();
  readonly refusals: Record<Refusal, number> = { "no term": 0, revoked: 0, exhausted: 0, held: 0, limit: 0 };
  /** Refusals for lack of money while there was free money for two such requests anywhere. */
  wrong = 0;
  /** Of these, refusals while the home shard had that much to lend. */
  wrongAtHome = 0;
  /** Of these, refusals when it had had that much for longer than a message takes to the region. */
  wrongThoughHeard = 0;
  /** Money that regions charged and nothing paid. */
  shortfall = 0;
  admissions = 0;
  readonly #timeline: Timeline;
  readonly #history: History;
  readonly #revokedAt = new Map<string, number>();
  readonly #limits = new Map<string, { readonly at: number; readonly limit: number }[]>();
  readonly #permits = new Map<string, number[]>();
  readonly #purses = new Map<string, TrueLot[]>();
  readonly #held = new Map<string, number>();
  readonly #came = new Map<string, { readonly at: number; readonly lendable: number }[]>();
  /** Regions whose clocks broke their promise. */
  readonly untimed = new Set<string>();
  /** Regions whose requests may run too long, because they were suspended. The account may owe what they cost then. */
  readonly suspended = new Set<string>();
  /** Whether the home shard takes a region for silent. */
  isSilent: (region: string) => boolean = () => false;
  /** What the home shard may lend of a purse. */
  readAtHome: (purseId: string) => number = () => 0;
  revocationMs = times.revocation;

  constructor(timeline: Timeline, history: History) {
    this.#timeline = timeline;
    this.#history = history;
  }

  /** Money came in, or a limit was set. */
  opened(facts: LotFacts): void {
    if (this.lots.has(facts.id)) {
      return;
    }
    const lot = { facts, now: facts.amount, amount: facts.amount, spent: 0 };
    this.lots.set(facts.id, lot);
    this.#purses.set(facts.purseId, [...(this.#purses.get(facts.purseId) ?? []), lot]);
    if (facts.kind === "rate") {
      this.limited(facts.purseId, facts.amount);
    }
  }

  /** Changes a limit of requests a minute. */
  limited(purseId: string, limit: number): void {
    const limits = this.#limits.get(purseId) ?? [];
    limits.push({ at: this.#timeline.now, limit });
    this.#limits.set(purseId, limits);
  }

  revoked(keyId: string): void {
    this.#revokedAt.set(keyId, this.#revokedAt.get(keyId) ?? this.#timeline.now);
  }

  /** A failover lost a revocation: it must be requested again. */
  forget(keyId: string): void {
    this.#revokedAt.delete(keyId);
  }

  admitted(request: Request, region: string): void {
    this.admissions++;
    this.running.set(request.id, { request, region });
    const isTimed = !this.untimed.has(region);
    if (isTimed && this.isSilent(region)) {
      this.#history.violation("terms", `${region} admitted ${request.id} after its term, when its money was given up`);
    }
    const revokedAt = this.#revokedAt.get(request.keyId);
    if (isTimed && revokedAt !== undefined && this.#timeline.now - revokedAt > this.revocationMs) {
      const ms = Math.round(this.#timeline.now - revokedAt);
      this.#history.violation(
        "revocations",
        `${region} admitted ${request.id} with a key that was revoked ${ms} ms ago`,
      );
    }
    for (const { id, kind, need } of request.purses) {
      if (kind === "rate") {
        this.#permit(id);
      } else {
        this.#held.set(id, (this.#held.get(id) ?? 0) + need);
      }
    }
  }

  #permit(purseId: string): void {
    const { now } = this.#timeline;
    const recent = (this.#permits.get(purseId) ?? []).filter((at) => at > now - times.minute);
    recent.push(now);
    this.#permits.set(purseId, recent);
    const limits = this.#limits.get(purseId) ?? [];
    // A reduced limit is kept once each region has heard of it, or its term is over.
    const first = limits.findLastIndex(({ at }) => at <= now - times.minute - times.term - times.margin);
    const most = Math.max(0, ...limits.slice(Math.max(0, first)).map(({ limit }) => limit));
    if (recent.length > most && this.untimed.size === 0) {
      this.#history.violation(
        "requests a minute",
        `${recent.length} requests in a minute, of ${most} that ${purseId} may have`,
      );
    }
  }

  #freed({ request }: Running): void {
    this.running.delete(request.id);
    for (const { id, need } of request.purses) {
      this.#held.set(id, Math.max(0, (this.#held.get(id) ?? 0) - need));
    }
  }

  /** A process died: its requests no longer run. */
  died(region: string): void {
    for (const one of this.running.values()) {
      if (one.region === region) {
        this.#freed(one);
      }
    }
  }

  acknowledged(request: Request): void {
    const running = this.running.get(request.id);
    if (running !== undefined) {
      this.#freed(running);
      this.done.set(request.id, running.region);
    }
  }

  charged(region: string, receipt: Receipt): void {
    if (this.receipts.has(receipt.requestId)) {
      this.#history.violation("receipts", `${receipt.requestId} was charged twice`);
    }
    this.receipts.set(receipt.requestId, { ...receipt, region });
    for (const { lotId, cost } of receipt.lines) {
      const lot = this.lots.get(lotId);
      if (lot === undefined) {
        this.#history.violation(
          "receipts",
          `${receipt.requestId} was paid from the lot ${lotId}, which nobody paid in`,
        );
        continue;
      }
      lot.spent += cost;
      if (lot.spent > lot.amount) {
        this.#history.violation("spending", `overspent: ${lot.spent} of ${lot.amount} in lot ${lotId}, by ${region}`);
      }
    }
    this.shortfall += receipt.shortfall;
    if (receipt.shortfall > 0 && !this.untimed.has(region) && !this.suspended.has(region)) {
      this.#history.violation(
        "spending",
        `${region} could not pay ${receipt.shortfall} of ${receipt.requestId} that it had held`,
      );
    }
  }

  /** Charges were lost with their store: the operator bears what the home shard had not heard of. */
  lost(lotId: string, amount: number): void {
    const lot = this.lots.get(lotId);
    if (lot !== undefined) {
      lot.spent -= amount;
    }
  }

  refused(request: Request, why: Refusal, _region: string): void {
    this.refusals[why]++;
    if (why === "exhausted" || why === "held") {
      const hadMoney = request.purses.every(({ id, kind, need }) => kind === "rate" || this.free(id) >= 2 * need);
      const isAtHome = request.purses.every(({ id, kind, need }) => kind === "rate" || this.readAtHome(id) >= 2 * need);
      this.wrong += hadMoney ? 1 : 0;
      this.wrongAtHome += hadMoney && isAtHome ? 1 : 0;
      const isHeard = request.purses.every(({ id, kind, need }) => kind === "rate" || this.#readHeard(id) >= 2 * need);
      this.wrongThoughHeard += hadMoney && isHeard ? 1 : 0;
    }
  }

  /** Money of a purse is about to be returned or to come in. `lendable` is what may be lent then. */
  comesHome(purseId: string, lendable: number): void {
    const { now } = this.#timeline;
    const recent = (this.#came.get(purseId) ?? []).filter(({ at }) => at > now - wordMs);
    recent.push({ at: now, lendable });
    this.#came.set(purseId, recent);
  }

  /** The least that the home shard had to lend of a purse since the sending of messages that a region has by now. */
  #readHeard(purseId: string): number {
    const since = this.#timeline.now - wordMs;
    const recent = (this.#came.get(purseId) ?? []).filter(({ at }) => at > since);
    // Between two arrivals it only falls.
    return Math.min(this.readAtHome(purseId), ...recent.map(({ lendable }) => lendable));
  }

  /** What is neither spent nor held of a purse, anywhere. */
  free(purseId: string): number {
    const lots = this.#purses.get(purseId) ?? [];
    return lots.reduce((sum, { now, spent }) => sum + now - spent, 0) - (this.#held.get(purseId) ?? 0);
  }
}
