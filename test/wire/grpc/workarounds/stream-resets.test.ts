import { once } from "node:events";
import { connect, constants } from "node:http2";
import { type AddressInfo, createServer } from "node:net";
import * as grpc from "@grpc/grpc-js";
import { expect, test } from "@jest/globals";
import { injectorWithoutResetRate } from "#src/wire/grpc/workarounds/stream-resets.ts";

const path = "/test/Nothing";

/** Resets many streams of one connection. Resolves with whether the server ended it. */
async function resets(injectorOf: (server: grpc.Server) => grpc.ConnectionInjector): Promise<boolean> {
  const server = new grpc.Server({ "grpc.enable_channelz": 0 });
  const injector = injectorOf(server);
  const listener = createServer((socket) => injector.injectConnection(socket.on("error", () => {})));
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const session = connect(`http://127.0.0.1:${(listener.address() as AddressInfo).port}`).on("error", () => {});
  for (let i = 0; i < 1500 && !session.destroyed; i++) {
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc" });
    stream.on("error", () => {});
    await new Promise((next) => setImmediate(next));
    stream.close(constants.NGHTTP2_CANCEL);
  }
  const isEnded = session.destroyed;
  session.destroy();
  server.forceShutdown();
  listener.close();
  return isEnded;
}

test("a connection is ended for its resets: once it is not, or an option says so, the workaround can go", async () => {
  expect(await resets((server) => server.createConnectionInjector(grpc.ServerCredentials.createInsecure()))).toBe(true);
});

test("with it a connection resets as many streams as it likes", async () => {
  expect(await resets(injectorWithoutResetRate)).toBe(false);
});
