import type { CoreJournal } from "./file-journal.ts";
import { noJournal } from "./journal.ts";
import { type Dependencies, openJournal } from "./open-journal.ts";

/**
 * The journal of a core. A database in memory ends with the process, and nothing of it could be charged later, so its
 * core keeps no journal and has a new id at each start.
 */
export function openCoreJournal(directory: string, inMemory: boolean, parts: Dependencies): CoreJournal {
  return inMemory ? { ...noJournal, coreId: parts.random.uuid() } : openJournal(directory, parts);
}
