// A core that does what it is told, line by line. Arguments: storage URL, data directory. Answers each line when it is done.
//   begin ACCOUNT TOKENS   runs a request that has come so far: "begun", once the journal surely has it noted
//   finish TOKENS          ends the oldest one with so many tokens: "settled ID" once the charge is acknowledged
import { flushCompileCache } from "node:module";
import { createInterface } from "node:readline";
import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { openJournal } from "#src/money/journal/open-journal.ts";
import type { Hold } from "#src/money/model/ledger.ts";
import { eventually } from "../../../support/eventually.ts";
import { silentLogger } from "../../../support/loggers.ts";
import { never, openMetering, request } from "../../fixture.ts";

const [url = "", directory = ""] = process.argv.slice(2);
const journal = openJournal(directory, { clock: systemClock, random: systemRandom, logger: silentLogger });
const { ledger } = await openMetering({ url, clock: systemClock, journal, coreId: journal.coreId });
const running: { readonly id: string; readonly hold: Hold }[] = [];
flushCompileCache(); // for the next one: this one is killed, and would leave nothing
console.log("ready");

for await (const line of createInterface({ input: process.stdin })) {
  const [command, ...words] = line.split(" ");
  if (command === "begin") {
    const [account = "", tokens] = words;
    const wanted = request(account, { inputTokens: 10, outputTokens: 10_000 }, { labels: '{"app":"told"}' });
    const hold = await ledger.hold(wanted, never);
    hold.progress({ inputTokens: 10, outputTokens: Number(tokens) });
    running.push({ id: wanted.requestId, hold });
    const size = journal.size;
    await eventually("the journal has it", () => journal.size !== size);
    console.log("begun");
  } else {
    const oldest = running.shift();
    await oldest?.hold.settle({ inputTokens: 10, outputTokens: Number(words[0]) }, "completed").catch(() => {});
    console.log(`settled ${oldest?.id}`);
  }
}
