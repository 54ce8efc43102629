import { connect, type Socket } from "node:net";
import { afterEach } from "@jest/globals";
import { Registry } from "prom-client";
import type { ListenerName } from "#lib/door/bounds.ts";
import { Door, type DoorOptions } from "#lib/door/door.ts";
import { startHttpServer } from "#lib/door/http-server.ts";
import { createStripeWebhook } from "#src/checkout/webhook.ts";
import { startAdminServer } from "#src/telemetry/admin-server.ts";
import { createHealth } from "#src/wire/grpc/server/health.ts";
import { startConnectServer } from "#src/wire/grpc/server/http/connect-server.ts";
import { startHttpListener } from "#src/wire/grpc/server/http/http-listener.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";
import { createSite } from "../../../facades/documentation/site.ts";
import type { StaticFiles } from "../../../facades/http/site/static-files.ts";
import { errorLogger } from "../../support/loggers.ts";

/** An address of this machine that counts as somebody's elsewhere. */
export const stranger = "127.8.0.1";

const address = "127.0.0.1:0";
const services = { services: [createHealth([]).registration], interceptors: [] };
const pages: StaticFiles = new Map([["index.html", Buffer.from("<p>")]]);
const httpWith = (door: Door) =>
  startHttpServer(({ url }, response) => response.writeHead(url === "/nowhere" ? 404 : 200).end(), address, {
    door,
    setting: "listen.http",
  }).then((server) => ({ address: server.address, stop: () => server.close(0) }));

/** Every listener, with as little behind it as may be. */
export const listeners: Readonly<
  Record<ListenerName, (door: Door) => Promise<{ address: string; stop(): Promise<void> }>>
> = {
  public: httpWith,
  console: httpWith,
  docs: (door) =>
    startHttpServer(createSite(pages), address, { door, setting: "--listen" }).then((server) => ({
      address: server.address,
      stop: () => server.close(0),
    })),
  async connect(door) {
    const server = await startConnectServer({ ...services, address, door });
    return { address: server.address, stop: () => server.stop(0) };
  },
  async grpc(door) {
    const server = await startGrpcServer({ ...services, address, door });
    return { address: server.address, stop: () => server.stop(0) };
  },
  async payments(door) {
    const webhook = createStripeWebhook({
      readEvent: () => undefined,
      events: { handle: async () => ({ outcome: "ignored", detail: "", namesAccount: false }) },
      observe() {},
      logger: errorLogger,
    });
    const server = await startHttpListener({ address, setting: "listen.webhooks", handler: webhook(door), door });
    return { address: server.address, stop: () => server.stop(0) };
  },
  async admin(door) {
    const server = await startAdminServer(address, new Registry(), { ready: true }, undefined, door);
    return { address: server.address, stop: () => server.close() };
  },
};

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) {
    await close();
  }
});

/** Starts a listener with a door of its own. */
export async function startListener(name: ListenerName, options: Partial<DoorOptions>) {
  const refused: string[] = [];
  const door = new Door({
    ...{ ...options, listener: name },
    onRefused: (listener, bound) => refused.push(`${listener} ${bound}`),
  });
  const server = await listeners[name](door);
  closing.push(() => server.stop());
  const [host = "", port] = server.address.split(":");
  return {
    ...{ name, refused, door },
    open(localAddress = "127.0.0.1"): Socket {
      const socket = connect({ host, port: Number(port), localAddress })
        .resume()
        .on("error", () => {});
      closing.push(() => socket.destroy());
      return socket;
    },
  };
}

export type Started = Awaited<ReturnType<typeof startListener>>;
