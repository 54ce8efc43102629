import { createServer } from "node:net";
import { expect, test } from "@jest/globals";
import { listen } from "#lib/net/listen.ts";
import { systemClock } from "#lib/time/clock.ts";
import { createSmtp, mailMs, verifySmtp } from "#src/delivery/mail/smtp.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { MailServer } from "./mail-server.ts";

const letter = { subject: "Grüße", text: "Hallo", html: "<p>Hallo</p>", messageId: "<1@example.com>" };

test("a password is sent to a server on this machine, and a wrong one is no fault of the mail", async () => {
  await using server = await MailServer.start({ name: "tollgate", password: "secret" });
  const url = (password: string) => `smtp://tollgate:${password}@127.0.0.1:${server.port}`;
  const send = (password: string) =>
    createSmtp({ url: url(password), from: "a@example.com", clock: systemClock })({ ...letter, to: "b@example.com" });
  expect(await send("secret")).toEqual({ outcome: "sent", error: "" });
  expect(await send("wrong")).toMatchObject({ outcome: "later", error: expect.stringContaining("who are you") });
  expect(server.mails).toHaveLength(1);
  await verifySmtp(url("secret"));
  await expect(verifySmtp(url("wrong"))).rejects.toThrow("who are you");
});

test("a server that says nothing costs a minute at most, and one that ends the call nothing", async () => {
  const clock = new ManualClock();
  const silent = createServer(() => {});
  const rude = createServer((socket) => socket.end("554 go away\r\n"));
  const [silentAt, rudeAt] = [await listen(silent, "127.0.0.1:0", "t"), await listen(rude, "127.0.0.1:0", "t")];
  const send = (at: string) =>
    createSmtp({ url: `smtp://${at}`, from: "a@example.com", clock })({ ...letter, to: "b@example.com" });
  try {
    expect(await send(rudeAt)).toMatchObject({ outcome: "refused", error: expect.stringContaining("go away") });
    const late = send(silentAt);
    await eventually("the call waits", () => clock.pending === 1);
    clock.advance(mailMs);
    expect(await late).toEqual({ outcome: "later", error: "not taken within 60 s" });
  } finally {
    silent.close();
    rude.close();
  }
});
