import { createServer } from "node:http";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { listen } from "#lib/net/listen.ts";
import { startConnectServer } from "#src/wire/grpc/server/http/connect-server.ts";
import type { ListeningServer } from "#src/wire/grpc/server/listening-server.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";

const bare = createServer(connectNodeAdapter({ routes: (router) => router.service(CatalogueService, {}) }));
let bareAddress: string;
let mended: ListeningServer;

beforeAll(async () => {
  bareAddress = await listen(bare, "127.0.0.1:0", "none");
  const services = [registration(CatalogueService, {})];
  mended = await startConnectServer({ address: "127.0.0.1:0", services, interceptors: [] });
});
afterAll(async () => {
  bare.close();
  await mended.stop(0);
});

/** Sends what is no message of Protobuf. */
const send = async (address: string) => {
  const response = await fetch(`http://${address}/${CatalogueService.typeName}/GetModel`, {
    method: "POST",
    headers: { "content-type": "application/proto" },
    body: Buffer.from([0xff, 0xff, 0xff]),
  });
  return { status: response.status, ...((await response.json()) as object) };
};

test("Protobuf that cannot be read is the caller's fault", async () => {
  expect(await send(mended.address)).toMatchObject({ status: 400, code: "invalid_argument" });
});

test("Connect alone calls it the server's, so the workaround is still needed", async () => {
  expect(await send(bareAddress)).toMatchObject({ status: 500, code: "internal" });
});
