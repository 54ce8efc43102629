import { expect, test } from "@jest/globals";
import { MailServer } from "../delivery/mail/mail-server.ts";
import { eventually } from "../support/eventually.ts";
import { createSite, freePorts, startTollgate } from "../support/tollgate.ts";

test("the real program tells an account by mail that it is frozen, and an operator when mail is not taken", async () => {
  await using server = await MailServer.start({ name: "tollgate", password: "secret" });
  const site = await createSite({ SMTP_URL: `smtp://tollgate:secret@127.0.0.1:${server.port}` });
  const mail = { from: "Example <no-reply@example.com>", smtp: { url_env: "SMTP_URL" } };
  const config = await site.configure({ ...freePorts, site: { name: "Example" }, mail });
  const tollgate = await startTollgate(site, "serve", "--config", config);
  try {
    const { id } = (await tollgate.admin("accounts", "create", "--name", "Ada", "--email", "ada@example.com")) as {
      id: string;
    };
    expect(await tollgate.admin("accounts", "show", id)).toMatchObject({ email: "ada@example.com" });
    await tollgate.admin("accounts", "freeze", id, "--reason", "a dispute");
    await eventually("the account is told", () => server.mails.length === 1);
    expect(server.mails[0]).toMatchObject({ to: ["ada@example.com"], source: expect.stringContaining("a dispute") });
    server.answer = () => 550;
    await tollgate.admin("accounts", "top-up", id, "--usd", "25", "--ref", "pi_1");
    const isTold = () =>
      tollgate.admin("status").then(
        () => false,
        ({ message }) => message.includes("mails_not_sent"),
      );
    await eventually("the refusal is told", isTold);
    expect(await tollgate.admin("accounts", "update", id, "--email", "none")).toMatchObject({ email: null });
    await expect(tollgate.admin("accounts", "update", id, "--email", "two@a.b, c@d.e")).rejects.toThrow("e-mail");
  } finally {
    await tollgate.stop();
    await site.remove();
  }
}, 60_000);

interface Invited {
  readonly token: string;
  readonly url: string;
}

test("an invitation that names an address comes there by mail, with its link", async () => {
  await using server = await MailServer.start();
  const site = await createSite({ SMTP_URL: `smtp://127.0.0.1:${server.port}` });
  const config = await site.configure({
    ...freePorts,
    site: { name: "Example", address: "https://console.example.com" },
    mail: { from: "no-reply@example.com", smtp: { url_env: "SMTP_URL" } },
  });
  const tollgate = await startTollgate(site, "serve", "--config", config);
  try {
    const { id } = (await tollgate.admin("accounts", "create", "--name", "Ada's")) as { id: string };
    const invite = ["accounts", "invite", id, "--role", "developer"];
    const { token, url } = (await tollgate.admin(...invite, "--email", "bob@example.com")) as Invited;
    expect(url).toBe(`https://console.example.com/invitation/${token}`);
    await eventually("the invitation is mailed", () => server.mails.length === 1);
    const [{ to, source } = { to: [], source: "" }] = server.mails;
    expect(to).toEqual(["bob@example.com"]);
    const text = source.replaceAll("=\r\n", "").replaceAll("=3D", "=");
    expect(text).toContain(`https://console.example.com/invitation/${token}`);
    expect(text).toContain("Example invites you to the account Ada's as developer.");
    await tollgate.admin(...invite);
    expect(server.offered).toEqual(["bob@example.com"]);
  } finally {
    await tollgate.stop();
    await site.remove();
  }
}, 60_000);

test("a mailed link signs in the browser that asked for it, by a page of the console, and no other", async () => {
  await using server = await MailServer.start();
  const site = await createSite({ SMTP_URL: `smtp://127.0.0.1:${server.port}` });
  const address = "https://console.example.com";
  const config = await site.configure({
    listen: { ...freePorts.listen, console: "127.0.0.1:0" },
    site: { name: "Example", address },
    sign_up: "open",
    mail: { from: "no-reply@example.com", smtp: { url_env: "SMTP_URL" } },
  });
  const tollgate = await startTollgate(site, "serve", "--config", config);
  try {
    const origin = `http://${tollgate.addresses.console}`;
    const own = { "sec-fetch-site": "same-origin", "content-type": "application/json" };
    const body = JSON.stringify({ email: "ada@example.com" });
    const ask = (headers: Record<string, string>) => fetch(`${origin}/sign-in/mail`, { method: "POST", headers, body });
    expect((await ask({ ...own, "sec-fetch-site": "cross-site" })).status).toBe(403);
    const asked = await ask(own);
    expect(asked.status).toBe(204);
    const [pending = ""] = (asked.headers.getSetCookie()[0] ?? "").split(";");
    expect(asked.headers.getSetCookie()).toEqual([expect.stringMatching(/; HttpOnly; SameSite=Lax; Secure$/)]);
    await eventually("the link is mailed", () => server.mails.length === 1);
    const text = server.mails[0]?.source.replaceAll("=\r\n", "").replaceAll("=3D", "=") ?? "";
    const path = text.match(/https:\/\/console\.example\.com(\/sign-in\/mail\/\w+)/)?.[1] ?? "";
    const follow = (headers: Record<string, string>) => fetch(origin + path, { headers });
    expect((await follow({})).status).toBe(401);
    expect((await follow({ cookie: pending, "sec-purpose": "prefetch" })).status).toBe(503);
    const opened = await follow({ cookie: pending });
    expect(opened.status).toBe(200);
    const [session = ""] = (opened.headers.getSetCookie()[0] ?? "").split(";");
    const told = await fetch(`${origin}/session`, { headers: { ...own, cookie: session } });
    expect(await told.json()).toMatchObject({ memberRole: "owner", name: "ada" });
    expect((await follow({ cookie: pending })).status).toBe(401);
  } finally {
    await tollgate.stop();
    await site.remove();
  }
}, 60_000);
