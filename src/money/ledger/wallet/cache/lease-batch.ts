import type { Clock } from "#lib/time/clock.ts";
import type { Lease, LeaseRequest, WalletStore } from "../../../model/store/wallet.ts";

/** Accounts in one statement. */
const batchSize = 500;

interface Waiting {
  readonly request: LeaseRequest;
  readonly resolve: (lease: Lease | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Looks accounts up and leases their money: many accounts in one statement when many ask at once. */
export class LeaseBatch {
  readonly #store: Pick<WalletStore, "acquire">;
  readonly #clock: Clock;
  #queue: Waiting[] = [];
  #running = false;

  constructor(store: Pick<WalletStore, "acquire">, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Undefined: there is no such account. Call it for an account only once at a time. */
  acquire(request: LeaseRequest): Promise<Lease | undefined> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ request, resolve, reject });
      if (this.#running) {
        return;
      }
      this.#running = true;
      queueMicrotask(() => void this.#run());
    });
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, batchSize);
      try {
        const requests = batch.map(({ request }) => request);
        const leases = await this.#store.acquire(requests, this.#clock.now());
        for (const { request, resolve } of batch) {
          resolve(leases.get(request.accountId));
        }
      } catch (error) {
        for (const { reject } of batch) {
          reject(error);
        }
      }
    }
    this.#running = false;
  }
}
