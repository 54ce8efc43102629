import { BudgetPeriod } from "#gen/tollgate/accounts/v1/key_limits_pb.js";
import { startPostgresql } from "../../scripts/test-services/postgres-server.ts";
import { pause } from "../support/pause.ts";
import type { Books } from "./books.ts";
import { type Audit, audit } from "./crash-audit.ts";
import { Load } from "./load.ts";
import { startMetronome, testModel } from "./metronome.ts";
import { type Relay, startRelay } from "./relay.ts";
import { type Service, startService } from "./service.ts";

/** Prices move within these, in pico-USD a token. */
const [lowest, highest] = [100_000, 900_000];
/** A short answer, and clients of each customer. */
const tokens = 40;
const clients = 3;
/** Money of a rich customer, of a poor one, and what a budget has at first and gets more of, in pico-USD. */
const rich = 100n * 1_000_000_000_000n;
const poor = 20_000_000_000n;
const budget = 60_000_000_000n;
const periods = [BudgetPeriod.TOTAL, BudgetPeriod.DAY, BudgetPeriod.WEEK, BudgetPeriod.MONTH];

/** What was done, and what an audit found afterwards. */
export interface Crashes extends Audit {
  readonly kills: number;
  readonly cuts: number;
}

/** A customer, and all that its clients saw. */
export interface Customer {
  readonly account: string;
  readonly key: string;
  readonly load: Load;
  /** The highest limit that its key's budget has had. Undefined: there is none. */
  limit: bigint | undefined;
}

/**
 * Kills two cores on one PostgreSQL in turns, and cuts and silences the way between them, while customers with budgets
 * of all periods and customers without money ask, and prices move. Then everything works again, and an audit compares
 * what clients were told with the receipts.
 */
export async function crashAndAudit(minutes: number, progress = (_: string) => {}): Promise<Crashes> {
  const metronome = await startMetronome();
  metronome.hasten(10);
  const postgresql = await startPostgresql();
  const database = new URL(await postgresql.createDatabase());
  const relay = await startRelay(database.host);
  const url = database.href.replace(database.host, relay.address);
  const service = await startService(metronome.url, { TOLLGATE_STORAGE_URL: url }, { processes: 2, minimumUsd: "0" });
  const customers: Customer[] = [];
  try {
    for (const [at, budgetPeriod] of periods.entries()) {
      customers.push(await open(service.books, `${at}`, rich, { budgetPicoUsd: budget, budgetPeriod }));
    }
    customers.push(await open(service.books, "poor", poor), await open(service.books, "rich", rich));
    for (const { load } of customers) {
      load.start(clients, service.urls, tokens);
    }
    const { kills, cuts } = await harm(service, relay, { minutes, customers, progress });
    await Promise.all(customers.map(({ load }) => load.finish()));
    progress("auditing");
    return { kills, cuts, ...(await audit(service.books, customers, metronome.counted)) };
  } finally {
    relay.speak();
    await Promise.all(customers.map(({ load }) => load.finish()));
    await service.stop();
    await service.remove();
    relay.close();
    await postgresql.stop();
    await metronome.close();
  }
}

async function open(
  { accounts }: Books,
  name: string,
  amountPicoUsd: bigint,
  limits: { budgetPicoUsd?: bigint; budgetPeriod?: BudgetPeriod } = {},
): Promise<Customer> {
  const { account: made } = await accounts.createAccount({ name });
  const accountId = made?.id ?? "";
  await accounts.topUp({ accountId, amountPicoUsd, reference: `payment-${accountId}` });
  const { key, secret } = await accounts.createKey({ accountId, limits: { rpm: 1_000_000, ...limits } });
  return { account: accountId, key: key?.id ?? "", load: new Load(secret, name), limit: limits.budgetPicoUsd };
}

/** Kills, cuts, silences, moves prices and tops up, one after the other, for some minutes. */
async function harm(
  service: Service,
  relay: Relay,
  { minutes, customers, progress }: { minutes: number; customers: readonly Customer[]; progress(line: string): void },
): Promise<{ kills: number; cuts: number }> {
  const endsAt = performance.now() + minutes * 60_000;
  let [kills, cuts] = [0, 0];
  while (performance.now() < endsAt) {
    await pause(Math.random() * 2000, "the moment of the next fault is random");
    const drawn = Math.random();
    if (drawn < 0.4) {
      await service.replace(kills % 2);
      kills++;
    } else if (drawn < 0.6) {
      relay.cut();
      cuts++;
    } else if (drawn < 0.7) {
      relay.silence();
      await pause(Math.random() * (drawn < 0.62 ? 40_000 : 3000), "how long the network is away is random");
      relay.speak();
      cuts++;
    } else {
      await move(service.books, customers[Math.floor(Math.random() * customers.length)] as Customer).catch(() => {}); // refused amid a fault
    }
    const asked = customers.reduce((sum, { load }) => sum + load.asked.length, 0);
    progress(`${kills} kills, ${cuts} cuts, ${asked} requests`);
  }
  return { kills, cuts };
}

/** Sets another price, brings some money at it, and raises the customer's limit. */
async function move({ prices, accounts }: Books, customer: Customer): Promise<void> {
  const { account, key, limit } = customer;
  const rate = () => BigInt(Math.floor(lowest + Math.random() * (highest - lowest)));
  await prices.setPrice({ model: testModel, inputPicoUsdPerToken: rate(), outputPicoUsdPerToken: rate() });
  await accounts.topUp({ accountId: account, amountPicoUsd: poor, reference: `more-${account}-${performance.now()}` });
  if (limit !== undefined) {
    customer.limit = limit + budget; // also when its answer is lost
    await accounts.updateKey({ keyId: key, limits: { budgetPicoUsd: customer.limit } });
  }
}
