import { Redis } from "ioredis";
import type { Clock } from "#lib/time/clock.ts";
import type { FleetChannel } from "./channel.ts";

const channel = "tollgate:fleet";
const retryMs = 1000;
/** The most messages that may be on their way to the Redis server. Further messages are lost meanwhile. */
const mostUnderway = 64;

/** Carries messages over Valkey's or Redis's channels, on two connections: a subscribed connection cannot send. */
export class RedisChannel implements FleetChannel {
  readonly #sender: Redis;
  readonly #hearer: Redis;
  #underway = 0;
  readonly #clock: Pick<Clock, "after">;
  #stopRetry = () => {};

  /**
   * `url` is such as redis://host:6379. Reconnects for as long as the server is away. A connection without any answer for
   * `silenceMs` is replaced by a new one, to where the host's name then leads.
   */
  constructor(url: string, clock: Pick<Clock, "after">, silenceMs = 5000) {
    this.#clock = clock;
    const options = {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 2000,
      socketTimeout: silenceMs,
      disconnectTimeout: 100,
      retryStrategy: (attempt: number) => Math.min(attempt * 100, retryMs),
    };
    this.#sender = new Redis(url, { ...options, commandTimeout: 1000 });
    this.#hearer = new Redis(url, { ...options, autoResubscribe: false });
    for (const redis of [this.#sender, this.#hearer]) {
      redis.on("error", () => {}); // Sharing reports a core that hears nothing
    }
    this.#hearer.on("ready", () => this.#subscribe());
    void this.#sender.connect().catch(() => {});
  }

  send(message: Uint8Array): void {
    if (this.#sender.status !== "ready" || this.#underway >= mostUnderway) {
      return;
    }
    this.#underway++;
    const isOver = () => {
      this.#underway--;
    };
    this.#sender.publish(channel, Buffer.from(message)).then(isOver, isOver);
  }

  listen(hear: (message: Uint8Array) => void): void {
    this.#hearer.on("messageBuffer", (_: Buffer, message: Buffer) => hear(message));
    void this.#hearer.connect().catch(() => {});
  }

  renew(): void {
    if (this.#hearer.status === "ready") {
      this.#hearer.disconnect(true);
    }
  }

  async close(): Promise<void> {
    this.#stopRetry();
    this.#sender.disconnect();
    this.#hearer.disconnect();
  }

  /** Subscribes, and again after a while where the server refuses it. */
  #subscribe(): void {
    this.#stopRetry();
    this.#hearer.subscribe(channel).catch(() => {
      if (this.#hearer.status === "ready") {
        this.#stopRetry = this.#clock.after(retryMs, () => this.#subscribe());
      }
    });
  }
}
