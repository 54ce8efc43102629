import type { CoreJournal } from "./file-journal.ts";
import { noJournal } from "./journal.ts";
import { type OpenJournalParts, openJournal } from "./open-journal.ts";

/**
 * The journal of a core. A database in memory is gone with the process, and nothing of it could be charged in the next one:
 * its core remembers nothing, and has a name for its life alone.
 */
export function openCoreJournal(directory: string, inMemory: boolean, parts: OpenJournalParts): CoreJournal {
  return inMemory ? { ...noJournal, coreId: parts.random.uuid() } : openJournal(directory, parts);
}
