import { expect, test } from "@jest/globals";
import { createSite, freePorts, startTollgate } from "../support/tollgate.ts";

test("whoever runs a request learns its cost by the id in its answer's head, and nobody else does", async () => {
  const site = await createSite();
  const tollgate = await startTollgate(site, "serve", "--config", await site.configure(freePorts));
  const call = (key: string, path: string, body: object) =>
    fetch(tollgate.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
  const newKey = async () => {
    const { id } = (await tollgate.admin("accounts", "create")) as { id: string };
    return ((await tollgate.admin("keys", "create", id)) as { key: string }).key;
  };
  try {
    const [own, other] = [await newKey(), await newKey()];
    const messages = [{ role: "user", content: "Hello" }];
    const answer = await call(own, "/v1/chat/completions", { model: "tollgate-sim/plain", messages });
    await answer.text();
    const id = answer.headers.get("inference-id") ?? "";
    expect(id).toBe(answer.headers.get("x-request-id"));
    const { cost_usd } = (await tollgate.admin("receipt", id)) as { cost_usd: string };
    const asked = { requestIds: [id, "unknown"] };
    for (const path of ["/v1/costs", "/api/v1/costs"]) {
      const { requests } = (await (await call(own, path, asked)).json()) as { requests: object[] };
      expect(requests).toEqual([{ requestId: id, costNanoUsd: Math.ceil(Number(cost_usd) * 1e9 - 1e-6) }]);
    }
    expect(await (await call(other, "/v1/costs", asked)).json()).toEqual({ requests: [] });
    expect((await call("", "/v1/costs", asked)).status).toBe(401);
    expect((await call(own, "/v1/costs", { requestIds: Array(1001).fill("a") })).status).toBe(400);
  } finally {
    await tollgate.stop();
    await site.remove();
  }
}, 60_000);
