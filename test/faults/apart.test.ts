import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { ReceiptStatus } from "#gen/tollgate/metering/v1/usage_pb.js";
import { eventually } from "../support/eventually.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";
import { type Books, openBooks, operatorToken } from "./books.ts";
import { type Asked, Load } from "./load.ts";
import { type Metronome, startMetronome, testModel } from "./metronome.ts";
import { startRelay } from "./relay.ts";

// A facade apart from its core: however their connection ends, each call is charged once.

const streamCount = 30;
const endless = 100_000;

let metronome: Metronome;
let site: Site;
let config: string;
let core: Tollgate;
let books: Books;
const closing: (() => unknown)[] = [];
beforeAll(async () => {
  metronome = await startMetronome();
  site = await createSite({
    TOLLGATE_OPERATOR_TOKEN: operatorToken,
    TOLLGATE_KEY_PEPPER: "1:pepper-of-the-fault-tests-0123456789",
  });
  const servers = [{ url: metronome.url, engine: "openai", capacity: 1000 }];
  config = await site.configure({
    ...freePorts,
    free_tier: { grant_usd: "0" },
    models: [{ id: testModel, price: { input: "0.20", output: "0.25" }, servers }],
  });
  await startCore();
}, 120_000);
afterAll(async () => {
  for (const close of closing.splice(0).reverse()) {
    await close();
  }
  books?.close();
  await core?.stop("SIGKILL");
  await site?.remove();
  await metronome?.close();
});

async function startCore(): Promise<void> {
  core = await startTollgate(site, "core", "--config", config);
  books = openBooks(core);
}

/** A facade that reaches the core through a relay. */
async function startFacade(): Promise<{ facade: Tollgate; cut(): void }> {
  const relay = await startRelay(String(core.addresses.grpc));
  const listenOn = { http: "127.0.0.1:0", admin: "127.0.0.1:0" };
  const file = await site.configure({ listen: listenOn }, `facade-${relay.address.split(":")[1]}.yaml`);
  const facade = await startTollgate(site, "facade", "--config", file, "--core", `ipv4:${relay.address}`);
  closing.push(async () => {
    relay.close();
    await facade.stop("SIGKILL");
  });
  return { facade, cut: relay.cut };
}

/** Streams amid their answers, past the notes that a core which dies leaves. */
async function amidStreams(load: Load, url: string): Promise<Promise<Asked>[]> {
  const streams = Array.from({ length: streamCount }, () => load.stream(url, endless));
  const running = () => {
    expect(load.asked.filter(({ fault }) => fault !== undefined)).toEqual([]);
    return load.asked.filter(({ seen }) => seen >= 600).length >= streamCount;
  };
  await eventually("all streams run", running, 60);
  return streams;
}

/** Every request has one receipt, and nothing is held. */
async function expectSettled(load: Load, account: string, status: ReceiptStatus): Promise<void> {
  const held = async () => (await books.accounts.getAccount({ accountId: account })).account?.heldPicoUsd;
  await eventually("nothing is held", async () => (await held()) === 0n, 60);
  const receipts = await books.receiptsOf(load);
  expect(receipts.size).toBe(load.asked.length);
  expect(await books.requests(account)).toBe(load.asked.length);
  const cutOff = load.asked.filter(({ acknowledged }) => acknowledged === undefined);
  expect(cutOff).toHaveLength(streamCount);
  for (const { name } of cutOff) {
    expect(receipts.get(name)?.status).toBe(status);
    expect(receipts.get(name)?.outputTokens).toBeLessThanOrEqual(metronome.counted.get(name) ?? 0);
  }
}

test.each(["the connection is cut", "the facade is killed"])(
  "when %s, each call is charged once",
  async (what) => {
    const { facade, cut } = await startFacade();
    const { account, key } = await books.customer(100n);
    const load = new Load(key);
    const streams = await amidStreams(load, facade.url);
    if (what === "the connection is cut") {
      cut();
    } else {
      facade.process.kill("SIGKILL");
      await once(facade.process, "exit");
    }
    await Promise.all(streams);
    await expectSettled(load, account, ReceiptStatus.CANCELLED);
  },
  120_000,
);

test("when the core is killed, each call is charged once by the next one", async () => {
  const { facade } = await startFacade();
  const { account, key } = await books.customer(100n);
  const load = new Load(key);
  const streams = await amidStreams(load, facade.url);
  books.close();
  await core.stop("SIGKILL");
  await Promise.all(streams);
  await startCore();
  await expectSettled(load, account, ReceiptStatus.RECOVERED);
}, 120_000);
