import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { SglangService } from "#gen/sglang/runtime/v1/sglang_pb.js";
import { Embed, Info } from "#gen/tei/v1/tei_pb.js";
import type { EngineName } from "#lib/inference/engine-names.ts";
import { checkServers, type ServerFinding } from "#src/cli/check/findings/servers.ts";
import { configSchema } from "#src/config/schema.ts";
import { discoverServer } from "#src/fleet/engines/drivers/discovery.ts";
import { createHealth } from "#src/wire/grpc/server/health.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";
import { type Sound, sounds } from "./sound-answers.ts";

// Whatever a server tells of itself, looking at it ends in words, never in a crash or a figure that cannot be.

let deep: unknown = [];
for (let level = 0; level < 2000; level++) {
  deep = [deep];
}
/** JSON that is seldom what should stand in a place. */
const lies = [
  ...["null", "true", "5", "-1", "0", "2.5", "1e999", "4e9", '"text"', '""', "[]", "[[]]", "[null]", "{}"],
  '{"toString":1,"valueOf":1}',
  '"\\u001b[2J\\u0007"',
  JSON.stringify("x".repeat(50_000)),
  JSON.stringify(new Array(5000).fill("y")),
  JSON.stringify(deep),
];
/** Few of them, for the many places of an answer. */
const few = ["null", "5", "-1", "1e999", '"text"', "[null]", '{"toString":1,"valueOf":1}', '"\\u001b[2J"'];

/** The places of a JSON value, as paths of keys. */
function placesIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  const inner = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return [...(path.length > 0 ? [path] : []), ...inner.flatMap(([key, one]) => placesIn(one, [...path, key]))];
}

const mark = "LIE-7d1f";

/** The JSON text of a value with something else in one place. */
function withLie(value: unknown, [key = "", ...rest]: readonly string[], lie: string): string {
  const replaced = (one: unknown, path: readonly string[]): unknown => {
    const [first, ...others] = path;
    if (first === undefined) {
      return mark;
    }
    const copy = Array.isArray(one) ? [...one] : { ...(one as object) };
    Object.assign(copy, { [first]: replaced((one as Record<string, unknown>)[first], others) });
    return copy;
  };
  return JSON.stringify(replaced(value, [key, ...rest])).replace(`"${mark}"`, lie);
}

/** What a server answers at a path: bytes as they are, else the sound answer. */
function write(response: ServerResponse, path: string, sound: Sound, told: string | undefined): void {
  const value = sound[path];
  if (value === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.setHeader("x-compute-tokens", "5");
  if (path === "/v1/chat/completions" && told === undefined) {
    response.end(
      `${(value as unknown[]).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`,
    );
  } else if (path === "/v1/chat/completions") {
    const chunks: string[] = told?.startsWith("[") ? splitChunks(told) : [told ?? ""];
    response.end(chunks.map((chunk) => `data: ${chunk}\n\n`).join(""));
  } else {
    response.end(told ?? (typeof value === "string" ? value : JSON.stringify(value)));
  }
}

/** A list of chunks as JSON text each; one that cannot be parsed stays whole. */
function splitChunks(list: string): string[] {
  try {
    return JSON.parse(list).map((chunk: unknown) => JSON.stringify(chunk));
  } catch {
    return [list];
  }
}

async function startLiar(sound: Sound) {
  const lie: { path?: string; text?: string; wasHeard: boolean } = { wasHeard: false };
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      const path = request.url ?? "";
      lie.wasHeard ||= lie.path === path;
      write(response, path, sound, lie.path === path ? lie.text : undefined);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lie,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function check(url: string, engine: EngineName, kind: "generation" | "embedding"): Promise<ServerFinding> {
  const dimensions = kind === "embedding" ? { dimensions: 4 } : {};
  const servers = [{ url, engine, capacity: 4 }];
  const config = configSchema.parse({ models: [{ id: "m", kind, context_length: 4096, ...dimensions, servers }] });
  const [finding] = await checkServers(config);
  return finding as ServerFinding;
}

/** That a finding says something, in words, and no figure that can be none. */
function expectWords({ status, message, version, facts, remarks }: ServerFinding): void {
  expect(["ok", "warning", "wrong"]).toContain(status);
  const words = [
    message,
    version ?? "",
    ...facts.map(({ value }) => String(value)),
    ...remarks.map((one) => one.message),
  ];
  for (const said of words) {
    expect(said.length).toBeLessThan(1500);
    expect(said).not.toMatch(
      /\p{C}|NaN|Infinity|undefined|\[object|Cannot |is not a function|is not iterable|Invalid array/u,
    );
  }
  for (const { value } of facts) {
    if (typeof value === "number") {
      expect(Number.isInteger(value) && value >= 0 && value < 2 ** 31).toBe(true);
    }
  }
}

describe.each(sounds)("%s for %s", (engine, kind, sound) => {
  test("is sound by itself", async () => {
    await using liar = await startLiar(sound);
    const { remarks } = await check(liar.url, engine, kind);
    // The numbers of its vectors' tokens are always the same, which is a lie already.
    expect(remarks.filter(({ status }) => status === "wrong" && kind === "generation")).toEqual([]);
  });

  test.each(Object.keys(sound))("any JSON at %s ends in words", async (path) => {
    await using liar = await startLiar(sound);
    liar.lie.path = path;
    for (const text of lies) {
      liar.lie.text = text;
      expectWords(await check(liar.url, engine, kind));
      await discoverServer(liar.url, AbortSignal.timeout(5000)).catch((error) =>
        expect(error.message).not.toMatch(/Cannot |is not a function|is not iterable/),
      );
      if (!liar.lie.wasHeard) {
        return; // nobody asks this engine there, so further lies change nothing
      }
    }
  });

  test.each(Object.keys(sound))("any part of the answer at %s may be a lie", async (path) => {
    await using liar = await startLiar(sound);
    liar.lie.path = path;
    for (const place of placesIn(sound[path])) {
      for (const lie of few) {
        liar.lie.text = withLie(sound[path], place, lie);
        expectWords(await check(liar.url, engine, kind));
        if (!liar.lie.wasHeard) {
          return;
        }
      }
    }
  });
});

test("metrics may say anything, however long", async () => {
  const [, , sound] = sounds[0] ?? [];
  await using liar = await startLiar(sound ?? {});
  liar.lie.path = "/metrics";
  const name = "vllm:cache_config_info";
  for (const text of [
    `${name}{num_gpu_blocks="1e300",block_size="1e300"} 1\n`,
    `${name}{num_gpu_blocks="-5",block_size="16"} 1\n`,
    `${name}{num_gpu_blocks="None",block_size="16",enable_prefix_caching="\u001b[2J"} 1\n`,
    `${name}{${"a".repeat(900_000)}\n`,
    `${name}{a="${"\\".repeat(900_000)}\n`,
    `${name}{${'a="b",'.repeat(100_000)}} 1\n`,
    `vllm:num_requests_running ${"9".repeat(500_000)}\n`,
    "x".repeat(2_000_000),
  ]) {
    liar.lie.text = text;
    expectWords(await check(liar.url, "vllm", "generation"));
  }
});

describe("over gRPC", () => {
  test("SGLang may tell anything of itself and its models", async () => {
    let info = "{}";
    let length = 4096;
    const service = registration(SglangService, {
      healthCheck: () => ({ healthy: true }),
      listModels: () => ({ models: [{ id: "m", maxModelLen: length }] }),
      getServerInfo: () => ({ jsonInfo: info }),
    });
    const server = await startGrpcServer({ address: "127.0.0.1:0", services: [service], interceptors: [] });
    const sound = sounds.find(([engine]) => engine === "sglang")?.[2]["/server_info"];
    const infos = [...lies, ...placesIn(sound).flatMap((place) => few.map((lie) => withLie(sound, place, lie)))];
    for (const told of infos) {
      info = told;
      expectWords(await check(`grpc://${server.address}`, "sglang-grpc", "generation"));
    }
    for (const told of [-5, 0, 2 ** 31 - 1]) {
      length = told;
      expectWords(await check(`grpc://${server.address}`, "sglang-grpc", "generation"));
    }
    await server.stop(0);
  });

  test("TEI may tell any limit, count and vector", async () => {
    const told = { longest: 4096, concurrent: 512, batch: 32, count: 5, version: "1.9.3", embeddings: [1, 0, 0, 0] };
    const services = [
      registration(Info, {
        info: () => ({
          version: told.version,
          modelId: "m",
          maxConcurrentRequests: told.concurrent,
          maxInputLength: told.longest,
          maxBatchTokens: told.concurrent,
          maxClientBatchSize: told.batch,
        }),
      }),
      registration(Embed, {
        embed: () => ({ embeddings: told.embeddings, metadata: { computeTokens: told.count } }),
      }),
    ];
    const health = createHealth(services);
    const all = [...services, health.registration];
    const server = await startGrpcServer({ address: "127.0.0.1:0", services: all, interceptors: [] });
    const odd = [0, 1, 2 ** 32 - 1];
    const changes: Partial<typeof told>[] = [
      ...odd.flatMap((n) => [
        { longest: n },
        { concurrent: n },
        { batch: n },
        { count: n },
        { concurrent: 0, batch: n },
      ]),
      { version: "\u001b[2J" },
      { version: "x".repeat(100_000) },
      { embeddings: [] },
      { embeddings: [Number.NaN, Number.POSITIVE_INFINITY, 0, 0] },
      { embeddings: new Array(1_000_000).fill(1) },
    ];
    const sound = { ...told };
    for (const change of changes) {
      Object.assign(told, sound, change);
      expectWords(await check(`grpc://${server.address}`, "tei-grpc", "embedding"));
    }
    await server.stop(0);
  });
});
