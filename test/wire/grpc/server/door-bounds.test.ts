import { createClient } from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "@jest/globals";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { BoundName } from "#lib/door/bounds.ts";
import { Door, type DoorOptions } from "#lib/door/door.ts";
import { failure } from "#lib/errors/failure.ts";
import { systemClock } from "#lib/time/clock.ts";
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
import { eventually } from "../../../support/eventually.ts";
import { errorLogger } from "../../../support/loggers.ts";

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

async function start(
  listener: "connect" | "grpc",
  { door: options, authenticator = right, reads = 600, receiving }: Given,
) {
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
    (_, bound) => door.refused(bound),
  );
  const given = { services: [service], interceptors: [], address, door, gate, ...(receiving && { receiving }) };
  const server = await (listener === "connect" ? startConnectServer(given) : startGrpcServer(given));
  closing.push(() => server.stop(0));
  const headers = { authorization: `Bearer ${key}` };
  if (listener === "grpc") {
    const channel = createChannelTransport({ target: server.address });
    closing.push(() => channel.close());
    const client = createClient(AccountsService, channel);
    return { refused, waiting, call: (accountId: string) => client.getAccount({ accountId }, { headers }) };
  }
  const call = (accountId: string) =>
    fetch(`http://${server.address}/tollgate.accounts.v1.AccountsService/GetAccount`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", "connect-protocol-version": "1" },
      body: JSON.stringify({ accountId }),
    });
  return { refused, waiting, call };
}

const attacks: Partial<Record<BoundName, (listener: "connect" | "grpc") => Promise<readonly string[]>>> = {
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

describe.each(["connect", "grpc"] as const)("the listener %s", (listener) => {
  test.each(Object.entries(attacks))("has the bound %s, and counts it", async (bound, attack) => {
    expect(await attack(listener)).toContain(`${listener} ${bound}`);
  });
});

test("the listener payments has the bound bodies, and counts it", async () => {
  const refused: string[] = [];
  const door = new Door({ listener: "payments", onRefused: (name, bound) => refused.push(`${name} ${bound}`) });
  const webhook = createStripeWebhook({
    readEvent: () => undefined,
    events: { handle: async () => ({ outcome: "ignored", detail: "", namesAccount: false }) },
    observe() {},
    logger: errorLogger,
    receiving: new Receiving({ totalBytes: 4000, payerBytes: 1000, reservedBytes: 0 }),
  });
  const server = await startHttpListener({ address, setting: "listen.webhooks", handler: webhook(door), door });
  closing.push(() => server.stop(0));
  const init = { method: "POST", headers: { "stripe-signature": "t=1,v1=0" }, body: "x".repeat(5000) };
  const response = await fetch(`http://${server.address}/webhooks/stripe`, init);
  expect(response.status).toBe(503);
  expect(refused).toEqual(["payments bodies"]);
});
