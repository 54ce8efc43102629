import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { isMailKind, type MailKind, type MailValues, mailKinds } from "#src/delivery/mail/kinds.ts";
import { type MailedEvent, mailedEvents } from "#src/storage/outbox/types.ts";
import { databases, dialects } from "../../money/databases.ts";
import { afterwards, link, openMail } from "./fixture.ts";
import { readPart } from "./mail-server.ts";

const newDatabase = databases();
const kinds = Object.keys(mailKinds).filter(isMailKind);

/** A mail, what it comes of, and what it says. */
interface Sample {
  readonly kind: MailKind;
  /** Undefined: somebody asks for it. */
  readonly event?: MailedEvent;
  readonly data: JsonObject;
  readonly subject: string;
  readonly says: readonly string[];
}

const budget = { key_id: "k", name: "ci", limit_usd: "5", per: "day", resets_at: "2026-12-01T00:00:00.000Z" };
const invited = {
  url: "https://console.example.com/invitation/secret",
  account: "Ada",
  inviter: "Bob",
  role: "viewer",
};

const samples: readonly Sample[] = [
  { kind: "sign-in-link", data: link, subject: "Sign in to Example", says: [link.url, "10 minutes"] },
  { kind: "invitation", data: invited, subject: "Bob invites you to Ada at Example", says: [invited.url, "as viewer"] },
  {
    ...{ kind: "low-balance", event: "balance.low", data: { balance_usd: "0.5", threshold_usd: "1" } },
    ...{ subject: "Ada: the balance is low", says: ["is 0.5 USD, below 1 USD"] },
  },
  {
    ...{ kind: "balance-exhausted", event: "balance.exhausted", data: { balance_usd: "0" } },
    ...{ subject: "Ada: the balance is used up", says: ["is 0 USD and pays for no further request"] },
  },
  {
    ...{ kind: "payment-taken", event: "account.topped_up", data: { amount_usd: "25", reference: "pi_1" } },
    ...{ subject: "Ada: 25 USD came in", says: ["A payment of 25 USD", "pi_1"] },
  },
  {
    ...{ kind: "auto-top-up-declined", event: "auto_top_up.declined" },
    ...{ data: { amount_usd: "20", reason: "no funds", declines: 3, switched_off: true } },
    ...{ subject: "Ada: the automatic payment was declined", says: ["of 20 USD", "no funds", "decline 3 in a row"] },
  },
  {
    ...{ kind: "key-budget", event: "key.limit", data: { ...budget, percent: 80, spent_usd: "4" } },
    ...{ subject: "Ada: the key ci has spent 80 % of its budget", says: ["4 of 5 USD (day)", budget.resets_at] },
  },
  {
    ...{ kind: "key-budget", event: "key.limit", data: { ...budget, percent: 100, spent_usd: "5" } },
    ...{ subject: "Ada: the key ci has spent 100 % of its budget", says: ["5 of 5 USD (day)"] },
  },
  {
    ...{ kind: "key-expires", event: "key.expires_soon" },
    ...{ data: { key_id: "k", name: "ci", expires_at: "2026-12-01T00:00:00.000Z" } },
    ...{ subject: "Ada: the key ci ends soon", says: ["ends at 2026-12-01T00:00:00.000Z"] },
  },
  {
    ...{ kind: "account-frozen", event: "account.frozen", data: { reason: "a dispute" } },
    ...{ subject: "Ada is frozen", says: ["No new request runs for Ada: a dispute"] },
  },
];

test("every kind of mail has a cause, and every event that mails tell of has its mail", () => {
  expect(new Set(samples.map(({ kind }) => kind))).toEqual(new Set(kinds));
  expect(new Set(samples.flatMap(({ event }) => event ?? []))).toEqual(new Set(mailedEvents));
});

describe.each(dialects)("%s", (dialect) => {
  /** Causes all mails, looked for by two cores at once, and sent by two. */
  async function sendAll(folder?: string) {
    const { box, announce, spread, core, server, addresses } = await openMail(
      await newDatabase(dialect),
      { address: 20 },
      folder,
    );
    const accountId = v7();
    for (const { kind, event: type, data } of samples) {
      await (type === undefined
        ? box.send(kind, addresses[0] ?? "", data as MailValues)
        : announce({ type, accountId, data }));
    }
    await Promise.all([spread(), spread()]);
    await spread();
    const cores = [core(), core()];
    await Promise.all(cores.map((one) => one.turn()));
    await Promise.all(cores.map((one) => one.turn()));
    return server.mails.map(({ to, source }) => ({
      to,
      subject: /^subject: (.*(?:\r\n[ \t].*)*)/im.exec(source)?.[1]?.replaceAll(/\r\n[ \t]/g, " "),
      text: readPart(source, "text/plain"),
      html: readPart(source, "text/html"),
    }));
  }

  test("each kind comes once an event, as text and as a small page, and says what happened", async () => {
    const mails = await sendAll();
    expect(mails.map(({ subject }) => subject).toSorted()).toEqual(samples.map(({ subject }) => subject).toSorted());
    for (const { subject, says } of samples) {
      const { to, text = "", html = "" } = mails.find((mail) => mail.subject === subject) ?? {};
      expect(to).toEqual(["ada@example.com"]);
      for (const words of says) {
        expect(text).toContain(words);
        expect(html).toContain(words);
      }
      expect(html).toMatch(/^<!doctype html>/);
      expect(html.length).toBeLessThan(2000);
      expect(html).not.toMatch(/<script|<img|src=/i);
    }
  }, 60_000);

  test("an operator's files of the same names take the place of all of them", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tollgate-mail-"));
    afterwards(() => rm(folder, { recursive: true }));
    for (const kind of kinds) {
      const values = mailKinds[kind].values.map((name) => `{{${name}}}`).join(" ");
      await writeFile(join(folder, `${kind}.txt`), `Our ${kind}\n\nOurs: ${values}\n`);
    }
    await writeFile(join(folder, "layout.html"), "<p>Our own page</p>{{body}}");
    const mails = await sendAll(folder);
    expect(mails.map(({ subject }) => subject).toSorted()).toEqual(samples.map(({ kind }) => `Our ${kind}`).toSorted());
    for (const { text, html } of mails) {
      expect(text).toMatch(/^Ours: /);
      expect(html).toMatch(/^<p>Our own page<\/p><p>Ours: /);
    }
  }, 60_000);
});
