import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { MailServer } from "../../delivery/mail/mail-server.ts";
import { openStage, type Stage } from "../stage/stage.ts";
import { liveByMail } from "./mail-life.ts";

// A Tollgate of its own, with a mail server and an address for its links.

let mail: MailServer;
let stage: Stage;
beforeAll(async () => {
  mail = await MailServer.start();
  stage = await openStage({ mailUrl: mail.url, address: "https://console.example.com" });
}, 120_000);
afterAll(async () => {
  await stage.close();
  await mail[Symbol.asyncDispose]();
});

test("somebody signs in by a mailed link, in another tab of the same browser, comes to an invitation, and chooses what mail tells of; every page fits", async () => {
  const { elsewhere, opened, offered, kept, faults } = await liveByMail(stage, mail);
  expect(elsewhere).toContain("another browser asked for it");
  expect(opened).toBe("/invitation/tgin_none");
  expect(offered).toHaveLength(7);
  expect(offered).toContain("a payment came in");
  expect(kept).toEqual(offered.filter((event) => event !== "a payment came in"));
  expect([...faults, ...stage.complaints]).toEqual([]);
}, 120_000);
