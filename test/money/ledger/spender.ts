// A core that spends as fast as it can until it is killed. Arguments: storage URL, data directory, account, log, and
// perhaps how many groups of charges it commits before it kills itself, before anybody can be told of the last one.
// The log gets a line for each step of a request, written before anything else happens:
//   counted ID OUTPUT  the engine has counted so much     settled ID OUTPUT  the charge was acknowledged
import { appendFileSync } from "node:fs";
import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { openJournal } from "#src/money/journal/open-journal.ts";
import { createLedger } from "#src/money/ledger/ledger.ts";
import { DeadLetters } from "#src/money/ledger/settlement/dead-letters.ts";
import { createDebts } from "#src/money/ledger/wallet/debts.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import { createPrices } from "#src/money/prices/prices.ts";
import { createLedgerStore } from "#src/money/store/create.ts";
import { readKeptFrom } from "#src/money/store/kept-from.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
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
