import type { World } from "../world.ts";

/** SQL: what an account owes on its credit line, among what triggers see. */
export const owedBy = (account: string) => `(select coalesce(sum(spent - repaid + (
    select coalesce(sum(slice.spent), 0) from main.slice where slice.lot_id = credit.id and open)), 0)
  from main.lot credit where credit.account_id = ${account} and credit.kind = 'credit')`;

/** What was owed when money went back, and credit that was leased for an account beyond its line. */
const listen = `
  create temp table refund_birth (payment_id text primary key, owed integer not null);
  create temp table beyond_line (slice_id text primary key, account_id text not null);
  create temp trigger refund_is_born after insert on main.payment when new.kind = 'refund'
  begin
    insert or ignore into refund_birth
    select new.id, debt + ${owedBy("new.account_id")} from main.account where id = new.account_id;
  end;
  ${["insert", "update of granted"]
    .map(
      (event) => `
  create temp trigger credit_is_leased_by_${event.slice(0, 6)} after ${event} on main.slice
  when (${event === "insert" ? "true" : "new.granted > old.granted"})
    and (select kind from main.lot where id = new.lot_id) = 'credit'
    and (select sum(granted - refunded - repaid) from main.lot where account_id = new.account_id and kind = 'credit')
      > (select credit_line from main.account where id = new.account_id)
  begin
    insert or ignore into beyond_line values (new.id, new.account_id);
  end;`,
    )
    .join("")}`;

const dayMs = 86_400_000;
/** Milliseconds within which money that lapses pays nothing any more. */
const soonMs = 60_000;
/** Milliseconds after which cores have fitted credit lines to another day and other prices. */
const noticedMs = 130_000;

/** Judges credit lines: how far they are drawn, what repays them, and at which prices what is left is granted anew. */
export class CreditLineJudge {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    world.server.listen(listen, ["refund_birth", "beyond_line"]);
  }

  /** Judges what cores see to within a minute. Call it while they serve, once all has worked for minutes. */
  judgeServing(): void {
    this.#judgeOwed();
    this.#judgePrices();
  }

  /** Bought money that nobody leases lies beside nothing that is owed. */
  #judgeOwed(): void {
    const { server, history } = this.#world;
    const owing = server.tables.all<{ account: string; owed: number }>(
      `select account_id as account, sum(spent - repaid) as owed from lot credit where kind = 'credit' and exists (
         select 1 from lot where account_id = credit.account_id and kind = 'paid'
           and granted > spent + leased + refunded + expired and (expires_at is null or expires_at > ?))
       group by account_id having owed > 0`,
      server.now() + soonMs,
    );
    for (const { account, owed } of owing) {
      history.violation("debts", `account ${account} owes ${owed} on its credit line beside what it bought`);
    }
  }

  /**
   * What is left of a line has the prices of the day, once the day has begun for the core that is furthest ahead: cores do
   * not follow a clock that jumps forward for an hour.
   */
  #judgePrices(): void {
    const { server, history, machines } = this.#world;
    const times = machines.flatMap(({ life }) => (life === undefined ? [] : [life.clock.now() - noticedMs]));
    const old = server.tables.all<{ id: string }>(
      `select id from lot where kind = 'credit' and expires_at is null and created_at < ? and granted > spent + refunded and exists (
         select 1 from price_version later where later.id > price_version_id and later.published_at < ?)`,
      ...[Math.floor(Math.max(...times) / dayMs) * dayMs, Math.min(...times)],
    );
    for (const { id } of old) {
      history.violation("prices", `what is left of a credit line, lot ${id}, has prices of an earlier day`);
    }
  }

  judge(): void {
    this.#judgeRepayments();
    this.#judgeLines();
    this.#judgeLeases();
  }

  /** A credit line is repaid out of bought money alone, and no money goes back while anything is owed. */
  #judgeRepayments(): void {
    const { server, history } = this.#world;
    const given = server.tables.all<{ account: string; repaid: number; bought: number }>(
      `select account, repaid, bought from (
         select account_id as account, sum(case entry.kind when 'repaid' then amount else 0 end) as repaid,
           sum(case when entry.kind = 'debt' and lot.kind = 'paid' then amount else 0 end) as bought
         from lot_entry entry join lot on lot.id = lot_id where entry.kind in ('debt', 'repaid') group by account_id, entry.at) moment
       where repaid > bought`,
    );
    for (const { account, repaid, bought } of given) {
      history.violation(
        "debts",
        `account ${account} repaid ${repaid} on its credit line, and bought money paid ${bought}`,
      );
    }
    const back = server.tables.all<{ id: string; owed: number }>(
      "select id, birth.owed from payment join temp.refund_birth birth on payment_id = id where birth.owed > 0",
    );
    for (const { id, owed } of back) {
      history.violation("debts", `refund ${id} went back while ${owed} was owed`);
    }
  }

  /** What is repaid of a credit line can be drawn again. */
  #judgeLines(): void {
    const { server, history } = this.#world;
    const less = server.tables.all<{ id: string; line: number; drawable: number }>(
      `select id, line, drawable from (
         select account.id, credit_line as line, coalesce(sum(granted - refunded - repaid), 0) as drawable
         from account left join lot on lot.account_id = account.id and kind = 'credit' where credit_line > 0 group by account.id) lines
       where drawable < line`,
    );
    for (const { id, line, drawable } of less) {
      history.violation("debts", `account ${id} may owe ${line}, and has no more than ${drawable}`);
    }
  }

  /** Nothing is leased of a line that fell below what is owed. */
  #judgeLeases(): void {
    const { server, history, wentBack } = this.#world;
    const beyond = wentBack
      ? []
      : server.tables.all<{ id: string; account: string }>(
          "select slice_id as id, account_id as account from temp.beyond_line",
        );
    for (const { id, account } of beyond) {
      history.violation("debts", `slice ${id} was leased for account ${account}, which owes its line`);
    }
  }
}
