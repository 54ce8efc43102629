import { systemClock } from "#lib/time/clock.ts";
import type { FleetChannel } from "#src/fleet/sharing/channel.ts";
import { RedisChannel } from "#src/fleet/sharing/redis-channel.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { whole } from "../fake-engine.ts";
import { type Fixture, fixture } from "../fixture.ts";

const stepMs = 10;

/** Fleets that hear each other over a real Redis or Valkey, under one clock. */
export class RedisCores implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly #url: string;
  readonly #capacities: readonly number[];
  readonly #answerMs: number;
  readonly #cores = new Map<Fixture, FencedChannel>();
  #round = 0;

  /** Each core has servers of these capacities, which take so long for an answer. */
  constructor(url: string, capacities: readonly number[], answerMs: number) {
    this.#url = url;
    this.#capacities = capacities;
    this.#answerMs = answerMs;
  }

  /** Starts another core, and lets the others hear of it. */
  async start(): Promise<Fixture> {
    const { clock } = this;
    const seed = this.#cores.size + 1;
    const channel = new FencedChannel(this.#url, seed);
    await eventually("the channel is open", () => {
      channel.fence(0);
      return channel.heard.has(seed);
    });
    const core = fixture(this.#capacities, {}, {}, undefined, { clock, channel, seed });
    for (const engine of core.engines) {
      engine.usual = () => [new Promise((resolve) => void clock.after(this.#answerMs, resolve)), ...whole];
    }
    this.#cores.set(core, channel);
    await this.run(1000);
    return core;
  }

  /** Ends a core as a crash does: it says nothing more, and its requests stay where they are. */
  async kill(core: Fixture): Promise<void> {
    await this.#cores.get(core)?.close();
    this.#cores.delete(core);
  }

  /** Lets time pass. What is sent in a step has arrived before the next one. */
  async run(ms: number): Promise<void> {
    const channels = [...this.#cores.values()];
    for (let passed = 0; passed < ms; passed += stepMs) {
      await this.clock.advanceAsync(stepMs);
      const round = ++this.#round;
      for (const channel of channels) {
        channel.fence(round);
      }
      await eventually("all messages have arrived", () =>
        channels.every(({ heard }) => channels.every(({ id }) => heard.get(id) === round)),
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#cores.keys()].map(({ fleet }) => fleet.close()));
  }
}

/** A channel that can tell whether all that was sent before has arrived: messages of a core keep their order. */
class FencedChannel implements FleetChannel {
  readonly id: number;
  /** The last fence that was heard of each channel. */
  readonly heard = new Map<number, number>();
  readonly #channel: RedisChannel;
  #hear: (message: Uint8Array) => void = () => {};

  constructor(url: string, id: number) {
    this.id = id;
    this.#channel = new RedisChannel(url, systemClock);
    this.#channel.listen((message) => {
      if (message[0] === 0) {
        this.heard.set(message[1] as number, Buffer.from(message).readUInt32LE(2));
      } else {
        this.#hear(message);
      }
    });
  }

  /** Sends what no core can read, behind all that was sent before. */
  fence(round: number): void {
    const message = Buffer.from([0, this.id, 0, 0, 0, 0]);
    message.writeUInt32LE(round, 2);
    this.#channel.send(message);
  }

  send(message: Uint8Array): void {
    this.#channel.send(message);
  }

  listen(hear: (message: Uint8Array) => void): void {
    this.#hear = hear;
  }

  renew(): void {
    this.#channel.renew();
  }

  close(): Promise<void> {
    return this.#channel.close();
  }
}
