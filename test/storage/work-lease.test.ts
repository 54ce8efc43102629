import { afterEach, describe, expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import type { Clock } from "#lib/time/clock.ts";
import { DatabaseClock } from "#src/storage/database-clock.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { WorkLease, whileRenewing } from "#src/storage/work-lease.ts";
import { databases, dialects } from "../money/databases.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { eventually } from "../support/eventually.ts";
import { silentLogger } from "../support/loggers.ts";
import { movableClock } from "./movable-clock.ts";

const hourMs = 3_600_000;
/** Milliseconds after which a core without a word is taken for dead, and between two of its renewals. */
const leaseMs = 15_000;
/** More than passes by itself between two looks: the clock of a server goes on. */
const passingMs = 5_000;
const renewMs = 5000;

const newDatabase = databases();
const storages: Storage[] = [];
afterEach(async () => {
  await Promise.all(storages.splice(0).map((storage) => storage.close()));
});

describe.each(dialects)("%s", (dialect) => {
  /** Cores of one database. `turn` turns the clock that each reads at its start: the server's, or with SQLite its own. */
  async function open() {
    const url = await newDatabase(dialect);
    const turnServer = dialect === "postgresql" ? await movableClock(url) : async () => {};
    const storage = await openStorage(url);
    storages.push(storage);
    const manual = new ManualClock(Date.now());
    let turnedMs = 0;
    return {
      manual,
      advance: (ms: number) => manual.advance(ms),
      async turn(ms: number) {
        turnedMs = ms;
        await turnServer(ms);
      },
      async core() {
        const turned = dialect === "sqlite" ? turnedMs : 0;
        const machine: Clock = {
          now: () => manual.now() + turned,
          monotonic: () => manual.monotonic(),
          after: (ms, run) => manual.after(ms, run),
        };
        const clock = await DatabaseClock.open(storage, machine, silentLogger);
        return new WorkLease({ storage, clock, random: systemRandom, name: "usage events" });
      },
    };
  }

  test("one core has the work, until it ends or says nothing for 15 seconds", async () => {
    const { core, advance } = await open();
    const [first, second] = [await core(), await core()];
    expect([await first.hold(), await second.hold()]).toEqual([true, false]);
    advance(renewMs);
    expect([await first.hold(), await second.hold()]).toEqual([true, false]);
    advance(leaseMs - passingMs);
    expect(await second.hold()).toBe(false);
    advance(passingMs);
    expect([await second.hold(), await first.hold()]).toEqual([true, false]);
    await second.release();
    expect(await first.hold()).toBe(true);
  });

  test("work that takes longer than the lease lasts keeps it, and lets it go once it is over", async () => {
    const { core, advance, manual } = await open();
    const [first, second] = [await core(), await core()];
    expect(await first.hold()).toBe(true);
    let asked = 0;
    const lease = { hold: () => first.hold().finally(() => asked++) };
    const parts = { clock: manual, logger: silentLogger };
    const work = async () => {
      for (let renewals = 1; renewals <= 8; renewals++) {
        advance(renewMs);
        await eventually("the lease is renewed", () => asked === renewals);
        expect(await second.hold()).toBe(false);
      }
      return "done";
    };
    expect(await whileRenewing(lease, parts, "test", work)).toBe("done");
    await expect(whileRenewing(lease, parts, "test", () => Promise.reject(new Error("failed")))).rejects.toThrow(
      "failed",
    );
    expect(manual.pending).toBe(0);
    advance(leaseMs + passingMs);
    expect(await second.hold()).toBe(true);
  });

  test("a core that ends while it takes the work lets another have it at once", async () => {
    const { core } = await open();
    const [first, second] = [await core(), await core()];
    await Promise.all([first.hold(), first.release()]);
    expect(await first.hold()).toBe(false); // as work would that is still under way
    expect(await second.hold()).toBe(true);
  });

  test("a lease that was taken while the clock was an hour ahead ends 15 seconds after its core's last word", async () => {
    const { core, advance, turn } = await open();
    await turn(hourMs);
    const first = await core();
    expect(await first.hold()).toBe(true);
    await turn(0);
    const second = await core();
    for (let renewals = 0; renewals < 5; renewals++) {
      expect([await first.hold(), await second.hold()]).toEqual([true, false]); // it lives, and renews
      advance(renewMs);
    }
    advance(leaseMs);
    expect(await second.hold()).toBe(true);
  });

  test("a core that started while the clock was an hour behind takes over from a dead one after 15 seconds", async () => {
    const { core, advance, turn } = await open();
    expect(await (await core()).hold()).toBe(true);
    await turn(-hourMs);
    const second = await core();
    expect(await second.hold()).toBe(false);
    advance(leaseMs - 1);
    expect(await second.hold()).toBe(false);
    advance(1);
    expect(await second.hold()).toBe(true);
  });

  test("a core that was suspended, and whose work another one took, does not have it for a moment", async () => {
    const { core, manual, turn } = await open();
    const first = await core();
    expect(await first.hold()).toBe(true);
    manual.jump(hourMs); // the monotonic clock stands still meanwhile
    await turn(hourMs);
    expect([await (await core()).hold(), await first.hold()]).toEqual([true, false]);
  });
});
