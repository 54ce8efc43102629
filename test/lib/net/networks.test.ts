import { expect, test } from "@jest/globals";
import { inNetworks, parseNetwork } from "#lib/net/networks.ts";

test.each([
  ["10.0.0.0/8", { address: "10.0.0.0", prefix: 8, family: "ipv4" }],
  ["10.0.0.5", { address: "10.0.0.5", prefix: 32, family: "ipv4" }],
  ["2001:db8::/32", { address: "2001:db8::", prefix: 32, family: "ipv6" }],
  ["::1", { address: "::1", prefix: 128, family: "ipv6" }],
  ["0.0.0.0/0", { address: "0.0.0.0", prefix: 0, family: "ipv4" }],
  ["10.0.0.0/33", undefined],
  ["::/129", undefined],
  ["10.0.0.0/", undefined],
  ["10.0.0", undefined],
  ["fe80::1%eth0", undefined],
  ["proxy.internal", undefined],
  ["", undefined],
])("%s", (text, network) => {
  expect(parseNetwork(text)).toEqual(network);
});

test.each([
  ["10.1.2.3", true],
  ["::ffff:10.1.2.3", true],
  ["11.0.0.1", false],
  ["192.0.2.7", true],
  ["192.0.2.8", false],
  ["2001:db8:1::5", true],
  ["2001:db9::5", false],
  ["fe80::1%eth0", true],
  ["10.1.2.3, 8.8.8.8", false],
  ["10.1.2.999", false],
  ["", false],
])("%s is in one of the networks: %s", (address, expected) => {
  expect(inNetworks(["10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "fe80::/10"])(address)).toBe(expected);
});
