import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { goBackFromDialogs } from "../parts/back-life.ts";
import { openStage, type Stage } from "../stage/stage.ts";
import { leaveAccount } from "./leave-life.ts";
import { liveWithPasskeys } from "./passkey-life.ts";
import { openTabs } from "./two-tabs-life.ts";

// A Tollgate of its own: an address signs in 30 times a minute, which the other tests of the console nearly use up.

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
}, 120_000);
afterAll(() => stage.close());

test("somebody signs up with a passkey, signs in with it, adds another and keeps the last one", async () => {
  const { steps, passkeys, kept, opened, refused, byName } = await liveWithPasskeys(stage);
  expect(byName).toBe("/sign-in");
  expect(steps).toEqual(["Credit", "A key and a request", "The first receipt"]);
  expect(opened).toBe("/overview");
  expect(refused).toContain("No passkey was used");
  expect(passkeys).toEqual([["Hedy", "phone"], ["Hedy"]]);
  expect(kept).toContain("You could not sign in any more");
  expect(stage.complaints).toEqual([]);
}, 60_000);

test("a member leaves an account, which is gone from the console, and its only owner is told why that cannot be", async () => {
  const { refused, left, next, accounts, members, owner } = await leaveAccount(stage);
  expect(refused).toBe("The account would have no owner: make another member an owner first, or close it.");
  expect(left).toEqual(["/sign-in", "You have left the account."]);
  expect(next).toBe(0);
  expect(accounts).toEqual([["naomi", "ruth"], []]);
  expect(members).toEqual([["naomi", "ruth"], ["ruth"]]);
  expect(owner).toBe("Owner");
  expect(stage.complaints).toEqual([]);
}, 60_000);

test("a tab changes no account but the one that it shows, and follows its browser into another one and out", async () => {
  const { refused, kept, isShown, held, followed } = await openTabs(stage);
  const said = "A key or a session sees its own account alone.";
  expect(refused).toEqual({
    "Close account": said,
    Rename: said,
    "Low balance": said,
    Invite: said,
    "Leave account": said,
    "Create key": said,
    Playground: said,
    Usage: said,
  });
  expect(kept).toEqual({ isOpen: true, name: "Other", members: 1, keys: 0 });
  expect(isShown).toBe(true);
  expect(held).toEqual([["held"], []]);
  expect(followed).toEqual(["/sign-in", "/overview"]);
  expect(stage.complaints).toEqual([]);
}, 120_000);

test("Back closes a dialog and stays on its page, keeps what is shown once, and leads out at once without a dialog", async () => {
  expect(await goBackFromDialogs(stage)).toEqual([]);
  expect(stage.complaints).toEqual([]);
}, 120_000);
