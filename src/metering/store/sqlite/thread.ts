import { Worker } from "node:worker_threads";
import type { Run } from "../../ledger/run.ts";
import { type FlatCharges, flatten } from "../flat-charges.ts";
import type {
  Charge,
  CoreBeat,
  CoreEpoch,
  Entered,
  EpochClaim,
  Heartbeat,
  Lease,
  LeaseRequest,
  LedgerStore,
  SettleOutcome,
  SliceRange,
  StoredCharge,
  StoredSlice,
} from "../ledger-store.ts";
import { SqliteLedgerStore } from "./store.ts";
import type { StoreAnswer, StoreCall } from "./worker.ts";

interface Pending {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/**
 * The ledger in a SQLite file, written by a thread of its own: a commit waits for the disk, from a tenth of a
 * millisecond to several, and would stop every stream of the process for as long.
 */
export class SqliteThreadStore implements LedgerStore {
  readonly shared = false;
  readonly isViolation = SqliteLedgerStore.prototype.isViolation;
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #calls = 0;

  constructor(path: string, coreId: string) {
    this.#worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: { path, coreId } });
    this.#worker.unref();
    this.#worker.on("message", (answer: StoreAnswer) => this.#answered(answer));
    this.#worker.on("error", (error: Error) => this.#died(error));
  }

  identify(): Promise<string> {
    return this.#call("identify");
  }

  epochs(): Promise<CoreEpoch[]> {
    return this.#call("epochs");
  }

  enter(claim: EpochClaim): Promise<Entered> {
    return this.#call("enter", claim);
  }

  heartbeat(): Promise<Heartbeat> {
    return this.#call("heartbeat");
  }

  openSlices(range: SliceRange): Promise<StoredSlice[]> {
    return this.#call("openSlices", range);
  }

  acquire(requests: readonly LeaseRequest[], now: number): Promise<Map<string, Lease>> {
    return this.#call("acquire", requests, now);
  }

  settle(charges: readonly Charge[]): Promise<SettleOutcome[]> {
    return this.#call("settle", flatten(charges));
  }

  settled(runs: readonly Run[]): Promise<Map<string, StoredCharge>> {
    const bare = runs.map(({ requestId, runId }) => ({ requestId, runId }));
    return this.#call("settled", bare);
  }

  isCharged(accountId: string, requestId: string): Promise<boolean> {
    return this.#call("isCharged", accountId, requestId);
  }

  giveBack(parts: readonly { readonly sliceId: string; readonly amount: number }[]): Promise<void> {
    return this.#call("giveBack", parts);
  }

  close(sliceIds: readonly string[]): Promise<void> {
    return this.#call("close", sliceIds);
  }

  reap(dead: readonly CoreBeat[]): Promise<number> {
    return this.#call("reap", dead);
  }

  async announce(): Promise<void> {} // there is no other core

  async listen(): Promise<void> {}

  async end(): Promise<void> {
    await this.#call("end");
    await this.#worker.terminate();
  }

  #call<Method extends StoreCall["method"]>(
    method: Method,
    ...parameters: Method extends "settle" ? [FlatCharges] : Parameters<LedgerStore[Method]>
  ): ReturnType<LedgerStore[Method]> {
    const id = ++this.#calls;
    this.#worker.ref(); // an answer that is awaited keeps the process alive
    this.#worker.postMessage({ id, method, parameters } satisfies StoreCall);
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
    }) as ReturnType<LedgerStore[Method]>;
  }

  #answered(answer: StoreAnswer): void {
    const pending = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    if (this.#pending.size === 0) this.#worker.unref();
    if ("error" in answer) pending?.reject(Object.assign(new Error(answer.error), { errcode: answer.errcode }));
    else pending?.resolve(answer.result as never);
  }

  #died(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}
