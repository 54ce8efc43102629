import { type Doors, noPanel, refusals } from "./door.ts";

/** What an account has, pays and owes. */
export const paymentsDoors: Readonly<Record<string, Doors>> = {
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
};
