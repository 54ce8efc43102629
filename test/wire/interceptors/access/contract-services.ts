import { globSync } from "node:fs";
import type { DescService } from "@bufbuild/protobuf";

/** Contracts that the core does not serve: the public surfaces, which are HTTP, and what engines serve. */
const notServed = ["tollgate/chat", "tollgate/messages", "sglang", "tei"].map((folder) => `gen/${folder}/**`);

/** Every service that the core serves. */
export async function contractServices(): Promise<DescService[]> {
  const services: DescService[] = [];
  for (const file of globSync("gen/**/*_pb.js", { exclude: notServed })) {
    const module: Record<string, { kind?: string }> = await import(`../../../../${file}`);
    for (const value of Object.values(module)) {
      if (value.kind === "service") {
        services.push(value as DescService);
      }
    }
  }
  return services;
}
