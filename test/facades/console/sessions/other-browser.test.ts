import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startConsole } from "#src/compose/console.ts";
import { configSchema } from "#src/config/schema.ts";
import { MailServer, readPart } from "../../../delivery/mail/mail-server.ts";
import { databases, dialects } from "../../../money/databases.ts";
import { Authenticator } from "../../../support/authenticator.ts";
import { eventually } from "../../../support/eventually.ts";
import { type Identities, startIdentities } from "../../../support/identities.ts";
import { errorLogger } from "../../../support/loggers.ts";
import { type Service, serveModels } from "../../../support/service.ts";

// Sign-ins as browsers make them, and what another site or another browser tries with them.

const newDatabase = databases();
const address = "https://console.example.com";
const draw = () => randomBytes(32).toString("hex");
const secrets = { TOLLGATE_OPERATOR_TOKEN: draw(), TOLLGATE_KEY_PEPPER: draw() };
const own = { "sec-fetch-site": "same-origin", "content-type": "application/json" };

/** Another site, another host of this one, the bar of addresses, and a browser that does not say. */
const elsewhere: readonly Record<string, string>[] = [
  { ...own, "sec-fetch-site": "cross-site" },
  { ...own, "sec-fetch-site": "same-site" },
  { ...own, "sec-fetch-site": "none" },
  { "content-type": "application/json" },
];

describe.each(dialects)("%s", (dialect) => {
  let service: Omit<Service, "idle">;
  let identities: Identities;
  let server: MailServer;
  let origin: string;
  beforeAll(async () => {
    server = await MailServer.start();
    identities = await startIdentities("tollgate");
    const more = {
      storage: { url: await newDatabase(dialect) },
      site: { address },
      mail: { from: "no-reply@example.com", smtp: { url: server.url } },
      sign_in: { oidc: { issuer: identities.issuer, client_id: "tollgate" } },
      sign_up: "open" as const,
    };
    service = await serveModels([{ id: "m", servers: [{ url: "http://127.0.0.1:9" }] }], more, false, secrets);
    const { transport, front, lifecycle, doors } = service;
    const config = configSchema.parse({ site: { address } });
    const parts = { config, address: "127.0.0.1:0", transport, front, lifecycle, doors, logger: errorLogger };
    origin = (await startConsole({ ...parts, tls: undefined })).url;
  }, 60_000);
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await identities[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  /** A browser that keeps its cookies, as far as a sign-in goes. */
  function newBrowser() {
    const cookies = new Map<string, string>();
    const take = async (path: string, init: RequestInit = {}) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const headers = { ...(init.headers as Record<string, string>), ...(cookie && { cookie }) };
      const response = await fetch(origin + path, { redirect: "manual", ...init, headers });
      for (const one of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
        value === "" ? cookies.delete(name) : cookies.set(name, value);
      }
      return response;
    };
    return {
      cookies,
      take,
      post: (path: string, body: object, headers: Record<string, string> = own) =>
        take(path, { method: "POST", headers, body: JSON.stringify(body) }),
      isSignedIn: () => cookies.has("__Host-tollgate"),
    };
  }

  /** Goes to the provider. Returns the address that it sends the browser back to. */
  async function goToProvider(browser: ReturnType<typeof newBrowser>, sub: string): Promise<string> {
    const { headers } = await browser.take("/sign-in/oidc");
    const { searchParams: asked } = new URL(headers.get("location") ?? "");
    const claims = { nonce: asked.get("nonce"), sub };
    const code = Buffer.from(JSON.stringify(claims)).toString("base64url");
    return `/sign-in/oidc/callback?${new URLSearchParams({ code, state: asked.get("state") ?? "" })}`;
  }

  /** Asks for a link. Returns its path. */
  async function askForLink(browser: ReturnType<typeof newBrowser>, email: string): Promise<string> {
    const links = () =>
      server.mails
        .filter(({ to }) => to.includes(email))
        .flatMap(({ source }) => /\/sign-in\/mail\/\w+/.exec(readPart(source, "text/plain") ?? "")?.[0] ?? []);
    const before = links().length;
    expect((await browser.post("/sign-in/mail", { email })).status).toBe(204);
    await eventually("the link comes", () => links().length > before);
    return links().at(-1) ?? "";
  }

  test.each([
    ["a provider's code", goToProvider],
    [
      "a mailed link",
      (browser: ReturnType<typeof newBrowser>, who: string) => askForLink(browser, `${who}@example.com`),
    ],
  ])("%s signs nobody in where it was not asked for, used or not, and works once where it was", async (_, begin) => {
    const [mallory, victim, bystander] = [newBrowser(), newBrowser(), newBrowser()];
    const path = await begin(mallory, `mallory-${dialect}`);
    await begin(victim, `victim-${dialect}`);
    for (const browser of [victim, bystander]) {
      expect((await browser.take(path)).status).toBe(401);
      expect(browser.isSignedIn()).toBe(false);
    }
    expect((await mallory.take(path)).status).toBe(200);
    expect(mallory.isSignedIn()).toBe(true);
    const copy = newBrowser();
    expect((await copy.take(path)).status).toBe(401);
    expect((await mallory.take(path)).status).toBe(401);
  });

  test("what one way in has begun is not finished by another", async () => {
    const browser = newBrowser();
    const callback = await goToProvider(browser, `other-${dialect}`);
    const link = await askForLink(browser, `other-${dialect}@example.com`);
    const [oidc, mail] = ["__Host-tollgate-oidc", "__Host-tollgate-mail"];
    const [begun = "", asked = ""] = [browser.cookies.get(oidc), browser.cookies.get(mail)];
    browser.cookies.set(oidc, asked).set(mail, begun);
    expect((await browser.take(link)).status).toBe(401);
    expect((await browser.take(callback)).status).toBe(401);
    expect(browser.isSignedIn()).toBe(false);
  });

  test("no other site opens a session by a passkey of its own, nor has a mail sent", async () => {
    const passkey = new Authenticator(address);
    const [mallory, victim, copy] = [newBrowser(), newBrowser(), newBrowser()];
    type Begun = { readonly options: object; readonly pending: string };
    const begin = async (body: object) => (await (await mallory.post("/sign-in/passkey/begin", body)).json()) as Begun;
    const email = `nobody-${dialect}@example.com`;
    const refused = async (path: string, body: object) => {
      for (const headers of elsewhere) {
        expect([headers, (await victim.post(path, body, headers)).status]).toEqual([headers, 403]);
      }
    };
    const offered = await begin({ name: "Mallory" });
    const made = { credential: passkey.make(JSON.stringify(offered.options)), pending: offered.pending };
    await refused("/sign-up/passkey", made);
    await refused("/sign-in/passkey/begin", {});
    await refused("/sign-in/mail", { email });
    expect((await mallory.post("/sign-up/passkey", made)).status).toBe(200);
    const asked = await begin({});
    const used = { credential: passkey.use(JSON.stringify(asked.options)), pending: asked.pending };
    await refused("/sign-in/passkey", used);
    // A form of another site sends no JSON.
    expect((await victim.post("/sign-in/passkey", used, { "sec-fetch-site": "same-origin" })).status).toBe(400);
    expect(victim.cookies.size).toBe(0);
    expect((await copy.post("/sign-in/passkey", used)).status).toBe(200);
    expect((await victim.post("/sign-in/passkey", used)).status).toBe(401);
    expect(server.offered).not.toContain(email);
  });
});
