import type { IncomingMessage, ServerResponse } from "node:http";
import { Pieces } from "../net/pieces.ts";
import type { Clock } from "../time/clock.ts";
import type { BoundName } from "./bounds.ts";
import type { Pace } from "./counts/pace.ts";
import { hasBody } from "./head.ts";

/** Tells the client of a request. Undefined: it has left. */
export type ToClient = (request: IncomingMessage) => string | undefined;

/** How many bytes of an unwanted body are read, and for how many milliseconds, so that its sender can read the answer. */
const mostBytes = 8 * 1024 * 1024;
const mostMs = 5_000;
/** How many bytes of them are read for an address in a second, after a burst. */
export const unwantedBytesPerSecond = 4 * 1024 * 1024;

/** What bounds the reading of unwanted bodies. */
export interface Drains {
  /** In bytes. */
  readonly unwanted: Pick<Pace, "take">;
  readonly clock: Clock;
  refused(bound: BoundName): void;
}

/**
 * Reads what is left of a body, within bounds and at the pace of its client's network, and returns how many bytes came. A
 * client that is still writing when the connection closes could not read the answer. Rejects where the client has gone.
 */
export function drain(request: IncomingMessage, client: string, { unwanted, clock, refused }: Drains): Promise<number> {
  return new Promise((resolve, reject) => {
    let size = 0;
    let isSlowed = false;
    let isOver = false;
    const pieces = new Pieces();
    const stopTimers = new Set<() => void>();
    const settle = (end: () => void) => {
      isOver = true;
      for (const stop of stopTimers) {
        stop();
      }
      request.off("data", onData).off("end", onEnd).off("close", onClose).pause();
      drained.add(request);
      end();
    };
    const slow = (waitMs: number) => {
      if (!isSlowed) {
        isSlowed = true;
        refused("unwanted");
      }
      request.pause();
      stopTimers.add(clock.after(waitMs, () => request.resume()));
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > mostBytes) {
        return settle(() => resolve(size));
      }
      const waitMs = unwanted.take(client, chunk.length);
      if (waitMs > 0) {
        return slow(waitMs);
      }
      pieces.took(chunk.length, request, () => isOver);
    };
    const onEnd = () => settle(() => resolve(size));
    const onClose = () => settle(() => reject(new Error("the client has gone")));
    if (request.destroyed) {
      return reject(new Error("the client has gone"));
    }
    if (hasBody(request)) {
      stopTimers.add(clock.after(mostMs, () => settle(() => resolve(size))));
    }
    request.on("data", onData).on("end", onEnd).on("close", onClose);
    request.resume();
  });
}

/** Requests whose bodies have been drained as far as the bounds let them. */
const drained = new WeakSet<IncomingMessage>();

/**
 * Drains what is left of a request once its answer is written, also where its connection ends with it. Closes the connection
 * where that is too much.
 */
export function drainAfterAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  toClient: ToClient,
  drains: Drains,
): void {
  response.once("prefinish", () => {
    if (request.complete || request.destroyed || drained.has(request)) {
      return;
    }
    const { socket } = request;
    const isLast = !response.shouldKeepAlive;
    if (isLast) {
      // Node.js would destroy it with the body unread, and its client would get a reset in the place of the answer.
      socket.destroySoon = () => void socket.end();
    }
    request.read(0); // or Node.js would read all of it by itself
    drain(request, toClient(request) ?? "", drains).then(
      () => (request.complete && !isLast) || socket.destroy(),
      () => {},
    );
  });
}
