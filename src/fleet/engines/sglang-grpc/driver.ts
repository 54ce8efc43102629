import { grpcDriver } from "../shared/driver.ts";
import { SglangGrpcEngine } from "./engine.ts";
import { inspect } from "./inspect.ts";
import { startCommand } from "./start.ts";

export const driver = grpcDriver({
  create: (url, settings) => new SglangGrpcEngine(url, settings),
  inspect,
  startCommand,
});
