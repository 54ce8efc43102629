import { afterEach, expect, test } from "@jest/globals";
import { freePort } from "../../../scripts/test-services/free-port.ts";
import { eventually } from "../../support/eventually.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../../support/tollgate.ts";

// From an engine that is dead to what clients, everybody and operators are told.

let site: Site;
let tollgate: Tollgate;
afterEach(async () => {
  await tollgate.stop();
  await site.remove();
});

test("clients of both surfaces hear that no server is up, /status tells it without the server, status ends with 1", async () => {
  site = await createSite();
  const url = `http://127.0.0.1:${await freePort()}`;
  const models = [{ id: "m", servers: [{ url, engine: "vllm" }] }];
  const config = await site.configure({ ...freePorts, models, fleet: { health_interval_s: 1 } });
  tollgate = await startTollgate(site, "serve", "--config", config);
  const { id } = (await tollgate.admin("accounts", "create")) as { id: string };
  await tollgate.admin("accounts", "top-up", id, "--usd", "10", "--ref", "r");
  const { key } = (await tollgate.admin("keys", "create", id)) as { key: string };
  const ask = async (path: string) => {
    const body = JSON.stringify({ model: "m", max_tokens: 5, messages: [{ role: "user", content: "Hello" }] });
    const response = await fetch(tollgate.url + path, { method: "POST", headers: { "x-api-key": key }, body });
    return { status: response.status, retry: response.headers.get("retry-after"), text: await response.text() };
  };
  const status = async (accept: string) => (await fetch(`${tollgate.url}/status`, { headers: { accept } })).text();

  const told = await eventually("the model has no server", async () => {
    const { ok, red } = JSON.parse(await status("*/*")) as { ok: boolean; red: object[] };
    return ok ? undefined : red;
  });
  const reason = "No server of this model is up.";
  expect(told).toEqual([{ what: "no_server", model: "m", reason, since: expect.any(String) }]);
  expect(await status("text/html")).toContain("Something is wrong.");
  const chat = await eventually("the check has failed", async () => {
    const answer = await ask("/v1/chat/completions");
    return answer.status === 503 ? answer : undefined;
  });
  expect(chat).toMatchObject({ retry: "1", text: expect.stringContaining(reason) });
  expect(await ask("/v1/messages")).toMatchObject({ status: 529, retry: "1", text: expect.stringContaining(reason) });
  await expect(tollgate.admin("status")).rejects.toThrow("something is wrong");
});
