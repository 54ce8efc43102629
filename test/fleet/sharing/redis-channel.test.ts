import { expect, test } from "@jest/globals";
import { RedisChannel } from "#src/fleet/sharing/redis-channel.ts";
import { freePort } from "../../../scripts/test-services/free-port.ts";
import { startOwnRedis } from "../../../scripts/test-services/redis.ts";
import { startDoor } from "../../support/door.ts";
import { eventually } from "../../support/eventually.ts";

test("all hear what one sends, again after the server was away", async () => {
  const server = await startOwnRedis(await freePort());
  const door = await startDoor(server.url);
  const channels = [new RedisChannel(door.url), new RedisChannel(door.url)];
  const heard = channels.map(() => new Set<number>());
  for (const [at, channel] of channels.entries()) {
    channel.listen((message) => heard[at]?.add(message[0] as number));
  }
  const arrives = (byte: number) =>
    eventually(`message ${byte} is heard by both`, () => {
      channels[0]?.send(Uint8Array.of(byte));
      return heard.every((bytes) => bytes.has(byte));
    });
  try {
    await arrives(1);
    await door.shut();
    channels[0]?.send(Uint8Array.of(2)); // it may be lost, and disturbs nothing
    await door.open();
    await arrives(3);
    expect(heard.every((bytes) => bytes.has(1) && bytes.has(3))).toBe(true);
  } finally {
    await Promise.all(channels.map((channel) => channel.close()));
    await door.shut();
    await server.stop();
  }
}, 120_000);
