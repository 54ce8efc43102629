import type { Transport } from "@connectrpc/connect";
import { createFront, type FrontLimits } from "../../../facades/front.ts";
import type { IsTrustedProxy } from "../../../facades/http/request/client-address.ts";
import { type HttpServer, type ServerLimits, startHttpServer } from "../../../facades/http/server.ts";
import type { Overload } from "../../../lib/overload/monitor.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { steadyClock } from "../../support/clocks/steady-clock.ts";

/** A front over a core, listening on a free port. */
export interface FrontServer extends AsyncDisposable {
  readonly url: string;
  readonly server: HttpServer;
  /** What it logged as errors. */
  readonly errors: object[];
  /** Why it refused or cut off clients. */
  readonly refused: string[];
}

/** What a front is started with beside its core. */
export interface FrontSettings {
  readonly clock?: Clock;
  readonly overload?: Overload;
  readonly limits?: Partial<FrontLimits & ServerLimits>;
  readonly isTrustedProxy?: IsTrustedProxy;
}

/** As the configuration has them unless it says otherwise. */
export const usualLimits: FrontLimits & ServerLimits = {
  bodyMemory: 256 * 1024 * 1024,
  answerMemory: 256 * 1024 * 1024,
  minBodyRate: 4096,
  requestsPerAddress: 1000,
  connections: 20_000,
  connectionsPerAddress: 1000,
  headerTimeoutMs: 15_000,
  requestTimeoutMs: 120_000,
};

/** Starts a front over a core; close it by `await using`. */
export async function startFront(transport: Transport, settings: FrontSettings = {}): Promise<FrontServer> {
  const errors: object[] = [];
  const refused: string[] = [];
  let ids = 0;
  const { isTrustedProxy } = settings;
  const limits = { ...usualLimits, ...settings.limits };
  const onRefused = (reason: string) => refused.push(reason);
  const front = createFront({
    transport,
    limits,
    isTrustedProxy,
    overload: settings.overload ?? { shortage: undefined },
    clock: settings.clock ?? steadyClock,
    random: { uuid: () => `0199f0a0-0000-7000-8000-${String(++ids).padStart(12, "0")}` },
    logger: { error: (fields) => errors.push(fields) },
    observer: { opened() {}, streamed() {}, closed() {}, refused: onRefused },
  });
  const server = await startHttpServer(front.listener, "127.0.0.1:0", {
    limits: { ...limits, isTrustedProxy, onRefused },
    answerMalformed: front.answerMalformed,
  });
  return { url: server.url, server, errors, refused, [Symbol.asyncDispose]: () => server.close(0) };
}
