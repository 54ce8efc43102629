import { afterEach, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { Passkeys } from "#src/identity/people/passkeys/passkeys.ts";
import { Person } from "#src/storage/entities/people/person.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { databases, dialects } from "../../../money/databases.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";

const newDatabase = databases();
const opened: Storage[] = [];
afterEach(async () => {
  for (const storage of opened.splice(0)) {
    await storage.close();
  }
});

const most = 20;

describe.each(dialects)("%s", (dialect) => {
  async function start() {
    const storage = await openStorage(await newDatabase(dialect));
    opened.push(storage);
    const clock = new ManualClock();
    const personId = systemRandom.uuid();
    const createdAt = new Date(clock.now());
    await storage.orm.em
      .fork()
      .insert(Person, { id: personId, name: "", email: null, emailVerified: false, createdAt });
    return { passkeys: new Passkeys({ storage, clock, random: systemRandom }), personId };
  }
  const made = (subject: string) => ({ subject, name: subject, publicKey: Buffer.from([1]), counter: 0 });

  test("a person has at most 20 passkeys, also when several are made at once", async () => {
    const { passkeys, personId } = await start();
    for (let one = 1; one < most; one += 1) {
      await passkeys.add(personId, made(`passkey ${one}`));
    }
    const last = ["a", "b", "c"].map((subject) => passkeys.add(personId, made(subject)));
    const reasons = (await Promise.allSettled(last)).map((one) =>
      one.status === "fulfilled" ? "made" : readDetail(one.reason)?.reason,
    );
    expect(reasons.toSorted()).toEqual([Reason.INVALID_ARGUMENT, Reason.INVALID_ARGUMENT, "made"]);
    expect(await passkeys.list(personId)).toHaveLength(most);
    await expect(passkeys.requireRoom(personId)).rejects.toThrow("20 passkeys");
  });

  test("of several uses that tell the same counter one counts", async () => {
    const { passkeys, personId } = await start();
    const passkey = await passkeys.add(personId, made("one"));
    const uses = [passkeys.use(passkey, 1), passkeys.use(passkey, 1), passkeys.use(passkey, 2)];
    expect((await Promise.all(uses)).filter((isFirst) => isFirst)).toHaveLength(1);
  });
});
