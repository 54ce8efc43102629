import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Model } from "#gen/tollgate/catalogue/v1/model_pb.js";
import type {
  GetPublicHistoryResponse,
  GetPublicStatusResponse,
  Incident,
  ModelHistory,
} from "#gen/tollgate/status/v1/status_service_pb.js";
import { dayMs } from "#lib/time/days.ts";
import { escapeHtml } from "./escape-html.ts";
import type { Page } from "./layout.ts";
import { nameOf } from "./model-facts.ts";

const days = 90;
/** From which part of served requests on a day is good, or at least not bad. */
const [good, fair] = [0.999, 0.95];

type History = Pick<GetPublicHistoryResponse, "models" | "incidents" | "availability">;

/** What is wrong now, and how the service was in the last 90 days. `history` undefined: it cannot be told now. */
export function renderStatus(
  { ok, red }: Pick<GetPublicStatusResponse, "ok" | "red">,
  history: History | undefined,
  models: readonly Model[],
  now: number,
): Page {
  const named = (id: string) => escapeHtml(nameOf(models.find((model) => model.id === id) ?? { id, displayName: "" }));
  const rows = red.map(
    ({ model, reason, since }) =>
      `<tr><td>${model === "" ? "All models" : named(model)}</td><td>${escapeHtml(reason)}</td><td>${toText(since)}</td></tr>`,
  );
  return {
    title: "Status",
    description: "What is wrong at the moment, and how available each model was in the last 90 days.",
    body: `<h1>${ok ? "All is well." : "Something is wrong."}</h1>
${ok ? "<p>Every model has a server, and requests are taken.</p>" : table("What is wrong", ["Model", "What", "Since"], rows)}
${history === undefined ? "<p>The last days cannot be told at the moment.</p>" : renderHistory(history, named, now)}`,
  };
}

function renderHistory(
  { models, incidents, availability }: History,
  named: (id: string) => string,
  now: number,
): string {
  const each = models.map((one) => `<li class="card"><h3>${named(one.model)}</h3>${describeHistory(one, now)}</li>`);
  const rows = incidents.map(
    (one) => `<tr><td>${named(one.model)}</td><td>${toText(one.began)}</td><td>${lengthOf(one)}</td></tr>`,
  );
  return `<h2>The last 90 days</h2>
<ul class="cards">${each.join("\n")}</ul>
<p class="small">A bar is a day in UTC; low bars had failures. Requests that are wrong or over a limit do not count.${
    availability === undefined
      ? ""
      : ` As listings count it, ${percent(availability)} of the requests of today and yesterday were served.`
  }</p>
<h2>Incidents</h2>
${rows.length === 0 ? "<p>No server was down.</p>" : table("Incidents", ["Model", "A server was down from", "For"], rows)}`;
}

/** How a model was served: a bar a day, and its figures. */
export function describeHistory(history: ModelHistory, now: number): string {
  const { availability, firstTokenP50Ms, firstTokenP99Ms } = history;
  const rows: readonly (readonly [string, string])[] = [
    ["Available", availability === undefined ? "no requests yet" : percent(availability)],
    ["First token, half of requests", within(firstTokenP50Ms)],
    ["First token, 99 of 100", within(firstTokenP99Ms)],
  ];
  const shown = rows.filter(([, value]) => value !== "");
  return `${plotDays(history, now)}<dl>${shown.map(([term, value]) => `<dt>${term}</dt><dd>${value}</dd>`).join("")}</dl>`;
}

function plotDays({ days: told }: ModelHistory, now: number): string {
  const today = Math.floor(now / dayMs);
  const paths: Record<"none" | "ok" | "part" | "bad", string> = { none: "", ok: "", part: "", bad: "" };
  const known = new Map(told.map((day) => [Date.parse(day.date) / dayMs, day.availability]));
  for (let index = 0; index < days; index++) {
    const part = known.get(today - days + 1 + index);
    const [kind, top] = judge(part);
    paths[kind] += `M${2 + index * 4} 24V${top}`;
  }
  const worst = told.toSorted((one, other) => one.availability - other.availability)[0];
  const label =
    worst === undefined
      ? "No requests in the last 90 days."
      : `Days with requests: ${told.length}. The worst was ${worst.date} with ${percent(worst.availability)} served.`;
  const drawn = Object.entries(paths).filter(([, path]) => path !== "");
  return `<svg class="days" viewBox="0 0 ${days * 4} 24" role="img" aria-label="${label}">${drawn
    .map(([kind, path]) => `<path class="${kind}" d="${path}"/>`)
    .join("")}</svg>`;
}

/** The kind of a day's bar, and where it ends: a bad day is told by its height as well as by its colour. */
function judge(part: number | undefined): ["none" | "ok" | "part" | "bad", number] {
  if (part === undefined) {
    return ["none", 21];
  }
  if (part >= good) {
    return ["ok", 0];
  }
  return part >= fair ? ["part", 8] : ["bad", 14];
}

/** Never 100 % where something failed. */
function percent(part: number): string {
  return `${part === 1 ? "100" : (Math.floor(part * 10_000) / 100).toFixed(2)} %`;
}

function within(ms: number | undefined): string {
  return ms === undefined ? "" : `${ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`}`;
}

function lengthOf({ began, ended }: Incident): string {
  if (began === undefined || ended === undefined) {
    return "until now";
  }
  const seconds = Math.round((timestampDate(ended).getTime() - timestampDate(began).getTime()) / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

function table(label: string, heads: readonly string[], rows: readonly string[]): string {
  return `<div class="wide" tabindex="0" role="region" aria-label="${label}"><table>
<tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}</tr>
${rows.join("\n")}
</table></div>`;
}

function toText(at: Incident["began"]): string {
  return at === undefined ? "" : timestampDate(at).toISOString().slice(0, 16).replace("T", " ");
}
