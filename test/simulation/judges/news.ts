import { formatUsd } from "#lib/money/money.ts";
import type { World } from "../world.ts";

/** Milliseconds by which clocks of cores differ while none is wrong. */
const apartMs = 1000;

/**
 * Judges, once all works and nothing runs, that every charge was told with its cost, and nothing else was. A core that
 * started while a clock was an hour off tells, too.
 */
export function judgeUsageEvents({ news, server, history, wentBack }: World): void {
  if (news === undefined) {
    return;
  }
  const stored = new Map(
    server.tables
      .all<{ run: string; cost: number }>("select run_id as run, cost from usage")
      .map(({ run, cost }) => [run, formatUsd(BigInt(cost))]),
  );
  const told = new Map(news.told.map(({ runId, costUsd }) => [runId, costUsd]));
  for (const [run, cost] of stored) {
    if (told.get(run) !== cost) {
      history.violation("usage events", `run ${run} was charged ${cost}, and ${told.get(run) ?? "nothing"} was told`);
    }
  }
  for (const run of told.keys()) {
    if (!stored.has(run) && !wentBack) {
      history.violation("usage events", `run ${run} was told and never charged`);
    }
  }
}

interface Told {
  readonly account: string;
  readonly type: string;
  readonly at: number;
  readonly body: string;
}

/**
 * Judges that thresholds are told once a crossing: no balance twice without money or another credit line in between, no part of a budget twice
 * under a limit that was set once, and what is spent was told as spent. For worlds whose database loses nothing and whose
 * clocks are right.
 */
export function judgeThresholds(world: World): void {
  const { news, server, history, terms, timeline, wentBack, clocksMoved } = world;
  if (news === undefined || wentBack || clocksMoved) {
    return;
  }
  const told = server.tables.all<Told>("select account_id as account, type, at, body from event order by at, id");
  const came = server.tables.all<{ account: string; at: number }>(
    "select account_id as account, at from payment where kind <> 'refund' order by at",
  );
  const set = (terms?.lines ?? []).flatMap(({ accountId: account, askedAt, endsAt }) =>
    [askedAt, endsAt].map((at) => ({ account, at: timeline.beginning + at })),
  );
  for (const type of ["balance.low", "balance.exhausted"]) {
    for (const [account, events] of Map.groupBy(
      told.filter((one) => one.type === type),
      (one) => one.account,
    )) {
      const money = [...came, ...set].filter((one) => one.account === account);
      const again = events.find(({ at }, place) => {
        const before = events[place - 1]?.at;
        return before !== undefined && !money.some((one) => one.at >= before - apartMs && one.at <= at + apartMs);
      });
      if (again !== undefined) {
        history.violation("thresholds", `${type} of account ${account} was told twice without money in between`);
      }
    }
  }
  judgeSpentBalances(world, told);
  judgeLimits(world, told);
}

/** An account that has nothing left was told so. */
function judgeSpentBalances({ server, history }: World, told: readonly Told[]): void {
  const spent = server.tables.all<{ id: string; level: string }>(
    `select account.id, balance_told as level from account where exists (select 1 from lot where account_id = account.id)
       and (select sum(granted - spent - refunded - expired) from lot where account_id = account.id)
         - (select coalesce(sum(spent), 0) from slice where account_id = account.id and open) <= 0`,
  );
  for (const { id, level } of spent) {
    if (level !== "exhausted" || !told.some(({ account, type }) => account === id && type === "balance.exhausted")) {
      history.violation("thresholds", `account ${id} has nothing left, and is told as ${level}`);
    }
  }
}

/**
 * A key's part of a limit is told once each time that this limit is set, and a limit that is spent is told. A limit that
 * is set below what is spent is told with the next charge.
 */
function judgeLimits({ server, history, operators, customers }: World, told: readonly Told[]): void {
  const parts = told
    .filter(({ type }) => type === "key.limit")
    .map(({ body }) => (JSON.parse(body) as { data: Record<string, string | number> }).data);
  const sets = new Map<string, number>();
  const nameOf = (key: unknown, limit: unknown) => `${String(key)} ${String(limit)}`;
  for (const { keyId, limit } of operators.limits) {
    const name = nameOf(keyId, formatUsd(BigInt(limit)));
    sets.set(name, (sets.get(name) ?? 0) + 1);
  }
  for (const [name, events] of Map.groupBy(
    parts,
    (data) => `${nameOf(data.key_id, data.limit_usd)} ${String(data.percent)} ${String(data.resets_at)}`,
  )) {
    const [first] = events;
    const most = 1 + (sets.get(nameOf(first?.key_id, first?.limit_usd)) ?? 0);
    if (events.length > most) {
      history.violation("thresholds", `${name} % was told ${events.length} times`);
    }
  }
  for (const { keyId, budget } of customers.flatMap(({ callers }) => callers)) {
    const limit = budget?.limit ?? 0;
    const found = server.tables.get<{ spent: number }>(
      `select budget.spent + coalesce((select sum(slice.spent) from budget_slice slice where slice.budget_id = budget.id
         and slice.window_name = budget.window_name and open), 0) as spent
       from budget where id = ? and leased_under = ? and window_name = 'total'`,
      ...[budget?.id ?? "", limit],
    );
    const isTold = parts.some(
      (data) => data.key_id === keyId && data.percent === 100 && data.limit_usd === formatUsd(BigInt(limit)),
    );
    const setAt = operators.limits.findLast((one) => one.keyId === keyId)?.at ?? 0;
    const isCharged = server.tables.get(
      "select 1 from usage where key_id = ? and settled_at > ?",
      keyId,
      setAt + apartMs,
    );
    if (found !== undefined && isCharged && found.spent >= limit && !isTold) {
      history.violation("thresholds", `the budget of key ${keyId} is spent, and nobody was told`);
    }
  }
}
