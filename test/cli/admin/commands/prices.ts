import { expect, test } from "@jest/globals";
import { iso, json, refusal, testModel } from "../administered.ts";

/** The commands of prices. */
export function testPrices(): void {
  test("prices are listed, set, pinned and let go, and their history is kept", async () => {
    const before = (await json("prices", "list")).find((price: { model: string }) => price.model === testModel);
    expect(before).toEqual({
      model: testModel,
      input: "0.20",
      output: "0.25",
      base_input: "0.20",
      base_output: "0.25",
      pinned: false,
      version: expect.any(String),
      since: expect.stringMatching(iso),
      reason: "configured",
      utilisation: null,
    });
    expect(await json("prices", "set", testModel, "--input", "0.3", "--output", "0.4")).toMatchObject({
      input: "0.30",
      output: "0.40",
      reason: "set",
    });
    expect(await json("prices", "set", testModel, "--input", "0.35")).toMatchObject({
      input: "0.35",
      base_output: "0.40",
    });
    expect(await json("prices", "pin", testModel, "--output", "0.5")).toMatchObject({
      input: "0.35",
      output: "0.50",
      pinned: true,
    });
    expect(await json("prices", "unpin", testModel)).toMatchObject({ pinned: false });
    const history = await json("prices", "history", testModel);
    expect(history.map((price: { input: string }) => price.input).at(-1)).toBe("0.20");
    expect(history.length).toBeGreaterThanOrEqual(4);
    expect(await json("prices", "history", testModel, "--limit", "2")).toEqual(history.slice(0, 2));
    await refusal("prices", "set", "no-such-model", "--input", "1");
    const large = await refusal("prices", "set", testModel, "--input", "17.5");
    expect(large.notes).toContain("the input price from 0.35 to 17.50 USD per 1M tokens is a large change: say --yes");
    expect(await json("prices", "set", testModel, "--input", "17.5", "--yes")).toMatchObject({ input: "17.50" });
  });
}
