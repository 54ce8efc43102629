import { expect, test } from "@jest/globals";
import { configSchema } from "#src/config/schema.ts";
import { defaultFleetConfig, defaultModels, startDefaultFleet } from "../../simulator/fleet.ts";
import { ask, call } from "./client.ts";

test("the default fleet's configuration is valid and reaches every model", async () => {
  const fleet = await startDefaultFleet({ speed: 0 });
  const { models } = configSchema.parse({ models: defaultFleetConfig(fleet) });
  expect(models.map(({ id }) => id)).toEqual(defaultModels.map(({ id }) => id));
  expect(models.map(({ thinking }) => thinking.mode)).toEqual(["always", "default_off", "default_on", "none", "none"]);
  for (const { id, kind, servers } of models) {
    const [server] = servers;
    const [path, body] =
      kind === "embedding" ? ["/v1/embeddings", { input: "x" }] : ["/v1/chat/completions", ask("Hello")];
    expect((await call({ url: server?.url ?? "" }, path as string, { ...(body as object), model: id })).status).toBe(
      200,
    );
  }
  await Promise.all(fleet.map((one) => one.close()));
});

test("its names say that it is simulated", () => {
  for (const { id } of defaultModels) {
    expect(id).toMatch(/^tollgate-sim\//);
  }
});
