import type { FleetConfig } from "../../config/schema.ts";
import type { Random } from "../../runtime/random.ts";
import type { Member } from "../member.ts";
import { LeastLoad } from "./least-load.ts";
import type { Policy } from "./policy.ts";
import { PrefixAffinity } from "./prefix-affinity.ts";
import { RoundRobin } from "./round-robin.ts";

/** The configured way to choose among some servers. */
export function createPolicy(
  members: readonly Member[],
  { routing, prefix_blocks }: Pick<FleetConfig, "routing" | "prefix_blocks">,
  random: Random,
): Policy {
  switch (routing) {
    case "prefix":
      // A single server is no choice to be learnt for.
      return members.length < 2 ? new LeastLoad(random) : new PrefixAffinity(members, prefix_blocks, random);
    case "least-load":
      return new LeastLoad(random);
    case "round-robin":
      return new RoundRobin();
  }
}
