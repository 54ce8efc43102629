import { type Doors, noPanel, operatorsAlone } from "./door.ts";

/** What is kept of what was charged. */
export const booksDoors: Readonly<Record<string, Doors>> = {
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
  "statements of months": {
    contract: ["MeteringService.ListMonths month", "MeteringService.ListMonths > months.closing_pico_usd"],
    cli: ["statement --month", "statement --format"],
    openapi: ["month", "closing_usd", "owed_usd", "models.cost_usd"].map((field) => `GET /v1/months > data.${field}`),
    metrics: "- a month that does not add up is refused",
    dashboard: noPanel,
    docs: ["statement.md: A month", "clients.md: What a customer sees with a key"],
    console: ["account", "money"],
  },
};
