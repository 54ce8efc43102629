import { Code } from "@connectrpc/connect";
import { afterEach } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { FrontServer } from "../front-server.ts";
import { RawClient } from "../raw-client.ts";
import { refused, type Script } from "../scripted-core.ts";

export const KiB = 1024;
export const MiB = 1024 * KiB;
export const path = "/v1/chat/completions";
/** A small request. */
export const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] });

/** A core that knows the keys tg-1 and tg-2. */
export const refuse: NonNullable<Script["refuse"]> = (headers) =>
  /^Bearer tg-[12]$/.test(headers.get("authorization") ?? "")
    ? undefined
    : refused(Reason.UNAUTHENTICATED, "No key.", Code.Unauthenticated);

/** The clients of the test that runs, in their order. */
export const clients: RawClient[] = [];
afterEach(() => {
  for (const { socket } of clients.splice(0)) {
    socket.destroy();
  }
});

/** `from`: the address that it comes from. */
export function open(front: FrontServer, from?: string): RawClient {
  const client = new RawClient(front.url, from);
  clients.push(client);
  return client;
}

/** Sends a small request in a chunk, for which memory has to be set aside, and tells its status. 0: none came. */
export async function ask(front: FrontServer, key = "tg-1", from?: string): Promise<number> {
  const client = open(front, from);
  const headers = { authorization: `Bearer ${key}`, "content-length": undefined, "transfer-encoding": "chunked" };
  client.post(path, `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`, headers);
  const [, status] = await client.until(/^HTTP\/1.1 (\d+) /).catch(() => []);
  client.socket.destroy();
  return Number(status ?? 0);
}

/** The statuses of so many requests, one after the other. */
export async function askOften(front: FrontServer, count: number, key?: string, from?: string): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < count; i++) {
    statuses.push(await ask(front, key, from));
  }
  return statuses;
}

export const turn = () => new Promise((resolve) => setImmediate(resolve));
