import { consolePages } from "./console/pages.ts";
import { publicPages } from "./console/public-pages.ts";
import { consoleSoak } from "./console/soak.ts";
import { crash } from "./crash.ts";
import { failover } from "./failover.ts";
import { flood } from "./flood.ts";
import { heap } from "./heap/heap.ts";
import { history } from "./history/history.ts";
import { proof } from "./history/proof.ts";
import { statement } from "./history/statement.ts";
import { labels } from "./ledger/labels.ts";
import { ledger } from "./ledger/ledger.ts";
import { limits } from "./limits.ts";
import { loadScenarios } from "./load/loads.ts";
import { memory } from "./measure/memory.ts";
import { open } from "./open/open.ts";
import { overshoot } from "./overshoot/overshoot.ts";
import { peers } from "./peers/peers.ts";
import { profile } from "./profile/profile.ts";
import { retention } from "./retention.ts";
import { choice } from "./routing/choice.ts";
import { eightCores } from "./routing/eight-cores.ts";
import { routing } from "./routing/routing.ts";
import { twoCores } from "./routing/two-cores.ts";
import type { Scenario } from "./scenario.ts";
import { search } from "./search.ts";
import { soak } from "./soak.ts";
import { start } from "./start.ts";
import { tenants } from "./tenants.ts";
import { usage } from "./usage/usage.ts";

/** Every scenario, in the order in which they run. */
export const scenarios: readonly Scenario[] = [
  ...loadScenarios,
  ledger,
  labels,
  routing,
  choice,
  eightCores,
  twoCores,
  memory,
  tenants,
  flood,
  limits,
  open,
  heap,
  start,
  soak,
  profile,
  peers,
  usage,
  search,
  retention,
  history,
  proof,
  statement,
  failover,
  crash,
  overshoot,
  consolePages,
  consoleSoak,
  publicPages,
];
