import { expect, test } from "@jest/globals";
import { endAll } from "#lib/time/end-all.ts";

test("each part ends after the one before it, and the first failure is told once all have", async () => {
  const ended: string[] = [];
  const part = (name: string, failure?: Error) => async () => {
    await undefined;
    ended.push(name);
    if (failure !== undefined) {
      throw failure;
    }
  };
  await endAll([part("one"), part("two")]);
  const throws = () => {
    throw new Error("first");
  };
  await expect(endAll([throws, part("three", new Error("second")), part("four")])).rejects.toThrow("first");
  expect(ended).toEqual(["one", "two", "three", "four"]);
});
