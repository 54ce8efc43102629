import type { Transport } from "@connectrpc/connect";
import type { ConnectionLimits } from "#lib/door/connections/limits.ts";
import { Door } from "#lib/door/door.ts";
import { type HttpServer, startHttpServer } from "#lib/door/http-server.ts";
import type { Random } from "#lib/ids/random.ts";
import type { Intake } from "#lib/overload/intake.ts";
import type { Overload } from "#lib/overload/monitor.ts";
import type { Clock } from "#lib/time/clock.ts";
import { createFront, type FrontLimits } from "../../../facades/front.ts";
import { clientAddress, type IsTrustedProxy } from "../../../facades/http/request/client-address.ts";
import type { LabelSource } from "../../../facades/http/request/labels.ts";
import type { SiteFacts } from "../../../facades/http/site/facts.ts";
import { steadyClock } from "../../support/clocks/steady-clock.ts";
import { plainSite } from "../../support/plain-site.ts";

/** A front over a core, listening on a free port. */
export interface FrontServer extends AsyncDisposable {
  readonly url: string;
  readonly server: HttpServer;
  /** What it logged as errors. */
  readonly errors: object[];
  /** What it logged of refused requests. */
  readonly lines: object[];
  /** Why it refused or cut off clients. */
  readonly refused: string[];
}

/** All limits of a public port. */
type Limits = FrontLimits & ConnectionLimits & { readonly headerTimeoutMs: number; readonly requestTimeoutMs: number };

/** What a front is started with beside its core. */
export interface FrontSettings {
  readonly clock?: Clock;
  /** By which its door paces. Default: the machine's. */
  readonly doorClock?: Clock;
  readonly overload?: Overload;
  readonly intake?: Intake;
  readonly limits?: Partial<Limits>;
  readonly isTrustedProxy?: IsTrustedProxy;
  readonly site?: Partial<SiteFacts>;
  readonly labels?: readonly LabelSource[];
  /** Default: ids that count up from 1. */
  readonly random?: Pick<Random, "uuid">;
}

/** As the configuration has them unless it says otherwise. */
const usualLimits: Limits = {
  bodyMemory: 256 * 1024 * 1024,
  answerMemory: 256 * 1024 * 1024,
  minBodyRate: 4096,
  requestsPerAddress: 1000,
  connections: 20_000,
  connectionsPerAddress: 1000,
  firstBytesMs: 15_000,
  headerTimeoutMs: 15_000,
  requestTimeoutMs: 120_000,
};

/** Starts a front over a core; close it by `await using`. */
export async function startFront(transport: Transport, settings: FrontSettings = {}): Promise<FrontServer> {
  const errors: object[] = [];
  const lines: object[] = [];
  const refused: string[] = [];
  let ids = 0;
  const { isTrustedProxy, doorClock } = settings;
  const limits = { ...usualLimits, ...settings.limits };
  const door = new Door({
    ...{ listener: "public", limits, isTrustedProxy, ...(doorClock && { clock: doorClock }) },
    onRefused: (_, bound) => refused.push(bound),
  });
  const front = createFront({
    transport,
    site: { ...plainSite, ...settings.site },
    limits,
    labels: settings.labels ?? [],
    isTrustedProxy,
    overload: settings.overload ?? { shortage: undefined },
    intake: settings.intake ?? { enter: () => undefined },
    clock: settings.clock ?? steadyClock,
    random: settings.random ?? { uuid: () => `0199f0a0-0000-7000-8000-${String(++ids).padStart(12, "0")}` },
    logger: { info: (fields) => lines.push(fields), error: (fields) => errors.push(fields) },
    observer: { opened() {}, streamed() {}, closed() {}, refused: door.refused },
  });
  const server = await startHttpServer(front.listener, "127.0.0.1:0", {
    ...{ door, setting: "listen.http", watchesAnswers: true, answerMalformed: front.answerMalformed },
    headerTimeoutMs: limits.headerTimeoutMs,
    requestTimeoutMs: limits.requestTimeoutMs,
    toClient: (request) => clientAddress(request, isTrustedProxy),
  });
  return { url: server.url, server, errors, lines, refused, [Symbol.asyncDispose]: () => server.close(0) };
}
