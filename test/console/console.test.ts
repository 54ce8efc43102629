import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { judgePages } from "./look/judge.ts";
import { judgeDialogs } from "./look/judge-dialogs.ts";
import { liveByKeyboard } from "./look/keyboard-life.ts";
import { weigh } from "./look/weight.ts";
import { liveAsCustomer } from "./money/customer-life.ts";
import { limitKeys } from "./money/limits-life.ts";
import { lookIntoUsage } from "./money/usage-life.ts";
import { openFirst } from "./parts/first-opened.ts";
import { loseConnection } from "./parts/lost-connection.ts";
import { waitForAnswers } from "./parts/waiting-life.ts";
import { findThings } from "./service/find-life.ts";
import { liveAsOperator } from "./service/operator-life.ts";
import { pointAtPlots } from "./service/plots-life.ts";
import { openStage, readAmount, type Stage } from "./stage/stage.ts";
import { liveWithIdentity } from "./system/identity-life.ts";
import { signInAtOwnHost } from "./system/own-host.ts";
import { steerBySettings } from "./system/settings-life.ts";

// One browser and one Tollgate with its simulated fleet, for everything that only a browser shows.

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
}, 120_000);
afterAll(() => stage.close());

const heaviest = 150_000;

/** What does not disturb each other goes on at once: most of its time is waiting for a page. */
function beginTogether(on: Stage) {
  const begun = {
    byKeyboard: liveByKeyboard(on),
    judged: judgePages(on),
    lost: loseConnection(on),
  };
  for (const one of Object.values<Promise<unknown>>(begun)) {
    one.catch(() => undefined); // its own test tells
  }
  return begun;
}
let begun: ReturnType<typeof beginTogether> | undefined;
function together() {
  begun ??= beginTogether(stage);
  return begun;
}

test("an operator gets from the printed link to an answer, its receipt and proven books", async () => {
  const { receipt, balanceBefore, balanceAfter } = await liveAsOperator(stage);
  expect(receipt).toBeGreaterThan(0n);
  expect(balanceBefore - balanceAfter).toBe(receipt);
});

test("a customer sees its own account by its key, and nobody else's by any page", async () => {
  const { own, other, archived, asked, kept, forbidden, menu } = await liveAsCustomer(stage);
  expect(own).toBeGreaterThan(0n);
  expect(other).not.toContain("$");
  expect(archived).toMatch(/^The receipts of \S+ left the books on \S+, and their archive is not in its place\./);
  expect(asked).toContain("Your session reads and cannot spend");
  expect(kept).toEqual([]);
  expect(forbidden).toBe(`${stage.origin}/overview`);
  expect(menu).toEqual(["Overview", "Playground", "Models", "Requests", "Money", "Keys", "Usage"]);
});

test("an account is found by a part of its name, and why a request was refused by its id", async () => {
  const { account, reason, listed, suggested, byKey, charged, cost, spent, typed, changes, isServerAlone } =
    await findThings(stage);
  expect(account).toBe(`${stage.origin}/accounts/ID`);
  expect(reason).toMatch(/^account frozen The account is frozen\. Ask the operator/);
  expect(listed).toEqual(["account frozen", "engine failed"]);
  expect(suggested).toEqual(["Corvid's own tg-…"]);
  expect(byKey).toEqual(["account frozen", "engine failed", "finished"]);
  expect(charged).toMatch(/^engine failed The inference server failed\./);
  expect(cost).toMatch(/^\$0\.0000\d+$/);
  expect(spent).toMatch(/^\$0\.0000\d+$/);
  expect(typed).toEqual(["corvid w", "corvid w", "Ada Lovelace"]);
  expect(changes).toEqual(["Freeze account", "Create account"]);
  expect(isServerAlone).toBe(true);
});

test("limits of a key are set and lifted; those that are not touched stay, also where they have changed meanwhile", async () => {
  const { made, renamed, lifted, rotated, accounts, refusals } = await limitKeys(stage);
  expect(made).toMatchObject({
    limits: { usd: "5.00", per: "week", tpm: 9000 },
    expires_at: "2031-05-06T07:08:09.000Z",
  });
  expect(renamed).toEqual({
    ...made,
    name: "renamed",
    limits: { ...made.limits, usd: "4.00", usd_left: "4.00", tpm: 700 },
  });
  const none = { usd: null, per: null, usd_spent: null, usd_left: null, resets_at: null, tpm: null };
  expect(lifted).toEqual({ ...renamed, limits: { ...made.limits, ...none, in_flight: 1000 } });
  expect(rotated).toMatchObject({ name: "renamed", limits: { in_flight: 7 } });
  const own = { low_balance_usd: "2.50", class: "priority" };
  expect(accounts).toMatchObject([
    { ...own, in_flight_limit: 12 },
    { ...own, in_flight_limit: null },
  ]);
  const [budget, whole] = ["USD above 0 and below 9007", "a whole number above zero and below 1,000,000,000"];
  expect(refusals).toEqual([
    ...["0", "1e3", "9007.2"].map((value) => expect.stringMatching(`^Budget ${value}: The budget has to be ${budget}`)),
    ...["1,5", "9999999999"].map((value) => expect.stringMatching(`^Tokens a minute ${value}: .* has to be ${whole}`)),
    expect.stringMatching(`^Requests at once -1: .* has to be ${whole}`),
  ]);
});

test("somebody signs in with a provider of identities, and has one account from then on", async () => {
  const { balances, accounts, forged, roles, keys, menu } = await liveWithIdentity(stage);
  expect(balances).toEqual([10n ** 12n, 10n ** 12n]);
  expect([accounts, forged]).toEqual([1, 401]);
  expect(roles).toEqual(["owner", "viewer"]);
  expect(keys).toEqual(["laptop"]);
  expect(menu).toEqual(["Overview", "Playground", "Models", "Requests", "Money", "Keys", "Usage", "People"]);
});

test("plots tell one time and their values under the pointer, over a range that the address has", async () => {
  const who = ["Top accounts, 24 h", "Models by revenue, 24 h"];
  expect(await pointAtPlots(stage)).toEqual({ tips: 4, isOneTime: true, range: "day", who });
});

test("usage is grouped by two things at once, and a row looks into its sum by the address alone", async () => {
  const day = ["from", "model", "to"];
  expect(await lookIntoUsage(stage)).toEqual({
    columns: ["Model", "Day", "Cost", "Requests", "Input tokens", "Output tokens"],
    narrowed: [["model"], day, day],
    byLabel: ["without it", "label"],
    isSame: true,
    plots: expect.arrayContaining(["USD an hour"]),
  });
});

test("what answered another question is told to be from before until the next answer comes, on every page", async () => {
  const { faults, rows, found, failed } = await waitForAnswers(stage);
  expect(faults).toEqual([]);
  expect(rows[0]).toBeGreaterThan(0);
  expect(rows[1]).toBe(rows[0]);
  expect(found).toBe("/accounts/ID");
  expect(failed).toEqual(["HTTP 500.", 1]);
}, 120_000);

test("an owner steers endpoints, operators and sessions in the settings, and pages say where values stand", async () => {
  const { said, received, revoked, ended, sources } = await steerBySettings(stage);
  expect(said).toEqual([
    "The endpoint is paused: its events wait.",
    "The endpoint gets its events again.",
    "A test event is on its way.",
    "The event is sent again.",
    "The endpoint gets nothing any more.",
    "The session has ended.",
    "The operator's token is revoked.",
  ]);
  expect(received).toEqual(expect.arrayContaining(["webhook.test"]));
  expect([revoked, ended]).toEqual(["Revoked", "/sign-in to /requests?outcome=refused"]);
  expect(sources).toEqual([
    "The model was found at the start: no file has it. tollgate init --server URL writes one.",
    "The list of servers was found at the start: no file has it. tollgate init --server URL writes one.",
  ]);
});

test("every page's task is done by keyboard alone, with the focus in sight and given back", async () => {
  expect(await together().byKeyboard).toEqual([]);
}, 240_000);

test("every page has one heading, fits 360 pixels, and gives nothing to find fault with in either theme", async () => {
  expect(await together().judged).toEqual([]);
}, 240_000);

test("dialogs of operators and members give nothing to find fault with in either theme", async () => {
  expect(await judgeDialogs(stage)).toEqual([]);
}, 240_000);

test("a cold overview weighs less than its budget and asks no other host", async () => {
  const { bytes, hosts } = await weigh(stage);
  expect(bytes).toBeLessThan(heaviest);
  expect(hosts).toEqual([new URL(stage.origin).host]);
});

test("a lost connection is said, and mended by itself", async () => {
  expect(await together().lost).toEqual([
    "said",
    "mended",
    "loaded",
    "signed in",
    "waited",
    "open",
    "waited",
    "open",
    "waited",
    "open",
  ]);
}, 120_000);

test("every page that is first opened while nothing answers, or after an upgrade, recovers by itself", async () => {
  expect(await openFirst(stage)).toEqual([]);
}, 240_000);

test("what the page shows is what the ledger holds", async () => {
  const [account] = (await stage.tollgate.admin("accounts", "list")) as { id: string; balance_usd: string }[];
  const { context, page } = await stage.visit();
  await page.goto(await stage.makeLink("reader"));
  await page.goto(`/accounts/${account?.id}`);
  const balance = await readAmount(page, "balance");
  const remaining = await page
    .locator('tbody [data-name="remaining"]')
    .evaluateAll((amounts) => amounts.map((amount) => amount.getAttribute("data-pico-usd") ?? ""));
  expect(remaining.reduce((all, one) => all + BigInt(one), 0n)).toBe(balance);
  expect(`${balance / 10n ** 12n}.${String(balance % 10n ** 12n).padStart(12, "0")}`.replace(/0{1,10}$/, "")).toBe(
    account?.balance_usd,
  );
  expect(await page.getByRole("button", { name: "Top up" }).count()).toBe(0);
  await context.close();
});

test("at a host of its own the console has a cookie that other servers of this machine never get at theirs", async () => {
  expect(await signInAtOwnHost(stage)).toEqual(["tollgate.localhost"]);
});

test("no page broke a policy or threw an error", () => {
  expect(stage.complaints).toEqual([]);
});
