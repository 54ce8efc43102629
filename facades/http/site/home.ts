import type { ModelPriceDays } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import type { Model } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { escapeHtml } from "./escape-html.ts";
import type { Page, Reach } from "./layout.ts";
import { describeModel, hasOwnName, nameOf, pathOf } from "./model-facts.ts";
import { plotPrices } from "./plot.ts";

/** Models that are named for search engines, which show some 160 characters. */
const namedModels = 4;

/** The first page: the served models as cards, with their prices, and how to call them. */
export function renderHome(
  models: readonly Model[],
  prices: readonly ModelPriceDays[],
  { baseUrl, pages }: Pick<Reach, "baseUrl" | "pages">,
): Page {
  const base = escapeHtml(baseUrl);
  const plots = new Map(prices.map((days) => [days.model, plotPrices(days)]));
  const hasPlot = models.some(({ id }) => plots.get(id));
  const cards = models.map((model) => {
    const plot = plots.get(model.id) ?? "";
    const href = escapeHtml(`${pages}${pathOf(model)}`);
    return `<li class="card"><h3><a href="${href}">${escapeHtml(nameOf(model))}</a></h3>${hasOwnName(model) ? `<p class="small id">${escapeHtml(model.id)}</p>` : ""}${describeModel(model)}${plot}</li>`;
  });
  return {
    title: "Open models by API, with live prices",
    description: `${listModels(models)} behind one key and one prepaid balance, each with its live price.`,
    body: `<h1>Open models behind one key and one prepaid balance.</h1>
<h2>Models and live prices</h2>
${
  cards.length === 0
    ? "<p>No model is served at the moment.</p>"
    : `<ul class="cards">${cards.join("\n")}</ul>
<p class="small">Prices in USD.${hasPlot ? " The line below a model is its price of the last 30 days." : ""}</p>`
}
<h2>How to call</h2>
<p>OpenAI-style clients use <code>${base}/v1</code>, Anthropic-style clients <code>${base}</code>, both with the same API key. A model's page has calls to paste.</p>`,
  };
}

/** The models for search engines: the first ones by name, as much as they show. */
function listModels(models: readonly Model[]): string {
  const first = models.slice(0, namedModels).map(nameOf).join(", ");
  const more = models.length - namedModels;
  return models.length === 0 ? "Open models" : more > 0 ? `${first} and ${more} more` : first;
}
