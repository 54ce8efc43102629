import { expect, test } from "@jest/globals";
import { discoverServer } from "#src/fleet/engines/drivers/discovery.ts";
import { startSimulator } from "../../../../simulator/server.ts";
import { json, scriptedServer } from "../scripted-server.ts";

const soon = () => AbortSignal.timeout(10_000);
const models = [
  { id: "chat", contextLength: 4096 },
  { id: "embedder", kind: "embedding" as const, contextLength: 512 },
];

test.each(["vllm", "sglang", "llama.cpp", "ollama", "trtllm", "openai"] as const)(
  "recognises %s and what it serves",
  async (dialect) => {
    const sim = await startSimulator({ dialect, speed: 0, models });
    try {
      const { engine, models: found } = await discoverServer(sim.url, soon());
      expect(engine).toBe(dialect);
      expect(found).toMatchObject([
        { id: "chat", kind: "generation" },
        { id: "embedder", kind: "embedding", dimensions: 1024 },
      ]);
      expect([undefined, 4096]).toContain(found[0]?.contextLength);
    } finally {
      await sim.close();
    }
  },
);

test("recognises TEI", async () => {
  const sim = await startSimulator({ dialect: "tei", speed: 0, models: models.slice(1) });
  try {
    expect(await discoverServer(sim.url, soon())).toEqual({
      url: sim.url,
      engine: "tei",
      models: [{ id: "embedder", kind: "embedding", contextLength: 512, dimensions: 1024 }],
    });
  } finally {
    await sim.close();
  }
});

test("takes a base URL with /v1", async () => {
  const sim = await startSimulator({ speed: 0, models });
  try {
    expect((await discoverServer(`${sim.url}/v1`, soon())).engine).toBe("vllm");
  } finally {
    await sim.close();
  }
});

test("says so when nothing listens, or something else does", async () => {
  await expect(discoverServer("http://127.0.0.1:9", soon())).rejects.toThrow("is it running?");
  await using server = await scriptedServer({ "/v1/models": (_, response) => void response.end("<html>") });
  await expect(discoverServer(server.url, soon())).rejects.toThrow("is it running?");
  await using empty = await scriptedServer({ "/v1/models": (_, response) => json(response, { data: [] }) });
  await expect(discoverServer(empty.url, soon())).rejects.toThrow("lists no model");
  await using folder = await scriptedServer({
    "/v1/models": (_, response) => void response.writeHead(500).end(),
    "/health": (_, response) => json(response, { status: "ok" }),
  });
  await expect(discoverServer(folder.url, soon())).rejects.toThrow(/lists no model.*engine: openai/);
});
