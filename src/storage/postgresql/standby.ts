import { Client, type ClientBase, Pool, type PoolClient } from "pg";
import { limited, openPostgresqlSnapshot, type Reach, type Snapshot } from "../reads/snapshot.ts";
import { AnswerLimit } from "../workarounds/answer-limit.ts";
import { forgetAnswers } from "../workarounds/kept-answers.ts";
import { clientOf } from "./client-of.ts";
import { readPosition } from "./history.ts";
import { serversOf } from "./servers.ts";

/** Long reads wait for a standby no longer than this before the primary answers them. */
const connectMs = 2000;
const answerMs = 20_000;
/** After a failure the standby is left alone for a while: each read would wait for it in vain. */
const pauseMs = 10_000;

/** Which standby answers long reads. */
export interface StandbyOptions {
  /** `postgresql://…`, of several servers the standby that is furthest. */
  readonly url: string;
  /** The oldest state that it may tell. */
  readonly mostAgeMs: number;
  readonly observer: StandbyObserver;
  readonly warn: (message: string) => void;
}

/** Learns where long reads were answered. */
export interface StandbyObserver {
  /** A standby answered, with a state of this age. */
  readStandby(ageMs: number): void;
  /** The primary answered, because the standby was away or its state too old. */
  readPrimary(): void;
}

interface Replayed {
  readonly standby: boolean;
  /** When the last transaction that it knows was committed on the primary, in milliseconds. Null: it knows none since its start. */
  readonly replayed: number | null;
}

/** Asked before a snapshot begins, which then shows at least as much. */
const replayed = `select pg_is_in_recovery() as standby,
  (extract(epoch from pg_last_xact_replay_timestamp()) * 1000)::float8 as replayed`;

/**
 * A standby of the primary, for reads that are long and need not be of this moment. Cores write to the primary every five
 * seconds, so the last transaction that a standby knows tells how old its state is.
 */
export class Standby {
  readonly #primary: Pool;
  readonly #options: StandbyOptions;
  readonly #pool: Pool;
  readonly #open: (reach?: Reach) => Promise<Snapshot>;
  #awayUntil = Number.NEGATIVE_INFINITY;
  /** Whether it was away, or too old, for the last read. */
  #isAway = false;

  constructor(primary: Pool, options: StandbyOptions, session: string) {
    this.#primary = primary;
    this.#options = options;
    const servers = serversOf(options.url);
    this.#pool = new Pool({
      connectionString: servers[0],
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      allowExitOnIdle: true,
      ...(servers.length > 1 && { Client: clientOf(() => findStandby(servers)) }),
      onConnect: async (client) => {
        await client.query(session);
        await this.#refuseOthers(client);
      },
    });
    this.#pool.on("error", () => {}); // an idle connection that breaks is replaced
    this.#pool.on("connect", (client) => client.on("error", () => {})); // the statement of one in use fails
    const limit = new AnswerLimit();
    forgetAnswers(this.#pool);
    limit.watch(this.#pool);
    limit.begin(answerMs);
    this.#open = limited((reach) => this.#begin(reach));
  }

  /** A snapshot that tells its age. Undefined: the standby is away, or too old. */
  async snapshot(reach?: Reach): Promise<(Snapshot & { readonly asOf: number }) | undefined> {
    const { observer, warn } = this.#options;
    if (performance.now() < this.#awayUntil) {
      observer.readPrimary();
      return undefined;
    }
    try {
      const snapshot = await this.#open(reach);
      this.#isAway = false;
      return { ...snapshot, asOf: Number(snapshot.asOf) };
    } catch (error) {
      const reason = (error as Error).message || String((error as { code?: unknown }).code);
      this.#awayUntil = performance.now() + pauseMs;
      if (!this.#isAway) {
        warn(`long reads go to the primary: ${reason}`);
      }
      this.#isAway = true;
      observer.readPrimary();
      return undefined;
    }
  }

  /** How old its state is, in milliseconds. Infinity: it knows no transaction. Throws when it is no standby of the primary. */
  async age(): Promise<number> {
    const client = await this.#pool.connect();
    try {
      return (await this.#look(client)).ageMs;
    } finally {
      client.release();
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #begin(reach: Reach): Promise<Snapshot> {
    const { mostAgeMs, observer } = this.#options;
    let asOf = Number.NaN;
    const snapshot = await openPostgresqlSnapshot(this.#pool, reach, async (client) => {
      const { now, ageMs } = await this.#look(client);
      if (ageMs > mostAgeMs) {
        throw new Error(`the standby is ${Math.round(ageMs / 1000)} s behind`);
      }
      observer.readStandby(ageMs);
      asOf = Math.floor(now - ageMs);
    });
    return { ...snapshot, asOf };
  }

  async #look(client: PoolClient): Promise<{ readonly now: number; readonly ageMs: number }> {
    const [own, primary] = await Promise.all([
      client.query<Replayed>(replayed),
      this.#primary.query<{ now: number }>("select (extract(epoch from clock_timestamp()) * 1000)::float8 as now"),
    ]);
    const [state] = own.rows;
    if (!state?.standby) {
      throw new Error("the server of storage.read_url is no standby");
    }
    const now = primary.rows[0]?.now ?? Number.NaN;
    return { now, ageMs: Math.max(0, now - (state.replayed ?? Number.NEGATIVE_INFINITY)) };
  }

  /** Throws for the standby of another server. */
  async #refuseOthers(client: ClientBase): Promise<void> {
    const own = await readPosition(client, connectMs);
    const primary = await this.#primary.connect();
    try {
      const leading = await readPosition(primary, connectMs);
      if (own !== undefined && leading !== undefined && own.system !== leading.system) {
        throw new Error("the server of storage.read_url is a standby of another server");
      }
    } finally {
      primary.release();
    }
  }
}

/** Asks all servers at once for the standby that is furthest. Throws what each said when none is one. */
async function findStandby(servers: readonly string[]): Promise<{ readonly host: string; readonly port: number }> {
  const asked = await Promise.allSettled(servers.map(ask));
  const [furthest] = asked
    .flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []))
    .toSorted((one, other) => other.at - one.at);
  if (furthest === undefined) {
    const reasons = asked.map((answer) => (answer.status === "rejected" ? String(answer.reason) : ""));
    throw new Error(`none of the servers is a standby: ${reasons.join("; ")}`);
  }
  return furthest;
}

async function ask(connectionString: string) {
  const client = new Client({ connectionString, connectionTimeoutMillis: connectMs / 2, query_timeout: connectMs / 2 });
  client.on("error", () => {}); // it breaks after the question was answered, or the question fails
  try {
    await client.connect();
    const [state] = (await client.query<Replayed>(replayed)).rows;
    if (!state?.standby) {
      throw new Error(`${client.host}:${client.port} is no standby`);
    }
    return { host: client.host, port: client.port, at: state.replayed ?? 0 };
  } finally {
    await client.end().catch(() => {});
  }
}
