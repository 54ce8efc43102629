import * as z from "zod";
import { maxPicoUsd, parseRate, parseUsd } from "../../lib/money.ts";
import { isLoopback, parseAddress } from "../../lib/net/address.ts";
import { parseNetwork } from "../../lib/net/networks.ts";
import { type Bounds, samplingFields } from "../../lib/sampling.ts";
import { engineNames, engineTransports } from "../engines/names.ts";

// The shape of tollgate.yaml. Defaults live here and nowhere else; the JSON Schema for editors and
// the configuration reference are generated from this.

// Coerced, so that an amount may stand without quotes: load.ts gives it as it is written.
const usd = z.coerce.string().refine((text) => (parseUsd(text) ?? maxPicoUsd) < maxPicoUsd, {
  message:
    'must be a decimal amount of USD from "0" to "9007" with at most 12 decimals, best in quotes, such as "1.00"',
});
/** A sum over many payments, each of which is bounded for itself. */
const usdTotal = z.coerce.string().refine((text) => parseUsd(text) !== undefined, {
  message: 'must be a decimal amount of USD with at most 12 decimals, best in quotes, such as "20000"',
});
/** Above any real price, and low enough for tokens times rate to stay an exact number. */
const maxRate = 1_000_000_000n;
const rate = z.coerce.string().refine((text) => (parseRate(text) ?? maxRate + 1n) <= maxRate, {
  message: 'must be USD per 1M tokens from "0" to "1000" with at most 6 decimals, best in quotes, such as "0.20"',
});
const address = z
  .string()
  .refine((text) => parseAddress(text) !== undefined, "must be host:port, such as 127.0.0.1:8080 or [::1]:8080");
const network = z
  .string()
  .refine(
    (text) => parseNetwork(text) !== undefined,
    "must be an address or a network, such as 10.0.0.5 or 10.0.0.0/8 or 2001:db8::/32",
  );
/** A name that goes into answers, headers, logs and databases. */
const plainName = z.string().refine((text) => !/[\p{Cc}\p{Cs}]/u.test(text), {
  message: "must hold no control characters and no broken surrogate pairs",
});
const seconds = z.number().positive().max(86_400);

const file = z.string().min(1);
const tls = z
  .strictObject({
    cert: file.describe("The certificate, with those between it and its authority, in PEM."),
    key: file.describe("Its private key, in PEM."),
    client_ca: file
      .optional()
      .describe("Signs the certificates that clients of grpc and connect must show. Default: they need none."),
  })
  .describe("For all addresses; files that are renewed are read again within a minute.");

const listen = z
  .strictObject({
    http: address.default("127.0.0.1:8080").describe("Both public surfaces."),
    grpc: address.default("127.0.0.1:50051").describe("The core's services over gRPC."),
    connect: address
      .default("127.0.0.1:50052")
      .describe("The same services over the Connect protocol, for curl and browsers."),
    webhooks: address
      .default("127.0.0.1:50053")
      .describe("Events of payment providers; opened only when a provider's secret is set."),
    admin: address.default("127.0.0.1:9464").describe("/metrics, /livez and /readyz."),
    console: address
      .optional()
      .describe(
        "The console, for browsers. Default: 127.0.0.1:8081 in serve, unless that is taken or --no-console is given; nowhere else.",
      ),
    tls: tls.optional(),
    insecure: z.boolean().default(false).describe("Allow addresses other than loopback without TLS."),
    trusted_proxies: z
      .array(network)
      .default([])
      .describe("Load balancers before http, as networks: their X-Forwarded-For tells where a client is."),
    trusted_facades: z
      .array(network)
      .default([])
      .describe(
        "Facades on other machines, as networks, that are believed where a client is. Not needed with client_ca.",
      ),
  })
  .superRefine(({ insecure, tls, trusted_proxies, trusted_facades, ...listeners }, context) => {
    const seen = new Map<string, string>();
    for (const [name, text] of Object.entries(listeners)) {
      const refuse = (message: string) => context.addIssue({ code: "custom", path: [name], message });
      const parsed = text === undefined ? undefined : parseAddress(text);
      if (text === undefined || !parsed) {
        continue;
      }
      if (!insecure && !tls && !isLoopback(parsed.host)) {
        refuse(
          `${text} can be reached from other machines: set listen.tls, or listen.insecure: true to allow that without TLS`,
        );
      }
      const taken = seen.get(text);
      if (taken !== undefined && parsed.port !== 0) {
        refuse(`is the same address as listen.${taken}`);
      }
      seen.set(text, name);
    }
  });

const server = z
  .strictObject({
    url: z
      .string()
      .regex(
        /^(https?:\/\/[^/]+|grpcs?:\/\/[^/]+|dns:.+|ipv[46]:.+|file:\/\/\/.+)/,
        "must be a URL, such as http://10.0.0.5:8000",
      )
      .describe(
        "Where the inference server listens; for llama.cpp in process the model file, as file:///models/m.gguf.",
      ),
    engine: z.enum(engineNames).default("vllm").describe("Its protocol and dialect."),
    model: plainName.min(1).optional().describe("The model under the server's own name. Default: our id."),
    capacity: z.int().positive().max(100_000).default(256).describe("Requests that it may run at once."),
    kv_tokens: z
      .int()
      .positive()
      .max(1_000_000_000)
      .optional()
      .describe("Tokens that its KV cache holds, which prompts and answers share. Default: as the engine tells."),
    api_key_file: z.string().min(1).optional().describe("A file that holds the API key that it demands."),
    resolve: z
      .boolean()
      .default(false)
      .describe("Whether every address of the host's name is a server of its own; looked up again and again."),
  })
  .superRefine(({ url, engine, resolve }, context) => {
    if (resolve && !/^https?:\/\/(?![\d.]+(:|\/|$)|\[)/.test(url)) {
      context.addIssue({ code: "custom", path: ["resolve"], message: "needs an http:// or https:// url with a name" });
    }
    if (url.startsWith("file:") && engine !== "llama.cpp") {
      context.addIssue({ code: "custom", path: ["engine"], message: "must be llama.cpp for a model file" });
    }
    if (!/^(grpcs?|dns|ipv[46]):/.test(url) || engineTransports[engine] === "grpc") {
      return;
    }
    context.addIssue({ code: "custom", path: ["url"], message: `must start with http:// or https:// for ${engine}` });
  });

const thinking = z.strictObject({
  mode: z
    .enum(["none", "always", "default_off", "default_on"])
    .default("none")
    .describe("Whether the model thinks before it answers."),
  depths: z.boolean().default(false).describe("Whether high and max think deeper than low and medium."),
  switch: z
    .enum(["chat_template_kwargs", "reasoning_effort"])
    .default("chat_template_kwargs")
    .describe("How the engine is told."),
});

const price = z.strictObject({
  input: rate.default("0.20").describe("USD per 1M input tokens."),
  output: rate.optional().describe("USD per 1M output tokens; 0.25 unless set. Not for embedding models."),
  floor: z.number().positive().max(1).default(1).describe("The lowest the price may move, as a multiple."),
  ceiling: z.number().min(1).default(1).describe("The highest the price may move, as a multiple."),
});

function within({ min, above, max }: Bounds): z.ZodNumber {
  const number = z.number().max(max);
  return above === undefined ? number.min(min ?? Number.NEGATIVE_INFINITY) : number.gt(above);
}

const sampling = z.strictObject({
  temperature: within(samplingFields.temperature.bounds).default(0.7).describe("0 always takes the likeliest token."),
  top_p: within(samplingFields.topP.bounds)
    .default(1)
    .describe("Choose among the likeliest tokens of this share together."),
  top_k: z.int().min(0).optional().describe("Choose among so many likeliest tokens."),
  presence_penalty: within(samplingFields.presencePenalty.bounds).optional().describe("Against tokens that occurred."),
  frequency_penalty: within(samplingFields.frequencyPenalty.bounds)
    .optional()
    .describe("Against tokens, as often as they occurred."),
  min_p: within(samplingFields.minP.bounds)
    .optional()
    .describe("The least likelihood, as a part of the likeliest token's."),
  repetition_penalty: within(samplingFields.repetitionPenalty.bounds)
    .optional()
    .describe("A factor against tokens that occurred; 1: none."),
});

const routing = z.enum(["prefix", "least-load", "round-robin"]);

const model = z
  .strictObject({
    id: plainName.min(1).max(200).describe("What callers put into their requests."),
    display_name: plainName.optional().describe("For people. Default: the id."),
    kind: z
      .enum(["generation", "embedding"])
      .default("generation")
      .describe("Whether it writes text or makes vectors."),
    context_length: z
      .int()
      .positive()
      .default(8192)
      .describe("Most tokens of prompt and answer together; of one input for an embedding model."),
    max_output: z.int().positive().optional().describe("Most tokens of an answer. Default: the context."),
    system_anywhere: z
      .boolean()
      .default(false)
      .describe("Whether the chat template takes a system message after the first turn."),
    template_tokens: z
      .int()
      .min(0)
      .max(1_000_000)
      .optional()
      .describe(
        "Most tokens that the chat template adds by itself, such as a preamble: a server that counts more than the prompt's bytes and these is not believed. Default: 4096, 256 for an embedding model.",
      ),
    sampling: sampling.prefault({}).describe("Defaults for what a request leaves out."),
    thinking: thinking.prefault({}),
    price: price.prefault({}),
    dimensions: z.int().positive().default(1024).describe("Dimensions of an embedding model's vectors."),
    routing: routing.optional().describe("How a server is chosen. Default: as fleet.routing says."),
    servers: z.array(server).min(1).describe("Where it runs."),
  })
  .superRefine((value, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: "custom", path, message });
    const servers = value.servers.map((one) => `${one.url} ${one.model ?? ""}`);
    servers.forEach((one, index) => {
      if (servers.indexOf(one) < index) {
        context.addIssue({ code: "custom", path: ["servers", index, "url"], message: "is listed twice" });
      }
    });
    if ((value.max_output ?? 0) > value.context_length) {
      refuse(["max_output"], `must not exceed context_length, which is ${value.context_length}`);
    }
    if (value.kind !== "embedding") {
      return;
    }
    if (value.price.output !== undefined) {
      refuse(["price", "output"], "an embedding model has no output price");
    }
    if (value.thinking.mode !== "none") {
      refuse(["thinking", "mode"], "an embedding model does not think");
    }
    if (value.max_output !== undefined) {
      refuse(["max_output"], "an embedding model has no output");
    }
  });

const rpm = z.int().positive().max(10_000_000);

const tier = z.strictObject({
  paid_usd: usd.default("0").describe("Paid in total, in USD."),
  age_days: z.number().min(0).max(36_500).default(0).describe("Age of the account in days."),
  rpm: rpm.describe("Requests a minute."),
  in_flight: rpm
    .optional()
    .describe("Requests that an account may run at once, on each core. Default: as many as a key's requests a minute."),
});

const fleet = z.strictObject({
  routing: routing.default("prefix").describe("How a server is chosen, for models that do not say themselves."),
  prefix_blocks: z
    .int()
    .positive()
    .max(16_777_216)
    .default(262_144)
    .describe("Blocks of prompts that prefix routing remembers, a model: 12 bytes each with up to 32 servers."),
  queue: z.int().min(0).default(1000).describe("Requests that may wait for a free server, a model."),
  queue_timeout_s: seconds.default(10).describe("How long one waits."),
  connect_timeout_s: seconds.default(2).describe("How long a server may take to accept a connection."),
  first_token_timeout_s: seconds.default(120).describe("The longest wait for the first output."),
  idle_timeout_s: seconds.default(60).describe("The longest silence of a running stream."),
  total_timeout_s: seconds.default(1800).describe("The longest that a request may run."),
  health_interval_s: seconds.default(5).describe("Between two health checks of a server."),
  resolve_interval_s: seconds.default(10).describe("Between two lookups of the name of servers with resolve: true."),
  cache_salt: z.boolean().default(true).describe("Keep accounts apart in the engines' prefix caches."),
});

const readers = z.strictObject({
  buffer_kib: z
    .int()
    .positive()
    .max(65_536)
    .default(256)
    .describe("KiB of a streamed answer that are read from the engine ahead of a slow reader."),
  memory_mib: z
    .int()
    .positive()
    .max(1_048_576)
    .default(128)
    .describe(
      "MiB for all that waits for slow readers, an eighth of V8's heap at most; one account has an eighth of it.",
    ),
  min_bytes_per_s: z
    .number()
    .positive()
    .max(1e9)
    .default(128)
    .describe("A reader that takes less of what waits for it is broken off, and pays for what ran."),
  patience_s: seconds.default(60).describe("How long a reader may be slower than that."),
});

const service = z
  .strictObject({
    name: z.string().min(1).describe("For the log."),
    token_file: z.string().optional().describe("A file that holds the service token."),
    token_env: z.string().optional().describe("An environment variable that holds the service token."),
    accounts: z.array(z.string()).optional().describe("Accounts that it may name as payers. Default: any."),
  })
  .refine(
    (value) => (value.token_file === undefined) !== (value.token_env === undefined),
    "needs exactly one of token_file and token_env",
  );

function refuseRepeats<K extends string>(all: readonly Record<K, string>[], field: K, context: z.core.$RefinementCtx) {
  const values = all.map((one) => one[field]);
  values.forEach((value, index) => {
    const first = values.indexOf(value);
    if (first < index) {
      context.addIssue({
        code: "custom",
        path: [index, field],
        message: `${value} is already taken by entry ${first + 1}`,
      });
    }
  });
}

/** The whole file. Every section is optional. */
export const configSchema = z.strictObject({
  listen: listen.prefault({}),
  storage: z
    .strictObject({
      url: z
        .string()
        .regex(/^(sqlite:|postgres(ql)?:\/\/)/, "must start with sqlite: or postgresql://")
        .optional()
        .describe(
          "sqlite:PATH or postgresql://…; TOLLGATE_STORAGE_URL wins. Default: tollgate.db in the data directory.",
        ),
      listen_url: z
        .string()
        .regex(/^postgres(ql)?:\/\//, "must start with postgresql://")
        .optional()
        .describe(
          "Where a pooler of transactions stands before PostgreSQL: postgresql://… of the server itself, on which each core hears the others over one connection; TOLLGATE_STORAGE_LISTEN_URL wins. Default: storage.url.",
        ),
    })
    .prefault({}),
  rate_limits: z
    .strictObject({
      url: z
        .string()
        .regex(/^(memory:$|rediss?:\/\/)/, "must be memory: or start with redis://")
        .default("memory:")
        .describe("memory: for one core, redis://… for several; TOLLGATE_RATE_LIMIT_URL wins."),
    })
    .prefault({}),
  keys: z
    .strictObject({
      prefix: z
        .string()
        .regex(/^[a-z0-9]{1,12}-$/, "must be 1 to 12 lower-case letters or digits and a dash")
        .default("tg-")
        .describe("What new keys begin with."),
      max_per_account: z
        .int()
        .positive()
        .max(10_000)
        .default(20)
        .describe("Live keys, unless an account has its own bound."),
    })
    .prefault({}),
  rate_tiers: z
    .array(tier)
    .refine((tiers) => tiers.some((one) => parseUsd(one.paid_usd) === 0n && one.age_days === 0), {
      message: "a new account would reach none: one tier needs paid_usd: 0 and age_days: 0",
    })
    .prefault([{ rpm: 60 }, { paid_usd: "50", rpm: 300 }, { paid_usd: "500", age_days: 14, rpm: 2000 }])
    .describe("The best tier that an account reached sets the rate of its keys."),
  free_tier: z
    .strictObject({
      grant_usd: usd.default("1.00").describe('What a new account gets in USD; "0": nothing.'),
      rpm: rpm.default(20).describe("The most requests a minute of an account that has unpaid money alone."),
      in_flight: rpm.optional().describe("The most requests that such an account may run at once. Default: as rpm."),
    })
    .prefault({}),
  payments: z
    .strictObject({
      minimum_usd: usd.default("5").describe("The least of one top-up, in USD."),
      maximum_usd: usd.default("1000").describe("The most of one top-up, in USD."),
      rolling_24h_usd: usdTotal.default("2000").describe("The most of an account within 24 hours, in USD."),
    })
    .superRefine(({ minimum_usd, maximum_usd, rolling_24h_usd }, context) => {
      const refuse = (field: string, message: string) => context.addIssue({ code: "custom", path: [field], message });
      const [least, most, daily] = [minimum_usd, maximum_usd, rolling_24h_usd].map((text) => parseUsd(text) ?? 0n);
      if ((least ?? 0n) > (most ?? 0n)) {
        refuse("minimum_usd", `must not exceed maximum_usd, which is ${maximum_usd}`);
      }
      if ((most ?? 0n) > (daily ?? 0n)) {
        refuse("maximum_usd", `must not exceed rolling_24h_usd, which is ${rolling_24h_usd}`);
      }
    })
    .prefault({}),
  pricing: z
    .strictObject({
      interval_s: seconds.default(60).describe("Between two moves of a price."),
      max_step: z
        .number()
        .gt(0)
        .max(1)
        .default(0.05)
        .describe("The most that a move changes a price, as a part of it."),
    })
    .prefault({}),
  fleet: fleet.prefault({}),
  readers: readers.prefault({}).describe("What readers of streamed answers are allowed."),
  http: z
    .strictObject({
      connections: z.int().min(10).max(1_000_000).default(20_000).describe("Connections to http, all together."),
      connections_per_address: z
        .int()
        .positive()
        .max(1_000_000)
        .default(1000)
        .describe("Those of one address, or requests under way of one client behind a trusted proxy."),
      header_timeout_s: seconds.default(15).describe("How long the head of a request may take to arrive."),
      body_timeout_s: seconds.default(120).describe("How long a whole request may take to arrive."),
      min_body_rate: z
        .int()
        .min(1)
        .max(1_000_000)
        .default(4096)
        .describe("Bytes a second that a body has to come with on average, after 10 s."),
      body_memory_mib: z
        .int()
        .min(16)
        .max(65_536)
        .default(256)
        .describe(
          "Memory for bodies that are being received, all together; an eighth of the machine's or container's at most.",
        ),
      answer_memory_mib: z
        .int()
        .min(16)
        .max(65_536)
        .default(256)
        .describe(
          "Memory for answers that wait for slow readers, all together; an eighth of the machine's or container's at most.",
        ),
    })
    .superRefine(({ header_timeout_s, body_timeout_s }, context) => {
      if (body_timeout_s >= header_timeout_s) {
        return;
      }
      const message = `must be at least header_timeout_s, which is ${header_timeout_s}`;
      context.addIssue({ code: "custom", path: ["body_timeout_s"], message });
    })
    .prefault({})
    .describe("What clients of the public surfaces may cost before a request is run, in each process."),
  overload: z
    .strictObject({
      max_lag_ms: z
        .int()
        .min(50)
        .max(60_000)
        .default(1000)
        .describe("New requests are refused while the event loop comes later than this to its work."),
      max_memory: z
        .number()
        .min(0.1)
        .max(1)
        .default(0.9)
        .describe("New requests are refused while more than this part of the memory is in use."),
    })
    .prefault({}),
  shutdown: z
    .strictObject({
      grace_s: z.number().min(0).max(3600).default(30).describe("How long running requests may go on after SIGTERM."),
    })
    .prefault({}),
  webhooks: z
    .strictObject({
      allow: z
        .array(network)
        .default([])
        .describe("Private networks that events may be sent to; public addresses and loopback need none."),
    })
    .prefault({})
    .describe("Endpoints that are told of events."),
  services: z
    .array(service)
    .superRefine((all, context) => refuseRepeats(all, "name", context))
    .default([])
    .describe("Internal services that may call on behalf of accounts."),
  models: z
    .array(model)
    .superRefine((all, context) => refuseRepeats(all, "id", context))
    .default([])
    .describe("What is served."),
});

/** The configuration with every default filled in. */
export type Config = z.output<typeof configSchema>;
export type ModelConfig = Config["models"][number];
export interface ServerConfig extends Readonly<ModelConfig["servers"][number]> {
  /** Which of the addresses of the URL's host it is. Undefined: the host is one server. */
  readonly address?: string;
}
export type FleetConfig = Config["fleet"];
export type Routing = FleetConfig["routing"];
