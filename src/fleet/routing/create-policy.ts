import type { Random } from "#lib/ids/random.ts";
import type { Routing } from "#src/config/schema.ts";
import type { OnPrompt, Policy } from "../servers/choice/policy.ts";
import { LeastLoad } from "./least-load.ts";
import { PrefixAffinity } from "./prefix-affinity.ts";
import { RoundRobin } from "./round-robin.ts";
import { Weighted } from "./weighted.ts";

/**
 * Creates a model's policy, without servers. `prefixBlocks` bounds what prefix routing remembers. `onPrompt` is called
 * with each prompt that it remembers.
 */
export function createPolicy(routing: Routing, prefixBlocks: number, random: Random, onPrompt?: OnPrompt): Policy {
  return new Weighted(createUnweighted(routing, prefixBlocks, random, onPrompt));
}

function createUnweighted(routing: Routing, prefixBlocks: number, random: Random, onPrompt?: OnPrompt): Policy {
  switch (routing) {
    case "prefix":
      return new PrefixAffinity(prefixBlocks, random, onPrompt);
    case "least-load":
      return new LeastLoad(random);
    case "round-robin":
      return new RoundRobin();
  }
}
