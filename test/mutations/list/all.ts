import type { Mutation } from "../mutation.ts";
import { admissionMutations } from "./admission.ts";
import { archiveMutations } from "./archives.ts";
import { bookMutations } from "./books.ts";
import { budgetMutations } from "./budgets.ts";
import { checkoutMutations } from "./checkout.ts";
import { coreMutations } from "./cores.ts";
import { doorMutations } from "./doors.ts";
import { failoverMutations } from "./failover.ts";
import { historyMutations } from "./history.ts";
import { journalMutations } from "./journal.ts";
import { keyMutations } from "./keys.ts";
import { newsMutations } from "./news.ts";
import { settlementMutations } from "./settlement.ts";
import { statementMutations } from "./statements.ts";
import { storeMutations } from "./store.ts";
import { termsMutations } from "./terms.ts";
import { walletMutations } from "./wallet.ts";

/** Faults of the money code and of listeners that tests or simulated worlds must notice. */
export const mutations: readonly Mutation[] = [
  ...walletMutations,
  ...termsMutations,
  ...admissionMutations,
  ...budgetMutations,
  ...settlementMutations,
  ...journalMutations,
  ...coreMutations,
  ...storeMutations,
  ...bookMutations,
  ...historyMutations,
  ...archiveMutations,
  ...failoverMutations,
  ...statementMutations,
  ...checkoutMutations,
  ...keyMutations,
  ...newsMutations,
  ...doorMutations,
];
