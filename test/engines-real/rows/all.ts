import { answerRows } from "./answers.ts";
import { completionRow, contextRow } from "./bounds.ts";
import { checkRow } from "./check.ts";
import { burstRow, closingProxyRow, idleRow, restartInBurstRow } from "./connections.ts";
import { embeddingsRow, tooLongRow } from "./embeddings.ts";
import { disconnectRow, killRow, restartRow } from "./faults.ts";
import { repetitionRow } from "./repetition.ts";
import type { Row } from "./row.ts";

/** In the order in which they run: the engine is killed at the end. */
export const rows: readonly Row[] = [
  ...answerRows,
  completionRow,
  contextRow,
  repetitionRow,
  embeddingsRow,
  tooLongRow,
  checkRow,
  burstRow,
  closingProxyRow,
  idleRow,
  disconnectRow,
  killRow,
  restartRow,
  restartInBurstRow,
];
