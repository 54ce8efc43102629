import type { World } from "../world.ts";

const line = "(select credit_line from main.account where id = new.account_id)";
const drawable = `(select sum(granted - refunded - repaid) from main.lot where account_id = new.account_id and kind = 'credit')`;
const owed = `(
  select coalesce(sum(spent - repaid + (
      select coalesce(sum(slice.spent), 0) from main.slice where slice.lot_id = lot.id and open)), 0)
  from main.lot where account_id = new.account_id and kind = 'credit')`;

/**
 * What was there when money could be drawn or came in, and the highest line of each account. Lots that a database that
 * went back has again are not new.
 */
const listen = `
  create temp table line_most (account_id text primary key, line integer not null);
  create temp table line_grant (lot_id text primary key, line integer not null, drawable integer not null);
  create temp table line_owed (lot_id text primary key, owed integer not null, debt integer not null);
  create temp trigger line_is_set after update of credit_line on main.account
  begin
    insert into line_most values (new.id, new.credit_line)
    on conflict do update set line = max(line, excluded.line);
  end;
  create temp trigger line_begins after insert on main.lot when new.kind = 'credit'
  begin
    insert or ignore into line_grant values (new.id, ${line}, ${drawable});
  end;
  create temp trigger line_grows after update of granted on main.lot
    when new.kind = 'credit' and new.granted > old.granted
  begin
    update line_grant set line = ${line}, drawable = ${drawable} where lot_id = new.id and line_grant.drawable <= line_grant.line;
  end;
  create temp trigger line_is_repaid after insert on main.lot when new.kind = 'paid'
  begin
    insert or ignore into line_owed
    values (new.id, ${owed}, (select debt from main.account where id = new.account_id));
  end;`;

/** Judges credit lines: nothing is owed beyond them, payments repay what is owed first, and gifts never do. */
export class LineJudge {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    world.server.listen(listen, ["line_most", "line_grant", "line_owed"]);
  }

  judge(): void {
    this.#judgeSets();
    this.#judgeBounds();
    this.#judgePayments();
    this.#judgeGifts();
  }

  /** An account's line is as it was set last, unless another was being set meanwhile. */
  #judgeSets(): void {
    const { server, history, terms, wentBack } = this.#world;
    if (wentBack) {
      return;
    }
    for (const [accountId, sets] of Map.groupBy(terms?.lines ?? [], (one) => one.accountId)) {
      const last = sets.at(-1);
      const isAlone = sets.every((one) => one === last || one.endsAt < (last?.askedAt ?? 0));
      const found = server.tables.get<{ line: number }>(
        "select credit_line as line from account where id = ?",
        accountId,
      );
      if (last?.isDone && isAlone && found?.line !== last.line) {
        history.violation("lines", `account ${accountId} got a line of ${last.line} and has one of ${found?.line}`);
      }
    }
  }

  /** No account owes more than its highest line, and no part of a line was granted beyond it. */
  #judgeBounds(): void {
    const { server, history } = this.#world;
    const beyond = server.tables.all<{ id: string; owed: number; line: number | null }>(
      `select account_id as id, sum(spent - repaid) as owed, line from lot left join temp.line_most using (account_id)
       where kind = 'credit' group by account_id having owed > coalesce(line, 0)`,
    );
    for (const { id, owed, line: most } of beyond) {
      history.violation("lines", `account ${id} owes ${owed} on a line that was never above ${most}`);
    }
    const grants = server.tables.all<{ id: string; line: number; drawable: number }>(
      "select lot_id as id, line, drawable from temp.line_grant where drawable > line",
    );
    for (const { id, line: most, drawable: sum } of grants) {
      history.violation("lines", `lot ${id} makes ${sum} of a line of ${most}`);
    }
  }

  /**
   * A payment repays what is owed in its own transaction, with what it does not pay of another debt; later where it has
   * lapsed by the clock of its core.
   */
  #judgePayments(): void {
    const { server, history } = this.#world;
    const unpaid = server.tables.all<{ id: string; owed: number; paid: number }>(
      `select id, owed, paid from (
         select lot.id, lot.granted, came.owed, came.debt, (
           select coalesce(sum(amount), 0) from lot_entry join lot other on other.id = lot_entry.lot_id
           where other.account_id = lot.account_id and lot_entry.kind = 'repaid' and lot_entry.at = lot.created_at) as paid
         from lot join temp.line_owed came on came.lot_id = lot.id
         where came.owed > 0 and (expires_at is null or expires_at > created_at)) paying
       where paid < min(owed, granted - debt)`,
    );
    for (const { id, owed: before, paid } of unpaid) {
      history.violation("lines", `payment ${id} came in beside ${before} owed on a line, of which ${paid} was repaid`);
    }
  }

  /** What was repaid at a moment came out of payments. */
  #judgeGifts(): void {
    const { server, history } = this.#world;
    const given = server.tables.all<{ account: string; got: number; gave: number }>(
      `select lot.account_id as account, sum(case lot_entry.kind when 'repaid' then amount else 0 end) as got,
         sum(case when lot_entry.kind = 'debt' and lot.kind = 'paid' then amount else 0 end) as gave
       from lot_entry join lot on lot.id = lot_entry.lot_id group by lot.account_id, lot_entry.at having got > gave`,
    );
    for (const { account, got, gave } of given) {
      history.violation("lines", `${got} was repaid on the line of account ${account}, and ${gave} of it by payments`);
    }
  }
}
