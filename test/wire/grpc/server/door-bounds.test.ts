import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { createClient } from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "@jest/globals";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { BoundName } from "#lib/door/bounds.ts";
import { Door, type DoorOptions } from "#lib/door/door.ts";
import { failure } from "#lib/errors/failure.ts";
import { systemClock } from "#lib/time/clock.ts";
import type { ProviderEvent } from "#src/checkout/provider.ts";
import { createStripeWebhook } from "#src/checkout/webhook.ts";
import { createChannelTransport } from "#src/wire/grpc/client/channel-transport.ts";
import { startConnectServer } from "#src/wire/grpc/server/http/connect-server.ts";
import { startHttpListener } from "#src/wire/grpc/server/http/http-listener.ts";
import { Receiving } from "#src/wire/grpc/server/receiving.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";
import { createGate } from "#src/wire/interceptors/access/authenticate.ts";
import { createCallRates } from "#src/wire/interceptors/access/call-rates.ts";
import { createFailedAttempts } from "#src/wire/interceptors/access/failed-attempts.ts";
import type { Authenticator } from "#src/wire/principal.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { eventually } from "../../../support/eventually.ts";
import { errorLogger } from "../../../support/loggers.ts";
import { startConsoleCalls } from "./console-calls.ts";

// The bounds that count calls and their messages, on the listeners that take calls: test/compose/doors.test.ts walks those
// that count connections and heads.

const address = "127.0.0.1:0";
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) {
    await close();
  }
});

const key = `tg-${"x".repeat(49)}`;
const caller = { kind: "caller", accountId: "account", keyId: "key" } as const;
const right: Authenticator = { authenticate: () => caller };
const wrong: Authenticator = {
  authenticate: () => Promise.reject(failure(Reason.UNAUTHENTICATED, "The API key is unknown.")),
};

interface Given {
  readonly door?: Partial<DoorOptions>;
  readonly authenticator?: Authenticator;
  readonly reads?: number;
  readonly receiving?: Receiving;
}

type Calls = "connect" | "console" | "grpc";
const servers = { connect: startConnectServer, console: startConsoleCalls, grpc: startGrpcServer };

async function start(listener: Calls, { door: options, authenticator = right, reads = 600, receiving }: Given) {
  const refused: string[] = [];
  const door = new Door({ listener, onRefused: (name, bound) => refused.push(`${name} ${bound}`), ...options });
  const waiting: (() => void)[] = [];
  const service = registration(AccountsService, {
    getAccount: ({ accountId }) =>
      accountId === "wait" ? new Promise((resolve) => waiting.push(() => resolve({}))) : {},
  });
  const gate = createGate(
    authenticator,
    createFailedAttempts({}, systemClock),
    () => false,
    createCallRates({ reads }, systemClock),
    (name, bound) => refused.push(`${name} ${bound}`),
  );
  const given = { services: [service], interceptors: [], address, door, gate, ...(receiving && { receiving }) };
  const server = await servers[listener](given);
  closing.push(() => server.stop(0));
  const headers = { authorization: `Bearer ${key}` };
  if (listener === "grpc") {
    const channel = createChannelTransport({ target: server.address });
    closing.push(() => channel.close());
    const client = createClient(AccountsService, channel);
    return {
      refused,
      waiting,
      address: server.address,
      call: (accountId: string) => client.getAccount({ accountId }, { headers }),
    };
  }
  const call = (accountId: string) =>
    fetch(`http://${server.address}/tollgate.accounts.v1.AccountsService/GetAccount`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", "connect-protocol-version": "1" },
      body: JSON.stringify({ accountId }),
    });
  return { refused, waiting, address: server.address, call };
}

const attacks: Partial<Record<BoundName, (listener: Calls) => Promise<readonly string[]>>> = {
  async calls(listener) {
    const { refused, waiting, call } = await start(listener, { door: { callsPerPayer: 1 } });
    const first = call("wait");
    await eventually("it is under way", () => waiting.length === 1);
    await call("").catch(() => {});
    waiting[0]?.();
    await first;
    return refused;
  },
  async rate(listener) {
    const { refused, call } = await start(listener, { reads: 1 });
    await call("");
    await call("").catch(() => {});
    return refused;
  },
  async credentials(listener) {
    const { refused, call } = await start(listener, { authenticator: wrong });
    for (let tries = 0; tries < 31; tries += 1) {
      await call("").catch(() => {});
    }
    return refused;
  },
  async bodies(listener) {
    const receiving = new Receiving({ totalBytes: 4000, payerBytes: 1000, reservedBytes: 0 });
    const { refused, call } = await start(listener, { receiving });
    await call("x".repeat(5000)).catch(() => {});
    return refused;
  },
};

describe.each(["connect", "console", "grpc"] as const)("the listener %s", (listener) => {
  test.each(Object.entries(attacks))("has the bound %s, and counts it", async (bound, attack) => {
    expect(await attack(listener)).toContain(`${listener} ${bound}`);
  });
});

const begun = `host: t\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`;

/** Sends the beginning of a body, and no more until its time is over. */
async function stall(address: string, head: string, receiving: Receiving, clock: ManualClock): Promise<void> {
  const socket = connect(Number(address.split(":").at(-1)), "127.0.0.1").on("error", () => {});
  closing.push(() => socket.destroy());
  socket.write(head + begun);
  await eventually("the beginning is received", () => receiving.bytes > 0);
  for (let second = 0; second < 12; second += 1) {
    expect(receiving.bytes > 0 || second >= 10).toBe(true); // it has ten seconds
    clock.advance(1000);
  }
  await eventually("it is given up", () => receiving.bytes === 0);
}

test.each(["connect", "console"] as const)(
  "the listener %s has the bound slow_body, and counts it",
  async (listener) => {
    const clock = new ManualClock();
    const receiving = new Receiving({}, clock);
    const { refused, address } = await start(listener, { receiving });
    await stall(address, "POST /tollgate.accounts.v1.AccountsService/GetAccount HTTP/1.1\r\n", receiving, clock);
    expect(refused).toEqual([`${listener} slow_body`]);
  },
);

test("the listener grpc has the bound slow_body, and counts it", async () => {
  const clock = new ManualClock();
  const receiving = new Receiving({}, clock);
  const { refused, address } = await start("grpc", { receiving });
  const session = connectHttp2(`http://${address}`).on("error", () => {});
  closing.push(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": "/tollgate.accounts.v1.AccountsService/GetAccount",
    "content-type": "application/grpc",
    te: "trailers",
    authorization: `Bearer ${key}`,
  });
  stream.on("error", () => {}).write(Buffer.from([0, 0, 0, 1, 0, 10]));
  await eventually("the beginning is received", () => receiving.bytes > 0);
  for (let second = 0; second < 12; second += 1) {
    expect(receiving.bytes > 0 || second >= 10).toBe(true); // it has ten seconds
    clock.advance(1000);
  }
  expect(refused).toEqual(["grpc slow_body"]);
});

test("the listener payments has the bound slow_body, and counts it", async () => {
  const clock = new ManualClock();
  const receiving = new Receiving({}, clock);
  const { refused, address } = await startPayments(receiving);
  await stall(address, "POST /webhooks/stripe HTTP/1.1\r\nstripe-signature: t=1,v1=0\r\n", receiving, clock);
  expect(refused).toEqual(["payments slow_body"]);
});

test("the listener payments has the bound bodies, and counts it", async () => {
  const { refused, address } = await startPayments(
    new Receiving({ totalBytes: 4000, payerBytes: 1000, reservedBytes: 0 }),
  );
  const init = { method: "POST", headers: { "stripe-signature": "t=1,v1=0" }, body: "x".repeat(5000) };
  const response = await fetch(`http://${address}/webhooks/stripe`, init);
  expect(response.status).toBe(503);
  expect(refused).toEqual(["payments bodies"]);
});

test("the listener payments has the bound slow_reader, and counts it", async () => {
  const clock = new ManualClock();
  const { refused, address, door } = await startPayments(new Receiving(), {
    clock,
    detail: "x".repeat(16 * 1024 * 1024),
  });
  const socket = connect(Number(address.split(":").at(-1)), "127.0.0.1").on("error", () => {});
  closing.push(() => socket.destroy());
  socket.pause();
  socket.write("POST /webhooks/stripe HTTP/1.1\r\nhost: t\r\nstripe-signature: s\r\ncontent-length: 2\r\n\r\n{}");
  await eventually("the answer waits", () => door.unread.bytes > 0);
  for (let second = 0; second < 61; second += 1) {
    clock.advance(1000);
  }
  expect(refused).toEqual(["payments slow_reader"]);
});

/** `detail`: what the answer to an event says. */
async function startPayments(
  receiving: Receiving,
  { clock, detail }: { readonly clock?: ManualClock; readonly detail?: string } = {},
) {
  const refused: string[] = [];
  const door = new Door({
    listener: "payments",
    ...(clock && { clock }),
    onRefused: (name, bound) => refused.push(`${name} ${bound}`),
  });
  const webhook = createStripeWebhook({
    readEvent: () => (detail === undefined ? undefined : ({ id: "evt_1", type: "t" } as ProviderEvent)),
    events: { handle: async () => ({ outcome: "ignored", detail: detail ?? "", namesAccount: false }) },
    observe() {},
    logger: errorLogger,
    receiving,
  });
  const server = await startHttpListener({ address, setting: "listen.webhooks", handler: webhook(door), door });
  closing.push(() => server.stop(0));
  return { refused, door, address: server.address };
}
