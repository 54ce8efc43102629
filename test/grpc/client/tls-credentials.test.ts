import { once } from "node:events";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { createChannelTransport } from "../../../src/grpc/client/channel-transport.ts";
import { createTlsCredentials } from "../../../src/grpc/client/tls-credentials.ts";
import { createAuthority } from "../../support/certificates.ts";

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

async function connect(target: string): Promise<void> {
  const credentials = createTlsCredentials({ ca: Buffer.from(authority.ca) });
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
