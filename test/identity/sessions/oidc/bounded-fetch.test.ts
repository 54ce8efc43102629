import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import { boundedFetch } from "#src/identity/sessions/oidc/bounded-fetch.ts";

/** Asks a provider that sends these bytes. */
async function ask(body: Buffer, headers: Record<string, string> = {}): Promise<string> {
  const server = createServer((_, response) => response.writeHead(200, headers).end(body)).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const answer = await boundedFetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {});
    return await answer.text();
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const most = 64 * 1024;

test("an answer of 64 KiB is read, and of a larger one no more than that", async () => {
  expect(await ask(Buffer.alloc(most, "a"))).toHaveLength(most);
  await expect(ask(Buffer.alloc(64 * 2 ** 20, "a"))).rejects.toThrow(TypeError);
});

test("a compressed answer counts with what it becomes", async () => {
  const gzip = { "content-encoding": "gzip" };
  expect(await ask(gzipSync(Buffer.alloc(most)), gzip)).toHaveLength(most);
  await expect(ask(gzipSync(Buffer.alloc(64 * 2 ** 20)), gzip)).rejects.toThrow("larger than 65536 bytes");
});
