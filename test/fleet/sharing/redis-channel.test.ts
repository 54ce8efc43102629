import { expect, test } from "@jest/globals";
import { Redis } from "ioredis";
import { systemClock } from "#lib/time/clock.ts";
import { RedisChannel } from "#src/fleet/sharing/redis-channel.ts";
import { freePort } from "../../../scripts/test-services/free-port.ts";
import { startOwnRedis } from "../../../scripts/test-services/redis.ts";
import { startDoor } from "../../support/door.ts";
import { eventually } from "../../support/eventually.ts";

test("all hear what one sends, again after the server was away", async () => {
  const server = await startOwnRedis(await freePort());
  const door = await startDoor(server.url);
  const channels = [new RedisChannel(door.url, systemClock), new RedisChannel(door.url, systemClock)];
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

test("all hear again after the host has vanished and is back at the same name", async () => {
  const server = await startOwnRedis(await freePort());
  const door = await startDoor(server.url);
  const channel = new RedisChannel(door.url, systemClock, 500);
  const heard = new Set<number>();
  channel.listen((message) => heard.add(message[0] as number));
  const arrives = (byte: number) =>
    eventually(`message ${byte} is heard`, () => {
      channel.send(Uint8Array.of(byte));
      return heard.has(byte);
    });
  try {
    await arrives(1);
    door.forsake();
    channel.renew();
    await arrives(2);
  } finally {
    await channel.close();
    await door.shut();
    await server.stop();
  }
}, 120_000);

test("a channel that its user may not hear is heard once the user may", async () => {
  const server = await startOwnRedis(await freePort());
  const admin = new Redis(server.url);
  await admin.acl("SETUSER", "listener", "on", ">secret", "~*", "+@all", "resetchannels");
  const url = new URL(server.url);
  [url.username, url.password] = ["listener", "secret"];
  const channel = new RedisChannel(url.href, systemClock);
  const heard = new Set<number>();
  channel.listen((message) => heard.add(message[0] as number));
  const arrives = (byte: number) =>
    eventually(`message ${byte} is heard`, () => {
      channel.send(Uint8Array.of(byte));
      return heard.has(byte);
    });
  const refused = () =>
    eventually("the subscription is refused", async () => ((await admin.acl("LOG")) as unknown[]).length > 0);
  try {
    await refused();
    await admin.acl("SETUSER", "listener", "allchannels");
    await arrives(1);
    await admin.acl("LOG", "RESET");
    await admin.acl("SETUSER", "listener", "resetchannels"); // cuts the connection
    await refused();
    await admin.acl("SETUSER", "listener", "allchannels");
    await arrives(2);
  } finally {
    await channel.close();
    admin.disconnect();
    await server.stop();
  }
}, 120_000);
