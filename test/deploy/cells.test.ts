import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { freePort } from "../../scripts/test-services/free-port.ts";
import { type Balancer, startHaproxy } from "../../scripts/test-services/haproxy.ts";
import { defaultFleetConfig, startDefaultFleet } from "../../simulator/fleet.ts";
import type { Simulator } from "../../simulator/server.ts";
import { eventually } from "../support/eventually.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";
import { readDeploy } from "./files.ts";

// Two whole services, told apart by what their keys begin with, behind a real HAProxy with the configuration that is shipped:
// only its addresses are the test's.

const prefixes = ["tg", "eu"] as const;
type Prefix = (typeof prefixes)[number];

interface Cell {
  readonly site: Site;
  readonly tollgate: Tollgate;
  readonly account: string;
  readonly key: string;
}

let fleet: Simulator[];
let cells: Record<Prefix, Cell>;
let balancer: Balancer;
let url: string;

beforeAll(async () => {
  fleet = await startDefaultFleet({ speed: 0 });
  const [tg, eu] = await Promise.all(prefixes.map(startCell));
  cells = { tg, eu } as typeof cells;
  const port = await freePort();
  let configuration = (await readDeploy("haproxy/cells.cfg")).replace("bind :8080", `bind 127.0.0.1:${port}`);
  for (const [at, prefix] of prefixes.entries()) {
    const { http, admin } = cells[prefix].tollgate.addresses;
    const ask = `check port ${admin?.split(":").at(-1)}`;
    // The second replica is down, and not known to be when the first request comes.
    configuration = configuration
      .replace(`10.0.${at + 1}.11:8080`, `${http} ${ask}`)
      .replace(`10.0.${at + 1}.12:8080`, `127.0.0.1:${await freePort()} ${ask}`);
  }
  expect(configuration).not.toContain("10.0.");
  balancer = await startHaproxy(configuration, port);
  url = `http://127.0.0.1:${port}`;
}, 120_000);

afterAll(async () => {
  await balancer?.stop();
  for (const { tollgate, site } of Object.values(cells ?? {})) {
    await tollgate.stop();
    await site.remove();
  }
  await Promise.all((fleet ?? []).map((simulator) => simulator.close()));
}, 60_000);

async function startCell(prefix: Prefix): Promise<Cell> {
  const site = await createSite();
  const trusted = { ...freePorts.listen, trusted_proxies: ["127.0.0.1/32"] };
  const file = await site.configure({
    listen: trusted,
    keys: { prefix: `${prefix}-` },
    models: defaultFleetConfig(fleet),
  });
  const tollgate = await startTollgate(site, "serve", "--no-console", "--config", file);
  const { id: account } = (await tollgate.admin("accounts", "create", "--name", prefix)) as { id: string };
  const { key } = (await tollgate.admin("keys", "create", account, "--rpm", "100000")) as { key: string };
  return { site, tollgate, account, key };
}

const body = { model: "tollgate-sim/plain", max_tokens: 5, messages: [{ role: "user", content: "Hello" }] };

const post = (path: string, headers: Record<string, string>, more: object = {}) =>
  fetch(url + path, { method: "POST", headers, body: JSON.stringify({ ...body, ...more }) });

const bearer = (prefix: Prefix) => ({ authorization: `Bearer ${cells[prefix].key}` });
const apiKey = (prefix: Prefix) => ({ "x-api-key": cells[prefix].key });

/** The cells that have a receipt of an answer. */
async function chargedIn(answer: Response): Promise<Prefix[]> {
  const id = answer.headers.get("x-request-id");
  const has = async (prefix: Prefix) => {
    const { tollgate, account } = cells[prefix];
    const receipts = (await tollgate.admin("receipts", account)) as { request_id: string }[];
    return receipts.some(({ request_id }) => request_id === id);
  };
  let found: Prefix[] = [];
  await eventually("the answer is charged", async () => {
    const all = await Promise.all(prefixes.map(has));
    found = prefixes.filter((_, at) => all[at]);
    return found.length > 0;
  });
  return found;
}

test.each(prefixes)(
  "a key of %s reaches its cell in either header, on both surfaces, and is charged there alone",
  async (prefix) => {
    expect(cells[prefix].key).toMatch(new RegExp(`^${prefix}-`));
    for (const path of ["/v1/chat/completions", "/v1/messages"]) {
      for (const headers of [bearer(prefix), apiKey(prefix), { authorization: `bearer  ${cells[prefix].key}` }]) {
        const answer = await post(path, headers);
        expect([path, headers, answer.status]).toEqual([path, headers, 200]);
        await answer.arrayBuffer();
        expect(await chargedIn(answer)).toEqual([prefix]);
      }
    }
  },
  60_000,
);

test("of two keys that one counts which the surface takes", async () => {
  const both = { ...bearer("tg"), ...apiKey("eu") };
  const chat = await post("/v1/chat/completions", both);
  const messages = await post("/v1/messages", both);
  expect([chat.status, messages.status]).toEqual([200, 200]);
  expect([await chargedIn(chat), await chargedIn(messages)]).toEqual([["tg"], ["eu"]]);
}, 60_000);

test("without a key, or with one of no cell, a request is refused in the format of its surface", async () => {
  const wrong = [
    {},
    { authorization: "Bearer xx-0123456789" },
    { "x-api-key": "no dash" },
    { authorization: "Basic eA==" },
  ];
  for (const headers of wrong as Record<string, string>[]) {
    const chat = await post("/v1/chat/completions", headers);
    expect([chat.status, await chat.json()]).toMatchObject([401, { error: { message: expect.any(String) } }]);
    const messages = await post("/v1/messages", headers);
    expect([messages.status, await messages.json()]).toMatchObject([401, { type: "error" }]);
  }
  const page = await fetch(`${url}/openapi.json`);
  expect([page.status, await page.json()]).toMatchObject([200, { info: { title: "Tollgate" } }]);
});

test("a stream passes to its end", async () => {
  const answer = await post("/v1/chat/completions", bearer("eu"), { stream: true, max_tokens: 50 });
  expect(answer.headers.get("content-type")).toMatch("text/event-stream");
  expect(await answer.text()).toMatch(/^data: [\s\S]*data: \[DONE\]\n\n$/);
});

test("keys are in no line of the balancer's log", async () => {
  await eventually("it has logged the requests", () => balancer.log.join("").includes("/v1/chat/completions"));
  for (const prefix of prefixes) {
    expect(balancer.log.join("")).not.toContain(cells[prefix].key);
  }
});
