import { type Model, ModelKind, ThinkingMode } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { formatRate } from "#lib/money/money.ts";
import { escapeHtml } from "./escape-html.ts";

/** The path of a model's page. */
export function pathOf({ id }: Pick<Model, "id">): string {
  return `/models/${id.split("/").map(encodeURIComponent).join("/")}`;
}

/** The name for people. */
export function nameOf({ displayName, id }: Pick<Model, "displayName" | "id">): string {
  return displayName || id;
}

/** Whether it has a name beside its id. */
export function hasOwnName({ displayName, id }: Pick<Model, "displayName" | "id">): boolean {
  return displayName !== "" && displayName !== id;
}

/** A price of 1M tokens. */
export function priceOf(picoPerToken: bigint): string {
  return `$${formatRate(picoPerToken)}`;
}

export function isEmbedding({ kind }: Pick<Model, "kind">): boolean {
  return kind === ModelKind.EMBEDDING;
}

const thinking: Readonly<Record<ThinkingMode, readonly string[]>> = {
  [ThinkingMode.UNSPECIFIED]: [],
  [ThinkingMode.NONE]: [],
  [ThinkingMode.ALWAYS]: ["thinks always"],
  [ThinkingMode.DEFAULT_OFF]: ["thinks when asked to"],
  [ThinkingMode.DEFAULT_ON]: ["thinks unless asked not to"],
};

/** What it can do, in words. */
export function abilitiesOf(model: Model): string {
  return isEmbedding(model) ? "embeddings" : ["text", "tools", "streaming", ...thinking[model.thinking]].join(", ");
}

/** What a model costs and can do, as a list of terms. */
export function describeModel(model: Model): string {
  const { card } = model;
  const count = (tokens: number) => `${tokens.toLocaleString("en-US")} tokens`;
  const link = card?.link ? `<a href="${escapeHtml(card.link)}" rel="noopener">by its makers</a>` : "";
  const rows: readonly (readonly [string, string])[] = [
    ["Input, 1M tokens", priceOf(model.inputPicoUsdPerToken)],
    ["Output, 1M tokens", isEmbedding(model) ? "" : priceOf(model.outputPicoUsdPerToken)],
    ["Context", count(model.contextLength)],
    ["Longest answer", isEmbedding(model) ? "" : count(model.maxOutputTokens)],
    ["Dimensions", isEmbedding(model) ? model.dimensions.toLocaleString("en-US") : ""],
    ["Can do", abilitiesOf(model)],
    ["Quantization", escapeHtml(card?.quantization ?? "")],
    ["Licence", escapeHtml(card?.licence ?? "")],
    ["Described", link],
  ];
  const shown = rows.filter(([, value]) => value !== "");
  return `<dl>${shown.map(([term, value]) => `<dt>${term}</dt><dd>${value}</dd>`).join("")}</dl>`;
}
