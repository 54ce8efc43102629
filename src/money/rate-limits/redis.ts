import { Redis } from "ioredis";
import type { Random } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { HeldQuotas } from "./held-quotas.ts";
import { MemoryWindows } from "./memory.ts";
import type { QuotaDemand, QuotaState } from "./quota.ts";
import {
  beginRunScript,
  countCoresScript,
  countRequestScript,
  endRunsScript,
  heldLifetimeMs,
  renewHeldScript,
} from "./redis-scripts.ts";
import type { RateLimitDecision, RunDecision, WindowState, Windows } from "./windows.ts";

/** How long a failed server is left alone. */
const retryMs = 1000;
const heartbeatMs = 5000;
/** A core that has been silent for this long is taken for dead. */
const coreLifetimeMs = heldLifetimeMs;
const prefix = "tollgate:rate:";
const quotaPrefix = "tollgate:quota:";
const coresKey = "tollgate:cores";

interface Dependencies {
  /** Such as redis://host:6379 or rediss://user:password@host:6379/0. */
  readonly url: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** A server that takes longer to answer counts as away. Absent: 250 ms. */
  readonly timeoutMs?: number;
  /**
   * A connection without any answer for this long is replaced by a new one, to where the host's name then leads.
   * Absent: 5 s.
   */
  readonly silenceMs?: number;
}

interface Scripts {
  countRequest(key: string, limit: number, count: 0 | 1): Promise<[number, number, number, number]>;
  beginRun(keys: number, ...keysAndValues: (string | number)[]): Promise<number[]>;
  endRuns(keys: number, ...keysAndValues: (string | number)[]): Promise<number>;
  renewHeld(keys: number, ...keysAndValues: (string | number)[]): Promise<number>;
  countCores(key: string, core: string, lifetimeUs: number): Promise<number>;
}

/**
 * Windows that all cores share, in Valkey or Redis: one script for each request, on the server's clock.
 *
 * The same call counts quotas of runs for all cores. A core that ends without a word is forgotten after 15 s, with
 * everything it held.
 *
 * While the server is away each core counts alone, with its share of the limit: the limit over the number of cores last
 * seen, at least 1. So R cores still admit about N a minute. Within the minute around a change between the two ways
 * they admit up to twice that, because neither way knows the other's count. The server is tried again every second.
 */
export class RedisWindows implements Windows {
  readonly #redis: Redis & Scripts;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #core: string;
  readonly #alone: MemoryWindows;
  readonly #held: HeldQuotas;
  #cores = 1;
  #away = false;
  #retryAt = 0;
  #closed = false;
  #stopHeartbeat = () => {};

  private constructor({ url, clock, random, logger, timeoutMs = 250, silenceMs = 5000 }: Dependencies) {
    this.#clock = clock;
    this.#logger = logger;
    this.#core = random.uuid();
    this.#alone = new MemoryWindows(clock);
    this.#redis = new Redis(url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: timeoutMs,
      socketTimeout: silenceMs,
      connectTimeout: 2000,
      disconnectTimeout: 100, // ioredis waits this long even for a connection that is gone
      retryStrategy: (attempt) => Math.min(attempt * 100, retryMs),
    }) as Redis & Scripts;
    this.#redis.defineCommand("countRequest", { numberOfKeys: 1, lua: countRequestScript });
    this.#redis.defineCommand("countCores", { numberOfKeys: 1, lua: countCoresScript });
    this.#redis.defineCommand("beginRun", { lua: beginRunScript });
    this.#redis.defineCommand("endRuns", { lua: endRunsScript });
    this.#redis.defineCommand("renewHeld", { lua: renewHeldScript });
    this.#held = new HeldQuotas({
      end: (told) => void this.#tell("endRuns", told),
      renew: (told) => void this.#tell("renewHeld", told),
    });
    // Every failed command reports the same error itself.
    this.#redis.on("error", () => {});
  }

  /** Connects. A server that is away does not prevent the start. */
  static async open(parts: Dependencies): Promise<RedisWindows> {
    const windows = new RedisWindows(parts);
    await windows.#redis.connect().catch((error: unknown) => windows.#lose(error));
    await windows.#beat();
    return windows;
  }

  get areShared(): boolean {
    return !this.#away;
  }

  async admit(key: string, limit: number): Promise<RateLimitDecision> {
    const answer = await this.#count(key, limit, 1);
    return answer ?? this.#alone.admit(key, this.#share(limit));
  }

  async begin(key: string, limit: number, demands: readonly QuotaDemand[]): Promise<RunDecision> {
    if (demands.length === 0) {
      return { window: await this.admit(key, limit), quotas: [], full: undefined, end() {} };
    }
    const keys = [prefix + key, ...demands.map(({ name }) => quotaPrefix + name)];
    const values = demands.flatMap((demand) => [demand.limit, demand.amount]);
    this.#held.asked(demands);
    const answer = await this.#ask(() => this.#redis.beginRun(keys.length, ...keys, limit, this.#core, ...values));
    const isGranted = answer?.[0] === 1;
    this.#held.answered(demands, isGranted);
    if (answer === undefined) {
      const shares = demands.map((demand) => ({ ...demand, limit: this.#share(demand.limit) }));
      return this.#alone.begin(key, this.#share(limit), shares);
    }
    return this.#readRun(answer, limit, demands, isGranted);
  }

  async read(key: string, limit: number): Promise<WindowState> {
    const answer = await this.#count(key, limit, 0);
    return answer ?? this.#alone.read(key, this.#share(limit));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopHeartbeat();
    this.#held.flush();
    await this.#redis.zrem(coresKey, this.#core).catch(() => {});
    this.#redis.disconnect();
  }

  #readRun(answer: number[], limit: number, demands: readonly QuotaDemand[], isGranted: boolean): RunDecision {
    const [, used = 0, waitUs = 0, resetUs = 0, full = 0, ...rest] = answer;
    const quotas = demands.map((demand, i): QuotaState => {
      const [quotaUsed = 0, quotaWaitUs = 0, quotaResetUs = 0] = rest.slice(3 * i);
      return {
        limit: demand.limit,
        used: quotaUsed,
        waitMs: quotaWaitUs / 1000,
        resetAfterMs: quotaResetUs / 1000,
      };
    });
    let isOver = !isGranted;
    return {
      window: { admitted: isGranted, used, waitMs: waitUs / 1000, resetAfterMs: resetUs / 1000, limit },
      quotas,
      full: full === 0 ? undefined : full - 1,
      end: (counted) => {
        if (!isOver) {
          isOver = true;
          this.#end(demands, counted);
        }
      },
    };
  }

  #end(demands: readonly QuotaDemand[], counted: readonly number[]): void {
    this.#held.give(demands, counted);
    if (this.#away) {
      demands.forEach(({ name }, i) => void this.#alone.count(name, counted[i] ?? 0));
    }
  }

  async #tell(
    command: "endRuns" | "renewHeld",
    told: readonly (readonly [name: string, amount: number, more: number])[],
  ): Promise<void> {
    const keys = told.map(([name]) => quotaPrefix + name);
    const values = told.flatMap(([, amount, more]) => [amount, more]);
    await this.#ask(() => this.#redis[command](keys.length, ...keys, this.#core, ...values));
  }

  /** Undefined: the server is away. */
  async #count(key: string, limit: number, count: 0 | 1): Promise<RateLimitDecision | undefined> {
    const answer = await this.#ask(() => this.#redis.countRequest(prefix + key, limit, count));
    if (!answer) {
      return undefined;
    }
    const [admitted, used, waitUs, resetUs] = answer;
    return { admitted: admitted === 1, used, waitMs: waitUs / 1000, resetAfterMs: resetUs / 1000, limit };
  }

  async #ask<T>(command: () => Promise<T>): Promise<T | undefined> {
    if (this.#away) {
      const now = this.#clock.monotonic();
      if (now < this.#retryAt) {
        return undefined;
      }
      this.#retryAt = now + retryMs; // one request tries, the others continue alone
    }
    try {
      const answer = await command();
      if (this.#away) {
        this.#logger.info({}, "rate limits are shared again");
      }
      this.#away = false;
      return answer;
    } catch (error) {
      this.#lose(error);
      return undefined;
    }
  }

  #lose(error: unknown): void {
    this.#retryAt = this.#clock.monotonic() + retryMs;
    if (this.#away) {
      return;
    }
    this.#away = true;
    const share = `1/${this.#cores}`;
    this.#logger.warn({ error: String(error), share }, "rate limits are not shared: each core applies its share alone");
  }

  #share(limit: number): number {
    return Math.max(1, Math.floor(limit / this.#cores));
  }

  async #beat(): Promise<void> {
    const cores = await this.#ask(() => this.#redis.countCores(coresKey, this.#core, coreLifetimeMs * 1000));
    if (cores !== undefined) {
      this.#cores = cores;
      this.#held.renew();
    }
    if (this.#closed) {
      return;
    }
    this.#stopHeartbeat = this.#clock.after(heartbeatMs, () => void this.#beat());
  }
}
