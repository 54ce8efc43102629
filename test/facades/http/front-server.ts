import type { Transport } from "@connectrpc/connect";
import { createFront } from "../../../facades/front.ts";
import { type HttpServer, startHttpServer } from "../../../facades/http/server.ts";
import type { Clock } from "../../../lib/time/clock.ts";

/** A front over a core, listening on a free port. */
export interface FrontServer extends AsyncDisposable {
  readonly url: string;
  readonly server: HttpServer;
  /** What it logged as errors. */
  readonly errors: object[];
}

/** The machine's own clock, with a time of day that never moves. */
export const steadyClock: Clock = {
  now: () => Date.parse("2026-01-31T12:00:00Z"),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** Starts a front over a core; close it by `await using`. */
export async function startFront(
  transport: Transport,
  clock: Clock = steadyClock,
  more: { readonly bodyMemory?: number } = {},
): Promise<FrontServer> {
  const errors: object[] = [];
  let ids = 0;
  const listener = createFront({
    ...more,
    transport,
    clock,
    random: { uuid: () => `0199f0a0-0000-7000-8000-${String(++ids).padStart(12, "0")}` },
    logger: { error: (fields) => errors.push(fields) },
    observer: { opened() {}, streamed() {}, closed() {} },
  });
  const server = await startHttpServer(listener, "127.0.0.1:0");
  return { url: server.url, server, errors, [Symbol.asyncDispose]: () => server.close(0) };
}
