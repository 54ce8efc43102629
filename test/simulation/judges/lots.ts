import type { Run } from "../cores/run.ts";
import type { World } from "../world.ts";
import { owedBy } from "./credit-lines.ts";

const rankOfCredit = 4;

/** What was there when a lot came in. The ids of bulk gifts have a mark: they keep any price list, and pay no debt. */
const listen = `
  create temp table lot_birth (lot_id text primary key, prices integer, own text, debt integer not null,
    owed integer not null);
  create temp trigger lot_is_born after insert on main.lot when new.id not like '%-bbbb-8000-%'
  begin
    insert or ignore into lot_birth
    select new.id, max(id), case when new.kind in ('paid', 'credit') then (
        select case when discount > 0 or exists (select 1 from main.own_price where own_prices_id = own.id) then id end
        from main.own_prices own where account_id = new.account_id order by number desc limit 1) end,
      (select debt from main.account where id = new.account_id), case when new.kind = 'paid' then ${owedBy("new.account_id")} else 0 end
    from main.price_version;
  end;`;

/**
 * Milliseconds between a request's look at its money and its admission, when the lease of its budget is slow. On SQLite
 * nothing is slow, and the core has the clock of its database.
 */
const slackMs = 12_000;
const slackOfFileMs = 50;

/** Judges which money pays for what: by the list of its day, debts first, in order, and not once it has lapsed. */
export class LotJudge {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    world.server.listen(listen, ["lot_birth"]);
  }

  judge(): void {
    this.#judgeLists();
    this.#judgeDebts();
    this.#judgeOrder();
    if (!this.#world.clocksMoved) {
      this.#judgeLapsed();
    }
  }

  /** A lot pays by the list that was the newest when it came in, and by its account's own prices of that moment. */
  #judgeLists(): void {
    const { server, history } = this.#world;
    const others = server.tables.all<{ id: string; kept: number; prices: number }>(
      `select id, price_version_id as kept, prices from lot join temp.lot_birth on lot_id = id
       where price_version_id <> prices`,
    );
    for (const { id, kept, prices } of others) {
      history.violation("prices", `lot ${id} came in beside price list ${prices} and keeps ${kept}`);
    }
    const owns = server.tables.all<{ id: string; kept: string | null; own: string | null }>(
      `select id, own_prices_id as kept, own from lot join temp.lot_birth on lot_id = id where own_prices_id is not own`,
    );
    for (const { id, kept, own } of owns) {
      history.violation("prices", `lot ${id} came in beside own prices ${own} and keeps ${kept}`);
    }
  }

  /**
   * Money that comes in pays what is owed in its own transaction; what is owed on a credit line, only what was bought. Where
   * it has lapsed by the clock of its core, which is a day fast, it pays once a right clock looks.
   */
  #judgeDebts(): void {
    const { server, history } = this.#world;
    const unpaid = server.tables.all<{ id: string; debt: number; paid: number }>(
      `select id, debt, paid from (
         select lot.id, lot.granted, birth.debt + birth.owed as debt, (
           select coalesce(sum(amount), 0) from lot_entry join lot other on other.id = lot_entry.lot_id
           where other.account_id = lot.account_id and lot_entry.kind = 'debt' and lot_entry.at = lot.created_at) as paid
         from lot join temp.lot_birth birth on birth.lot_id = lot.id where birth.debt + birth.owed > 0 and kind <> 'credit'
           and (expires_at is null or expires_at > created_at)) born
       where paid < min(debt, granted)`,
    );
    for (const { id, debt, paid } of unpaid) {
      history.violation("debts", `lot ${id} came in beside a debt of ${debt}, of which ${paid} was paid`);
    }
  }

  /**
   * The lines of a receipt are free money, then gifts, payments, the credit line; of a kind what lapses, then what came
   * sooner. A part of a credit line that was called back pays like what lapses: it may stand above one that is older only by
   * a wrong clock.
   */
  #judgeOrder(): void {
    const { server, history } = this.#world;
    const wrong = server.tables.all<{ request: string; seq: number }>(
      `select request, seq from (
         select line.request_id as request, seq, (rank, lapses, created_at)
             < (lag(rank) over run, lag(lapses) over run, lag(created_at) over run)
             and (rank < ${rankOfCredit} or not lag(was_called) over run or came < lag(came) over run) as is_earlier
         from usage_line line join (
           select id, created_at, rowid as came, kind = 'credit' and expires_at is not null as was_called,
             case kind when 'free' then 1 when 'grant' then 2 when 'paid' then 3 else ${rankOfCredit} end as rank,
             case when kind = 'credit' or expires_at is null then 9e15 else expires_at end as lapses from lot) lot
           on lot.id = line.lot_id
         window run as (partition by line.request_id, line.run_id order by seq)) lines
       where is_earlier`,
    );
    for (const { request, seq } of wrong) {
      history.violation(
        "order",
        `line ${seq} of ${request} is of a lot that should have paid before the line above it`,
      );
    }
  }

  /** No request that came later spends lapsed money, unless one that ran before still holds it. */
  #judgeLapsed(): void {
    const { server, history, traffic, timeline, isSqlite } = this.#world;
    const lines = server.tables.all<{ run: string; lot: string; lapses: number }>(
      `select line.run_id as run, lot.id as lot, expires_at as lapses from usage_line line
       join lot on lot.id = line.lot_id where expires_at is not null and kind <> 'credit' and line.cost > 0`,
    );
    const runs = new Map(
      traffic.runs.flatMap((run) => (run.hold === undefined ? [] : [[run.hold.runId, run] as const])),
    );
    for (const { run: id, lot, lapses } of lines) {
      const run = runs.get(id);
      const late = run === undefined ? 0 : timeline.beginning + (run.answeredAt ?? 0) - lapses;
      const most = isSqlite ? slackOfFileMs : slackMs;
      if (
        run?.state === "acknowledged" &&
        late > most &&
        !traffic.runs.some((other) => holds(other, run, late, most))
      ) {
        history.violation(
          "expiry",
          `${run.requestId} was let in ${Math.round(late)} ms after lot ${lot} had lapsed, which pays`,
        );
      }
    }
  }
}

/** Whether another request that was let in before the money lapsed ran when this one was let in. */
function holds(other: Run, run: Run, late: number, slack: number): boolean {
  const { answeredAt = 0, settledAt = Number.POSITIVE_INFINITY } = other;
  const at = run.answeredAt ?? 0;
  return (
    other.process === run.process &&
    other.accountId === run.accountId &&
    other.hold !== undefined &&
    answeredAt <= at - late + slack &&
    (other.state === "held" || other.state === "settling" || settledAt >= at - slack)
  );
}
