/** Milliseconds for which money counts as having just come in. */
export const justMs = 5000;

/**
 * Condition for a lot all of whose money came in before a moment, which is a numbered parameter: by the database's own
 * times, which may be of a clock that was wrong, and by those of the world while `MoneyAtHome` listens. A credit lot
 * grows when its line is raised or repaid.
 */
export const cameBefore = (moment: string) => `lot.created_at < ${moment}
  and not exists (select 1 from lot_entry where lot_id = lot.id and lot_entry.kind = 'grant' and at >= ${moment})
  and not exists (select 1 from temp.came_in where lot_id = lot.id and at >= world_now() - ${justMs})`;
