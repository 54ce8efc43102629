import { expect, test } from "@jest/globals";
import { overload } from "./overload.ts";

// Half as much again comes to a fleet as it can read, of callers who want a first token within two seconds.

test("where requests are refused that would come too late, more than twice as many have their first token in time", async () => {
  const setting = { servers: 4, seconds: 30, times: 1.5, parts: { standard: 1 }, wants: { standard: 2 }, seed: 7 };
  const [waits, sheds] = await Promise.all([
    overload({ ...setting, sheds: false }),
    overload({ ...setting, sheds: true }),
  ]);
  const kept = [waits, sheds].map((fates) => {
    const { kept: inTime = 0, asked = 1 } = fates.get("standard") ?? {};
    return inTime / asked;
  });
  expect(kept[0]).toBeLessThan(0.3);
  expect(kept[1]).toBeGreaterThan(0.6); // two thirds can be read at all
});
