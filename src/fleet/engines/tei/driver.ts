import { httpDriver } from "../shared/driver.ts";
import { TeiEngine } from "./engine.ts";
import { inspect } from "./inspect.ts";
import { startCommand } from "./start.ts";

export const driver = httpDriver({
  create: (url, settings) => new TeiEngine(url, settings),
  inspect,
  startCommand,
  detect: { call: { path: "/info", field: "max_client_batch_size" } },
});
