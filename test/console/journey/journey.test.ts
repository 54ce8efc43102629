import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { MailServer } from "../../delivery/mail/mail-server.ts";
import { openStage, type Stage } from "../stage/stage.ts";
import { travel } from "./journey.ts";

// A browser, a provider of identities, a mail server and a stand-in for Stripe. No operator does anything. Two strangers come at
// once, since most of a journey is waiting for a page.

let mail: MailServer;
let stage: Stage;
beforeAll(async () => {
  mail = await MailServer.start();
  stage = await openStage({ mailUrl: mail.url });
}, 120_000);
afterAll(async () => {
  await stage.close();
  await mail[Symbol.asyncDispose]();
});

/** Cents that the provider has taken, and paid back. */
const paidIn = ({ state }: Stage["stripe"]) => sum([...state.intents.values()].map(({ amount }) => amount));
const paidBack = ({ state }: Stage["stripe"]) => sum([...state.refunds.values()].map(({ amount }) => amount));
const sum = (amounts: readonly number[]) => amounts.reduce((all, one) => all + one, 0);

const mostClicks = 12;
const usd = (amount: number) => BigInt(amount * 100) * 10_000_000_000n;

test.concurrent.each([360, 1280])(
  "a stranger signs up, asks, pays, sets limits, is warned, invites, gets a refund and closes, %i pixels wide",
  async (width) => {
    const { first, paid, costs, bought, mails, refused, colleague, refund, farewell, faults } = await travel(
      stage,
      mail,
      width,
    );
    const way = ({ clicks, seconds }: typeof first) => `${clicks} clicks and ${seconds.toFixed(1)} s`;
    console.info(`${width} pixels: ${way(first)} to the first answer, ${way(paid)} to the first paid one`);
    expect(paid.clicks).toBeLessThanOrEqual(mostClicks);
    expect(costs.every((cost) => cost > 0n)).toBe(true);
    expect(bought).toBe(usd(25));
    expect(mails).toEqual(expect.arrayContaining(["25.00 USD came in"]));
    expect(refused).toEqual([expect.stringMatching(/revoked/), expect.stringMatching(/revoked/)]);
    expect(colleague).toEqual([expect.stringMatching(/\w/), "/sign-in"]);
    expect(refund).toBe("10.00 USD go back to the card.");
    expect(farewell).toBe("The account is closed. 15.00 USD go back to where they came from.");
    expect(faults).toEqual([]);
  },
  240_000,
);

interface Change {
  readonly method: string;
  readonly person_id: string | null;
  readonly key_id: string | null;
  readonly address: string;
}

test("no operator did anything", async () => {
  const changes = (await stage.tollgate.admin("audit", "list", "--limit", "1000")) as readonly Change[];
  expect(changes.map(({ method }) => method)).toEqual(
    expect.arrayContaining([expect.stringMatching(/CreateKey$/), expect.stringMatching(/CloseAccount$/)]),
  );
  const byOperators = changes.filter(
    ({ person_id, key_id, address }) => person_id === null && key_id === null && address !== "in process",
  );
  expect(byOperators).toEqual([]);
});

test("every cent that came in went back, and no page broke a policy or threw an error", () => {
  expect(paidIn(stage.stripe)).toBeGreaterThan(0);
  expect(paidBack(stage.stripe)).toBe(paidIn(stage.stripe));
  expect(stage.complaints).toEqual([]);
});
