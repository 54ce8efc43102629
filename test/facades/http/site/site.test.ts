import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { ModelKind, ThinkingMode } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { type FrontServer, type FrontSettings, startFront } from "../front-server.ts";
import { type Script, scriptedCore } from "../scripted-core.ts";

const asBrowser = { headers: { accept: "text/html,application/xhtml+xml" } };
const card = {
  description: "Good at <b>code</b>.",
  quantization: "fp8",
  licence: "MIT",
  link: "https://example.com/deepseek",
};
const deepseek = {
  id: "deepseek/deepseek-v4",
  displayName: "DeepSeek V4",
  kind: ModelKind.GENERATION,
  card,
  contextLength: 131_072,
  maxOutputTokens: 32_768,
  thinking: ThinkingMode.DEFAULT_OFF,
  inputPicoUsdPerToken: 200_000n,
  outputPicoUsdPerToken: 250_000n,
};
const vectors = { id: "vectors", kind: ModelKind.EMBEDDING, contextLength: 8192, dimensions: 1024 };
const models = [deepseek, { ...vectors, inputPicoUsdPerToken: 10_000n, outputPicoUsdPerToken: 0n }];
const prices = {
  models: [
    {
      model: deepseek.id,
      days: [1n, 2n, 2n].map((times, index) => ({
        date: `2026-01-0${index + 1}`,
        inputPicoUsdPerToken: times * 100_000n,
        outputPicoUsdPerToken: 250_000n,
      })),
    },
  ],
};
const today = new Date().toISOString().slice(0, 10);
const history = {
  models: [
    {
      model: deepseek.id,
      availability: 0.999_99,
      firstTokenP50Ms: 120,
      firstTokenP99Ms: 2345,
      days: [{ date: today, availability: 0.9 }],
    },
    { model: "vectors" },
  ],
  incidents: [
    { model: deepseek.id, began: timestampFromDate(new Date("2026-01-31T12:00:00Z")) },
    {
      model: deepseek.id,
      began: timestampFromDate(new Date("2026-01-30T12:00:00Z")),
      ended: timestampFromDate(new Date("2026-01-30T12:05:00Z")),
    },
  ],
  availability: 0.999_99,
};

function open(script: Partial<Script> = {}, site: FrontSettings["site"] = {}): Promise<FrontServer> {
  return startFront(scriptedCore({ models, prices, history, ...script }).transport, { site });
}

const read = async (front: FrontServer, path: string) => (await fetch(front.url + path, asBrowser)).text();

test("a browser is shown what is served, other clients the JSON that they know", async () => {
  await using front = await open();
  const page = await fetch(front.url, asBrowser);
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-/);
  const html = await page.text();
  expect(html).toContain(`<code>${front.url}/v1</code>`);
  expect(html).toContain('<a href="/models/deepseek/deepseek-v4">DeepSeek V4</a>');
  for (const fact of ["$0.20", "$0.25", "131,072 tokens", "32,768 tokens", "fp8", "MIT", "thinks when asked to"]) {
    expect(html).toContain(fact);
  }
  expect(html).toContain("Price of the last 3 days per 1M tokens: input from $0.10 to $0.20, output $0.25 throughout.");
  const json = await fetch(front.url);
  expect(await json.json()).toEqual({ name: "tollgate", openapi: "/openapi.json" });
});

test("a price that is known of one day alone is no plot, and none is spoken of", async () => {
  const days = prices.models?.[0]?.days?.slice(-1) ?? [];
  await using front = await open({ prices: { models: [{ model: deepseek.id, days }] } });
  const html = await read(front, "/");
  expect(html).toContain("Prices in USD.");
  expect(html).not.toMatch(/<svg class="plot"|line below/);
});

test("a model without a name of its own is called by its id, once", async () => {
  await using front = await open({ models: [{ ...deepseek, displayName: deepseek.id }] });
  for (const path of ["/", "/models/deepseek/deepseek-v4"]) {
    const [, body = ""] = (await read(front, path)).split("<h1>");
    expect(body).not.toMatch(/<(p class="small id"|p><code)>deepseek\/deepseek-v4</);
  }
});

test("a core that cannot tell of the past costs the pages their past alone", async () => {
  await using front = await open({ history: undefined, prices: {} });
  expect(await read(front, "/")).toContain("DeepSeek V4");
  expect(await read(front, "/models/vectors")).toContain("embeddings.create");
  expect(await read(front, "/status")).toContain("cannot be told at the moment");
  expect(await (await fetch(`${front.url}/status`)).json()).toEqual({ ok: true, red: [] });
});

test("the status page tells what is wrong and what was, as JSON in short", async () => {
  await using front = await open({
    status: {
      ok: false,
      red: [{ what: "no_server", model: deepseek.id, reason: "No <server>.", since: timestampFromDate(new Date(0)) }],
    },
  });
  const html = await read(front, "/status");
  expect(html).toContain("<h1>Something is wrong.</h1>");
  expect(html).toContain("No &lt;server&gt;.");
  expect(html).toContain("99.99 %"); // never 100 where something failed
  expect(html).toContain(`The worst was ${today} with 90.00 % served.`);
  expect(html).toContain("120 ms");
  expect(html).toContain("2.3 s");
  expect(html).toContain("<td>2026-01-31 12:00</td><td>until now</td>");
  expect(html).toContain("<td>2026-01-30 12:00</td><td>5 min</td>");
  expect(await (await fetch(`${front.url}/status`)).json()).toMatchObject({ ok: false, availability: 0.999_99 });
});

test("what an operator and a client say is text on the pages", async () => {
  const evil = "<script>alert(1)</script>";
  const model = {
    ...deepseek,
    id: `a"${evil}`,
    displayName: evil,
    card: { ...card, licence: evil, description: evil },
  };
  await using front = await open({ models: [model] }, { name: evil });
  for (const path of ["/", `/models/${encodeURIComponent(model.id)}`, "/status"]) {
    const html = await read(front, path);
    expect(html).toContain("&lt;script&gt;");
    expect(html).not.toContain("<script");
  }
});

test("the operator's name, logo, colour, links and console are on every page", async () => {
  const site = {
    name: "Example",
    logo: "data:image/svg+xml;base64,AAAA",
    colour: "#123456",
    terms: "https://example.com/terms",
    privacy: "https://example.com/privacy",
    support: "help@example.com",
    address: "https://console.example.com",
  };
  await using front = await open({}, site);
  for (const [path, title] of [
    ["/", "Open models by API, with live prices · Example"],
    ["/models/deepseek/deepseek-v4", "DeepSeek V4 API and price · Example"],
    ["/status", "Status · Example"],
  ] as const) {
    const html = await read(front, path);
    expect(html).toContain(`<title>${title}</title>`);
    expect(html).toContain('<meta name="description" content="');
    for (const link of [site.terms, site.privacy, "mailto:help@example.com", `${site.address}/sign-in`]) {
      expect(html).toContain(`href="${link}"`);
    }
    expect(html).toContain(site.logo);
    expect(html).toContain(site.colour);
  }
});

test("no page has a script or loads anything from elsewhere, and a hundred models are 150 KB at most", async () => {
  const many = Array.from({ length: 100 }, (_, index) => ({ ...deepseek, id: `maker/model-${index}` }));
  const each = <Of extends object>(of: Of) => many.map(({ id }) => ({ ...of, model: id }));
  const bars = Array.from({ length: 90 }, (_, day) => ({
    date: new Date(Date.now() - day * 86_400_000).toISOString().slice(0, 10),
    availability: 1 - day / 100,
  }));
  const moving = Array.from({ length: 30 }, (_, day) => ({
    date: "2026-01-01",
    inputPicoUsdPerToken: BigInt(100_000 + day),
    outputPicoUsdPerToken: BigInt(day * 9999),
  }));
  await using front = await open({
    models: many,
    prices: { models: each({ days: moving }) },
    history: { models: each({ days: bars, availability: 0.5, firstTokenP50Ms: 1, firstTokenP99Ms: 2 }) },
  });
  for (const path of ["/", "/models/maker/model-1", "/status"]) {
    const html = await read(front, path);
    expect([path, Buffer.byteLength(html) <= 150_000 || Buffer.byteLength(html)]).toEqual([path, true]);
    expect(html).not.toMatch(/<script|<link|<iframe|src="(?!data:)|url\(/);
  }
});

test("a model that is not served is a page that says so, and an unknown address to programs", async () => {
  await using front = await open();
  const missing = await fetch(`${front.url}/models/unknown`, asBrowser);
  expect([missing.status, missing.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  const client = await fetch(`${front.url}/models/vectors`);
  expect([client.status, await client.json()]).toMatchObject([404, { error: { code: "unknown_url" } }]);
});
