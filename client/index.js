import { createClient } from "@connectrpc/connect";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { AuditService } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { EmbeddingsService } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { EventsService } from "#gen/tollgate/events/v1/events_service_pb.js";
import { WebhooksService } from "#gen/tollgate/events/v1/webhooks_service_pb.js";
import { FindService } from "#gen/tollgate/find/v1/find_service_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { BooksService } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { MarginService } from "#gen/tollgate/metering/v1/margin_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { PricesService } from "#gen/tollgate/metering/v1/prices_service_pb.js";
import { OperatorsService } from "#gen/tollgate/operators/v1/operators_service_pb.js";
import { OverviewService } from "#gen/tollgate/overview/v1/overview_service_pb.js";
import { PaymentsService } from "#gen/tollgate/payments/v1/payments_service_pb.js";
import { PeopleService } from "#gen/tollgate/people/v1/people_service_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { SettingsService } from "#gen/tollgate/settings/v1/settings_service_pb.js";
import { StatusService } from "#gen/tollgate/status/v1/status_service_pb.js";

export { ErrorDetailSchema, Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
export { Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
export {
  AccountsService,
  AuditService,
  BooksService,
  CatalogueService,
  EmbeddingsService,
  EventsService,
  FindService,
  InferenceService,
  MarginService,
  MeteringService,
  OperatorsService,
  OverviewService,
  PaymentsService,
  PeopleService,
  PricesService,
  SessionsService,
  SettingsService,
  StatusService,
  WebhooksService,
};

export function requestIdOf(error) {
  // An answer that broke off has the id twice: in its headers and with its error.
  return error?.metadata?.get?.("x-request-id")?.split(", ", 1)[0] || undefined;
}

export function createTollgateClients(transport) {
  return {
    accounts: createClient(AccountsService, transport),
    audit: createClient(AuditService, transport),
    books: createClient(BooksService, transport),
    catalogue: createClient(CatalogueService, transport),
    embeddings: createClient(EmbeddingsService, transport),
    events: createClient(EventsService, transport),
    find: createClient(FindService, transport),
    inference: createClient(InferenceService, transport),
    margin: createClient(MarginService, transport),
    metering: createClient(MeteringService, transport),
    operators: createClient(OperatorsService, transport),
    overview: createClient(OverviewService, transport),
    payments: createClient(PaymentsService, transport),
    people: createClient(PeopleService, transport),
    prices: createClient(PricesService, transport),
    sessions: createClient(SessionsService, transport),
    settings: createClient(SettingsService, transport),
    status: createClient(StatusService, transport),
    webhooks: createClient(WebhooksService, transport),
  };
}
