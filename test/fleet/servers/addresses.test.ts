import { expect, test } from "@jest/globals";
import type { Logger } from "#lib/logger.ts";
import { Addresses } from "#src/fleet/servers/addresses.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { settle } from "../fixture.ts";

const intervalMs = 10_000;

/** Addresses of hosts that a test gives them. An error is a lookup that fails. */
function watched(hosts: Record<string, readonly string[] | Error>) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const warnings: object[] = [];
  let changes = 0;
  const note = (fields: object) => void warnings.push(fields);
  const logger: Logger = { debug() {}, info() {}, warn: note, error() {} };
  const addresses = new Addresses({
    clock,
    logger,
    intervalMs,
    onChange: () => changes++,
    async lookup(host) {
      asked.push(host);
      const found = hosts[host];
      if (found === undefined || found instanceof Error) {
        throw found ?? new Error("not found");
      }
      return found;
    },
  });
  const round = async () => {
    clock.advance(intervalMs);
    await settle();
  };
  return { addresses, asked, warnings, round, changes: () => changes };
}

test("looks a host up at once and after every interval, and tells of what is other than before", async () => {
  const hosts = { vllm: ["10.0.0.2", "10.0.0.1"] };
  const { addresses, asked, changes, round } = watched(hosts);
  expect(addresses.of("vllm")).toEqual([]);
  addresses.watch(new Set(["vllm"]));
  await settle();
  expect(addresses.of("vllm")).toEqual(["10.0.0.1", "10.0.0.2"]);
  hosts.vllm = ["10.0.0.1", "10.0.0.2", "10.0.0.1"];
  await round();
  expect(changes()).toBe(1);
  hosts.vllm = ["10.0.0.3"];
  await round();
  expect(addresses.of("vllm")).toEqual(["10.0.0.3"]);
  expect(changes()).toBe(2);
  expect(asked).toEqual(["vllm", "vllm", "vllm"]);
});

test.each([
  ["fails", new Error("SERVFAIL")],
  ["brings nothing", []],
])("a lookup that %s keeps the last addresses and is told once", async (_, failure) => {
  const hosts: Record<string, readonly string[] | Error> = { vllm: ["10.0.0.1"] };
  const { addresses, changes, round, warnings } = watched(hosts);
  addresses.watch(new Set(["vllm"]));
  await settle();
  hosts.vllm = failure;
  for (let i = 0; i < 3; i++) {
    await round();
  }
  expect(addresses.of("vllm")).toEqual(["10.0.0.1"]);
  expect(warnings).toHaveLength(1);
  hosts.vllm = ["10.0.0.1"];
  await round();
  hosts.vllm = failure;
  await round();
  expect(warnings).toHaveLength(2);
  expect(changes()).toBe(1);
});

test("asks no more for a host that is watched no more, nor hears an answer that comes too late", async () => {
  const { addresses, asked, changes, round } = watched({ one: ["10.0.0.1"], other: ["10.0.0.2"] });
  addresses.watch(new Set(["one", "other"]));
  addresses.watch(new Set(["other"]));
  await settle();
  expect(changes()).toBe(1);
  await round();
  addresses.close();
  await round();
  expect(asked).toEqual(["one", "other", "other"]);
  expect(addresses.of("other")).toEqual([]);
});
