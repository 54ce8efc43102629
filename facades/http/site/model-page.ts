import type { ModelPriceDays } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import type { Model } from "#gen/tollgate/catalogue/v1/model_pb.js";
import type { ModelHistory } from "#gen/tollgate/status/v1/status_service_pb.js";
import { callsOf } from "./calls.ts";
import { escapeHtml } from "./escape-html.ts";
import type { Page } from "./layout.ts";
import { describeModel, hasOwnName, nameOf, priceOf } from "./model-facts.ts";
import { plotPrices } from "./plot.ts";
import { describeHistory } from "./status-page.ts";

/** A model's page: what it is, what it costs and did, and calls to paste. */
export function renderModel(
  model: Model,
  prices: ModelPriceDays | undefined,
  history: ModelHistory | undefined,
  baseUrl: string,
  now: number,
): Page {
  const name = nameOf(model);
  const { description = "" } = model.card ?? {};
  const calls = callsOf(model, baseUrl).map(
    ({ language, code }) =>
      `<h3>${language}</h3><pre tabindex="0" role="region" aria-label="${language}">${escapeHtml(code)}</pre>`,
  );
  return {
    title: `${name} API and price`,
    description:
      description ||
      `${name}: ${priceOf(model.inputPicoUsdPerToken)} for 1M input tokens, with one key for all models.`,
    body: `<h1>${escapeHtml(name)}</h1>
${hasOwnName(model) ? `<p><code>${escapeHtml(model.id)}</code></p>` : ""}
${description === "" ? "" : `<p>${escapeHtml(description)}</p>`}
<div class="card">${describeModel(model)}${plotPrices(prices)}</div>
${history === undefined ? "" : `<h2>The last 90 days</h2>${describeHistory(history, now)}`}
<h2>How to call</h2>
<p>Put your key into the environment first: <code>export API_KEY=…</code></p>
${calls.join("\n")}`,
  };
}
