import { expect, test } from "@jest/globals";
import { startFront } from "../front-server.ts";
import { RawClient } from "../raw-client.ts";
import { scriptedCore } from "../scripted-core.ts";

test.each<[headers: Record<string, string>, authorization: string | null]>([
  [{ authorization: "Bearer tg-1" }, "Bearer tg-1"],
  [{ authorization: "bearer   tg-1 " }, "Bearer tg-1"],
  [{ "x-api-key": "tg-2" }, "Bearer tg-2"],
  [{ authorization: "Bearer tg-1", "x-api-key": "tg-2" }, "Bearer tg-1"],
  [{ authorization: "Basic dTpw", "x-api-key": "tg-2" }, "Bearer tg-2"],
  [{ authorization: "Bearer tg-1", "x-api-key": "" }, "Bearer tg-1"],
  [{ authorization: "Basic dTpw" }, null],
  [{ authorization: "Bearer" }, null],
  [{ authorization: "Bearer tg\u00e9" }, "Bearer tg?"],
  [{}, null],
])("%j", async (headers, authorization) => {
  const { transport, log } = scriptedCore();
  await using front = await startFront(transport);
  const client = new RawClient(front.url);
  const lines = Object.entries({ host: "t", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  client.socket.write(`GET /test-auth HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1");
  await client.until(/^HTTP\/1.1 200 /);
  expect(log.headers[0]?.get("authorization") ?? null).toBe(authorization);
  expect(log.headers[0]?.get("x-tollgate-client-address")).toBe("127.0.0.1");
  client.socket.destroy();
});

test.each([
  ["/v1/chat/completions", "Bearer tg-1"],
  ["/v1/completions", "Bearer tg-1"],
  ["/v1/embeddings", "Bearer tg-1"],
  ["/v1/messages", "Bearer tg-2"],
  ["/v1/messages/count_tokens", "Bearer tg-2"],
])("on %s, of two keys %s counts", async (path, authorization) => {
  const { transport, log } = scriptedCore();
  await using front = await startFront(transport);
  const body = { model: "m", messages: [{ role: "user", content: "hi" }], max_tokens: 5, prompt: "a", input: "a" };
  const headers = { authorization: "Bearer tg-1", "x-api-key": "tg-2" };
  const response = await fetch(front.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  expect(response.status).toBe(200);
  expect(log.headers.map((sent) => sent.get("authorization"))).toEqual([authorization]);
});
