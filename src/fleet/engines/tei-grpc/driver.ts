import { grpcDriver } from "../shared/driver.ts";
import { TeiGrpcEngine } from "./engine.ts";
import { inspect } from "./inspect.ts";
import { startCommand } from "./start.ts";

export const driver = grpcDriver({
  create: (url, settings) => new TeiGrpcEngine(url, settings),
  inspect,
  startCommand,
});
