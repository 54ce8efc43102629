import { createHash } from "node:crypto";
import { expect, test } from "@jest/globals";
import { digestDay, digestReceipt, digestSums, extendChain } from "#src/money/books/seals/seal-tree.ts";

const sha256 = (text: string | Buffer) => createHash("sha256").update(text).digest();
const account = (accountId: string) => ({ accountId, receipts: 2, costHigh: 1, costLow: 2_000_003, digest: "ab" });
const leaf = (id: string) => sha256(`\0["${id}","2","3000003","ab"]`);
const node = (left: Buffer, right: Buffer) => sha256(Buffer.concat([Buffer.of(1), left, right]));

test("the root of a day is that of a tree over its accounts", () => {
  expect(digestDay([])).toBe(sha256("\0").toString("hex"));
  expect(digestDay([account("a")])).toBe(leaf("a").toString("hex"));
  const [a, b, c] = [leaf("a"), leaf("b"), leaf("c")] as const;
  expect(digestDay(["a", "b", "c"].map(account))).toBe(node(node(a, b), c).toString("hex"));
});

test("a receipt's digest is that of its fields as JSON, without spaces", () => {
  const line = { lotId: "l", inputTokens: 1n, outputTokens: 2n, inputRate: "3", outputRate: "4", cost: 11n };
  const receipt = {
    ...{ requestId: "r", runId: "u", accountId: "a", keyId: "k", model: "m", status: "completed" },
    ...{ settledAt: new Date(0), inputTokens: "1", outputTokens: "2", cost: "11", shortfall: "0", lines: [line] },
  };
  const fields = `["r","u","a","k","m","completed","1970-01-01T00:00:00.000Z","1","2","11","0",[["l","1","2","3","4","11"]]]`;
  expect(digestReceipt(receipt)).toEqual(sha256(fields));
});

test("the chain says all that came before, and tells nobody the sums of a day", () => {
  const seal = { id: "i", number: 1, day: 5, receipts: 2, costHigh: 0, costLow: 7, root: "00" };
  const sums = sha256(`["i","2","7"]`).toString("hex");
  const first = extendChain("", seal);
  expect(digestSums(seal)).toBe(sums);
  expect(first).toBe(sha256(`["","1","5","00","${sums}"]`).toString("hex"));
  expect(extendChain(first, { ...seal, number: 2 })).not.toBe(extendChain("", { ...seal, number: 2 }));
});
