import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { expect, test } from "@jest/globals";
import { greeting } from "../../../src/fleet/kv-events/frames.ts";
import { Peer } from "../../../src/fleet/kv-events/peer.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { message, ready } from "./publisher.ts";

/** A peer of a server that we hold in hand, what it has told, and the server's side of the connection. */
async function meet() {
  const server: Server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const clock = new ManualClock();
  const told: string[] = [];
  const { port } = server.address() as { port: number };
  const connected = once(server, "connection");
  const peer = new Peer("SUB", { host: "127.0.0.1", port }, clock, {
    opened: () => void told.push("opened"),
    heard: (parts) => void told.push(`heard ${parts.join()}`),
    closed: ({ message }) => void told.push(message),
  });
  const [socket] = (await connected) as [Socket];
  socket.on("error", () => {});
  socket.resume();
  return {
    ...{ clock, told, socket },
    async [Symbol.asyncDispose]() {
      peer.close();
      socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

test("leaves one that drips its greeting, however often it sends something", async () => {
  await using met = await meet();
  for (const byte of greeting.subarray(0, 4)) {
    met.socket.write(Buffer.from([byte]));
    met.clock.advance(1249);
  }
  expect(met.told).toEqual([]);
  met.clock.advance(4);
  expect(met.told).toEqual(["it did not greet in time"]);
  await eventually("a closed connection", () => met.socket.closed);
});

test("leaves one that greets and is not ready", async () => {
  await using met = await meet();
  met.socket.write(greeting);
  met.clock.advance(5000);
  expect(met.told).toEqual(["it did not greet in time"]);
});

test("waits for as long as it takes once both have greeted", async () => {
  await using met = await meet();
  met.socket.write(Buffer.concat([greeting, ready("PUB")]));
  await eventually("an open connection", () => met.told.length === 1);
  met.clock.advance(3_600_000);
  met.socket.write(message([Buffer.from("late")]));
  await eventually("a message", () => met.told.length === 2);
  expect(met.told).toEqual(["opened", "heard late"]);
});
