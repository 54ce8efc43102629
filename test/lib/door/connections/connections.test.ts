import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { expect, test } from "@jest/globals";
import { Connections } from "#lib/door/connections/connections.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";

/** A connection that is only counted. */
class FakeSocket extends EventEmitter {
  readonly remoteAddress: string;
  readonly remotePort: number;
  bytesRead = 1;
  destroyed = false;

  constructor(remoteAddress: string, remotePort: number) {
    super();
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

function start(limits: { readonly connections: number; readonly connectionsPerAddress: number }, trusted = "none") {
  const clock = new ManualClock();
  const refused: string[] = [];
  const isTrusted = (address: string) => address === trusted;
  const connections = new Connections({ ...limits, firstBytesMs: 15_000 }, clock, isTrusted, (bound) =>
    refused.push(bound),
  );
  let port = 0;
  return {
    ...{ clock, refused, connections },
    enter(address: string): FakeSocket {
      const socket = new FakeSocket(address, ++port);
      connections.enter(socket as unknown as Socket);
      return socket;
    },
  };
}

const usual = { connections: 100, connectionsPerAddress: 20 };

test("idle connections of the network that holds most give way to newcomers", () => {
  const { enter, clock, refused } = start({ connections: 100, connectionsPerAddress: 60 });
  const own = enter("198.51.100.1");
  const many = Array.from({ length: 90 }, (_, at) => enter(`203.0.113.${at % 2}`));
  clock.advance(1000);
  const newcomers = Array.from({ length: 50 }, (_, at) => enter(`192.0.${at}.1`));
  expect(newcomers.every(({ destroyed }) => !destroyed)).toBe(true);
  expect(own.destroyed).toBe(false);
  expect(many.slice(0, 50).every(({ destroyed }) => destroyed)).toBe(true);
  expect(refused).toEqual(Array(50).fill("idle"));
});

test("connections over which requests run never give way", () => {
  const { enter, clock, connections, refused } = start({ connections: 10, connectionsPerAddress: 10 });
  const busy = Array.from({ length: 10 }, () => enter("203.0.113.1"));
  for (const socket of busy) {
    connections.begin(socket);
  }
  clock.advance(60_000);
  expect(enter("192.0.2.1").destroyed).toBe(true);
  expect(refused).toEqual(["connections"]);
  busy.slice(0, 1).forEach((socket) => void connections.end(socket));
  clock.advance(1000);
  expect(enter("192.0.2.1").destroyed).toBe(false);
  expect(busy.map(({ destroyed }) => destroyed)).toEqual([true, ...Array(9).fill(false)]);
});

test("an address with too many closes an idle one of its own, and none of its neighbours'", () => {
  const { enter, clock, refused } = start(usual);
  const neighbour = enter("203.0.113.2");
  const own = Array.from({ length: 20 }, () => enter("203.0.113.1"));
  expect(enter("203.0.113.1").destroyed).toBe(true); // none of its others is idle yet
  clock.advance(1000);
  expect(enter("203.0.113.1").destroyed).toBe(false);
  expect([neighbour.destroyed, own[0]?.destroyed, own[1]?.destroyed]).toEqual([false, true, false]);
  expect(refused).toEqual(["connections_per_address", "idle"]);
});

test.each([
  ["a /24", (at: number) => `203.0.113.${at}`],
  ["a /64", (at: number) => `2001:db8:0:1::${at.toString(16)}`],
  ["a /56", (at: number) => `2001:db8:0:1${at.toString(16).padStart(2, "0")}::1`],
])("%s has four times the connections of an address at most", (name, address) => {
  const { enter } = start({ connections: 10_000, connectionsPerAddress: 20 });
  const taken = Array.from({ length: 200 }, (_, at) => enter(address(at))).filter(({ destroyed }) => !destroyed);
  expect(taken).toHaveLength(name === "a /64" ? 20 : 80);
});

test("no idle connection gives way for one that is refused", () => {
  const { enter, clock, connections, refused } = start({ connections: 100, connectionsPerAddress: 40 });
  const others = Array.from({ length: 60 }, (_, at) => enter(`192.0.2.${at}`));
  for (let at = 0; at < 40; at += 1) {
    connections.begin(enter("203.0.113.1"));
  }
  const left = () => others.filter(({ destroyed }) => !destroyed).length;
  clock.advance(1000);
  const before = left();
  expect(enter("203.0.113.1").destroyed).toBe(true);
  expect(refused.at(-1)).toBe("connections_per_address");
  expect(left()).toBe(before);
});

test("new connections have a rate, and one that is refused for it takes no place", () => {
  const { enter, connections, refused } = start({ connections: 1000, connectionsPerAddress: 40 });
  for (let at = 0; at < 100; at += 1) {
    enter("203.0.113.1").destroy();
  }
  expect(enter("203.0.113.1").destroyed).toBe(true);
  expect([refused, connections.size]).toEqual([["connection_rate"], 0]);
});

test("a connection that sends nothing is closed after its time, and one that sent something is not", () => {
  const { enter, clock, refused } = start(usual);
  const [silent, speaking] = [enter("203.0.113.1"), enter("203.0.113.1")];
  silent.bytesRead = 0;
  clock.advance(14_999);
  expect(silent.destroyed).toBe(false);
  clock.advance(1);
  expect([silent.destroyed, speaking.destroyed, refused]).toEqual([true, false, ["silent"]]);
});

test("a trusted proxy's connections are not its own, and are kept", () => {
  const { enter, clock } = start({ connections: 100, connectionsPerAddress: 2 }, "192.0.2.9");
  const proxied = Array.from({ length: 90 }, () => enter("192.0.2.9"));
  clock.advance(1000);
  const others = Array.from({ length: 10 }, (_, at) => enter(`203.0.${at}.1`));
  expect([...proxied, ...others].every(({ destroyed }) => !destroyed)).toBe(true);
});

test("places that are left are free, and what is closed twice counts once", () => {
  const { enter, connections, clock } = start(usual);
  for (let round = 0; round < 50; round++) {
    clock.advance(1000);
    const all = Array.from({ length: 20 }, () => enter("203.0.113.1"));
    expect(all.every(({ destroyed }) => !destroyed)).toBe(true);
    for (const socket of all) {
      connections.begin(socket);
      socket.destroy();
      connections.end(socket);
      socket.emit("close");
    }
  }
});
