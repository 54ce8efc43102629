/**
 * Condition for a lot all of whose money came in before a moment, which is a numbered parameter. A credit lot grows when
 * its line is raised or repaid.
 */
export const cameBefore = (moment: string) => `lot.created_at < ${moment}
  and not exists (select 1 from lot_entry where lot_id = lot.id and lot_entry.kind = 'grant' and at >= ${moment})`;
