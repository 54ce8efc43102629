import type { ChildProcess } from "node:child_process";
import type { Worker } from "node:cluster";

/*
 * Wrong: a connection stays open in the supervisor for ever when it is handed to a worker that just dies, or that
 * refuses it because it has just stopped listening and no other worker listens. Its client waits for an answer that
 * nobody will write (RoundRobinHandle in lib/internal/cluster/round_robin_handle.js: nobody answers for a dead worker,
 * and `distribute` puts the connection into the queue of a closed listener).
 * Upstream: nodejs/node#21746, its mend nodejs/node#21940 was never merged; seen with Node.js 20 and 26.
 * Still needed while test/compose/workers/workarounds/lost-handoffs.test.ts sees such a connection stay open without
 * it.
 * Delete when Node.js ends these connections.
 */

/** A message between a supervisor and its workers about listeners (lib/internal/cluster). */
interface ClusterMessage {
  readonly cmd?: string;
  readonly act?: string;
  readonly key?: string;
  readonly errno?: number;
  readonly seq?: number;
  readonly ack?: number;
  readonly accepted?: boolean;
}

/**
 * A connection that the supervisor holds until a worker has taken it. Closing it does not end a connection that a
 * worker has.
 */
interface ConnectionHandle {
  close(): void;
}

interface Handoff {
  readonly worker: Worker;
  readonly key: string;
  readonly handle: ConnectionHandle;
}

/** The connections on their way to a worker. Ends those that no worker will ever take. */
export class Handoffs {
  /** By the number of the message; at most one for each worker. */
  readonly #pending = new Map<number, Handoff>();
  /** The workers that take connections of each listener. */
  readonly #listening = new Map<string, Set<Worker>>();

  /** Watches the messages to and from this worker. Call it right after the fork. */
  watch(worker: Worker): void {
    const child = worker.process;
    const send = child.send.bind(child) as (...args: unknown[]) => boolean;
    child.send = ((message: ClusterMessage, ...rest: unknown[]) => {
      this.#said(worker, message, rest[0]);
      return send(message, ...rest);
    }) as ChildProcess["send"];
    child.on("internalMessage", (message: ClusterMessage) => this.#heard(worker, message)); // after the cluster's own
    child.once("disconnect", () => this.#gone(worker));
    child.once("exit", () => this.#gone(worker));
  }

  #said(worker: Worker, { cmd, act, key, seq, ack, errno }: ClusterMessage, handle: unknown): void {
    if (cmd !== "NODE_CLUSTER" || key === undefined) {
      return;
    }
    if (act === "newconn" && seq !== undefined) {
      this.#pending.set(seq, { worker, key, handle: handle as ConnectionHandle });
    } else if (ack !== undefined && !errno) {
      this.#listening.set(key, (this.#listening.get(key) ?? new Set()).add(worker));
    }
  }

  #heard(worker: Worker, { cmd, act, key, ack, accepted }: ClusterMessage): void {
    if (cmd !== "NODE_CLUSTER") {
      return;
    }
    if (act === "close" && key !== undefined) {
      this.#stoppedListening(worker, key);
    } else if (ack !== undefined) {
      this.#answered(ack, accepted === true);
    }
  }

  #answered(seq: number, accepted: boolean): void {
    const handoff = this.#pending.get(seq);
    this.#pending.delete(seq);
    // A refused connection has been sent to another worker by now, or waits for one, as long as any listens.
    if (handoff !== undefined && !accepted && !this.#listening.has(handoff.key)) {
      handoff.handle.close();
    }
  }

  #gone(worker: Worker): void {
    for (const key of this.#listening.keys()) {
      this.#stoppedListening(worker, key);
    }
    for (const [seq, handoff] of this.#pending) {
      if (handoff.worker === worker) {
        this.#pending.delete(seq);
        handoff.handle.close();
      }
    }
  }

  #stoppedListening(worker: Worker, key: string): void {
    const workers = this.#listening.get(key);
    workers?.delete(worker);
    if (workers?.size === 0) {
      this.#listening.delete(key);
    }
  }
}
