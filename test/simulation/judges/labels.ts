import { keptLabels, unkept } from "../cores/labels.ts";
import type { Run } from "../cores/run.ts";
import type { World } from "../world.ts";
import { readArchived } from "./archives.ts";

const other = "other";
const most = keptLabels.values_per_day;
const dayMs = 86_400_000;
/** Milliseconds after which a core has learned what the others have stored. */
const learnedMs = 45_000;
/** Milliseconds by which midnight comes sooner for some cores. */
const nearMs = 1000;

/** What a request was asked to be labelled with, and what its core made of it. */
interface Used {
  readonly run: Run;
  readonly name: string;
  readonly stated: string;
  readonly value: string;
  readonly day: number;
}

/**
 * Judges that receipts have the labels of their requests, that nothing else is kept, and that sums by label are those of the
 * receipts. `worksSince`: from when on cores learn of each other what they have stored.
 */
export function judgeLabels(world: World, worksSince: number): void {
  const used = world.traffic.runs.flatMap(readUsed);
  judgeReceipts(world);
  judgeValues(world, used);
  if (!world.clocksMoved) {
    judgeBounds(world, used, worksSince);
  }
  judgeSums(world);
}

function readUsed(run: Run): Used[] {
  const { stated = {}, labelled } = run;
  const values = Object.entries(JSON.parse(labelled?.labels ?? "{}") as Record<string, string>);
  return values.map(([name, value]) => ({ run, name, stated: stated[name] ?? "", value, day: labelled?.day ?? 0 }));
}

/** The labels of a request stand on its receipt, in the books or in an archive, also where its core died. */
function judgeReceipts(world: World): void {
  const { traffic, server, history } = world;
  const stored = server.tables.all<{ run: string; labels: string | null }>("select run_id as run, labels from usage");
  const found = new Map(stored.map(({ run, labels }) => [run, labels ?? "{}"]));
  for (const { runId, labels } of readArchived(world)) {
    found.set(runId, JSON.stringify(labels));
  }
  for (const { hold, labelled, requestId } of traffic.runs) {
    const labels = found.get(hold?.runId ?? "");
    if (labels !== undefined && labels !== (labelled?.labels ?? "{}")) {
      history.violation("labels", `${requestId} had the labels ${labelled?.labels}, and its receipt has ${labels}`);
    }
  }
}

/** A value is the one that was stated; a hashed one is always the same, and another one in each account. */
function judgeValues({ history }: World, used: readonly Used[]): void {
  const [hashes, people] = [new Map<string, string>(), new Map<string, string>()];
  for (const { run, name, stated, value } of used) {
    const person = `${stated} of ${run.accountId}`;
    if (name !== "user") {
      const kept = value === other || unkept.includes(stated) ? other : stated.trim();
      if (value !== kept) {
        history.violation("labels", `${run.requestId} said that its ${name} is ${stated}, which became ${value}`);
      }
    } else if (value !== other && (isOther(hashes, person, value) || isOther(people, value, person))) {
      history.violation("labels", `${person} is ${value}, as ${people.get(value)} is, and was ${hashes.get(person)}`);
    }
  }
}

/** Whether a key had another value before. */
function isOther(known: Map<string, string>, key: string, value: string): boolean {
  const before = known.get(key) ?? value;
  known.set(key, before);
  return before !== value;
}

/** A label has so many values in a day and an account, as far as a core can know, and none is refused before that. */
function judgeBounds(world: World, used: readonly Used[], worksSince: number): void {
  const ordered = used.toSorted((a, b) => (a.run.labelled?.before ?? 0) - (b.run.labelled?.before ?? 0));
  for (const [label, all] of Map.groupBy(ordered, ({ run, name }) => `the ${name} of ${run.accountId}`)) {
    judgeOthers(world, label, all);
    for (const [day, uses] of Map.groupBy(all, ({ day }) => day)) {
      const stored = all.filter((one) => one.day !== day && mayCount(one, day, world.timeline.beginning));
      const first = uses.filter(
        ({ value }, place) => value !== other && uses.findIndex((one) => one.value === value) === place,
      );
      const isNew = ({ value }: Used) => !stored.some((one) => one.value === value);
      judgeFirst(world, label, first.filter(isNew), worksSince);
    }
  }
}

const at = ({ run }: Used) => run.enteredAt ?? run.askedAt;

/** What is recorded as "other" came beside as many values of its day as there may be. */
function judgeOthers({ history, timeline }: World, label: string, all: readonly Used[]): void {
  for (const [place, { run, value, stated, day }] of all.entries()) {
    if (value !== other || unkept.includes(stated)) {
      continue;
    }
    const before = all.slice(0, place).filter((one) => one.value !== other && mayCount(one, day, timeline.beginning));
    const values = new Set(before.map((one) => one.value)).size;
    if (values < most) {
      history.violation("labels", `${run.requestId} got no value of ${label}, which had ${values} on that day`);
    }
  }
}

/** Whether a value may count on a day: it was used then, or its charge may have been stored then. */
function mayCount({ run, day: of }: Used, day: number, beginning: number): boolean {
  const storedOn = run.settledAt === undefined ? day : Math.floor((beginning + run.settledAt + nearMs) / dayMs);
  return of === day || (of === day - 1 && storedOn === day);
}

/** `first`: the first use of each value of a day that no charge of the day before was stored with. No core takes more than it may, or one beside as many that others stored. */
function judgeFirst({ history, wentBack }: World, label: string, first: readonly Used[], worksSince: number): void {
  const taken = new Map<object, number>();
  for (const one of first) {
    const { process, askedAt, requestId } = one.run;
    const count = (taken.get(process) ?? 0) + 1;
    taken.set(process, count);
    const learned = first.filter(
      ({ run: { state, settledAt = Number.POSITIVE_INFINITY } }) =>
        state === "acknowledged" && settledAt < at(one) - learnedMs,
    );
    const mustKnow = !wentBack && askedAt > worksSince + learnedMs;
    if (count > most || (mustKnow && learned.length >= most)) {
      history.violation(
        "labels",
        `${requestId} got a new value of ${label}, beside ${learned.length} that were stored`,
      );
    }
  }
}

/** The sums of labels are those of the receipts that are in the books. */
function judgeSums({ server, history }: World): void {
  const key = "account_id, name, value, hour, key_id, model";
  const [wrong] = server.tables.all<object>(
    `with kept as (select coalesce(max(day) + 1, 0) * 24 as hour from receipt_archive),
       counted as (
         select ${key}, sum(requests) as requests, sum(cost_high * 1000000 + cost_low) as cost, sum(shortfall) as shortfall,
           sum(output_tokens) as output from usage_label where hour >= (select hour from kept) group by ${key}),
       charged as (
         select account_id, label.key as name, label.value, cast(settled_at / 3600000 as integer) as hour, key_id, model,
           count(*) as requests, sum(cost) as cost, sum(shortfall) as shortfall, sum(output_tokens) as output
         from usage, json_each(labels) label where settled_at >= (select hour from kept) * 3600000 group by 1, 2, 3, 4, 5, 6)
     select * from (select * from counted except select * from charged)
     union all select * from (select * from charged except select * from counted)`,
  );
  if (wrong !== undefined) {
    history.violation("labels", `sums of labels are not those of receipts: ${JSON.stringify(wrong)}`);
  }
}
