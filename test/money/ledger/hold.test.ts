import { expect, test } from "@jest/globals";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { never, openMetering, request, usd } from "../fixture.ts";

test("keeps nothing that only the run needs, such as the prompt, which would live on with it", async () => {
  const clock = new ManualClock(Date.now());
  const metering = await openMetering({ clock });
  const account = await metering.account({ paid: usd });
  const prompt = { text: "long" };
  const countInput = async () => prompt.text.length;
  const wanted = request(account, { inputTokens: 10, outputTokens: 5 }, { keyId: "key", countInput });
  const hold = await metering.ledger.hold(wanted, never);
  const { requestId, accountId, keyId, model } = wanted;
  expect(hold).toHaveProperty("request", { requestId, runId: expect.any(String), accountId, keyId, model });
  hold.release();
  await clock.until(metering.close());
});
