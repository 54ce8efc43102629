import { describe, expect, test } from "@jest/globals";
import { startSimulator } from "../../../../simulator/server.ts";
import { connect, contextLength, engines, never, startEngine } from "./engines.ts";

describe.each(engines)("$dialect", ({ dialect, metrics }) => {
  const started = startEngine(dialect);

  test("lists its models", async () => {
    const models = await started.engine.listModels(never());
    expect(models.map(({ id }) => id)).toContain("m");
    expect([undefined, contextLength]).toContain(models.find(({ id }) => id === "m")?.contextLength);
  });

  test("is healthy while it runs", async () => {
    await started.engine.checkHealth(never());
    const gone = await startSimulator({ dialect, models: ["m"] });
    const other = connect(gone.url, dialect);
    await gone.close();
    await expect(other.checkHealth(never())).rejects.toMatchObject({ cause: { transient: true } });
    await other.close();
  });

  if (metrics) {
    test("tells its load", async () => {
      const kv = dialect === "trtllm" ? {} : { kvTokens: expect.any(Number) };
      expect(await started.engine.readLoad(never())).toMatchObject({ running: 0, waiting: 0, ...kv });
    });
  }
});
