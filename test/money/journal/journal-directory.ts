import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemRandom } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import type { CoreJournal } from "#src/money/journal/file-journal.ts";
import type { JournalRemains } from "#src/money/journal/journal.ts";
import { decode as decodeBytes } from "#src/money/journal/journal-record.ts";
import { openJournal } from "#src/money/journal/open-journal.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

export const decode = (text: string | Uint8Array) => decodeBytes(Buffer.from(text as string));
export const entry = (requestId: string, outputTokens = 0) => ({
  ...{ requestId, runId: `run of ${requestId}`, accountId: "a", keyId: "k", model: "m\n\"'é" },
  tokens: { inputTokens: 7, outputTokens },
});
export const charge = (requestId: string): Charge => ({
  ...{ requestId, runId: `run of ${requestId}`, accountId: "a", keyId: "k", model: "m" },
  ...{ inputTokens: 1, outputTokens: 2, cost: 3, shortfall: 0 },
  ...{ status: "completed", settledAt: 5, lines: [] },
});

export const thisDatabase = "00000000-0000-4000-8000-00000000000d";
export const coreName = "00000000-0000-4000-8000-00000000000c";
const nothing = () => {};

/** A directory on a real disk with the place of one core, whose id it says. */
export class JournalDirectory {
  readonly #directory = mkdtempSync(join(tmpdir(), "tollgate-journal-"));
  readonly clock = new ManualClock(Date.now());
  /** What was logged as a warning or an error. */
  readonly log: string[] = [];
  readonly parts = { clock: this.clock, random: systemRandom, logger: this.#logger() };
  readonly place = join(this.#directory, "1");
  readonly file = join(this.place, "journal");
  readonly idFile = join(this.place, "core-id");
  #journal: CoreJournal | undefined;

  constructor() {
    mkdirSync(this.place);
    writeFileSync(this.idFile, `${coreName}\n`);
  }

  /** Opens the journal; it is closed at the test's end. */
  open(): CoreJournal {
    this.#journal = openJournal(this.#directory, this.parts);
    return this.#journal;
  }

  /** What the next process finds after this one was killed now. */
  async remainsAfterKill(): Promise<JournalRemains> {
    const copy = mkdtempSync(join(tmpdir(), "tollgate-journal-"));
    mkdirSync(join(copy, "1"));
    for (const name of ["journal", "core-id"]) {
      writeFileSync(join(copy, "1", name), readFileSync(join(this.place, name)));
    }
    const next = openJournal(copy, this.parts);
    const remains = await next.read(thisDatabase);
    await next.close();
    rmSync(copy, { recursive: true });
    return remains;
  }

  #logger(): Logger {
    const say = (_fields: object, message: string) => void this.log.push(message);
    return { debug: nothing, info: nothing, warn: say, error: say };
  }

  async remove(): Promise<void> {
    await this.#journal?.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
