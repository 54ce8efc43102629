import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import OpenAI from "openai";
import { Agent, fetch } from "undici";
import { defaultFleetConfig, startDefaultFleet } from "../../simulator/fleet.ts";
import type { Simulator } from "../../simulator/server.ts";
import { createAuthority, type Identity, writeIdentity } from "../support/certificates.ts";
import { runHere } from "../support/run-here.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";

// A core that demands client certificates, a facade that shows one, and callers with and without.

const authority = createAuthority();
let fleet: Simulator[];
let site: Site;
let core: Tollgate;
let facade: Tollgate;
let known: string[];
let stranger: Identity;
let agent: Agent;
let ca: string;

beforeAll(async () => {
  fleet = await startDefaultFleet({ speed: 0 });
  site = await createSite();
  ca = join(site.folder, "ca.crt");
  await writeFile(ca, authority.ca);
  const server = await writeIdentity(site.folder, "server", authority.issue("server"));
  const client = await writeIdentity(site.folder, "client", authority.issue("client"));
  stranger = await writeIdentity(site.folder, "stranger", createAuthority("another").issue("stranger"));
  known = ["--ca", ca, "--cert", client.cert, "--cert-key", client.key];
  const tls = { cert: server.cert, key: server.key, client_ca: ca };
  const config = { listen: { ...freePorts.listen, tls }, models: defaultFleetConfig(fleet) };
  core = await startTollgate(site, "core", "--config", await site.configure(config));
  const front = { listen: { ...freePorts.listen, console: "127.0.0.1:0", tls } };
  const file = await site.configure(front, "facade.yaml");
  facade = await startTollgate(site, "facade", "--core", String(core.addresses.grpc), "--config", file, ...known);
  agent = new Agent({ connect: { ca: authority.ca } });
}, 60_000);

afterAll(async () => {
  await agent?.close();
  await Promise.all([facade, core].map((tollgate) => tollgate?.stop()));
  await Promise.all(fleet.map((simulator) => simulator.close()));
  await site?.remove();
}, 60_000);

const admin = async (...args: string[]) => JSON.parse((await runHere([...args, "--json"], site.env)).output);
const toCore = () => ["--core", String(core.addresses.grpc)];

test("the console over HTTPS, on a facade alone: a customer signs in by a key and sees its account", async () => {
  const { id } = await admin("accounts", "create", "--name", "Aster Labs", ...toCore(), ...known);
  const { key } = await admin("keys", "create", id, ...toCore(), ...known);
  const ask = (path: string, headers: Record<string, string>, body?: object) =>
    fetch(`https://${facade.addresses.console}${path}`, {
      ...{ dispatcher: agent, redirect: "manual" as const, method: body === undefined ? "GET" : "POST" },
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const signedIn = await ask("/session", {}, { apiKey: key });
  expect(await signedIn.json()).toMatchObject({ role: "customer", accountId: id, insecure: false });
  const [cookie = ""] = signedIn.headers.getSetCookie();
  expect(cookie).toMatch(/^__Host-tollgate=[^;]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/);
  const page = await ask("/overview", { cookie });
  expect([page.status, page.headers.get("content-security-policy")]).toEqual([
    200,
    expect.stringContaining("frame-ancestors 'none'"),
  ]);
  await page.arrayBuffer();
  const read = "/tollgate.accounts.v1.AccountsService/GetAccount";
  const account = await ask(read, { cookie, "connect-protocol-version": "1" }, {});
  expect(await account.json()).toMatchObject({ account: { id, balancePicoUsd: String(10n ** 12n) } });
  const foreign = await ask(read, { cookie, "connect-protocol-version": "1", "sec-fetch-site": "cross-site" }, {});
  expect(foreign.status).toBe(403);
  await foreign.arrayBuffer();
});

test("the openai client over HTTPS, through a facade that shows its certificate to the core", async () => {
  const { id } = await admin("accounts", "create", "--name", "test", ...toCore(), ...known);
  const { key } = await admin("keys", "create", id, ...toCore(), ...known);
  const openai = new OpenAI({
    baseURL: `https://${facade.addresses.http}/v1`,
    apiKey: key,
    maxRetries: 0,
    fetch: fetch as unknown as typeof globalThis.fetch,
    fetchOptions: { dispatcher: agent },
  });
  const answer = await openai.chat.completions.create({
    model: "tollgate-sim/plain",
    messages: [{ role: "user", content: "Tell me about toll gates." }],
    max_tokens: 20,
  });
  expect(answer.choices[0]?.message.content).toMatch(/\w/);
});

test.each<[string, () => string[]]>([
  ["without TLS", () => []],
  ["without a certificate", () => ["--ca", ca]],
  ["with another authority's certificate", () => ["--ca", ca, "--cert", stranger.cert, "--cert-key", stranger.key]],
])("the core refuses a client %s", async (_, options) => {
  const asked = runHere(["accounts", "list", ...toCore(), ...options()], site.env);
  expect(await asked).toMatchObject({ code: 1, notes: expect.stringContaining("no core answers at") });
});

test("a client refuses a core whose certificate another authority signed", async () => {
  const asked = runHere(["accounts", "list", ...toCore(), "--ca", stranger.cert], site.env);
  expect(await asked).toMatchObject({ code: 1 });
});

test("health and metrics are shown over HTTPS to callers without a certificate, Connect is not", async () => {
  const ready = await fetch(`https://${core.addresses.admin}/readyz`, { dispatcher: agent });
  expect([ready.status, await ready.text()]).toEqual([200, "ready\n"]);
  const path = "tollgate.catalogue.v1.CatalogueService/ListModels";
  await expect(fetch(`https://${core.addresses.connect}/${path}`, { dispatcher: agent })).rejects.toThrow();
});

test("no address speaks plain text", async () => {
  for (const address of [core.addresses.connect, core.addresses.admin, facade.addresses.http]) {
    await expect(fetch(`http://${address}/readyz`)).rejects.toThrow();
  }
});

test("no address speaks a TLS that is broken", async () => {
  for (const address of [core.addresses.grpc, core.addresses.admin, facade.addresses.http]) {
    const handshake = shake(String(address), {
      maxVersion: "TLSv1.1",
      minVersion: "TLSv1",
      ciphers: "DEFAULT:@SECLEVEL=0",
    });
    await expect(handshake).rejects.toThrow(/protocol version/);
  }
});

async function shake(address: string, options: ConnectionOptions): Promise<TLSSocket> {
  const { hostname: host, port } = new URL(`https://${address}`);
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), ca: authority.ca, ...options }, () => resolve(socket));
    socket.once("error", reject);
  });
}
