// A core that spends as fast as it can until it is killed. Arguments: storage URL, data directory, account, log, and
// perhaps how many groups of charges it commits before it kills itself, before anybody can be told of the last one.
// The log gets a line for each step of a request, written before anything else happens:
//   counted ID OUTPUT  the engine has counted so much     settled ID OUTPUT  the charge was acknowledged
import { appendFileSync } from "node:fs";
import { systemRandom } from "../../../lib/ids/random.ts";
import { systemClock } from "../../../lib/time/clock.ts";
import { createDebts } from "../../../src/metering/books/debts.ts";
import { DeadLetters } from "../../../src/metering/dead-letters/dead-letters.ts";
import { openJournal } from "../../../src/metering/journal/open-journal.ts";
import { createLedger } from "../../../src/metering/ledger/ledger.ts";
import { createPrices } from "../../../src/metering/prices/prices.ts";
import { readKeptFrom } from "../../../src/metering/retention/kept-from.ts";
import { createLedgerStore } from "../../../src/metering/store/create.ts";
import type { LedgerStore } from "../../../src/metering/store/ledger-store.ts";
import { openStorage } from "../../../src/storage/orm.ts";
import { pause } from "../../support/pause.ts";
import { models, never, request, testModel } from "../fixture.ts";
import { silentObserver } from "../silent-observer.ts";

const [url = "", directory = "", account = "", log = "", commits] = process.argv.slice(2);
const parts = { clock: systemClock, random: systemRandom };
const say = (_fields: object, message: string) => console.error(message);
const logger = { debug() {}, info: say, warn: say, error: say };
const stay = setInterval(() => {}, 1000); // the ledger's own timers do not keep a process alive
const storage = await openStorage(url);
const prices = await createPrices({ storage, ...parts, models: models() });
const journal = openJournal(directory, { ...parts, logger });
const store = dyingAfter(
  Number(commits ?? Number.POSITIVE_INFINITY),
  createLedgerStore(storage, systemRandom, journal.coreId),
);
const deadLetters = new DeadLetters({ storage, clock: systemClock, coreId: journal.coreId });
const ledger = await createLedger({
  ...{
    store,
    debts: createDebts({ storage, ...parts }),
    prices,
    journal,
    deadLetters,
    clock: systemClock,
    random: systemRandom,
    logger,
  },
  observer: silentObserver,
  readKeptFrom: () => readKeptFrom(storage),
});
console.log("ready");

function dyingAfter(commits: number, store: LedgerStore): LedgerStore {
  const settle = store.settle.bind(store);
  let done = 0;
  store.settle = async (charges) => {
    const outcomes = await settle(charges);
    if (++done >= commits) {
      process.kill(process.pid, "SIGKILL");
    }
    return outcomes;
  };
  return store;
}

async function stream(length: number): Promise<void> {
  const wanted = request(account, { inputTokens: 100, outputTokens: 20_000 }, { model: testModel });
  const hold = await ledger.hold(wanted, never);
  let outputTokens = 0;
  for (; outputTokens < length; outputTokens += 50) {
    appendFileSync(log, `counted ${wanted.requestId} ${outputTokens}\n`);
    hold.progress({ inputTokens: 90, outputTokens });
    await pause(10, "tokens come at a pace");
  }
  await hold.settle({ inputTokens: 90, outputTokens }, "completed");
  appendFileSync(log, `settled ${wanted.requestId} ${outputTokens}\n`);
}

const streams = Array.from({ length: 8 }, async (_, at) => {
  for (;;) {
    await stream(100 + at * 200);
  }
});
await Promise.all(streams);
clearInterval(stay);
