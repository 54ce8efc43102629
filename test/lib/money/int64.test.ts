import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { AccountSchema } from "#gen/tollgate/accounts/v1/account_pb.js";
import { toInt64 } from "#lib/money/int64.ts";

const most = 2n ** 63n - 1n;

test.each([
  [0n, 0n],
  [-5n, -5n],
  [most, most],
  [most + 1n, most],
  [2n ** 80n, most],
  [-most - 1n, -most - 1n],
  [-(2n ** 80n), -most - 1n],
])("%d is carried as %d", (sum, carried) => {
  expect(toInt64(sum)).toBe(carried);
  expect(() => toBinary(AccountSchema, create(AccountSchema, { balancePicoUsd: toInt64(sum) }))).not.toThrow();
});
