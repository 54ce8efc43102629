import { dayMs, dayName } from "#lib/time/days.ts";
import { Event } from "#src/storage/entities/event.ts";
import { ModelDay } from "#src/storage/entities/history/model-day.ts";
import type { Storage } from "#src/storage/storage.ts";
import { quantile } from "./buckets.ts";
import type { Incident, ModelHistory, ServiceHistory } from "./interface.ts";
import { firstTokenMeasure, keptDays } from "./model-days.ts";

const mostIncidents = 50;
/** Events that are read: of servers that go down and come back again and again, the newest. */
const mostEvents = 1000;

type Counts = Readonly<Record<string, number>>;

/** Reads how the given models were served. */
export async function readServiceHistory(
  storage: Storage,
  models: readonly string[],
  now: number,
): Promise<ServiceHistory> {
  const em = storage.orm.em.fork();
  const today = Math.floor(now / dayMs);
  const order = { day: "asc", model: "asc", measure: "asc" } as const;
  const rows = await em.find(ModelDay, { day: { $gt: today - keptDays } }, { orderBy: order });
  const recent = sum(rows.filter(({ day }) => day >= today - 1));
  return {
    models: models.map((model) =>
      toHistory(
        model,
        rows.filter((row) => row.model === model),
      ),
    ),
    incidents: await readIncidents(storage, models, new Date(now - keptDays * dayMs)),
    availability: share(recent, recent.refused ?? 0),
  };
}

function toHistory(model: string, rows: readonly ModelDay[]): ModelHistory {
  const all = sum(rows);
  const days = [...new Set(rows.map(({ day }) => day))].flatMap((day) => {
    const availability = share(sum(rows.filter((row) => row.day === day)));
    return availability === undefined ? [] : [{ date: dayName(day), availability }];
  });
  const buckets = new Map(
    Object.entries(all)
      .filter(([measure]) => measure.startsWith(firstTokenMeasure))
      .map(([measure, count]) => [Number(measure.slice(firstTokenMeasure.length)), count]),
  );
  return {
    model,
    days,
    availability: share(all),
    firstTokenP50Ms: quantile(buckets, 0.5),
    firstTokenP99Ms: quantile(buckets, 0.99),
  };
}

function sum(rows: readonly ModelDay[]): Counts {
  const counts: Record<string, number> = {};
  for (const { measure, count } of rows) {
    counts[measure] = (counts[measure] ?? 0) + count;
  }
  return counts;
}

/** The part that was served. Undefined: nothing was asked for. */
function share({ served = 0, failed = 0 }: Counts, refused = 0): number | undefined {
  const all = served + failed + refused;
  return all === 0 ? undefined : served / all;
}

/** The times in which servers of these models were down, by what was announced of them. Newest first. */
async function readIncidents(storage: Storage, models: readonly string[], from: Date): Promise<Incident[]> {
  const where = { type: { $in: ["server.down", "server.up"] }, at: { $gt: from } };
  const order = { at: "desc", id: "desc" } as const;
  const events = await storage.orm.em.fork().find(Event, where, { orderBy: order, limit: mostEvents });
  const back = new Map<string, Date>();
  const incidents: Incident[] = [];
  for (const { type, body, at } of events) {
    const { server, model } = (JSON.parse(body) as { data: { server: string; model: string } }).data;
    if (type === "server.up") {
      back.set(server, at);
    } else {
      if (models.includes(model)) {
        incidents.push({ model, began: at, ended: back.get(server) });
      }
      back.delete(server);
    }
  }
  return incidents.slice(0, mostIncidents);
}
