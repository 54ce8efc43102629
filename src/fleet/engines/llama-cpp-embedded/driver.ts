import type { EngineDriver } from "../shared/driver.ts";
import { LlamaCppEngine } from "./engine.ts";

export const driver: EngineDriver<"in-process"> = {
  transport: "in-process",
  create: (url, settings) => new LlamaCppEngine(url, settings),
  inspect: async () => ({ facts: {}, remarks: [] }), // only the model file describes it
};
