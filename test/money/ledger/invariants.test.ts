import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import type { BrokenInvariant } from "#src/money/ledger/invariant.ts";
import { Wallet } from "#src/money/ledger/wallet/wallet.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import type { PriceBook } from "#src/money/prices/price-book.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { databases } from "../databases.ts";
import { never, openMetering, request, run, usd } from "../fixture.ts";
import { lease, slice } from "./wallet/lease.ts";

const newDatabase = databases();

const line = (cost: number) => ({
  ...{ sliceId: "slice", lotId: "lot", inputTokens: 1, outputTokens: 0, inputRate: cost, outputRate: 0, cost },
});

describe("a wallet", () => {
  test.each<[string, (wallet: Wallet) => void, string]>([
    ["holds more than is free", (wallet) => wallet.hold(1001), "an admission leaves no less than zero free"],
    ["holds less than nothing", (wallet) => wallet.hold(-1), "an admission leaves no less than zero free"],
    ["frees more than is held", (wallet) => wallet.unhold(1), "what is held is never negative"],
    [
      "leases a slice with more spent than granted",
      (wallet) => wallet.add(lease([slice({ spent: 1001 })]), 0n),
      "of each slice",
    ],
    [
      "leases a slice that gave more than it had",
      (wallet) => wallet.add(lease([slice({ spent: -1 })]), 0n),
      "of each slice",
    ],
    ["hears twice of a charge", (wallet) => wallet.committed([line(1)]), "a charge is stored once"],
    ["takes back what nobody charged", (wallet) => wallet.revert([line(1)]), "a charge is stored once"],
  ])("that %s is broken, says so once, and moves nothing any more", (_, breach, sentence) => {
    const told: BrokenInvariant[] = [];
    const wallet = new Wallet("account", {} as PriceBook, (broken) => told.push(broken));
    wallet.add(lease([slice()]), 0n);
    expect(() => breach(wallet)).toThrow("looked into");
    expect(() => wallet.takeFree()).toThrow("looked into");
    expect(wallet.broken).toBe(true);
    expect(told.map(({ message }) => message)).toEqual([expect.stringContaining(sentence)]);
  });
});

test("an account whose money moves as it never may is refused, its charges are kept, the others are served, and a restart heals it", async () => {
  const clock = new ManualClock(Date.now());
  const url = await newDatabase("sqlite");
  let lying = "";
  const wrap = (store: LedgerStore): LedgerStore => {
    const acquire = store.acquire.bind(store);
    store.acquire = async (requests, now) => {
      const leases = await acquire(requests, now);
      const found = leases.get(lying);
      return found === undefined ? leases : leases.set(lying, { ...found, slices: [slice({ spent: 2000 })] });
    };
    return store;
  };
  const metering = await openMetering({ clock, url, wrap });
  const [account, other] = [await metering.account({ paid: usd }), await metering.account({ paid: usd })];
  const tokens = { inputTokens: 10, outputTokens: 10 };
  const [settled, released] = [
    await metering.ledger.hold(request(account, tokens), never),
    await metering.ledger.hold(request(account, tokens), never),
  ];
  lying = account;
  await metering.ledger.refresh(account);

  const reason = async (work: Promise<unknown>) => {
    const error = await clock.until(work).catch((caught: unknown) => caught);
    return readDetail(error)?.reason;
  };
  expect(metering.log.join()).toContain("an account's money moved as it never may");
  expect(await reason(metering.ledger.hold(request(account, tokens), never))).toBe(Reason.LEDGER_UNAVAILABLE);
  expect(await reason(settled.settle(tokens, "completed"))).toBe(Reason.LEDGER_UNAVAILABLE);
  expect(() => released.release()).toThrow("looked into");
  const [letter] = await metering.deadLetters.list({ after: undefined, limit: 10 });
  expect(letter?.charge).toMatchObject({ accountId: account, ...tokens, cost: 0 });
  expect(letter?.reason).toContain("looked into");
  await clock.until(run(metering.ledger, request(other, tokens)));
  await clock.pass(3000);
  expect(metering.ledger.state()).toMatchObject({ holds: 0, backlog: 0, admits: true });
  await clock.until(metering.close());

  const again = await openMetering({ clock, url });
  await clock.until(run(again.ledger, request(account, tokens)));
  expect(await again.deadLetters.count()).toBe(1);
  await clock.until(again.close());
});
