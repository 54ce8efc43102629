import { expect, test } from "@jest/globals";
import { startFront } from "../front-server.ts";
import { RawClient } from "../raw-client.ts";
import { scriptedCore } from "../scripted-core.ts";

/** Asks for a target as it is written in the first line of a request. */
async function ask(target: string, headers: Record<string, string> = {}, method = "GET") {
  const { transport, log } = scriptedCore({ models: [{ id: "m" }] });
  await using front = await startFront(transport);
  const client = new RawClient(front.url);
  const lines = Object.entries({ host: "t", connection: "close", ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  client.socket.write(`${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`);
  await client.closed();
  const [head = "", body = ""] = client.received.split("\r\n\r\n");
  return { status: Number(head.slice(9, 12)), body, errors: front.errors, lines: front.lines, log };
}

test.each(["http://t/v1/models", "HTTP://user@t:80/v1/models?x=1", "https://[::1]:1/v1/models/m"])(
  "%s is the path in it",
  async (target) => {
    const { status, body } = await ask(target);
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject(target.endsWith("/m") ? { id: "m" } : { object: "list" });
  },
);

test.each(["http://t", "http://t/", "http://t?x=1"])("%s is the root", async (target) => {
  expect((await ask(target, { accept: "application/json" })).status).toBe(200);
});

test.each(["http://a%/", "http://[/v1/models", "http://a:b/v1/models", "http:///v1/models", "http://a b/"])(
  "%s is the client's fault, and no error of the service",
  async (target) => {
    const { status, body, errors } = await ask(target);
    expect(status).toBe(400);
    expect(errors).toEqual([]);
    if (!target.includes(" ")) {
      expect(JSON.parse(body)).toMatchObject({ error: { type: "invalid_request_error" } });
    }
  },
);

test("a path of the messages surface is told so, whatever stands before it", async () => {
  for (const target of ["/v1/messages/x", "http://t/v1/messages/x"]) {
    const { status, body } = await ask(target);
    expect(status).toBe(404);
    expect(JSON.parse(body)).toMatchObject({ type: "error", error: { type: "not_found_error" } });
  }
});

test("a target that is a star has no endpoint", async () => {
  expect((await ask("*", {}, "OPTIONS")).status).toBe(404);
});
