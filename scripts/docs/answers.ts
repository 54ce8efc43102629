import { create, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { AccountSchema, PaymentSchema } from "#gen/tollgate/accounts/v1/account_pb.js";
import { ApiKeySchema } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { GetAccountPricesResponseSchema } from "#gen/tollgate/accounts/v1/own_prices_pb.js";
import { TopUpResponseSchema } from "#gen/tollgate/accounts/v1/payment_requests_pb.js";
import { AuditEventSchema } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { ServerSchema } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { EventSchema } from "#gen/tollgate/events/v1/events_service_pb.js";
import { DeliverySchema, WebhookSchema } from "#gen/tollgate/events/v1/webhooks_service_pb.js";
import { FoundSchema } from "#gen/tollgate/find/v1/find_service_pb.js";
import { ReconcileResponseSchema } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { DeadLetterSchema } from "#gen/tollgate/metering/v1/dead_letter_pb.js";
import { MarginSchema } from "#gen/tollgate/metering/v1/margin_service_pb.js";
import { PriceSchema } from "#gen/tollgate/metering/v1/price_pb.js";
import { ReceiptArchiveSchema } from "#gen/tollgate/metering/v1/receipt_archive_pb.js";
import { RequestSchema } from "#gen/tollgate/metering/v1/request_pb.js";
import { ReceiptSchema, UsageRowSchema } from "#gen/tollgate/metering/v1/usage_pb.js";
import { OperatorSchema } from "#gen/tollgate/operators/v1/operator_pb.js";
import { AutoTopUpSchema } from "#gen/tollgate/payments/v1/auto_top_up_pb.js";
import { PaymentEventSchema } from "#gen/tollgate/payments/v1/payment_event_pb.js";
import { PaymentRefundSchema } from "#gen/tollgate/payments/v1/refund_payment_pb.js";
import { MemberSchema } from "#gen/tollgate/people/v1/person_pb.js";
import { SessionSchema } from "#gen/tollgate/sessions/v1/session_pb.js";
import { ReloadResponseSchema } from "#gen/tollgate/settings/v1/settings_service_pb.js";
import { TroubleSchema } from "#gen/tollgate/status/v1/status_service_pb.js";
import { foundDocument } from "#src/cli/admin/fleet/find.ts";
import { reloadDocument } from "#src/cli/admin/fleet/reload.ts";
import { memberDocument } from "#src/cli/admin/money/account-people.ts";
import { accountPricesDocument } from "#src/cli/admin/money/account-prices.ts";
import { groups, usageDocument } from "#src/cli/admin/money/usage.ts";
import * as documents from "#src/cli/admin/output/documents.ts";
import { deliveryDocument, eventDocument, webhookDocument } from "#src/cli/admin/output/event-documents.ts";
import * as metering from "#src/cli/admin/output/metering-documents.ts";
import { autoTopUpDocument, paymentEventDocument, refundDocument } from "#src/cli/admin/output/payment-documents.ts";

// What each command that asks a core prints with --json: documents of messages that have all that they may have.

const account = documents.accountDocument(sample(AccountSchema));
const accountPrices = accountPricesDocument("", sample(GetAccountPricesResponseSchema));
const key = documents.keyDocument(sample(ApiKeySchema));
const newKey = { id: "", key: "" };
const moved = documents.movementDocument(sample(TopUpResponseSchema));
const price = documents.priceDocument(sample(PriceSchema));
const receipt = metering.receiptDocument(sample(ReceiptSchema));
const letter = metering.deadLetterDocument(sample(DeadLetterSchema));
const server = documents.serverDocument(sample(ServerSchema));
const operator = documents.operatorDocument(sample(OperatorSchema));
const proof = sample(ReconcileResponseSchema);
const webhook = webhookDocument(sample(WebhookSchema));
const newSecret = { id: "", secret: "" };
const exported = { file: "", rows: 0 };

/** An answer by the command's name, with all fields that it may have. */
export const answers: Readonly<Record<string, object>> = {
  "accounts create": account,
  "accounts list": [account],
  "accounts show": account,
  "accounts update": account,
  "accounts set-limits": account,
  "accounts prices": accountPrices,
  "accounts set-prices": accountPrices,
  "accounts freeze": account,
  "accounts unfreeze": account,
  "accounts top-up": moved,
  "accounts grant": moved,
  "accounts refund": moved,
  "accounts auto-top-up": autoTopUpDocument(sample(AutoTopUpSchema)),
  "payments list": [paymentEventDocument(sample(PaymentEventSchema))],
  "payments refund": [refundDocument(sample(PaymentRefundSchema))],
  payments: [documents.paymentDocument(sample(PaymentSchema))],
  "keys create": newKey,
  "keys list": [key],
  "keys rotate": newKey,
  "keys revoke": key,
  "keys disable": key,
  "keys enable": key,
  "keys set-limits": key,
  "keys set-rpm": key,
  "prices list": [price],
  "prices history": [price],
  "prices set": price,
  "prices pin": price,
  "prices unpin": price,
  usage: [usageDocument(sample(UsageRowSchema), { by: groups("account,key,model,day,hour") })],
  margin: [metering.marginDocument({ ...sample(MarginSchema), hour: "of --by hour", day: "of --by day" })],
  receipt: { ...metering.wholeReceiptDocument(sample(ReceiptSchema)), further_runs: [receipt] },
  receipts: [receipt],
  reload: reloadDocument(sample(ReloadResponseSchema)),
  find: [foundDocument(sample(FoundSchema))],
  requests: [metering.requestWithAdvice(sample(RequestSchema))],
  statement: { file: "", lines: 0 },
  "export receipts": exported,
  "export usage": exported,
  archives: [metering.archiveDocument(sample(ReceiptArchiveSchema))],
  "charges list": [letter],
  "charges settle": { id: "", request_id: "", account_id: "" },
  "charges drop": letter,
  reconcile: metering.reconcileDocument(proof),
  status: documents.statusDocument({
    ok: true,
    red: [{ ...sample(TroubleSchema), model: "of one", server: "of one" }],
  }),
  "servers list": [server],
  "servers drain": server,
  "servers resume": server,
  "accounts members": [memberDocument(sample(MemberSchema))],
  "accounts close": { id: "", refunded_usd: "" },
  "accounts invite": { id: "", token: "", url: "" },
  "operators create": { id: "", token: "" },
  "operators list": [operator],
  "operators revoke": operator,
  "console-link": { url: "", expires_at: "" },
  "sessions list": [documents.sessionDocument(sample(SessionSchema))],
  "sessions end": { ended: 0 },
  "sessions end-all": { ended: 0 },
  "audit list": [documents.auditDocument(sample(AuditEventSchema))],
  "webhooks create": newSecret,
  "webhooks list": [webhook],
  "webhooks rotate-secret": newSecret,
  "webhooks delete": webhook,
  "webhooks pause": webhook,
  "webhooks resume": webhook,
  "webhooks test": deliveryDocument(sample(DeliverySchema)),
  "webhooks redeliver": deliveryDocument(sample(DeliverySchema)),
  "webhooks deliveries": [deliveryDocument(sample(DeliverySchema))],
  "events list": [eventDocument(sample(EventSchema))],
  "events types": [{ type: "", description: "" }],
};

/** The names of an answer's fields, as `[{ id, limits: { usd } }]`. */
export function showFields(answer: unknown): string {
  if (Array.isArray(answer)) {
    return `[${showFields(answer[0])}]`;
  }
  const fields = Object.entries(answer as object).map(([name, value]) =>
    hasFields(value) ? `${name}: ${showFields(value)}` : name,
  );
  return `{ ${fields.join(", ")} }`;
}

function hasFields(value: unknown): boolean {
  const inner: unknown = Array.isArray(value) ? value[0] : value;
  return typeof inner === "object" && inner !== null && Object.keys(inner).length > 0;
}

/** A message with all messages in it, and one in each list; not those of its own kind, nor what has no fields of its own. */
function sample<Desc extends DescMessage>(schema: Desc, within: readonly DescMessage[] = []): MessageShape<Desc> {
  const message = create(schema);
  for (const { message: inner, localName, fieldKind } of schema.fields) {
    if (
      inner !== undefined &&
      inner.typeName !== "google.protobuf.Struct" &&
      !within.includes(inner) &&
      inner !== schema
    ) {
      const value = sample(inner, [...within, schema]);
      Object.assign(message, { [localName]: fieldKind === "list" ? [value] : value });
    }
  }
  return message;
}
