import { type Doors, operatorsAlone } from "./door.ts";

/** What tells of requests. */
export const usageDoors: Readonly<Record<string, Doors>> = {
  usage: {
    contract: ["MeteringService.StreamUsage group_by", "MeteringService.StreamUsage > rows.total_cost_pico_usd"],
    cli: [
      ...["usage --by", "usage --account", "usage --key", "usage --from", "usage --top", "export usage --by"],
      ...["account_id", "key_id", "model", "day", "hour", "requests", "input_tokens", "output_tokens", "cost_usd"].map(
        (field) => `usage > ${field}`,
      ),
    ],
    openapi: [
      ...["account_id", "key_id", "model", "day", "hour", "requests", "input_tokens", "output_tokens", "cost_usd"].map(
        (field) => `GET /v1/usage > data.${field}`,
      ),
      "GET /v1/usage 400",
    ],
    metrics: ["tollgate_tokens_total", "tollgate_cost_usd_total"],
    dashboard: ["Tokens", "Revenue"],
    docs: ["money.md: Usage"],
    console: ["usage"],
  },
  labels: {
    contract: [
      ...[
        "InferenceService.Generate labels",
        "EmbeddingsService.Embed labels",
        "MeteringService.ListLabels > labels.name",
      ],
      ...["MeteringService.StreamUsage label_name", "MeteringService.StreamUsage label_value"],
      ...["MeteringService.StreamUsage > rows.label", "MeteringService.ListReceipts label_name"],
      "MeteringService.GetReceipt > receipt.labels",
    ],
    cli: [
      "usage --label",
      "export usage --label",
      "export usage --format",
      "export usage --provider",
      "receipt > labels",
    ],
    openapi: ["GET /v1/usage > data.label", "GET /v1/generation > data.labels"],
    metrics: ["tollgate_label_values_other_total"],
    dashboard: ["Refusals and failures"],
    config: ["labels.keep", "labels.values_per_day", "labels.keep_days"],
    docs: ["labels.md: Where labels show", "labels.md: A FOCUS file", "labels.md: What is kept about people"],
    console: ["usage", "receipt"],
  },
  "why a request was refused": {
    contract: [
      ...["account_id", "key_id", "model", "reason", "outcome", "request_id"].map(
        (field) => `MeteringService.ListRequests ${field}`,
      ),
      ...["request_id", "reason", "http_status", "left_out"].map(
        (field) => `MeteringService.ListRequests > requests.${field}`,
      ),
    ],
    cli: [
      ...["--request", "--key", "--model", "--reason", "--outcome", "--from"].map((option) => `requests ${option}`),
      ...["request_id", "reason", "http_status", "what", "advice"].map((field) => `requests > ${field}`),
    ],
    openapi: ["GET /v1/generation > data.error.reason"],
    metrics: ["tollgate_request_records_dropped_total"],
    dashboard: ["Refusals and failures"],
    config: ["requests.keep_days", "requests.most"],
    docs: ["console.md: Requests", "observability.md: Logs"],
    console: ["requests", "request"],
  },
  margin: {
    contract: [
      ...["MarginService.StreamMargins by", "MarginService.StreamMargins > margins.margin_pico_usd"],
      "CatalogueService.ListServers > servers.pico_usd_per_hour",
    ],
    cli: [
      ...["margin --by", "margin > hour", "margin > model", "margin > revenue_usd", "margin > cost_usd"],
      ...["margin > margin_usd", "servers list > usd_per_hour"],
    ],
    openapi: operatorsAlone,
    metrics: ["tollgate_model_servers_usd_per_hour", "tollgate_cost_usd_total"],
    dashboard: ["Margin"],
    config: ["models.servers.usd_per_hour"],
    docs: ["operations.md: Margin"],
    console: ["overview"],
  },
};
