import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { type Simulator, startSimulator } from "../../../simulator/server.ts";
import { eventually } from "../../support/eventually.ts";
import { serveModels } from "../../support/service.ts";

// infinity-emb cuts an input that is too long, answers 200, and counts what it cut off.

const contextLength = 512;
const fits = "word ".repeat(400).trim();
const long = "word ".repeat(3000).trim();

let simulator: Simulator;
let service: Awaited<ReturnType<typeof serveModels>>;

beforeAll(async () => {
  const models = [{ id: "m", kind: "embedding", contextLength } as const];
  simulator = await startSimulator({ models, dialect: "openai", speed: 0 });
  simulator.faults.add({ truncate: "counted" });
  const servers = [{ url: simulator.url, engine: "openai" as const }];
  service = await serveModels([{ id: "m", kind: "embedding", context_length: contextLength, servers }]);
  await eventually("it is healthy", async () => (await state()) === ServerState.HEALTHY);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await simulator.close();
});

async function state(): Promise<ServerState | undefined> {
  const { servers } = await createClient(CatalogueService, service.operator).listServers({});
  return servers[0]?.state;
}

async function embed(input: string | string[]) {
  const headers = { authorization: `Bearer ${service.key}`, "content-type": "application/json" };
  const body = JSON.stringify({ model: "m", input });
  const response = await fetch(`${service.url}/v1/embeddings`, { method: "POST", headers, body });
  const id = response.headers.get("x-request-id") ?? "";
  // biome-ignore lint/suspicious/noExplicitAny: JSON as a client has it
  return { status: response.status, id, body: (await response.json()) as any };
}

test("an input that its server cut is refused, free, and nobody else's trouble", async () => {
  for (let call = 0; call < 5; call++) {
    const { status, id, body } = await embed(["short", long]);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ type: "invalid_request_error", param: "input" });
    expect(body.error.message).toContain("Input 1 has 3000 tokens; the maximum is 512");
    await expect(service.receipt(id)).rejects.toThrow("no receipt");
  }
  expect((await embed("short")).status).toBe(200);
  expect(await state()).toBe(ServerState.HEALTHY);
});

test("inputs that may be too long and are not are embedded in their order, and billed as counted", async () => {
  const inputs = ["one", fits, "two words", fits, "three more words"];
  const { status, body } = await embed(inputs);
  expect(status).toBe(200);
  expect(body.usage.prompt_tokens).toBe(806);
  const single = await Promise.all(inputs.map(async (input) => (await embed(input)).body.data[0].embedding));
  expect(body.data.map(({ embedding }: { embedding: number[] }) => embedding)).toEqual(single);
});
