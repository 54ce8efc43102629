import { Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { principalKey } from "#src/wire/interceptors/access/principal.ts";
import { takeReadsInTurn } from "#src/wire/interceptors/limits/reads-in-turn.ts";
import type { Principal } from "#src/wire/principal.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { eventually } from "../../../support/eventually.ts";

const caller = (accountId: string, personId?: string): Principal => ({
  ...{ kind: "caller", accountId, keyId: "k" },
  ...(personId !== undefined && { personId }),
});
const operator: Principal = { kind: "operator", id: "", name: "root", role: Role.OWNER };

/** A service whose reads and changes end when they are told to, who began, and with what the server ended those that failed. */
function start() {
  const running: { readonly name: string; end(): void }[] = [];
  const begun: string[] = [];
  const run = async (name: string) => {
    begun.push(name);
    const { promise, resolve } = Promise.withResolvers<void>();
    running.push({ name, end: resolve });
    await promise;
    return {};
  };
  const services = [
    registration(AccountsService, {
      getAccount: ({ accountId }) => run(accountId),
      createKey: ({ accountId }) => run(accountId),
    }),
  ];
  const identify =
    (principal: Principal): Interceptor =>
    (next) =>
    (request) => {
      request.contextValues.set(principalKey, principal);
      return next(request);
    };
  const ended: Code[] = [];
  const hearFailures: Interceptor = (next) => (request) =>
    next(request).catch((error) => {
      ended.push(ConnectError.from(error).code);
      throw error;
    });
  const clock = new ManualClock();
  const inTurn = takeReadsInTurn(clock);
  const as = (principal: Principal) =>
    createClient(AccountsService, createDirectTransport(services, [identify(principal), hearFailures, inTurn]));
  const end = (name: string) => running.find((one) => one.name === name)?.end();
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { as, begun, clock, ended, end, settled };
}

test("an account's reads run two at a time, in their order, and nobody else waits for them", async () => {
  const { as, begun, end, settled } = start();
  const mine = as(caller("a"));
  const reads = ["1", "2", "3", "4"].map((accountId) => mine.getAccount({ accountId }));
  await settled();
  expect(begun).toEqual(["1", "2"]);
  end("2");
  await reads[1];
  await eventually("the third begins", () => begun.length === 3);
  expect(begun).toEqual(["1", "2", "3"]);

  const others = [as(caller("b")), as(caller("", "p"))].map((client, at) => client.getAccount({ accountId: `o${at}` }));
  const operators = [1, 2, 3].map((at) => as(operator).getAccount({ accountId: `r${at}` }));
  const change = mine.createKey({ accountId: "change" });
  await settled();
  expect(begun.slice(3)).toEqual(["o0", "o1", "r1", "r2", "r3", "change"]);
  for (const name of [...begun, "4"]) {
    end(name);
    await settled();
  }
  await Promise.all([...reads, ...others, ...operators, change]);
});

test("a read that fails gives its place to the next, and one whose caller has left takes none", async () => {
  const { as, begun, end, settled } = start();
  const mine = as(caller("a"));
  const gone = new AbortController();
  const [first, second] = [mine.getAccount({ accountId: "1" }), mine.getAccount({ accountId: "2" })];
  const left = mine.getAccount({ accountId: "left" }, { signal: gone.signal });
  const last = mine.getAccount({ accountId: "last" });
  gone.abort();
  await expect(left).rejects.toMatchObject({ code: Code.Canceled });
  end("1");
  await first;
  await eventually("the last begins", () => begun.includes("last"));
  expect(begun).toEqual(["1", "2", "last"]);
  end("2");
  end("last");
  await settled();
  await Promise.all([second, last]);
});

test("a read that waits ends with its call: when its caller leaves or its deadline passes, not when its turn comes", async () => {
  const { as, begun, end, settled, ended } = start();
  const mine = as(caller("a"));
  const slow = ["1", "2"].map((accountId) => mine.getAccount({ accountId }));
  const [gone, going] = [new AbortController(), new AbortController()];
  const left = mine.getAccount({ accountId: "left" }, { signal: gone.signal });
  const late = mine.getAccount({ accountId: "late" }, { timeoutMs: 5 });
  const chosen = mine.getAccount({ accountId: "chosen" }, { signal: going.signal });
  const last = mine.getAccount({ accountId: "last" });
  gone.abort();
  await expect(left).rejects.toMatchObject({ code: Code.Canceled });
  await expect(late).rejects.toMatchObject({ code: Code.DeadlineExceeded });
  await settled();
  expect(ended).toEqual([Code.Canceled, Code.DeadlineExceeded]);

  end("1");
  await slow[0];
  going.abort(); // when the place is its own already
  await expect(chosen).rejects.toMatchObject({ code: Code.Canceled });
  await eventually("the last begins", () => begun.includes("last"));
  expect(begun).toEqual(["1", "2", "last"]);
  end("2");
  end("last");
  await Promise.all([...slow, last]);
});

test("reads that take long keep the account's others waiting for 100 ms, and their ends let nobody in twice", async () => {
  const { as, begun, clock, end, settled } = start();
  const mine = as(caller("a"));
  const reads = ["slow", "slower", "1", "2", "3", "4", "5"].map((accountId) => mine.getAccount({ accountId }));
  await settled();
  expect(begun).toEqual(["slow", "slower"]);
  clock.advance(100);
  await eventually("the next two begin", () => begun.length === 4);
  end("slow");
  end("slower");
  await Promise.all(reads.slice(0, 2));
  await settled();
  expect(begun).toEqual(["slow", "slower", "1", "2"]);
  for (const name of ["1", "2", "3", "4", "5"]) {
    await eventually(`${name} begins`, () => begun.includes(name));
    end(name);
  }
  await Promise.all(reads);
});
