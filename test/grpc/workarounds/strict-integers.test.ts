import { fromJson } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { TopUpRequestSchema } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { SettleDeadLetterRequestSchema } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { refuseLooseIntegers } from "../../../src/grpc/workarounds/strict-integers.ts";

const countOf = (inputTokens: string | number) => fromJson(SettleDeadLetterRequestSchema, { inputTokens }).inputTokens;
const amountOf = (amountPicoUsd: string | number) => fromJson(TopUpRequestSchema, { amountPicoUsd }).amountPicoUsd;

test("the library alone takes them, so the workaround is still needed", () => {
  expect([amountOf(" 5"), amountOf("0x10"), amountOf("+5")]).toEqual([5n, 16n, 5n]);
  expect([countOf(" 5"), countOf("0x10"), countOf("+5")]).toEqual([5n, 16n, 5n]);
});

describe("with the workaround", () => {
  beforeAll(refuseLooseIntegers);

  test.each([" 5", "5 ", "0x10", "0b1", "1e3", "５", "", "+5", "5\n", "\t5", "5n", "1_000", "5.0"])(
    "refuses %j, signed or not",
    (text) => {
      expect(() => amountOf(text)).toThrow();
      expect(() => countOf(text)).toThrow();
    },
  );

  test("takes plain decimal numbers", () => {
    expect([amountOf("5"), amountOf(5), amountOf("-5"), amountOf("9007199254740993")]).toEqual([
      5n,
      5n,
      -5n,
      2n ** 53n + 1n,
    ]);
  });
});
