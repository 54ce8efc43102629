import { describe, expect, test } from "@jest/globals";
import { createSmtp, type SendMail } from "#src/delivery/mail/smtp.ts";
import { databases, dialects } from "../../money/databases.ts";
import { eventually } from "../../support/eventually.ts";
import { link, openMail } from "./fixture.ts";

const newDatabase = databases();
const minute = 60_000;

describe.each(dialects)("%s", (dialect) => {
  test("a mail has a text and an HTML part, and is erased once it is sent", async () => {
    const { box, core, server, counts, stored, backlog } = await openMail(await newDatabase(dialect));
    await box.send("sign-in-link", "bob@example.com", link);
    await core().turn();
    const [mail] = server.mails;
    expect(mail?.to).toEqual(["bob@example.com"]);
    expect(mail?.source).toMatch(/^from: Example <no-reply@example.com>/im);
    expect(mail?.source).toMatch(/^subject: Sign in to Example/im);
    expect(mail?.source).toMatch(/^auto-submitted: auto-generated/im);
    expect(mail?.source).toContain("Content-Type: text/plain; charset=utf-8");
    expect(mail?.source).toContain("Content-Type: text/html; charset=utf-8");
    expect(mail?.source).toContain(link.url);
    expect(counts).toEqual(["sign-in-link sent"]);
    expect(await stored()).toMatchObject([{ status: "sent", content: "", nextAt: null, attempts: 1 }]);
    expect(backlog).toEqual({ waiting: 0, oldestMs: 0 });
  });

  test("what a server does not take now comes again by the same id, to others meanwhile as well", async () => {
    const { box, core, server, clock, counts } = await openMail(await newDatabase(dialect));
    await box.send("payment-taken", "bob@example.com", { account: "Ada", amount_usd: "5", reference: "r" });
    await box.send("payment-taken", "eve@example.com", { account: "Ada", amount_usd: "5", reference: "r" });
    server.answer = (to) => (to === "bob@example.com" ? 451 : 250);
    const sender = core();
    await sender.turn();
    expect(server.mails.map(({ to }) => to)).toEqual([["eve@example.com"]]);
    await sender.turn();
    expect(server.offered).toHaveLength(2); // it waits
    clock.advance(2000);
    await sender.turn();
    clock.advance(5000);
    server.answer = () => 250;
    await core().turn();
    expect(server.mails).toHaveLength(1); // the other core has the lease
    await sender.turn();
    expect(server.mails).toHaveLength(2);
    expect(counts.sort()).toEqual([
      "payment-taken retried",
      "payment-taken retried",
      "payment-taken sent",
      "payment-taken sent",
    ]);
  });

  test("a server's refusal is final, a wrong password of ours is not", async () => {
    const { box, core, server, clock, counts, stored } = await openMail(await newDatabase(dialect));
    const values = { account: "Ada", amount_usd: "5", reference: "r" };
    await box.send("payment-taken", "gone@example.com", values);
    server.answer = () => 550;
    await core().turn();
    expect(counts).toEqual(["payment-taken failed"]);
    expect(await stored()).toMatchObject([
      { status: "failed", content: "", error: expect.stringContaining("not here") },
    ]);
    clock.advance(20_000); // the lease
    server.answer = () => 535;
    await box.send("payment-taken", "bob@example.com", values);
    await core().turn();
    expect(counts.at(-1)).toBe("payment-taken retried");
  });

  test("a link that has ended is sent to nobody: retries are bounded by what they are good for", async () => {
    const { box, core, server, clock, counts, stored } = await openMail(await newDatabase(dialect));
    server.answer = () => 451;
    await box.send("sign-in-link", "bob@example.com", link);
    const sender = core();
    for (let passed = 0; passed < 12 * minute; passed += 10_000) {
      await sender.turn();
      clock.advance(10_000);
    }
    expect(counts.filter((one) => one === "sign-in-link retried").length).toBeLessThan(8);
    expect(counts.at(-1)).toBe("sign-in-link failed");
    expect(server.mails).toEqual([]);
    expect(await stored()).toMatchObject([{ status: "failed", content: "" }]);
  });

  test("a server that hangs keeps no other mail, and its mail is sent by one core at a time", async () => {
    const { box, core, server, clock, counts, send } = await openMail(await newDatabase(dialect));
    server.hangs = true;
    const values = { account: "Ada", amount_usd: "5", reference: "r" };
    await box.send("payment-taken", "bob@example.com", values);
    const first = core().turn();
    await eventually("the server has the mail", () => server.mails.length === 1);
    clock.advance(20_000); // the other core takes the lease over, but not the mail
    await core().turn();
    expect(server.mails).toHaveLength(1);
    clock.advance(40_000);
    await first;
    expect(counts).toEqual(["payment-taken retried"]);
    server.hangs = false;
    clock.advance(20_000);
    await core(send).turn();
    expect(server.mails).toHaveLength(2);
    expect(new Set(server.mails.map(({ messageId }) => messageId)).size).toBe(1);
    expect(counts).toEqual(["payment-taken retried", "payment-taken sent"]);
  });

  test("a core that ends in the middle leaves its mail to another", async () => {
    const { box, core, server, clock } = await openMail(await newDatabase(dialect));
    await box.send("payment-taken", "bob@example.com", { account: "Ada", amount_usd: "5", reference: "r" });
    const taken = Promise.withResolvers<void>();
    const dies: SendMail = () => {
      taken.resolve();
      return new Promise(() => {});
    };
    void core(dies).turn();
    await taken.promise;
    clock.advance(20_000); // the lease
    const other = core();
    await other.turn();
    expect(server.mails).toHaveLength(0);
    clock.advance(70_000);
    await other.turn();
    expect(server.mails).toHaveLength(1);
  });
});

test("a server that refuses connections, or is none, is told of and asked again", async () => {
  const { box, clock, core, counts, stored } = await openMail(await newDatabase("sqlite"));
  await box.send("payment-taken", "bob@example.com", { account: "Ada", amount_usd: "5", reference: "r" });
  await core(createSmtp({ url: "smtp://127.0.0.1:1", from: "a@example.com", clock })).turn();
  expect(counts).toEqual(["payment-taken retried"]);
  expect((await stored())[0]?.error).toContain("ECONNREFUSED");
});
