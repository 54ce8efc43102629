import { create, type DescMessage } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { KeyLimitsSchema } from "#gen/tollgate/accounts/v1/key_limits_pb.js";
import { KeyInfoSchema } from "#gen/tollgate/chat/v1/account_view_pb.js";
import { KeyLimitsSchema as ShownSchema } from "#gen/tollgate/chat/v1/key_status_pb.js";
import {
  heldLimits,
  keyLimits,
  limitEntries,
  limitPath,
  noLimits,
  readLimits,
  showLimits,
  writeLimits,
} from "#lib/limits/key-limits.ts";

const all = {
  models: ["a", "b"],
  rpm: 1,
  tokensPerMinute: 2,
  maxInFlight: 3,
  budgetPicoUsd: Number.MAX_SAFE_INTEGER,
  budgetPeriod: "week",
  serviceClass: "flex",
  expiresAt: new Date("2031-05-06T07:08:09.123Z"),
} as const;

test("limits of every kind are the same after the contract's form", () => {
  expect(Object.keys(all).sort()).toEqual(Object.keys(keyLimits).sort());
  expect(readLimits(create(KeyLimitsSchema, writeLimits(all)))).toEqual(all);
  expect(readLimits(create(KeyLimitsSchema, writeLimits(noLimits)))).toEqual(noLimits);
  expect(readLimits(undefined)).toEqual(noLimits);
});

test("a class and a period of a newer client are no limits", () => {
  expect(readLimits(create(KeyLimitsSchema, { serviceClass: 99 as never, budgetPeriod: 99 as never }))).toEqual(
    noLimits,
  );
});

test("documents show money and times as text, and only the limits that there are", () => {
  expect(showLimits(all)).toEqual({
    ...{ models: ["a", "b"], rpm: 1, tpm: 2, inFlight: 3, usd: "9007.199254740991", per: "week", class: "flex" },
    expires: "2031-05-06T07:08:09.123Z",
  });
  expect(showLimits(noLimits)).toEqual({});
  expect(heldLimits({ ...noLimits, rpm: 4 })).toEqual({ rpm: 4 });
});

test("an update mask names limits one by one", () => {
  expect(limitEntries.map(([field]) => limitPath(field))).toContain("limits.tokens_per_minute");
});

test("the holder of a key is shown each of its limits by both views", () => {
  const missing = (view: DescMessage, others: readonly string[]) => {
    const known = new Set([...view.fields.map(({ localName }) => localName), ...others]);
    return limitEntries.map(([, { name }]) => name).filter((name) => !known.has(name));
  };
  expect(missing(ShownSchema, ["rpm", "expires"])).toEqual([]); // as maxRpm, and beside the key's name
  expect(missing(KeyInfoSchema, ["rpm", "usd", "per", "expires"])).toEqual([]); // in an aggregator's words
});
