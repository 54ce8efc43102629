/** The ways to a thing. One that is absent on purpose says why: "-", then the reason. */
export interface Doors {
  /** Methods and fields of the contract, which gRPC and Connect serve alike: "AccountsService.UpdateKey limits.models", or its answer's: "AccountsService.ListKeys > keys.limits.models". */
  readonly contract: readonly string[] | `- ${string}`;
  /** Commands with an option: "keys set-limits --models", or a field of what they print: "keys list > limits.models". */
  readonly cli: readonly string[] | `- ${string}`;
  /** What a customer meets over HTTP: "GET /v1/key > data.models", or a status: "POST /v1/messages 403". */
  readonly openapi: readonly string[] | `- ${string}`;
  /** Metrics, some with a label's value: "tollgate_limit_refusals_total budget". */
  readonly metrics: readonly string[] | `- ${string}`;
  /** Panels of the dashboard, by how their titles begin. */
  readonly dashboard: readonly string[] | `- ${string}`;
  /** Fields of the configuration, where it has a say. */
  readonly config?: readonly string[];
  /** Headings: "money.md: The budget of a key". */
  readonly docs: readonly string[];
  /** Pages of the console. */
  readonly console: readonly string[] | `- ${string}`;
}

const operatorsAlone = "- it is the operator's";
const noFigure = "- it is no figure: requests that change it are in tollgate_requests_total";
const noPanel = "- it has no metric of its own";
const refusals = "Refusals by limit";
const keysPages = ["keys", "account"];

/** Everything that bounds requests, tells of usage or goes out, with its doors. */
export const doors: Readonly<Record<string, Doors>> = {
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
  "people of an account": {
    contract: [
      ...["PeopleService.GetPerson", "PeopleService.UpdatePerson name", "PeopleService.ListAccounts > accounts.role"],
      ...["PeopleService.UpdatePerson mails", "PeopleService.GetPerson > mailed_events"],
      ...["PeopleService.ListMembers > members.role", "PeopleService.SetMemberRole role", "PeopleService.RemoveMember"],
      ...["PeopleService.LeaveAccount"],
      ...["PeopleService.CreateInvitation email", "PeopleService.ListInvitations > invitations.expires_at"],
      ...["PeopleService.ListPasskeys > passkeys.used_at", "PeopleService.BeginPasskey name"],
      ...["PeopleService.FinishPasskey", "PeopleService.RemovePasskey passkey_id"],
      ...["PeopleService.RevokeInvitation", "PeopleService.AcceptInvitation token", "AccountsService.CloseAccount"],
      ...["AuditService.ListAuditEvents account_id", "AuditService.ListAuditEvents > audit_events.person_id"],
    ],
    cli: [
      ...["accounts members > role", "accounts invite --role", "accounts invite --email", "accounts invite > token"],
      ...["accounts close > refunded_usd", "audit list > person_id", "audit list > account_id"],
    ],
    openapi: "- programs manage keys alone over HTTP; people use the console",
    metrics: noFigure,
    dashboard: noPanel,
    config: [
      "sign_in.oidc",
      "sign_in.operators",
      "sign_in.passkeys",
      "sign_up",
      "free_tier.for",
      "free_tier.a_day",
      "playground.usd",
    ],
    docs: [
      "people.md: Roles",
      "people.md: Invitations",
      "people.md: Signing in and up",
      "people.md: Passkeys",
      "people.md: A link by mail",
      "people.md: What people get mail about",
      "people.md: Closing an account",
    ],
    console: ["people", "invitation", "audit", "sign-in"],
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
  "a frozen account": {
    contract: [
      ...["AccountsService.FreezeAccount reason", "AccountsService.UnfreezeAccount"],
      ...["AccountsService.GetAccount > account.frozen", "AccountsService.GetAccount > account.frozen_reason"],
    ],
    cli: [
      ...["accounts freeze --reason", "accounts unfreeze", "accounts show > frozen"],
      ...["accounts show > frozen_reason", "accounts show > frozen_at"],
    ],
    openapi: [
      ...["GET /test-auth > frozen", "GET /v1/key > data.frozen", "GET /v1/credits > data.frozen"],
      ...["POST /v1/chat/completions 403", "POST /v1/embeddings 403", "POST /v1/messages 403"],
    ],
    metrics: ["tollgate_limit_refusals_total frozen"],
    dashboard: [refusals],
    docs: ["clients.md: What a key may do"],
    console: ["account"],
  },
  "a balance and its low threshold": {
    contract: [
      "AccountsService.UpdateAccount low_balance_pico_usd",
      "AccountsService.GetAccount > account.low_balance_pico_usd",
      "AccountsService.GetAccount > account.balance_pico_usd",
    ],
    cli: ["accounts set-limits --low-balance-usd", "accounts show > low_balance_usd", "accounts show > balance_usd"],
    openapi: [
      ...["GET /v1/credits > data.total_credits", "GET /v1/credits > data.total_usage", "GET /test-auth > balance_usd"],
      ...["POST /v1/chat/completions 429", "POST /v1/messages 400"],
    ],
    metrics: [
      "tollgate_limit_refusals_total balance",
      "tollgate_limit_refusals_total balance_held",
      "tollgate_held_usd",
    ],
    dashboard: [refusals, "Balance refusals", "Held"],
    docs: ["money.md: When no money is left", "operations.md: Webhooks"],
    console: ["account"],
  },
  payments: {
    contract: [
      ...["AccountsService.ListPayments", "AccountsService.TopUp reference", "AccountsService.Grant expires_at"],
      ...["AccountsService.Refund amount_pico_usd"],
    ],
    cli: [
      ...["id", "kind", "usd", "ref", "lot_id", "at"].map((field) => `payments > ${field}`),
      ...["accounts top-up --ref", "accounts grant --expires", "accounts refund --usd"],
    ],
    openapi: "- customers see their sum in /v1/credits, and each of them in the console",
    metrics: ["tollgate_webhook_events_total"],
    dashboard: ["Payment events"],
    config: ["payments.minimum_usd", "payments.rolling_24h_usd"],
    docs: ["money.md: Payments, gifts, refunds", "operations.md: Payments by Stripe"],
    console: ["account"],
  },
  checkout: {
    contract: [
      "PaymentsService.GetPaymentOptions > prices",
      "PaymentsService.CreatePortalSession > url",
      "PaymentsService.ListInvoices > invoices",
      "PaymentsService.GetAutoTopUp account_id",
      "PaymentsService.CreateCheckout amount_pico_usd",
      "PaymentsService.GetCheckout > state",
      "PaymentsService.SetAutoTopUp monthly_pico_usd",
      "PaymentsService.RefundPayment reference",
      "PaymentsService.ListPaymentEvents unmatched",
    ],
    cli: [
      "payments list > outcome",
      "payments list --unmatched",
      "payments refund --usd",
      "accounts auto-top-up --a-month",
    ],
    openapi: "- people buy credit on Stripe's pages",
    metrics: ["tollgate_webhook_events_total"],
    dashboard: ["Payment events"],
    config: ["payments.stripe.secret_key_env", "payments.stripe.automatic_tax"],
    docs: ["payments.md: Buying", "payments.md: Auto top-up", "payments.md: Refunds and disputes"],
    console: ["account"],
  },
  receipts: {
    contract: [
      ...["MeteringService.GetReceipt request_id", "MeteringService.ListReceipts key_id"],
      ...[
        "MeteringService.ListReceipts > receipts.finish_reason",
        "MeteringService.ListReceipts > receipts.first_token",
      ],
      ...["MeteringService.ListReceipts > receipts.server", "MeteringService.ListReceipts > receipts.surface"],
    ],
    cli: [
      ...["--key", "--model", "--from", "--to", "--limit"].map((option) => `receipts ${option}`),
      ...[
        "request_id",
        "cost_usd",
        "finish_reason",
        "streamed",
        "first_token_ms",
        "duration_ms",
        "reasoning_tokens",
      ].map((field) => `receipts > ${field}`),
      ...["receipts > cached_input_tokens", "receipts > lines.shared_token_usd", "receipt > hold.held_usd"],
      ...["export receipts --format"],
    ],
    openapi: [
      ...["id", "model", "created_at", "total_cost", "tokens_prompt", "tokens_completion", "finish_reason"],
      ...["native_tokens_prompt", "native_tokens_completion", "native_tokens_reasoning", "native_tokens_cached"],
      ...["native_finish_reason", "streamed", "cancelled", "latency", "generation_time"],
    ]
      .map((field) => `GET /v1/generation > data.${field}`)
      .concat("POST /v1/chat/completions > usage.cost_details.lots.lot_id", "POST /v1/messages > usage.cost"),
    metrics: ["tollgate_settlements_total", "tollgate_cost_usd_total"],
    dashboard: ["Settlements", "Revenue"],
    docs: ["money.md: One receipt across two credits", "clients.md: What a customer sees with a key"],
    console: ["receipt", "account"],
  },
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
  "receipts that leave": {
    contract: ["BooksService.ListReceiptArchives > archives.sha256"],
    cli: ["day", "receipts", "cost_usd", "file", "bytes", "sha256", "archived_at"].map(
      (field) => `archives > ${field}`,
    ),
    openapi: ["GET /v1/generation 410"],
    metrics: [
      ...["tollgate_receipts_removed_total", "tollgate_receipts_overdue_seconds"],
      "tollgate_receipts_kept_from_timestamp_seconds",
    ],
    dashboard: ["Receipts that leave"],
    config: ["receipts.keep_days", "receipts.archive_dir", "receipts.archive_s3"],
    docs: ["operations.md: Receipts that leave"],
    console: "- the page of a receipt that has left says so",
  },
  "the proof of the books": {
    contract: [
      ...["BooksService.Reconcile > ok", "BooksService.StreamReconcile > proof.findings", "BooksService.ListAddends"],
      ...["BooksService.ListDeadLetters", "BooksService.SettleDeadLetter", "BooksService.DropDeadLetter"],
    ],
    cli: ["reconcile > ok", "reconcile > findings.rule", "charges list", "charges settle", "charges drop"],
    openapi: operatorsAlone,
    metrics: ["tollgate_ledger_invariant_ok", "tollgate_ledger_proved_timestamp_seconds", "tollgate_dead_letters"],
    dashboard: ["Books add up", "Since the last proof", "Unbilled, 24 h"],
    docs: ["proof.md: The proof of the books", "operations.md: When reconcile fails"],
    console: ["books"],
  },
  "an account's own prices": {
    contract: [
      ...[
        "AccountsService.SetAccountPrices own_prices.discount_basis_points",
        "AccountsService.GetAccountPrices proposed",
      ],
      ...["AccountsService.SetAccountPrices own_prices.fixed", "AccountsService.GetAccountPrices > prices"],
      "CatalogueService.ListModels > models.own_rates",
      "PaymentsService.GetPaymentOptions account_id",
    ],
    cli: [
      ...["accounts set-prices --discount", "accounts set-prices --fixed", "accounts set-prices --general"],
      ...["accounts prices > prices.input", "accounts show > lots.own_prices", "accounts show > lots.discount_percent"],
    ],
    openapi: ["model", "input", "output", "general_input", "general_output"].map(
      (field) => `GET /v1/prices > data.${field}`,
    ),
    metrics: "- it is no figure: tollgate_price_usd_per_million_tokens has the general prices",
    dashboard: noPanel,
    docs: ["money.md: An account's own prices", "clients.md: What a customer sees with a key"],
    console: ["account", "money"],
  },
  "seals of days": {
    contract: ["MeteringService.ListSeals after", "MeteringService.ListSeals > seals.chain"],
    cli: "- who checks them keeps them outside: over HTTP, or by the contract",
    openapi: ["number", "day", "root", "sums", "chain", "sealed_at"].map((field) => `GET /v1/seals > data.${field}`),
    metrics: "- a seal that does not hold is a finding of the proof",
    dashboard: noPanel,
    docs: ["proof.md: The chain of seals", "clients.md: What a customer sees with a key"],
    console: "- they are for programs that keep them",
  },
  statements: {
    contract: [
      "MeteringService.StreamStatement account_id",
      "MeteringService.StreamStatement from",
      "MeteringService.StreamStatement > lines",
    ],
    cli: ["statement --from", "statement --to", "statement --out", "statement > lines", "verify"],
    openapi: [
      ...["balance", "lots.input_price", "lots.balance", "lots.rates.model", "shortfall", "path.hash"].map(
        (field) => `GET /v1/statement > ${field}`,
      ),
      ...["GET /v1/statement 400", "GET /v1/statement 429"],
    ],
    metrics: "- a statement that does not add up is a finding of the proof",
    dashboard: noPanel,
    docs: ["statement.md: The formula", "clients.md: What a customer sees with a key"],
    console: ["account", "money"],
  },
  "a credit line": {
    contract: [
      "AccountsService.UpdateAccount credit_line_pico_usd",
      "AccountsService.GetAccount > account.credit_left_pico_usd",
    ],
    cli: ["accounts set-limits --credit", "accounts show > credit_line_usd"],
    openapi: "- operators alone set it; a key sees what is owed by its months",
    metrics: "- what is owed is the books' debt",
    dashboard: noPanel,
    docs: ["money.md: A credit line"],
    console: ["account", "money"],
  },
  "statements of months": {
    contract: ["MeteringService.ListMonths month", "MeteringService.ListMonths > months.closing_pico_usd"],
    cli: ["statement --month", "statement --format"],
    openapi: ["month", "closing_usd", "owed_usd", "models.cost_usd"].map((field) => `GET /v1/months > data.${field}`),
    metrics: "- a month that does not add up is refused",
    dashboard: noPanel,
    docs: ["statement.md: A month", "clients.md: What a customer sees with a key"],
    console: ["account", "money"],
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
  webhooks: {
    contract: [
      ...["WebhooksService.CreateWebhook url", "WebhooksService.CreateWebhook events", "WebhooksService.ListWebhooks"],
      ...["WebhooksService.RotateWebhookSecret overlap", "WebhooksService.DeleteWebhook"],
      ...["WebhooksService.ListDeliveries > deliveries.attempts", "WebhooksService.PauseWebhook"],
      ...["WebhooksService.ResumeWebhook", "WebhooksService.SendTestEvent", "WebhooksService.Redeliver"],
    ],
    cli: [
      ...["webhooks create --url", "webhooks create --events", "webhooks create > secret", "webhooks list > events"],
      ...["webhooks rotate-secret --overlap", "webhooks delete", "webhooks deliveries > response_status"],
    ],
    openapi: operatorsAlone,
    metrics: ["tollgate_event_deliveries_total", "tollgate_event_backlog", "tollgate_event_backlog_age_seconds"],
    dashboard: ["Events out"],
    config: ["webhooks.allow"],
    docs: ["operations.md: Webhooks"],
    console: ["settings"],
  },
  events: {
    contract: ["EventsService.ListEvents types", "EventsService.ListEventTypes > event_types.description"],
    cli: ["events list --type", "events list > data", "events types > description"],
    openapi: operatorsAlone,
    metrics: "- deliveries are counted; the rarest of them, budgets, by tollgate_budget_crossings_total",
    dashboard: ["Budgets of keys"],
    docs: ["operations.md: Webhooks"],
    console: ["books", "settings"],
  },
  mail: {
    contract: [
      ...["AccountsService.CreateAccount email", "AccountsService.UpdateAccount email"],
      "AccountsService.GetAccount > account.email",
    ],
    cli: ["accounts create --email", "accounts update --email", "accounts show > email"],
    openapi: operatorsAlone,
    metrics: ["tollgate_mails_total", "tollgate_mail_backlog", "tollgate_mail_backlog_age_seconds"],
    dashboard: ["Events out"],
    config: ["mail.from", "mail.smtp", "mail.templates", "mail.an_hour.address"],
    docs: ["operations.md: Mail"],
    console: ["account"],
  },
  "usage events": {
    contract: "- they go out as the configuration says; nothing asks for them",
    cli: "- as above",
    openapi: operatorsAlone,
    metrics: [
      ...["tollgate_usage_events_total", "tollgate_usage_event_failures_total", "tollgate_usage_event_backlog"],
      "tollgate_usage_event_backlog_age_seconds",
    ],
    dashboard: ["Usage events"],
    config: ["usage_events.url", "usage_events.keep_days"],
    docs: ["operations.md: Usage events"],
    console: ["settings"],
  },
  operators: {
    contract: [
      ...["OperatorsService.CreateOperator role", "OperatorsService.ListOperators > operators.role"],
      ...["OperatorsService.RevokeOperator", "OperatorsService.IdentifyOperator"],
    ],
    cli: ["operators create --role", "operators create > token", "operators list > role", "operators revoke"],
    openapi: operatorsAlone,
    metrics: noFigure,
    dashboard: noPanel,
    docs: ["operations.md: Operators"],
    console: ["settings"],
  },
  "the audit log": {
    contract: ["AuditService.ListAuditEvents from", "AuditService.ListAuditEvents > audit_events.before"],
    cli: [
      ...["audit list --from", "audit list --limit"],
      ...["at", "operator", "method", "target", "before", "after", "address"].map((field) => `audit list > ${field}`),
    ],
    openapi: operatorsAlone,
    metrics: ["tollgate_audit_lost_total"],
    dashboard: "- it should never count: the alert TollgateAuditLost watches it",
    docs: ["operations.md: Operators"],
    console: ["audit"],
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
