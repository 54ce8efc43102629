import { answerRows } from "./answers.ts";
import { completionRow, contextRow } from "./bounds.ts";
import { checkRow } from "./check.ts";
import { embeddingsRow } from "./embeddings.ts";
import { disconnectRow, killRow, restartRow } from "./faults.ts";
import { repetitionRow } from "./repetition.ts";
import type { Row } from "./row.ts";

/** In the order in which they run: the engine is killed last. */
export const rows: readonly Row[] = [
  ...answerRows,
  completionRow,
  contextRow,
  repetitionRow,
  embeddingsRow,
  checkRow,
  disconnectRow,
  killRow,
  restartRow,
];
