import { once } from "node:events";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import * as grpc from "@grpc/grpc-js";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { createChannelTransport } from "#src/wire/grpc/client/channel-transport.ts";
import { createTlsCredentials } from "#src/wire/grpc/workarounds/tls-server-name.ts";
import { createAuthority } from "../../../support/certificates.ts";

const authority = createAuthority();
const server = createSecureServer(authority.issue("server"));
let port: number;
let names: unknown[];

beforeAll(async () => {
  server.on("secureConnection", ({ servername }) => names.push(servername));
  await once(server.listen(0), "listening");
  port = (server.address() as AddressInfo).port;
});
beforeEach(() => {
  names = [];
});
afterAll(() => {
  server.close();
});

const ca = Buffer.from(authority.ca);

async function connect(target: string, credentials = createTlsCredentials({ ca })): Promise<void> {
  const transport = createChannelTransport({ target: target.replace("PORT", String(port)), credentials });
  await transport.connect(5000).finally(() => transport.close());
}

test.each([
  ["localhost:PORT", "localhost"],
  ["dns:///localhost:PORT", "localhost"],
  ["127.0.0.1:PORT", false],
  ["dns:///127.0.0.1:PORT", false],
  ["ipv4:127.0.0.1:PORT", false],
])("%s is asked for as %p", async (target, name) => {
  await connect(target);
  expect(names).toEqual([name]);
});

test("a certificate that does not name the address is refused", async () => {
  await expect(connect("ipv6:[::1]:PORT")).rejects.toThrow("[unavailable]");
});

test("grpc-js alone does not reach an address, so the workaround is still needed", async () => {
  const bare = grpc.credentials.createSsl(ca);
  await connect("localhost:PORT", bare);
  await expect(connect("127.0.0.1:PORT", bare)).rejects.toThrow("[unavailable]");
});
