import { httpDriver } from "../shared/driver.ts";
import { OllamaEngine } from "./engine.ts";
import { inspect } from "./inspect.ts";
import { startCommand } from "./start.ts";

export const driver = httpDriver({
  create: (url, settings) => new OllamaEngine(url, settings),
  inspect,
  startCommand,
  detect: { owner: "library", port: 11_434, call: { path: "/api/version", field: "version" } },
});
