import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { ConfigError } from "#src/config/config-error.ts";
import { defaultConfig, loadConfig, parseConfig } from "#src/config/load.ts";

/** The messages of a text that must be refused. */
function refusals(text: string): string[] {
  try {
    parseConfig(text, "t.yaml");
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message.split("\n");
  }
  throw new Error("was accepted");
}

const model = (rest: string) => `models:\n  - id: m\n    servers: [{ url: "http://127.0.0.1:1" }]\n${rest}`;

test("an empty file is the defaults", () => {
  expect(parseConfig("", "t.yaml")).toEqual(defaultConfig());
  expect(parseConfig("# nothing\n", "t.yaml")).toEqual(defaultConfig());
  expect(defaultConfig()).toMatchObject({
    listen: { http: "127.0.0.1:8080", insecure: false },
    keys: { prefix: "tg-", max_per_account: 20 },
    rate_tiers: [
      { paid_usd: "0", rpm: 60 },
      { paid_usd: "50", rpm: 300 },
      { paid_usd: "500", age_days: 14, rpm: 2000 },
    ],
    free_tier: { grant_usd: "1.00", rpm: 20 },
    payments: { minimum_usd: "5", maximum_usd: "1000", rolling_24h_usd: "2000" },
    models: [],
  });
});

test("the documented example is read whole", () => {
  const config = parseConfig(
    `
listen:   { http: 127.0.0.1:8080, grpc: 127.0.0.1:50051, connect: 127.0.0.1:50052, admin: 127.0.0.1:9464 }
storage:  { url: "sqlite:./data/tollgate.db" }
rate_limits: { url: "memory:" }
keys:     { prefix: "tg-", max_per_account: 20 }
rate_tiers: [ { paid_usd: 0, age_days: 0, rpm: 60 }, { paid_usd: 50, rpm: 300 }, { paid_usd: 500, age_days: 14, rpm: 2000 } ]
free_tier: { grant_usd: "1.00", rpm: 20 }
payments: { minimum_usd: "5", maximum_usd: "1000", rolling_24h_usd: "2000" }
pricing:  { interval_s: 60, max_step: 0.05 }
fleet:    { routing: prefix, queue: 1000, queue_timeout_s: 10, connect_timeout_s: 2, first_token_timeout_s: 120, idle_timeout_s: 60, total_timeout_s: 1800, health_interval_s: 5, cache_salt: true }
models:
  - id: deepseek/deepseek-v4
    kind: generation
    context_length: 131072
    max_output: 32768
    sampling: { temperature: 0.7 }
    thinking: { mode: default_off, depths: true, switch: chat_template_kwargs }
    price: { input: "0.20", output: "0.25", floor: 0.5, ceiling: 2.0 }
    servers:
      - { url: "http://10.0.0.5:8000", engine: vllm, model: deepseek-v4, capacity: 256 }
`,
    "t.yaml",
  );
  expect(config.models[0]).toMatchObject({
    sampling: { temperature: 0.7, top_p: 1 },
    thinking: { mode: "default_off", depths: true, switch: "chat_template_kwargs" },
    price: { input: "0.20", output: "0.25", floor: 0.5, ceiling: 2 },
    servers: [{ url: "http://10.0.0.5:8000", engine: "vllm", model: "deepseek-v4", capacity: 256 }],
  });
});

test("amounts may stand without quotes", () => {
  const config = parseConfig("free_tier: { grant_usd: 0.05 }\npayments: { minimum_usd: 1 }", "t.yaml");
  expect(config.free_tier.grant_usd).toBe("0.05");
  expect(config.payments.minimum_usd).toBe("1");
});

test.each(["2000.123456789012", "90060.199254740993", "1000000.000000000001", "010000.50"])(
  "the amount %s means what is written, with quotes and without",
  (amount) => {
    for (const written of [amount, `"${amount}"`, `&amount ${amount}`]) {
      expect(parseConfig(`payments: { rolling_24h_usd: ${written} }`, "t.yaml").payments.rolling_24h_usd).toBe(amount);
    }
  },
);

test.each(["0x10", "0o17", "1_000", "1e3", "1.5e1", "+5", "-5", ".5", "5.", '" 5"', '"5\\n"', ".inf", "０", "~"])(
  "an amount is plain decimal digits: %s is refused, with its line and field",
  (amount) => {
    const text = `payments:\n  minimum_usd: ${amount}\n`;
    expect(refusals(text)).toEqual([
      expect.stringMatching(/^t\.yaml:2: payments\.minimum_usd: must be a decimal amount.*in quotes, such as "1.00"/),
    ]);
    expect(refusals(model(`    price: { input: ${amount} }`))[0]).toMatch(
      /^t\.yaml:4: models\[0\]\.price\.input: must be USD/,
    );
  },
);

test("an amount that stands for several is what is written where it stands", () => {
  const price = (id: string, of: string) =>
    `  - { id: ${id}, servers: [{ url: "http://127.0.0.1:1" }], price: ${of} }\n`;
  const text = `models:\n${price("a", "&price { input: &rate 0.100000, output: *rate }")}${price("b", "*price")}`;
  const { models } = parseConfig(text, "t.yaml");
  for (const { price } of models) {
    expect(price).toMatchObject({ input: "0.100000", output: "0.100000" });
  }
  expect(refusals(text.replace("0.100000", "0x1"))).toHaveLength(4);
});

test.each(["nul\\0", "line\\n", "bell\\a", "\\x7f", "half \\ud800", "\\u202eback", "\\u200b"])(
  "a model's name must be plain: %s is refused",
  (name) => {
    const refused = "must be seen as it is: without control characters, line ends and changes of the writing direction";
    const server = `{ url: "http://127.0.0.1:1", model: "${name}" }`;
    const text = `models:\n  - id: "${name}"\n    display_name: "${name}"\n    servers: [${server}]`;
    expect(refusals(text).map((line) => line.slice(0, line.indexOf(", is") + 1 || undefined))).toEqual([
      expect.stringContaining(`t.yaml:2: models[0].id: ${refused}`),
      expect.stringContaining(`t.yaml:3: models[0].display_name: ${refused}`),
      expect.stringContaining(`t.yaml:4: models[0].servers[0].model: ${refused}`),
    ]);
  },
);

test.each([
  ["lisen: {}", "t.yaml:1: lisen: unknown field (did you mean listen?); allowed here: listen, storage"],
  ["listen:\n  htp: 127.0.0.1:1", "t.yaml:2: listen.htp: unknown field (did you mean http?); allowed here: http, grpc"],
  ["listen: { http: 5 }", "t.yaml:1: listen.http: must be text, is 5"],
  ["listen: { http: localhost }", "t.yaml:1: listen.http: must be host:port"],
  ["listen: { http: 127.0.0.1:70000 }", "t.yaml:1: listen.http: must be host:port"],
  [
    "listen: { http: 0.0.0.0:80 }",
    "t.yaml:1: listen.http: 0.0.0.0:80 can be reached from other machines: set listen.tls, or ",
  ],
  ['listen: { http: "[::]:80" }', "t.yaml:1: listen.http: [::]:80 can be reached from other machines"],
  ["listen: { http: 127.0.0.1:1, grpc: 127.0.0.1:1 }", "t.yaml:1: listen.grpc: is the same address as listen.http"],
  ["storage:\n", "t.yaml:1: storage: is empty; it must be a mapping of fields, or leave the field out"],
  ["storage: { url: mysql://x }", "t.yaml:1: storage.url: must start with sqlite: or postgresql://"],
  [
    "free_tier: { grant_usd: lots }",
    't.yaml:1: free_tier.grant_usd: must be a decimal amount of USD from "0" to "9007"',
  ],
  [
    "free_tier: { grant_usd: 9999 }",
    't.yaml:1: free_tier.grant_usd: must be a decimal amount of USD from "0" to "9007"',
  ],
  ["free_tier: { rpm: 0 }", "t.yaml:1: free_tier.rpm: must be above 0, is 0"],
  ["rate_tiers: []", "t.yaml:1: rate_tiers: a new account would reach none"],
  ["rate_tiers: [{ paid_usd: 5, rpm: 1 }]", "t.yaml:1: rate_tiers: a new account would reach none"],
  ["payments: { minimum_usd: 5000 }", "t.yaml:1: payments.minimum_usd: must not exceed maximum_usd, which is 1000"],
  ["payments: { maximum_usd: 3000 }", "t.yaml:1: payments.maximum_usd: must not exceed rolling_24h_usd, which is 2000"],
  [
    "payments: { maximum_usd: lots }",
    't.yaml:1: payments.maximum_usd: must be a decimal amount of USD from "0" to "9007"',
  ],
  [
    'payments: { stripe: { secret_key_env: "" } }',
    't.yaml:1: payments.stripe.secret_key_env: must not be empty, is ""',
  ],
  ["sign_in:\n  oidc:", 't.yaml:2: sign_in.oidc: must be a mapping of fields or a list ("- " entries)'],
  ["sign_in:\n  oidc: x", 't.yaml:2: sign_in.oidc: must be a mapping of fields or a list ("- " entries), is "x"'],
  [
    "sign_in:\n  oidc:\n    client_id: a\n    issuer: login.example.com",
    "t.yaml:4: sign_in.oidc.issuer: must be an https address, or http on this machine",
  ],
  [
    "sign_in:\n  oidc:\n    - { client_id: a, issuer: https://login.example.com }\n    - { client_id: a, issuer: nowhere, id: b }",
    "t.yaml:4: sign_in.oidc[1].issuer: must be an https address, or http on this machine",
  ],
  [
    "sign_in: { oidc: { client_id: a, issuer: https://login.example.com, clientid: b } }",
    "t.yaml:1: sign_in.oidc.clientid: unknown field (did you mean client_id?); allowed here: issuer, client_id",
  ],
  ...["/console", "?a", "#a"].map((rest): [string, string] => [
    `site: { address: "https://console.example.com${rest}" }`,
    "t.yaml:1: site.address: must have no path, query or user name, such as https://console.example.com",
  ]),
  [
    "site: { address: https://ada:secret@console.example.com }",
    "t.yaml:1: site.address: must have no path, query or user name, such as https://console.example.com",
  ],
  ["site: { support: mailto:ada@example.com }", "t.yaml:1: site.support: must be an https or an e-mail address"],
  ["mail: { from: .nan, smtp: { url: smtp://a } }", "t.yaml:1: mail.from: must be text, is NaN"],
  [
    'mail: { from: "A\\u202e <a@b>", smtp: { url: smtp://a } }',
    "t.yaml:1: mail.from: must be seen as it is: without control characters",
  ],
  ["fleet: { queue: 1.5 }", "t.yaml:1: fleet.queue: must be a whole number, is 1.5"],
  [
    "fleet: { routing: prefx }",
    't.yaml:1: fleet.routing: must be one of prefix, least-load, round-robin, is "prefx" (did you mean prefix?)',
  ],
  ["fleet: { cache_salt: yes }", 't.yaml:1: fleet.cache_salt: must be true or false, is "yes"'],
  ["services: [{ name: a }]", "t.yaml:1: services[0]: needs exactly one of token_file and token_env"],
  ["models: {}", 't.yaml:1: models: must be a list ("- " entries)'],
  ["models:\n  - servers: [{ url: http://a }]", "t.yaml:2: models[0].id: is missing; it must be text"],
  ["models:\n  - id: m", "t.yaml:2: models[0].servers: is missing; it must be a list"],
  ["models:\n  - id: m\n    servers: []", "t.yaml:3: models[0].servers: must have at least 1 entry"],
  ["models:\n  - id: m\n    servers:\n      - url: nowhere", "t.yaml:4: models[0].servers[0].url: must be a URL"],
  [
    "models:\n  - id: m\n    servers:\n      - url: dns:///a:1",
    "t.yaml:4: models[0].servers[0].url: must start with http:// or https:// for vllm",
  ],
  ...["http://10.0.0.1:80", "https://[::1]", "file:///m.gguf"].map((url): [string, string] => [
    `models:\n  - id: m\n    servers:\n      - { engine: llama.cpp, resolve: true, url: "${url}" }`,
    "t.yaml:4: models[0].servers[0].resolve: needs an http:// or https:// url with a name",
  ]),
  [model("    routing: random"), "t.yaml:4: models[0].routing: must be one of prefix, least-load, round-robin"],
  [
    "models:\n  - id: m\n    servers:\n      - url: http://a\n      - url: http://a",
    "t.yaml:5: models[0].servers[1].url: is listed twice",
  ],
  [model("  - id: m\n    servers: [{ url: http://b }]"), "t.yaml:4: models[1].id: m is already taken by entry 1"],
  [
    "receipts: { keep_days: 200 }\nusage_events:\n  url: https://a\n  keep_days: 201",
    "t.yaml:4: usage_events.keep_days: must not exceed receipts.keep_days, which is 200: an event is made from its receipt",
  ],
  [model("    max_output: 9000"), "t.yaml:4: models[0].max_output: must not exceed context_length, which is 8192"],
  [model("    kind: embedding\n    max_output: 5"), "t.yaml:5: models[0].max_output: an embedding model has no output"],
  [
    model("    kind: embedding\n    price: { output: 1 }"),
    "t.yaml:5: models[0].price.output: an embedding model has no output price",
  ],
  [model("    price: { input: 0.0000001 }"), "t.yaml:4: models[0].price.input: must be USD per 1M tokens"],
  [model("    price: { floor: 0 }"), "t.yaml:4: models[0].price.floor: must be above 0, is 0"],
  [
    "listen:\n  trusted_proxies: [10.0.0.0/33]",
    "t.yaml:2: listen.trusted_proxies[0]: must be an address or a network, such as 10.0.0.5",
  ],
  ["a: 1\na: 2", "t.yaml:2: is not one valid YAML document: Map keys must be unique"],
  ["models: [", "t.yaml:1: is not one valid YAML document"],
  ["a: 1\n---\nb: 1", "t.yaml:2: is not one valid YAML document"],
  [
    "webhooks:\n  allow: [*.example.com]",
    "t.yaml:2: *.example.com names an anchor that is not above it; text that begins with * needs quotes",
  ],
  [
    `a: &a [1]\n${"bcdefgh".replace(/./g, (name) => `${name}: &${name} [${`*${String.fromCharCode(name.charCodeAt(0) - 1)},`.repeat(9)}]\n`)}`,
    "t.yaml: is not one valid YAML document: Excessive alias count",
  ],
  ["- 1", "t.yaml:1: must be a mapping of fields"],
])("%j is refused with line, field and what is allowed", (text, message) => {
  expect(refusals(text)[0]?.slice(0, message.length)).toBe(message);
  expect(refusals(text)).toHaveLength(1);
});

test("all mistakes come at once, in the order of the lines", () => {
  expect(
    refusals("fleet:\n  queue: x\nlisten:\n  http: 5\n  nope: 1\nkeys: { prefix: A }").map(
      (line) => line.split(":")[1],
    ),
  ).toEqual(["2", "4", "5", "6"]);
});

test("a URL, which may hold a password, is not repeated", () => {
  expect(refusals('storage: { url: "mysql://user:hunter2@db" }').join()).not.toContain("hunter2");
});

test("other machines may reach it when the file says so", () => {
  expect(parseConfig("listen: { http: 0.0.0.0:80, insecure: true }", "t.yaml").listen.http).toBe("0.0.0.0:80");
});

test("a file is read, and a missing one is named", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-"));
  const file = join(folder, "tollgate.yaml");
  await writeFile(file, "keys: { max_per_account: 3 }");
  expect((await loadConfig(file)).keys.max_per_account).toBe(3);
  await expect(loadConfig(join(folder, "none.yaml"))).rejects.toThrow(/none\.yaml: cannot be read: ENOENT/);
  await rm(folder, { recursive: true });
});
