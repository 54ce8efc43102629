import { decode } from "#src/money/journal/journal-record.ts";
import { Unfinished } from "#src/money/journal/unfinished.ts";
import type { Machine } from "../cores/machine.ts";
import type { World } from "../world.ts";

const path = /^\/data\/cores\/\d+\/journal$/;

/** Judges that a core that ended in order leaves nothing in its journal: everything is stored by then. */
export function judgeJournals({ history }: World, ended: readonly Machine[]): void {
  for (const { name, disk } of ended) {
    const journals = [...disk.copy()].filter(([file]) => path.test(file));
    const [only] = journals;
    if (journals.length !== 1 || only === undefined) {
      continue; // a process beside it had a place of its own
    }
    const { running, charges } = new Unfinished(decode(only[1]).records);
    if (running.length + charges.length > 0) {
      history.violation(
        "journals",
        `${name} left ${running.length} requests and ${charges.length} charges in its journal`,
      );
    }
  }
}
