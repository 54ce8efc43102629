import { expect, test } from "@jest/globals";
import { PendingSeal } from "#lib/ids/pending.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { createSeal } from "#lib/ids/sealed.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

const seal = createSeal([{ version: 1, secret: "pepper" }], systemRandom);

test("what was begun is read for ten minutes, for what it was begun, and by services with the same pepper", () => {
  const clock = new ManualClock();
  const own = new PendingSeal<{ who: string }>("passkey", seal, clock);
  const begun = own.close({ who: "ada" });
  expect(own.open(begun)).toEqual({ facts: { who: "ada" }, until: clock.now() + 600_000 });
  expect(new PendingSeal("mail", seal, clock).open(begun)).toBeUndefined();
  const other = createSeal([{ version: 1, secret: "another" }], systemRandom);
  expect(new PendingSeal("passkey", other, clock).open(begun)).toBeUndefined();
  clock.advance(600_000);
  expect(own.open(begun)).toBeUndefined();
});
