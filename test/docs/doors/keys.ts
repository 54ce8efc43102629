import { type Doors, noFigure, noPanel, refusals } from "./door.ts";

const keysPages = ["keys", "account"];

/** What bounds a key, and what manages it. */
export const keysDoors: Readonly<Record<string, Doors>> = {
  "a key's budget": {
    contract: [
      "AccountsService.CreateKey limits.budget_pico_usd",
      "AccountsService.UpdateKey limits.budget_pico_usd",
      "AccountsService.UpdateKey limits.budget_period",
      "AccountsService.ListKeys > keys.budget_spent_pico_usd",
      "AccountsService.ListKeys > keys.budget_left_pico_usd",
      "AccountsService.ListKeys > keys.budget_resets_at",
    ],
    cli: [
      ...["keys create --usd", "keys create --per", "keys set-limits --usd", "keys set-limits --per"],
      ...["usd", "per", "usd_spent", "usd_left", "resets_at"].map((field) => `keys list > limits.${field}`),
    ],
    openapi: [
      ...["limit", "limit_remaining", "limit_reset", "usage"].map((field) => `GET /v1/key > data.${field}`),
      ...["usd", "per", "usd_spent", "usd_left", "resets_at"].map((field) => `GET /test-auth > limits.${field}`),
      ...["POST /v1/chat/completions 429", "POST /v1/messages 400"],
    ],
    metrics: [
      ...["tollgate_limit_refusals_total budget", "tollgate_limit_refusals_total budget_held"],
      ...["tollgate_budgets", "tollgate_budget_left_usd", "tollgate_budget_crossings_total"],
    ],
    dashboard: [refusals, "Budgets of keys"],
    docs: ["money.md: The budget of a key", "clients.md: What a key may do"],
    console: keysPages,
  },
  "a key's models": {
    contract: [
      "AccountsService.CreateKey limits.models",
      "AccountsService.UpdateKey limits.models",
      "AccountsService.ListKeys > keys.limits.models",
    ],
    cli: ["keys create --models", "keys set-limits --models", "keys list > limits.models"],
    openapi: ["GET /v1/key > data.models", "GET /test-auth > limits.models", "POST /v1/chat/completions 404"],
    metrics: "- it is answered as an unknown model: reason MODEL_NOT_FOUND of tollgate_requests_total",
    dashboard: ["Refusals and failures"],
    docs: ["clients.md: What a key may do"],
    console: keysPages,
  },
  "a key's end": {
    contract: [
      "AccountsService.CreateKey limits.expires_at",
      "AccountsService.UpdateKey limits.expires_at",
      "AccountsService.ListKeys > keys.limits.expires_at",
    ],
    cli: ["keys create --expires", "keys set-limits --expires", "keys list > expires_at"],
    openapi: ["GET /v1/key > data.expires_at", "GET /test-auth > key.expires_at", "POST /v1/messages 401"],
    metrics: "- it is answered as a wrong key: code Unauthenticated of tollgate_requests_total",
    dashboard: ["Refusals and failures"],
    docs: ["clients.md: What a key may do"],
    console: keysPages,
  },
  "a key's tokens a minute": {
    contract: [
      "AccountsService.CreateKey limits.tokens_per_minute",
      "AccountsService.UpdateKey limits.tokens_per_minute",
      "AccountsService.ListKeys > keys.limits.tokens_per_minute",
    ],
    cli: ["keys create --tpm", "keys set-limits --tpm", "keys list > limits.tpm"],
    openapi: ["GET /v1/key > data.tpm", "GET /test-auth > limits.tpm", "POST /v1/messages 429"],
    metrics: ["tollgate_limit_refusals_total tokens"],
    dashboard: [refusals],
    docs: ["operations.md: Fair shares", "clients.md: What a key may do"],
    console: keysPages,
  },
  "a key's requests a minute": {
    contract: [
      "AccountsService.CreateKey limits.rpm",
      "AccountsService.UpdateKey limits.rpm",
      "AccountsService.ListKeys > keys.limits.rpm",
    ],
    cli: ["keys create --rpm", "keys set-rpm", "keys list > rpm"],
    openapi: [
      ...["GET /v1/key > data.rate_limit.requests", "GET /test-auth > settings.maxRpm", "POST /v1/messages 429"],
      ...["limit", "remaining", "reset_seconds"].map((field) => `GET /test-auth > rate_limit.${field}`),
    ],
    metrics: ["tollgate_limit_refusals_total requests", "tollgate_limit_refusals_total free_tier"],
    dashboard: [refusals, "Rate refusals"],
    config: ["rate_tiers.rpm", "free_tier.rpm"],
    docs: ["operations.md: Fair shares", "clients.md: What a key may do"],
    console: keysPages,
  },
  "requests at once": {
    contract: [
      "AccountsService.CreateKey limits.max_in_flight",
      "AccountsService.UpdateKey limits.max_in_flight",
      "AccountsService.UpdateAccount max_in_flight",
      "AccountsService.ListKeys > keys.limits.max_in_flight",
      "AccountsService.GetAccount > account.max_in_flight",
    ],
    cli: [
      ...["keys create --in-flight", "keys set-limits --in-flight", "keys list > limits.in_flight"],
      ...["accounts set-limits --in-flight", "accounts show > in_flight_limit"],
    ],
    openapi: ["GET /v1/key > data.in_flight", "GET /test-auth > limits.in_flight", "POST /v1/messages 429"],
    metrics: ["tollgate_limit_refusals_total in_flight"],
    dashboard: [refusals],
    config: ["rate_tiers.in_flight", "free_tier.in_flight"],
    docs: ["operations.md: Fair shares", "clients.md: What a key may do"],
    console: keysPages,
  },
  "the class of requests": {
    contract: [
      "AccountsService.CreateKey limits.service_class",
      "AccountsService.UpdateKey limits.service_class",
      "AccountsService.UpdateAccount service_class",
    ],
    cli: [
      ...["keys create --class", "keys set-limits --class", "keys list > limits.class"],
      ...["accounts set-limits --class", "accounts show > class"],
    ],
    openapi: ["POST /v1/chat/completions > service_tier", "POST /v1/messages > usage.service_tier"],
    metrics: ["tollgate_queue_wait_seconds"],
    dashboard: ["Wait in the queue"],
    config: ["fleet.first_token_promise_s"],
    docs: ["operations.md: When servers are full"],
    console: keysPages,
  },
  "management keys": {
    contract: [
      ...["AccountsService.CreateKey manages", "AccountsService.ListKeys > keys.manages", "AccountsService.GetKey"],
      ...["AccountsService.UpdateKey disabled", "AccountsService.GetKey > key.disabled"],
      ...["AccountsService.IdentifyCaller > member_role", "AccountsService.ListKeys without_revoked"],
      "AccountsService.ListKeys newest_first",
      "AuditService.ListAuditEvents > audit_events.key_id",
    ],
    cli: [
      ...["keys create --manages", "keys disable", "keys enable", "keys list > manages", "keys list > disabled"],
      "audit list > key_id",
    ],
    openapi: [
      ...["hash", "name", "label", "disabled", "limit", "limit_remaining", "limit_reset", "usage"],
      ...["created_at", "updated_at", "expires_at"],
    ]
      .map((field) => `GET /v1/keys > data.${field}`)
      .concat(
        ...["POST /v1/keys > key", "POST /v1/keys 403", "GET /v1/keys/{hash} 404", "PATCH /v1/keys/{hash} 400"],
        ...["DELETE /v1/keys/{hash} > deleted", "GET /v1/keys 401"],
      ),
    metrics: noFigure,
    dashboard: noPanel,
    config: ["keys.max_per_account"],
    docs: ["clients.md: Keys by a management key", "grpc.md: Credentials", "operations.md: Operators"],
    console: keysPages,
  },
  "labels and the number of keys": {
    contract: [
      ...["AccountsService.UpdateKey name", "AccountsService.UpdateAccount name"],
      ...["AccountsService.UpdateAccount max_keys", "AccountsService.CreateAccount max_keys"],
      ...["AccountsService.ListAccounts", "AccountsService.RotateKey"],
      ...["AccountsService.RevokeKey", "AccountsService.IdentifyCaller"],
    ],
    cli: [
      ...["accounts update --name", "accounts update --max-keys", "accounts list", "keys rotate"],
      ...["keys revoke", "accounts show > max_keys"],
    ],
    openapi: ["GET /v1/key > data.label", "GET /test-auth > key.name"],
    metrics: noFigure,
    dashboard: noPanel,
    config: ["keys.max_per_account"],
    docs: ["money.md: Credits, and the price locked in"],
    console: ["accounts", "account", "keys"],
  },
  "a key, its account and its limits": {
    contract: ["AccountsService.GetKeyStatus > key", "AccountsService.GetKeyStatus > rate_limit"],
    cli: "- operators see them by keys list",
    openapi: [
      ...["GET /v1/key > data.is_free_tier", "GET /v1/key > data.rate_limit.interval"],
      ...["GET /test-auth > account_id", "GET /test-auth > free_only"],
    ],
    metrics: noFigure,
    dashboard: noPanel,
    docs: ["clients.md: What a customer sees with a key"],
    console: ["overview", "keys"],
  },
};
