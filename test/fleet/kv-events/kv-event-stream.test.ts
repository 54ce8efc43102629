import { describe, expect, test } from "@jest/globals";
import { type Clock, systemClock } from "../../../lib/time/clock.ts";
import { KvEventStream } from "../../../src/fleet/kv-events/kv-event-stream.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { Publisher } from "./publisher.ts";

const removed = (hash: number) => ["BlockRemoved", [hash]];

/** Follows a publisher and notes what is told. */
function follow(publisher: Publisher, { replays = true, topic = "", clock = systemClock as Clock } = {}) {
  const told: (number | string)[] = [];
  const source = {
    host: "127.0.0.1",
    port: publisher.port,
    topic,
    ...(replays && { replayPort: publisher.replayPort }),
  };
  const stream = new KvEventStream(source, clock, {
    happened: (events) => {
      told.push(...events.map((event) => (event.kind === "removed" ? (event.hashes[0]?.low ?? "?") : event.kind)));
    },
    lost: () => void told.push("lost"),
    heard: () => {},
  });
  return { told, stream, [Symbol.dispose]: () => stream.close() };
}

type Followed = ReturnType<typeof follow>;

const subscribed = (publisher: Publisher, times = 1) =>
  eventually("a subscription", () => publisher.topics.length === times);
const live = ({ stream }: Followed, isLive = true) =>
  eventually(`a stream that is live: ${isLive}`, () => stream.isLive === isLive);
const hears = ({ told }: Followed, ...expected: readonly (number | string)[]) =>
  eventually(`${expected}`, () => `${told}` === `${expected}`);

describe("follows a publisher over ZMTP", () => {
  test("and hears what was published before, and then what happens", async () => {
    await using publisher = await Publisher.start();
    publisher.publish([removed(1), removed(2)]);
    using followed = follow(publisher);
    await subscribed(publisher);
    publisher.publish([["AllBlocksCleared"]]);
    publisher.publish([removed(3)]);
    await hears(followed, 1, 2, "cleared", 3);
    expect(followed.stream.isLive).toBe(true);
    expect(publisher.asked).toEqual([0n]);
  });

  test("subscribes to a topic", async () => {
    await using publisher = await Publisher.start();
    using _ = follow(publisher, { topic: "kv@server-1" });
    await subscribed(publisher);
    expect(publisher.topics).toEqual(["kv@server-1"]);
  });

  test("asks for what it has missed", async () => {
    await using publisher = await Publisher.start();
    using followed = follow(publisher);
    await subscribed(publisher);
    publisher.publish([removed(1)]);
    await live(followed);
    await hears(followed, 1);
    publisher.publish([removed(2)], { isHeard: false });
    publisher.publish([removed(3)]);
    publisher.publish([removed(4)]);
    await hears(followed, 1, 2, 3, 4);
    expect(publisher.asked).toEqual([0n, 1n]);
    expect(followed.stream.missed).toBe(0);
  });

  test("forgets what holds no longer where nobody can be asked", async () => {
    await using publisher = await Publisher.start();
    using followed = follow(publisher, { replays: false });
    await subscribed(publisher);
    publisher.publish([removed(1)]);
    publisher.publish([removed(2)], { isHeard: false });
    publisher.publish([removed(3)]);
    await hears(followed, 1, "lost", 3);
    expect(followed.stream.missed).toBe(1);
  });

  test("goes on after a lost connection without a gap", async () => {
    await using publisher = await Publisher.start();
    using followed = follow(publisher);
    await subscribed(publisher);
    publisher.publish([removed(1)]);
    await hears(followed, 1);
    publisher.disconnect();
    publisher.publish([removed(2)]);
    await subscribed(publisher, 2);
    await hears(followed, 1, 2);
  });

  test("takes one that counts from the start again for an empty cache", async () => {
    await using publisher = await Publisher.start();
    using followed = follow(publisher);
    await subscribed(publisher);
    publisher.publish([removed(1)]);
    publisher.publish([removed(2)]);
    await hears(followed, 1, 2);
    publisher.restart();
    publisher.publish([removed(3)]);
    await subscribed(publisher, 2);
    publisher.publish([removed(4)]);
    await hears(followed, 1, 2, "cleared", 3, 4);
  });
});

test.each([
  ["parts that are missing", [Buffer.from("kv")]],
  ["a counter of four bytes", [Buffer.from("kv"), Buffer.alloc(4), Buffer.alloc(1)]],
  ["a batch that is none", [Buffer.from("kv"), Buffer.alloc(8), Buffer.from([0xc1])]],
])("leaves a publisher that sends %s", async (_, parts) => {
  await using publisher = await Publisher.start();
  using followed = follow(publisher, { replays: false });
  await subscribed(publisher);
  await live(followed);
  publisher.send(parts);
  await live(followed, false);
});

test("a flood of events is not followed, and nothing of before is believed", async () => {
  await using publisher = await Publisher.start();
  using followed = follow(publisher, { replays: false, clock: new ManualClock() }); // all of it comes in one second
  await subscribed(publisher);
  const batch = ["BlockStored", [1], null, new Uint8Array(1_000_000), 16, null];
  for (let sent = 0; sent < 36; sent++) {
    publisher.publish([batch]);
  }
  await hears(followed, ...new Array(33).fill("stored"), "lost");
  await live(followed, false);
});
