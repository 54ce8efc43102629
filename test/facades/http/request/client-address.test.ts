import type { IncomingMessage } from "node:http";
import { expect, test } from "@jest/globals";
import { clientAddress } from "../../../../facades/http/request/client-address.ts";

const proxies = new Set(["10.0.0.1", "10.0.0.2", "::ffff:10.0.0.1", "2001:db8::1"]);
const isTrustedProxy = (address: string) => proxies.has(address);
const from = (remoteAddress: string | undefined, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { "x-forwarded-for": forwarded } }) as unknown as IncomingMessage;

test.each([
  ["a client without a proxy", "203.0.113.7", undefined, "203.0.113.7"],
  ["a client that makes a header up", "203.0.113.7", "198.51.100.1", "203.0.113.7"],
  ["a client that names a proxy", "203.0.113.7", "198.51.100.1, 10.0.0.1", "203.0.113.7"],
  ["a proxy", "10.0.0.1", "203.0.113.7", "203.0.113.7"],
  ["a proxy on a dual socket", "::ffff:10.0.0.1", "203.0.113.7", "203.0.113.7"],
  ["a proxy that adds to what the client made up", "10.0.0.1", "198.51.100.1, 203.0.113.7", "203.0.113.7"],
  ["a client that made a proxy up", "10.0.0.1", "198.51.100.1, 10.0.0.2, 203.0.113.7", "203.0.113.7"],
  ["two proxies", "10.0.0.1", "198.51.100.1, 203.0.113.7, 10.0.0.2", "203.0.113.7"],
  ["a client that is itself a proxy of ours", "10.0.0.1", "10.0.0.2", "10.0.0.2"],
  ["a proxy that names nobody", "10.0.0.1", undefined, "10.0.0.1"],
  ["a proxy that names nothing", "10.0.0.1", "", "10.0.0.1"],
  ["a proxy with ports", "10.0.0.1", "203.0.113.7:51820", "203.0.113.7"],
  ["an IPv6 client", "2001:db8::1", "2001:db8:7::7", "2001:db8:7::7"],
  ["an IPv6 client with a port", "10.0.0.1", "[2001:db8:7::7]:443", "2001:db8:7::7"],
  ["an IPv6 client in brackets", "10.0.0.1", "[2001:db8:7::7]", "2001:db8:7::7"],
  ["a client that is unknown", "10.0.0.1", "203.0.113.7, unknown", "10.0.0.1"],
  ["a client that is no address", "10.0.0.1", "203.0.113.7, 1.2.3", "10.0.0.1"],
  ["a client with a scope", "10.0.0.1", "fe80::1%eth0", "10.0.0.1"],
  ["a client that is split over lines", "10.0.0.1", "203.0.113.7\t", "203.0.113.7"],
  ["proxies without an end", "10.0.0.1", `203.0.113.7${", 10.0.0.2".repeat(5000)}`, "10.0.0.2"],
  ["a connection that is gone", undefined, "203.0.113.7", undefined],
])("%s", (_, peer, forwarded, expected) => {
  expect(clientAddress(from(peer, forwarded), isTrustedProxy)).toBe(expected);
});

test("without trusted proxies nothing is believed", () => {
  expect(clientAddress(from("10.0.0.1", "203.0.113.7"))).toBe("10.0.0.1");
});
