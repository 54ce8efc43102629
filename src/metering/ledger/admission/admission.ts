import type { Random } from "../../../../lib/ids/random.ts";
import type { Clock } from "../../../../lib/time/clock.ts";
import type { ChargedTokens, Hold, HoldRequest, Prices, Rates } from "../../interface.ts";
import type { LedgerStore } from "../../store/ledger-store.ts";
import { type HoldKeeper, RunningHold } from "../hold.ts";
import { duplicate, type RunningRequests } from "../running-requests.ts";
import type { CachedWallet } from "../wallet/cached-wallet.ts";
import { fits, fund } from "../wallet/funding.ts";
import { costOf } from "../wallet/split.ts";
import type { WalletCache } from "../wallet/wallet-cache.ts";
import { admitShort } from "./admit-short.ts";

/** How long a request waits for money that others of its account hold. */
const patienceMs = 2000;

/** Dependencies. */
export interface AdmissionParts {
  readonly store: Pick<LedgerStore, "isCharged">;
  readonly wallets: WalletCache;
  readonly requests: RunningRequests;
  /** What becomes of the holds. */
  readonly keeper: HoldKeeper;
  readonly prices: Pick<Prices, "live">;
  readonly clock: Clock;
  /** Makes run ids. */
  readonly random: Random;
  /** Throws when nothing may be admitted now. */
  readonly mustBeOpen: () => void;
}

/** Sets money aside for requests: from memory where the wallet has enough, else with what the store can lease. */
export class Admission {
  readonly #parts: AdmissionParts;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  hold(request: HoldRequest, signal: AbortSignal): Promise<Hold> {
    try {
      this.#parts.mustBeOpen();
      const hold = this.#holdAtOnce(request);
      return hold === undefined ? this.#holdSlowly(request, signal) : Promise.resolve(hold);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Undefined: the store has to be asked, or others wait. */
  #holdAtOnce(request: HoldRequest): Hold | undefined {
    const { wallets, requests, clock } = this.#parts;
    const cached = wallets.find(request.accountId);
    if (cached === undefined || !cached.queue.empty || !requests.isNew(request)) {
      return undefined;
    }
    const { wallet } = cached;
    if (wallet.debt !== 0n || wallet.hasExpired(clock.now())) {
      return undefined;
    }
    const rates = wallet.maxRates(request.model);
    return rates !== undefined && fits(wallet, rates, request)
      ? this.#grant(cached, request, rates, request)
      : undefined;
  }

  async #holdSlowly(request: HoldRequest, signal: AbortSignal): Promise<Hold> {
    const { store, wallets, requests } = this.#parts;
    const { accountId, requestId } = request;
    if (!requests.isNew(request) && (await store.isCharged(accountId, requestId))) {
      throw duplicate(request);
    }
    const cached = await wallets.open(accountId);
    const ticket = cached.queue.enter(patienceMs, signal);
    try {
      let wanted: ChargedTokens = request;
      let count = request.countInput;
      for (;;) {
        const inTime = await ticket.turn();
        await cached.payDebt();
        let rates = await this.#fund(cached, request, wanted);
        if (!fits(cached.wallet, rates, wanted) && count !== undefined) {
          const inputTokens = Math.min(request.inputTokens, (await count()) ?? request.inputTokens);
          wanted = { inputTokens, outputTokens: request.outputTokens };
          count = undefined;
          rates = await this.#fund(cached, request, wanted);
        }
        const admitted = fits(cached.wallet, rates, wanted)
          ? wanted
          : admitShort(cached.wallet, rates, wanted, !inTime);
        if (admitted !== undefined) {
          return this.#grant(cached, request, rates, admitted);
        }
      }
    } finally {
      ticket.leave();
    }
  }

  #fund(cached: CachedWallet, { model }: HoldRequest, wanted: ChargedTokens): Promise<Rates> {
    const { prices, clock } = this.#parts;
    return fund(cached, model, wanted, { terms: { otherwise: () => prices.live(model) }, clock });
  }

  #grant(cached: CachedWallet, request: HoldRequest, rates: Rates, admitted: ChargedTokens): Hold {
    const { requests, keeper, random, mustBeOpen } = this.#parts;
    requests.mustBeNone(request);
    mustBeOpen();
    const amount = costOf(admitted, rates);
    cached.wallet.hold(amount);
    const { requestId, accountId, keyId, model } = request;
    const run = { requestId, runId: random.uuid(), accountId, keyId, model };
    const hold = new RunningHold(keeper, { wallet: cached, request: run, rates, admitted, amount });
    requests.add(hold);
    cached.used();
    return hold;
  }
}
