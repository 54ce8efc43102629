import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Clock } from "#lib/time/clock.ts";
import { ChurningMap } from "#lib/workarounds/churning-map.ts";
import { type Run, requestKey } from "../model/charges/run.ts";
import type { PicoUsd } from "../model/interface.ts";
import type { HoldRequest } from "../model/ledger.ts";
import { RecentRequests } from "./recent-requests.ts";

/** A running request as this core knows it. */
export interface RunningRequest {
  readonly request: Pick<HoldRequest, "accountId" | "requestId"> & Run;
  /** The money that it holds. */
  readonly amount: PicoUsd;
  /** Tells the journal its progress. */
  note(): void;
}

/**
 * The requests from their admission until their charge is stored. Knows for some time afterwards which were charged.
 */
export class RunningRequests {
  /** Of one that has ended only its run's id, so that the rest does not grow old with the charge. */
  readonly #running = new ChurningMap<RunningRequest | string>();
  readonly #recent: RecentRequests;

  constructor(clock: Clock) {
    this.#recent = new RecentRequests(clock);
  }

  /** Whether the id is certainly new, so that the store need not be asked. */
  isNew({ requestId }: HoldRequest): boolean {
    return this.#recent.isNew(requestId);
  }

  /** Throws DUPLICATE_REQUEST when a request of the account runs under this id. */
  mustBeNone(request: HoldRequest): void {
    if (this.#running.has(requestKey(request))) {
      throw duplicate(request);
    }
  }

  add(running: RunningRequest): void {
    this.#running.set(requestKey(running.request), running);
  }

  /** Forgets a request that is not charged. */
  drop(request: RunningRequest["request"]): void {
    this.#running.delete(requestKey(request));
  }

  /** A request has ended, and its charge waits to be stored. */
  ended(request: RunningRequest["request"]): void {
    this.#running.set(requestKey(request), request.runId);
  }

  /** Forgets a request whose charge is concluded, unless another run of it is under way. */
  charged(request: RunningRequest["request"], { runId }: Run): void {
    const key = requestKey(request);
    if (this.#running.get(key) === runId) {
      this.#running.delete(key);
    }
    this.#recent.add(request.requestId);
  }

  /** The requests that still run. Takes time proportional to their number. */
  get open(): RunningRequest[] {
    return this.#running.values().filter((one) => typeof one !== "string");
  }

  /** Tells the journal the progress of all requests. */
  noteAll(): void {
    for (const running of this.open) {
      running.note();
    }
  }
}

/** The error for a request id that was used before. */
export function duplicate(request: Pick<HoldRequest, "requestId">) {
  return failure(Reason.DUPLICATE_REQUEST, `A request with the id ${request.requestId} was already run.`, {
    parameter: "request_id",
  });
}
