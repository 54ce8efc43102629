import { Redis } from "ioredis";
import type { FleetChannel } from "./channel.ts";

const channel = "tollgate:fleet";
const retryMs = 1000;
/** The most messages that the server has not taken yet; further messages are lost meanwhile. */
const mostUnderway = 64;

/** Carries messages over the channels of Valkey or Redis, on two connections: a subscribed connection can send nothing. */
export class RedisChannel implements FleetChannel {
  readonly #sender: Redis;
  readonly #hearer: Redis;
  #underway = 0;

  /** `url` is such as redis://host:6379. A server that is away is tried again and again. */
  constructor(url: string) {
    const options = {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 2000,
      disconnectTimeout: 100,
      retryStrategy: (attempt: number) => Math.min(attempt * 100, retryMs),
    };
    this.#sender = new Redis(url, { ...options, commandTimeout: 1000 });
    this.#hearer = new Redis(url, options);
    for (const redis of [this.#sender, this.#hearer]) {
      redis.on("error", () => {}); // a core that hears nothing is reported by Sharing
    }
    this.#hearer.on("ready", () => void this.#hearer.subscribe(channel).catch(() => {}));
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

  async close(): Promise<void> {
    this.#sender.disconnect();
    this.#hearer.disconnect();
  }
}
