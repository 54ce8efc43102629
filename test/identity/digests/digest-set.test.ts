import { hash } from "node:crypto";
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { DigestSet } from "#src/identity/digests/digest-set.ts";

const digest = (text: string) => hash("sha256", text, "buffer");

test("has what was added and nothing else, as a Set has", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5000)), fc.array(fc.nat(5000)), (added, asked) => {
      const digests = new DigestSet();
      const model = new Set(added);
      for (const one of added) {
        digests.add(digest(String(one)));
      }
      expect(digests.size).toBe(model.size);
      for (const one of asked) {
        expect(digests.has(digest(String(one)))).toBe(model.has(one));
      }
    }),
  );
});

test("takes more than it was made for", () => {
  const digests = new DigestSet();
  for (let index = 0; index < 20_000; index += 1) {
    digests.add(digest(String(index)));
  }
  expect(digests.size).toBe(20_000);
  for (let index = 0; index < 20_000; index += 1) {
    expect(digests.has(digest(String(index)))).toBe(true);
  }
  expect(digests.has(digest("another"))).toBe(false);
});

test("takes a digest that begins with zeros", () => {
  const digests = new DigestSet();
  const zeros = new Uint8Array(32);
  expect(digests.has(zeros)).toBe(false);
  digests.add(zeros);
  expect(digests.has(zeros)).toBe(true);
});
